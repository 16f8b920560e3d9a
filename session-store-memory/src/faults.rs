//! Making things go wrong on purpose.

use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use session_model::storage::{Result, StorageErrorKind, StorageKey};

use crate::operation::{Call, Operation};
use crate::plan::{Effect, Plan, When};
use crate::storage::Shared;

/// The faults of one store, shared by all its handles; see
/// [`MemoryStorage::faults`](crate::MemoryStorage::faults).
///
/// Calls are those of the two storage traits, apart from `AppendWriter::len`, `is_empty` and
/// `error`, `SessionStorage::local_path`, and the calls of a closed writer but `close`. Several
/// faults can be set; each counts from when it is set, and strikes once.
///
/// A fault in `peek` strikes every key. One in `list` turns the first object that would have been
/// listed into an error item, a crash turns all. The errors of `drain` name the key `memory`.
#[derive(Clone)]
pub struct Faults {
    shared: Arc<Shared>,
}

impl Faults {
    pub(crate) fn of(shared: &Arc<Shared>) -> Self {
        Self { shared: Arc::clone(shared) }
    }

    /// Makes the call after the next `n` calls fail with an error of the given kind.
    ///
    /// What an append wrote [`Partway`](When::Partway) is cut back.
    pub fn fail_at(&self, n: u64, when: When, kind: StorageErrorKind) {
        self.plan(|plan| plan.arm(None, n, when, Effect::Fail(kind)));
    }

    /// As [`fail_at`](Self::fail_at), counting calls of one kind only.
    pub fn fail_nth(&self, operation: Operation, n: u64, when: When, kind: StorageErrorKind) {
        self.plan(|plan| plan.arm(Some(operation), n, when, Effect::Fail(kind)));
    }

    /// Makes the store stop in the call after the next `n` calls, as if the machine had died.
    ///
    /// What an append wrote [`Partway`](When::Partway) stays. That call and all later ones fail
    /// with [`StorageErrorKind::Unavailable`]; [`MemoryStorage::restarted`] shows what was left.
    ///
    /// [`MemoryStorage::restarted`]: crate::MemoryStorage::restarted
    pub fn crash_at(&self, n: u64, when: When) {
        self.plan(|plan| plan.arm(None, n, when, Effect::Crash));
    }

    /// As [`crash_at`](Self::crash_at), counting calls of one kind only.
    pub fn crash_nth(&self, operation: Operation, n: u64, when: When) {
        self.plan(|plan| plan.arm(Some(operation), n, when, Effect::Crash));
    }

    /// Tells whether a fault has struck since the last [`clear`](Self::clear).
    pub fn fired(&self) -> bool {
        self.plan(|plan| plan.fired)
    }

    /// Takes back every fault that has not struck yet. A crash that happened stays.
    pub fn clear(&self) {
        self.plan(Plan::disarm);
    }

    /// Starts to record calls, or starts anew.
    pub fn record(&self) {
        self.plan(|plan| plan.record = Some(Vec::new()));
    }

    /// Returns the calls since [`record`](Self::record), in order; none without it.
    pub fn operations(&self) -> Vec<Call> {
        self.plan(|plan| plan.record.clone().unwrap_or_default())
    }

    /// Sets an object's content, or removes it, as a program would that knows no claims.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::Invalid`] if the object would lie above or below another.
    pub fn overwrite(&self, key: &StorageKey, body: Option<Bytes>) -> Result<()> {
        let mut state = self.shared.lock();
        match body {
            Some(body) => {
                state.check_place(key)?;
                state.set(key, body);
            }
            None => drop(state.remove(key)),
        }
        Ok(())
    }

    fn plan<T>(&self, change: impl FnOnce(&mut Plan) -> T) -> T {
        change(self.shared.lock().plan.get_or_insert_default())
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Faults").field(&self.shared.lock().plan).finish()
    }
}
