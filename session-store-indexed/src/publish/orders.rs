//! Orders to replace what the remote has, and when they are over.

use session_model::storage::StorageKey;

use super::publisher::{Publisher, Result};
use crate::outbox;

/// How long an order waits for its change to be found in the file; in milliseconds.
const LATEST_MS: i64 = 60_000;

impl Publisher {
    /// Ends an order once the remote has what it was given for.
    ///
    /// One that was given since, for a change the index has not seen, stays.
    pub(super) fn fulfil(&mut self, key: &StorageKey) -> Result<()> {
        if self.shared.is_written(key) || !self.queue.is_idle() {
            return Ok(());
        }
        Ok(self.database.run(|connection| outbox::fulfil(connection, key))?)
    }

    /// Drops orders whose change was never made: it failed, or its program was killed.
    pub(super) fn drop_orders(&mut self) -> Result<()> {
        if !self.queue.is_idle() {
            return Ok(());
        }
        let before = self.clock.now_ms().saturating_sub(LATEST_MS);
        Ok(self.database.run(|connection| outbox::drop_orders(connection, before))?)
    }
}
