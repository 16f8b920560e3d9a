//! Why publishing stopped for now.

use session_model::storage::StorageError;

use crate::DatabaseError;
use crate::remote::RemoteError;

/// Why a step was not done; nothing is lost, and it is tried again.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PublishError {
    /// The remote failed.
    #[error(transparent)]
    Remote(#[from] RemoteError),
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// A session or artifact could not be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
}
