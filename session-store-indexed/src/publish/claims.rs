//! Giving up claims.

use session_model::storage::StorageKey;

use super::publisher::{Publisher, Result};
use crate::outbox;

impl Publisher {
    /// Gives up the claims of sessions that nobody here writes and of which nothing waits.
    pub(super) async fn give_up_claims(&mut self) -> Result<()> {
        for key in self.live.keys().cloned().collect::<Vec<_>>() {
            if self.shared.is_open(&key) || self.is_waiting(&key)? {
                continue;
            }
            if let Some(live) = self.live.remove(&key) {
                self.remote.release(&key, &live.fence).await?;
            }
        }
        // What was written under a claim may not be in the index, and so in the outbox, yet.
        if self.queue.is_idle() {
            self.give_up_unused().await?;
        }
        Ok(())
    }

    /// Gives up what was claimed for writers that are gone.
    pub(super) async fn give_up_unused(&mut self) -> Result<()> {
        for (key, fence) in self.shared.take_unused() {
            // Else the publisher has it, or will, and gives it up.
            if !self.live.contains_key(&key) && !self.is_waiting(&key)? {
                self.remote.release(&key, &fence).await?;
            }
        }
        Ok(())
    }

    fn is_waiting(&mut self, key: &StorageKey) -> Result<bool> {
        Ok(self.database.run(|connection| outbox::has_pending(connection, key))?)
    }

    /// Gives all claims up; for the end.
    pub async fn release(&mut self) {
        for (key, live) in std::mem::take(&mut self.live) {
            if self.remote.release(&key, &live.fence).await.is_err() {
                // The rest would fail as well; leases end by themselves.
                return;
            }
        }
        if let Err(error) = self.give_up_unused().await {
            tracing::warn!(%error, "claims are not given up; they end by themselves");
        }
    }
}
