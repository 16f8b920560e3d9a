//! The error of the prompt history.

use crate::DatabaseError;

/// A history operation that failed.
///
/// The message does not repeat the source; print the chain to see both. Cloning is cheap.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum HistoryError {
    /// The database failed; nothing was changed.
    #[error(transparent)]
    Database(#[from] DatabaseError),
    /// Prompts that were accepted are not in the database yet.
    ///
    /// They stay queued, in order, and are written again with the next [`add`], [`flush`] or
    /// [`close`].
    ///
    /// [`add`]: super::HistoryStorage::add
    /// [`flush`]: super::HistoryStorage::flush
    /// [`close`]: super::HistoryStorage::close
    #[error("{pending} prompts are not saved so far; call flush to try again")]
    NotSaved {
        /// How many prompts wait.
        pending: usize,
        /// What the last attempt met.
        #[source]
        source: DatabaseError,
    },
    /// The queue has no room for the prompt, which was not accepted.
    #[error("the prompt was not accepted, its queue of {limit} bytes is full; flush, then add it")]
    QueueFull {
        /// The size of the queue in bytes.
        limit: usize,
    },
    /// The thread that writes prompts is gone.
    #[error("prompts cannot be saved any more; open the history again")]
    WriterStopped,
}
