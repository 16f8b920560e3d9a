//! What can go wrong between this host's copy and the remote's.

use session_model::storage::{StorageError, StorageKey};

use crate::index::IndexError;
use crate::publish::PublishError;
use crate::remote::RemoteError;

/// A session that could not be brought up to date; the local copy is as it was, or newer.
///
/// The message does not repeat the source; print the chain to see both. Cloning is cheap.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReplicaError {
    /// The remote failed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The local storage failed.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The index failed, or what it keeps of remotes.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The session was written too often while it was read.
    #[error("{0} changes faster than it can be read; try again")]
    Restless(StorageKey),
}

impl From<PublishError> for ReplicaError {
    fn from(error: PublishError) -> Self {
        match error {
            PublishError::Remote(error) => error.into(),
            PublishError::Database(error) => Self::Index(error.into()),
            PublishError::Storage(error) => error.into(),
        }
    }
}
