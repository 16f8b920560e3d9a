//! Noting that a program of this host replaces, moves or removes a session, before it does.

use std::sync::{Arc, Mutex, PoisonError};

use session_model::env::Clock;
use session_model::storage::StorageKey;

use crate::DatabaseError;
use crate::index;
use crate::outbox::{self, Order};
use crate::publish::{Shared, Writing};
use crate::sqlite::Database;

/// Where such changes are noted.
#[derive(Clone, Debug)]
pub(super) struct Orders {
    pub(super) database: Arc<Mutex<Database>>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) shared: Arc<Shared>,
}

impl Orders {
    /// Notes a change of a session; it lasts until the returned value is dropped.
    ///
    /// If that fails the change is made all the same. It is then published if nothing that the
    /// remote has is lost with it, and else shown as one that needs a decision.
    pub(super) fn writing(&self, key: &StorageKey) -> Option<Writing> {
        if !index::is_session(key) {
            return None;
        }
        let writing = self.shared.writing(key);
        let now = self.clock.now_ms();
        let noted = self.run(|connection| outbox::order(connection, key, Order::Written, now));
        if let Err(error) = noted {
            tracing::warn!(%key, %error, "it is not noted that the session is replaced");
        }
        Some(writing)
    }

    /// As [`writing`](Self::writing), for all sessions below a prefix that are removed.
    pub(super) fn removing_all(&self, prefix: &StorageKey) {
        let now = self.clock.now_ms();
        if let Err(error) = self.run(|connection| outbox::order_below(connection, prefix, now)) {
            tracing::warn!(%prefix, %error, "it is not noted that the sessions are removed");
        }
    }

    fn run<T>(
        &self,
        work: impl FnOnce(&mut rusqlite::Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        self.database.lock().unwrap_or_else(PoisonError::into_inner).run(work)
    }
}
