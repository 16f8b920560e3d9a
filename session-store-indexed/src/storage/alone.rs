//! One at a time for each session, in this process: a follower that brings a copy up to date, and a
//! program that opens it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use session_model::storage::StorageKey;
use tokio::sync::{Mutex as Turn, OwnedMutexGuard};

use super::IndexedStorage;

/// Whose turn it is, by session; those that nobody waits for or has are left out.
#[derive(Debug, Default)]
pub(super) struct Turns(Mutex<HashMap<StorageKey, Arc<Turn<()>>>>);

/// A turn, until it is dropped.
#[derive(Debug)]
pub(crate) struct Alone {
    _guard: OwnedMutexGuard<()>,
}

impl IndexedStorage {
    /// Waits until nobody else of this process is at work on a session's file.
    pub(crate) async fn alone(&self, session: &StorageKey) -> Alone {
        let turn = {
            let mut turns = self.turns.0.lock().unwrap_or_else(PoisonError::into_inner);
            turns.retain(|_, turn| Arc::strong_count(turn) > 1);
            Arc::clone(turns.entry(session.clone()).or_default())
        };
        Alone { _guard: turn.lock_owned().await }
    }
}
