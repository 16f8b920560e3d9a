//! What the publisher and the storage tell each other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use session_model::storage::StorageKey;
use tokio::sync::Notify;

use super::wait::Waiter;
use super::{Connection, Held, PublishError, PublishStatus};
use crate::remote::Fence;

/// What the publisher and the storage tell each other.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    /// Something was written to the outbox, or somebody waits.
    pub(crate) wake: Arc<Notify>,
    /// The publisher shall end.
    ending: Notify,
    state: Mutex<State>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) connection: Connection,
    pub(super) last_error: Option<PublishError>,
    pub(super) warnings: Vec<String>,
    pub(super) held: Vec<Held>,
    pub(super) published_bytes: u64,
    /// Sessions with open writers of this process, whose claims are kept.
    open: HashMap<StorageKey, usize>,
    /// Sessions that are being replaced, moved or removed by this process.
    written: HashMap<StorageKey, usize>,
    /// Claims that were made for writers of this process.
    taken: HashMap<StorageKey, Fence>,
    pub(super) waiters: Vec<Waiter>,
    /// Set when the publisher shall end: by when.
    pub(super) closing: Option<Instant>,
    pub(super) stopped: bool,
}

impl Shared {
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes an open writer until the returned value is dropped.
    pub(crate) fn opened(self: &Arc<Self>, key: &StorageKey) -> Opened {
        *self.state().open.entry(key.clone()).or_default() += 1;
        Opened { shared: Arc::clone(self), key: key.clone() }
    }

    pub(super) fn is_open(&self, key: &StorageKey) -> bool {
        self.state().open.contains_key(key)
    }

    /// Notes a claim that was made for a writer.
    pub(crate) fn took(&self, key: &StorageKey, fence: Fence) {
        self.state().taken.insert(key.clone(), fence);
        self.wake.notify_one();
    }

    /// Takes out the claims of sessions that no writer of this process has open.
    pub(super) fn take_unused(&self) -> Vec<(StorageKey, Fence)> {
        let mut state = self.state();
        let State { taken, open, .. } = &mut *state;
        taken.extract_if(|key, _| !open.contains_key(key)).collect()
    }

    /// Notes that a session is being replaced, until the returned value is dropped.
    pub(crate) fn writing(self: &Arc<Self>, key: &StorageKey) -> Writing {
        *self.state().written.entry(key.clone()).or_default() += 1;
        Writing { shared: Arc::clone(self), key: key.clone() }
    }

    pub(super) fn is_written(&self, key: &StorageKey) -> bool {
        self.state().written.contains_key(key)
    }

    /// The state as this process knows it; what waits is the database's to tell.
    pub(crate) fn status(&self) -> PublishStatus {
        let state = self.state();
        PublishStatus {
            connection: state.connection.clone(),
            last_error: state.last_error.clone(),
            warnings: state.warnings.clone(),
            held: state.held.clone(),
            published_bytes: state.published_bytes,
            rows: 0,
            entries: 0,
            bytes: 0,
            age: Duration::ZERO,
            sessions: Vec::new(),
            blocked: Vec::new(),
        }
    }

    pub(crate) fn close(&self, by: Instant) {
        self.state().closing = Some(by);
        self.wake.notify_one();
        self.ending.notify_one();
    }

    /// Waits until the publisher must have ended.
    pub(super) async fn ended(&self) {
        loop {
            match self.closing() {
                Some(by) => return tokio::time::sleep_until(by.into()).await,
                None => self.ending.notified().await,
            }
        }
    }

    pub(super) fn closing(&self) -> Option<Instant> {
        self.state().closing
    }
}

/// A change of a session that is not just lines at its end.
#[derive(Debug)]
pub(crate) struct Writing {
    shared: Arc<Shared>,
    key: StorageKey,
}

impl Drop for Writing {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        if let Some(count) = state.written.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                state.written.remove(&self.key);
            }
        }
    }
}

/// An open writer of a session.
#[derive(Debug)]
pub(crate) struct Opened {
    shared: Arc<Shared>,
    key: StorageKey,
}

impl Drop for Opened {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        if let Some(count) = state.open.get_mut(&self.key) {
            *count -= 1;
            if *count == 0 {
                state.open.remove(&self.key);
                // The claim is given up.
                self.shared.wake.notify_one();
            }
        }
    }
}
