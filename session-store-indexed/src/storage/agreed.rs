//! What this host and the remote last had in common of each session, kept beside the index.

use rusqlite::TransactionBehavior;
use session_model::layout::artifacts_key;
use session_model::storage::StorageKey;

use super::IndexedStorage;
use crate::index::{self, IndexError};
use crate::outbox::{self, Agreed, BlockKind};

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

    /// The highest epoch this host has seen of a session.
    pub(crate) fn seen_epoch(&self, session: &StorageKey) -> Result<u64, IndexError> {
        Ok(self.reader().run(|connection| {
            let agreed = outbox::agreed(connection, session)?.map_or(0, |agreed| agreed.epoch);
            Ok(outbox::claimed(connection, session)?.max(agreed))
        })?)
    }

    pub(crate) fn note_claim(&self, session: &StorageKey, epoch: u64) -> Result<(), IndexError> {
        Ok(self.reader().run(|connection| outbox::note_claim(connection, session, epoch))?)
    }

    /// Tells whether an artifact that is missing here was here, and the remote may not know yet
    /// that it is gone.
    pub(crate) fn is_removed_object(&self, key: &StorageKey) -> Result<bool, IndexError> {
        Ok(self.reader().run(|connection| {
            Ok(outbox::has_pending(connection, key)?
                || outbox::object_version(connection, key)?.is_some())
        })?)
    }

    /// Has a session and its artifacts count as never removed here.
    pub(crate) fn forget_removal(&self, session: &StorageKey) -> Result<(), IndexError> {
        Ok(self.reader().run(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            outbox::forget(&transaction, session)?;
            outbox::drop_rows(&transaction, session)?;
            if let Some(folder) = artifacts_key(session) {
                outbox::forget_objects_below(&transaction, &folder)?;
            }
            transaction.commit()
        })?)
    }

    /// Has a session published from the remote's end on, unless it waits already or somebody has
    /// to decide.
    pub(crate) fn publish_again(&self, session: &StorageKey) -> Result<(), IndexError> {
        let now = self.now_ms();
        self.reader().run(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            if outbox::is_publishing(&transaction)?
                && outbox::blocked_key(&transaction, session)?.is_none()
                && !outbox::has_pending(&transaction, session)?
                && let Some(known) = index::known(&transaction, session)?
            {
                let range = (0, known.indexed);
                outbox::add_log(&transaction, session, known.generation, range, now)?;
            }
            transaction.commit()
        })?;
        self.wake_publisher();
        Ok(())
    }

    /// Has a session published again that another host had gone on with, now that it was dealt
    /// with.
    pub(crate) fn unfence(&self, session: &StorageKey) -> Result<(), IndexError> {
        let blocked = self.reader().run(|connection| outbox::blocked_key(connection, session))?;
        match blocked.is_some_and(|blocked| blocked.kind == BlockKind::Fenced) {
            true => self.retry(session).map(drop),
            false => Ok(()),
        }
    }

    /// The time by the clock of the index, in milliseconds since the epoch.
    pub(crate) fn now_ms(&self) -> i64 {
        self.settings.clock.now_ms()
    }
}
