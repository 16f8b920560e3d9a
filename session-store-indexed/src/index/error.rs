//! The error of the index.

use std::io;
use std::sync::Arc;

use session_model::document::LoadError;
use session_model::storage::{StorageError, StorageKey};

use crate::DatabaseError;

/// An index that could not be read or brought up to date; no session is touched by it.
///
/// The message does not repeat the source; print the chain to see both. Cloning is cheap.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IndexError {
    /// The database failed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// The sessions could not be read.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The file is no session.
    #[error("{key} is no session")]
    NotASession {
        /// The file.
        key: StorageKey,
        /// Why not.
        #[source]
        source: LoadError,
    },
    /// The session has no such entry.
    #[error("{key} has no entry {id:?}; list its entries to find one")]
    NoEntry {
        /// The session.
        key: StorageKey,
        /// The id that was asked for.
        id: String,
    },
    /// The index's thread could not be started.
    #[error("the thread of the index could not be started; end other threads and open it again")]
    Start(#[source] Arc<io::Error>),
    /// The index's thread is gone.
    #[error("the index is not kept any more; open the storage again")]
    Stopped,
}
