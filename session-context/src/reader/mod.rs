//! Reading a session beside whoever writes it.

mod follow;
mod follower;

use std::sync::Arc;

use session_model::document::{LoadOptions, Loaded};
use session_model::storage::{SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey};
use session_model::{Diagnostic, Entry, SessionDocument};

use crate::error::{Result, SessionError};

pub use follow::{DEFAULT_INTERVAL, Follow, FollowOptions};
pub use follower::Follower;

/// A view of a session that never writes and claims nothing, cheap to clone.
#[derive(Clone, Debug)]
pub struct SessionReader {
    storage: Arc<dyn SessionStorage>,
    key: StorageKey,
    load: LoadOptions,
}

/// What happened to a session that is followed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum FollowEvent {
    /// An entry that was not there before.
    Entry(Entry),
    /// The file was replaced or cut; those of its entries that are new come next.
    Reloaded,
    /// The file was removed; should it come back, it is followed on.
    Removed,
    /// Something that was added could not be read.
    Diagnostic(Diagnostic),
}

impl SessionReader {
    /// A view of the session under a key, whether it exists yet or not.
    pub fn new(storage: Arc<dyn SessionStorage>, key: StorageKey) -> Self {
        Self { storage, key, load: LoadOptions::default() }
    }

    /// Returns the key of the session's file.
    pub fn key(&self) -> &StorageKey {
        &self.key
    }

    /// Reads the session as the file has it now; old formats are not brought up to date.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`], or [`SessionError::NotASession`] with the reason.
    pub async fn load(&self) -> Result<Loaded> {
        let (_, bytes) = match self.storage.read_all(&self.key).await {
            Err(error) if error.kind() == StorageErrorKind::NotFound => {
                return Err(SessionError::NotFound { key: self.key.clone() });
            }
            read => read?,
        };
        SessionDocument::load(bytes, &self.load)
            .map_err(|source| SessionError::NotASession { key: self.key.clone(), source })
    }

    /// Follows the session: a stream of what happens to it from now on, or from its first entry
    /// with [`FollowOptions::from_start`].
    pub fn follow(&self, options: FollowOptions) -> Follow {
        Follow::new(self.follower(options.from_start), options.interval)
    }

    /// As [`follow`](Self::follow), for callers that know themselves when to look.
    pub fn follower(&self, from_start: bool) -> Follower {
        Follower::new(self.clone(), from_start)
    }
}
