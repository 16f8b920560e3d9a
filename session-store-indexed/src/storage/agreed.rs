//! What this host and the remote last had in common of each session, kept beside the index.

use session_model::storage::StorageKey;

use super::IndexedStorage;
use crate::index::IndexError;
use crate::outbox::{self, Agreed};

impl IndexedStorage {
    pub(crate) fn agreed(&self, session: &StorageKey) -> Result<Option<Agreed>, IndexError> {
        Ok(self.reader().run(|connection| outbox::agreed(connection, session))?)
    }

    pub(crate) fn agree(&self, session: &StorageKey, agreed: &Agreed) -> Result<(), IndexError> {
        Ok(self.reader().run(|connection| outbox::agree(connection, session, agreed))?)
    }

    pub(crate) fn forget_agreed(&self, session: &StorageKey) -> Result<(), IndexError> {
        Ok(self.reader().run(|connection| outbox::forget(connection, session))?)
    }

    /// The time by the clock of the index, in milliseconds since the epoch.
    pub(crate) fn now_ms(&self) -> i64 {
        self.settings.clock.now_ms()
    }
}
