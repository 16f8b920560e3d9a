//! What can go wrong with a session.

use std::sync::Arc;

use session_model::document::LoadError;
use session_model::json::InvalidJson;
use session_model::layout::InvalidSessionName;
use session_model::storage::{InvalidKey, StorageError, StorageKey};

/// A failed operation on a session.
///
/// Cloning is cheap; the first failure to save is kept and given again.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The storage reported an error.
    #[error(transparent)]
    Storage(#[from] StorageError),
    /// The file is no session.
    #[error("{key} cannot be opened as a session; it was left as it is")]
    NotASession {
        /// The file.
        key: StorageKey,
        /// Why it is none.
        #[source]
        source: LoadError,
    },
    /// There is no such session.
    #[error("there is no session {key}")]
    NotFound {
        /// The missing file.
        key: StorageKey,
    },
    /// Nothing fits the name of a session that was asked for.
    #[error("there is no session of the id {wanted}; list all sessions to see which there are")]
    NoMatch {
        /// What was asked for.
        wanted: String,
    },
    /// Several sessions fit what was asked for.
    #[error(
        "{wanted} may mean {} sessions; write more of the id, or a path: {}",
        candidates.len(),
        listed(candidates)
    )]
    Ambiguous {
        /// What was asked for.
        wanted: String,
        /// The paths or keys of all that may be meant, the latest activity first.
        candidates: Vec<String>,
    },
    /// The session was opened for reading, or is of a format that can only be read.
    #[error("{key} is open read-only: {reason}")]
    ReadOnly {
        /// The session.
        key: StorageKey,
        /// Why.
        reason: String,
    },
    /// An id names no entry of the session.
    #[error("entry {id} not found; list the entries to see which there are")]
    UnknownEntry {
        /// The id.
        id: String,
    },
    /// What was to be appended is no message or entry.
    #[error("this cannot be appended: {reason}")]
    InvalidEntry {
        /// What is wrong with it.
        reason: String,
    },
    /// An entry is in memory and not in the file.
    #[error(
        "entry {entry} is in memory but not saved; `save_again` writes the whole session once the cause is gone"
    )]
    NotSaved {
        /// The entry's id.
        entry: String,
        /// The first failure to save.
        #[source]
        source: Arc<SessionError>,
    },
    /// An earlier failure to save, as `flush` and `close` give it.
    #[error(
        "the session is not wholly saved since an earlier failure; `save_again` writes it whole"
    )]
    Unsaved {
        /// The first failure to save.
        #[source]
        source: Arc<SessionError>,
    },
    /// A name for a session that has none.
    #[error("invalid session location: {0}")]
    InvalidKey(#[from] InvalidKey),
    /// An id that can be no part of a file's name.
    #[error(transparent)]
    InvalidName(#[from] InvalidSessionName),
    /// JSON that cannot be read.
    #[error(transparent)]
    InvalidJson(#[from] InvalidJson),
}

impl SessionError {
    /// Returns the storage's error at the bottom of this one, if that is what it comes from.
    ///
    /// Its kind tells what to do: [`Busy`](session_model::storage::StorageErrorKind::Busy) names
    /// another writer, [`Full`](session_model::storage::StorageErrorKind::Full) wants space.
    pub fn storage_error(&self) -> Option<&StorageError> {
        let mut error = self;
        loop {
            match error {
                Self::Storage(error) => return Some(error),
                Self::NotSaved { source, .. } | Self::Unsaved { source } => error = source,
                _ => return None,
            }
        }
    }
}

/// How many sessions that may be meant are named in a message.
const NAMED_CANDIDATES: usize = 10;

fn listed(candidates: &[String]) -> String {
    let mut text = candidates[..candidates.len().min(NAMED_CANDIDATES)].join(", ");
    if let Some(more) = candidates.len().checked_sub(NAMED_CANDIDATES).filter(|&more| more > 0) {
        text.push_str(&format!(", {more} more"));
    }
    text
}

/// The result of an operation on a session.
pub type Result<T, E = SessionError> = std::result::Result<T, E>;
