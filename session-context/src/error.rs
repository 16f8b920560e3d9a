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
    /// What should be another copy of a session is a session of its own.
    #[error("{name} is the session {id}, no copy of {expected}; only copies can be merged")]
    OtherSession {
        /// What was taken for a copy.
        name: String,
        /// The id it has.
        id: String,
        /// The session's id.
        expected: String,
    },
    /// Another copy of a session is in another version of the format.
    #[error(
        "{name} is in format version {version}, the session in {expected}; migrate the older one first"
    )]
    OtherFormat {
        /// The other copy.
        name: String,
        /// Its version.
        version: f64,
        /// The session's version.
        expected: f64,
    },
    /// An id names no entry of the session.
    #[error("entry {id} not found; list the entries to see which there are")]
    UnknownEntry {
        /// The id.
        id: String,
    },
    /// A new answer was given to what is no result of the tool `ask`.
    #[error("entry {id} is no answer to a question, so it cannot be answered anew")]
    NotAnAnswer {
        /// The entry's id.
        id: String,
    },
    /// A checkpoint is open already.
    #[error("checkpoint {id} is open; rewind it before opening another")]
    CheckpointOpen {
        /// The entry it begins with.
        id: String,
    },
    /// There is no checkpoint to go back to.
    #[error("no checkpoint is open on the way to the leaf")]
    NoOpenCheckpoint,
    /// A rewind without a report would keep nothing of what was found out.
    #[error("a rewind needs a report that is not empty")]
    EmptyReport,
    /// A session's directory is not there, and the host refused to open it without.
    #[error("{key} works in {cwd}, which is not there; bring it back or move the session")]
    MissingCwd {
        /// The session.
        key: StorageKey,
        /// Its directory.
        cwd: String,
    },
    /// The host's own code failed.
    #[error("{what} failed")]
    Host {
        /// Which part of it.
        what: &'static str,
        /// Why.
        #[source]
        source: Arc<dyn std::error::Error + Send + Sync>,
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
    /// A session whose key does not end in `.jsonl`, and so has no place for artifacts.
    #[error("{key} does not end in .jsonl, so it has no artifacts; rename it")]
    NoArtifacts {
        /// The session.
        key: StorageKey,
    },
    /// The id of a child agent that can be no part of a file's name.
    #[error(
        "agent id {agent:?} cannot be the name of a session; use letters, digits, `-` and `_`, at most 64"
    )]
    InvalidAgent {
        /// The id.
        agent: String,
    },
    /// JSON that cannot be read.
    #[error(transparent)]
    InvalidJson(#[from] InvalidJson),
    /// Secrets cannot be looked for, so nothing was handed on or written.
    #[cfg(feature = "export")]
    #[error(transparent)]
    Redact(#[from] crate::redact::RedactError),
}

impl SessionError {
    pub(crate) fn host(
        what: &'static str,
        source: Box<dyn std::error::Error + Send + Sync>,
    ) -> Self {
        Self::Host { what, source: source.into() }
    }

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

/// Returns an error with its causes, in one line.
pub(crate) fn with_sources(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
