//! Being told at once when saving fails, and when it is made good again.

use std::fmt::Debug;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use session_model::storage::StorageKey;

use super::SessionManager;
use crate::error::SessionError;

/// Whoever wants to know how saving goes: a user interface that shows `not saved`.
///
/// Every method does nothing by default. They are called in the middle of the manager's work, so
/// they should only take note. A panic is caught and logged; the session goes on.
pub trait PersistenceObserver: Debug + Send + Sync {
    /// Saving failed, and entries are in memory only; called once until it is made good.
    fn save_failed(&self, session: &StorageKey, error: &SessionError) {
        let _ = (session, error);
    }

    /// The whole session is in the file again after a failure.
    fn saved_again(&self, session: &StorageKey) {
        let _ = session;
    }

    /// The first `entries` entries of the file have reached the disk.
    fn durable(&self, session: &StorageKey, entries: usize) {
        let _ = (session, entries);
    }
}

impl SessionManager {
    /// Tells an observer how saving goes from now on, and at once of a failure that is not made
    /// good.
    pub fn subscribe(&mut self, observer: Arc<dyn PersistenceObserver>) {
        if let Some(error) = &self.failure {
            tell(&*observer, |observer| observer.save_failed(&self.key, error));
        }
        self.observers.push(observer);
    }

    /// Tells all observers.
    pub(super) fn tell_observers(&self, what: impl Fn(&dyn PersistenceObserver)) {
        self.observers.iter().for_each(|observer| tell(&**observer, &what));
    }
}

fn tell(observer: &dyn PersistenceObserver, what: impl FnOnce(&dyn PersistenceObserver)) {
    if catch_unwind(AssertUnwindSafe(|| what(observer))).is_err() {
        tracing::error!(?observer, "an observer of a session panicked");
    }
}
