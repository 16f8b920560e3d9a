//! The one error of all backends.

use std::error::Error;
use std::fmt;
use std::sync::Arc;

use super::StorageKey;
use super::key::InvalidKey;

/// What kind of thing went wrong, for decisions in code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum StorageErrorKind {
    /// There is no such object.
    NotFound,
    /// The object exists already.
    AlreadyExists,
    /// The object is not in the expected state.
    Conflict,
    /// A live exclusive writer holds the object.
    Busy,
    /// The writer was closed, by its owner or by an earlier error.
    Closed,
    /// The request makes no sense, whatever the state of the store.
    Invalid,
    /// This backend cannot do that.
    Unsupported,
    /// The system refused access.
    Denied,
    /// There is no space left.
    Full,
    /// The store cannot be reached or did not answer in time.
    Unavailable,
    /// What is stored is damaged.
    Corrupt,
    /// Another host has taken the object over.
    Fenced,
    /// Anything else.
    Other,
}

/// Who holds an object, as far as is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Holder {
    /// The name the holder gave itself.
    pub owner: Option<String>,
    /// The holder's process id.
    pub pid: Option<u32>,
    /// The host the holder runs on.
    pub host: Option<String>,
    /// When the claim was made, as text in ISO 8601.
    pub since: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.owner.as_deref().unwrap_or("another writer"))?;
        if let Some(pid) = self.pid {
            write!(f, ", process {pid}")?;
        }
        if let Some(host) = &self.host {
            write!(f, " on {host}")?;
        }
        if let Some(since) = &self.since {
            write!(f, ", since {since}")?;
        }
        Ok(())
    }
}

/// A failed storage operation.
///
/// The message does not repeat the source; print the chain to see both. Cloning is cheap.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StorageError {
    /// There is no such object.
    #[error("{key} does not exist")]
    NotFound {
        /// The missing object.
        key: StorageKey,
    },
    /// The object exists already.
    #[error("{key} exists already")]
    AlreadyExists {
        /// The existing object.
        key: StorageKey,
    },
    /// The object is not in the expected state.
    #[error("{key} is not as expected: {detail}; read it again before writing")]
    Conflict {
        /// The object in question.
        key: StorageKey,
        /// What differs.
        detail: String,
    },
    /// A live exclusive writer holds the object.
    #[error("{key} is in use by {holder}; open it read-only, fork it, or end that writer")]
    Busy {
        /// The held object.
        key: StorageKey,
        /// Who holds it.
        holder: Box<Holder>,
    },
    /// The writer was closed, by its owner or by an earlier error.
    #[error("the writer of {key} is closed; open a new one")]
    Closed {
        /// The object it wrote.
        key: StorageKey,
        /// The error that closed it.
        #[source]
        source: Option<Arc<StorageError>>,
    },
    /// The request makes no sense, whatever the state of the store.
    #[error("invalid request: {detail}")]
    Invalid {
        /// What is wrong with it.
        detail: String,
    },
    /// This backend cannot do that.
    #[error("this storage does not support {what}")]
    Unsupported {
        /// What it does not support.
        what: String,
    },
    /// What lies at the place is no object but, say, a link or a pipe; it was neither followed nor
    /// read, and stays as it is.
    #[error("{} {key}: {what}", failed_to(.operation))]
    NotAnObject {
        /// What kind of failure it counts as: `Denied` or `Invalid`.
        kind: StorageErrorKind,
        /// What was being done, as a verb in plain form: `read`.
        operation: &'static str,
        /// The place.
        key: StorageKey,
        /// What lies there.
        what: &'static str,
    },
    /// A failure of what lies below the backend.
    #[error("{} {key}: {what}", failed_to(.operation))]
    Failed {
        /// What kind of failure it was: `Denied`, `Full`, `Unavailable`, `Corrupt`, `Fenced` or
        /// `Other`.
        kind: StorageErrorKind,
        /// What was being done, as a verb in plain form: `append to`.
        operation: &'static str,
        /// The object it was done to.
        key: StorageKey,
        /// What to make of it, in a few words.
        what: &'static str,
        /// Whether trying again can help.
        retryable: bool,
        /// What happened below.
        #[source]
        source: Option<Arc<dyn Error + Send + Sync>>,
    },
}

fn failed_to(operation: &str) -> String {
    format!("could not {operation}")
}

impl StorageError {
    /// A failure of what lies below the backend, of one of the kinds `Denied`, `Full`,
    /// `Unavailable`, `Corrupt`, `Fenced` and `Other`.
    ///
    /// Only `Unavailable` counts as retryable.
    pub fn failed(
        kind: StorageErrorKind,
        operation: &'static str,
        key: StorageKey,
        source: impl Into<Box<dyn Error + Send + Sync>>,
    ) -> Self {
        let what = match kind {
            StorageErrorKind::Denied => "access was refused; check owner, permissions and links",
            StorageErrorKind::Full => "no space is left; free some and try again",
            StorageErrorKind::Unavailable => "the store did not answer; try again",
            StorageErrorKind::Corrupt => "what is stored is damaged",
            StorageErrorKind::Fenced => "another host has taken it over",
            _ => "the system reported an error",
        };
        Self::Failed {
            kind,
            operation,
            key,
            what,
            retryable: kind == StorageErrorKind::Unavailable,
            source: Some(Arc::from(source.into())),
        }
    }

    /// The conflict of an object that ends before a part of it that is wanted.
    pub fn ends_before(key: &StorageKey, part: &std::ops::Range<u64>) -> Self {
        let detail = format!("it has no bytes {} to {}", part.start, part.end);
        Self::Conflict { key: key.clone(), detail }
    }

    /// Returns the kind of this error.
    pub fn kind(&self) -> StorageErrorKind {
        match self {
            Self::NotFound { .. } => StorageErrorKind::NotFound,
            Self::AlreadyExists { .. } => StorageErrorKind::AlreadyExists,
            Self::Conflict { .. } => StorageErrorKind::Conflict,
            Self::Busy { .. } => StorageErrorKind::Busy,
            Self::Closed { .. } => StorageErrorKind::Closed,
            Self::Invalid { .. } => StorageErrorKind::Invalid,
            Self::Unsupported { .. } => StorageErrorKind::Unsupported,
            Self::NotAnObject { kind, .. } | Self::Failed { kind, .. } => *kind,
        }
    }

    /// Tells whether the same call can succeed later with nothing else changed.
    pub fn is_retryable(&self) -> bool {
        match self {
            Self::Busy { .. } => true,
            Self::Failed { retryable, .. } => *retryable,
            _ => false,
        }
    }

    /// Returns whether this says that something listed is no object: it lies where objects do, and
    /// has no content or no name that one could have.
    pub fn is_no_object(&self) -> bool {
        matches!(self, Self::NotAnObject { .. } | Self::Invalid { .. })
    }

    /// Returns the object this error speaks of, if it speaks of one.
    pub fn key(&self) -> Option<&StorageKey> {
        match self {
            Self::NotFound { key }
            | Self::AlreadyExists { key }
            | Self::Conflict { key, .. }
            | Self::Busy { key, .. }
            | Self::Closed { key, .. }
            | Self::NotAnObject { key, .. }
            | Self::Failed { key, .. } => Some(key),
            Self::Invalid { .. } | Self::Unsupported { .. } => None,
        }
    }
}

impl From<InvalidKey> for StorageError {
    fn from(error: InvalidKey) -> Self {
        Self::Invalid { detail: error.to_string() }
    }
}
