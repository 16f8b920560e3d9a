//! What can go wrong with a bundle.

use session_model::storage::{StorageError, StorageKey};

use crate::error::SessionError;

/// A failed operation on a bundle.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// The bytes are no bundle.
    #[error("this is no bundle of sessions")]
    NotABundle,
    /// It is encrypted.
    #[error(
        "this bundle is encrypted; a build with the feature `encrypt`, or `age --decrypt`, opens it"
    )]
    Encrypted,
    /// A newer version made it.
    #[error(
        "this bundle is of version {version}; this program reads up to {}",
        super::manifest::VERSION
    )]
    Newer {
        /// The version.
        version: i64,
    },
    /// It was cut short or changed; nothing of it was taken.
    #[error("the bundle is damaged: {reason}; get it again")]
    Damaged {
        /// What is wrong.
        reason: String,
    },
    /// It names a place that no bundle may.
    #[error("the bundle names {name:?}, which is no place of a session; it was not made by `pack`")]
    UnsafeName {
        /// The name.
        name: String,
    },
    /// It holds more than is allowed.
    #[error(
        "the bundle holds more than {limit} bytes; allow more where it is packed and where it is \
         unpacked, if you trust it"
    )]
    TooLarge {
        /// What is allowed, in bytes.
        limit: u64,
    },
    /// It holds more files than are allowed.
    #[error("the bundle holds more than {limit} files; pack fewer sessions together")]
    TooManyFiles {
        /// How many are allowed.
        limit: usize,
    },
    /// What it tells of its files and sessions is longer than is allowed.
    #[error(
        "the names and titles in the bundle have more than {limit} bytes; pack fewer sessions together"
    )]
    LongNames {
        /// What is allowed, in bytes.
        limit: u64,
    },
    /// The passphrase is not the one it was encrypted with.
    #[error("this passphrase does not open the bundle")]
    WrongPassphrase,
    /// It cannot be encrypted or decrypted.
    #[error("the encryption failed: {reason}")]
    Encryption {
        /// What is wrong.
        reason: String,
    },
    /// What is there already differs; nothing was changed.
    #[error("{} there already with other content; nothing was changed: {}", if keys.len() == 1 { "one file is" } else { "some files are" }, listed(keys))]
    Conflict {
        /// Where.
        keys: Vec<StorageKey>,
    },
    /// Secrets cannot be looked for, so none of it was handed on.
    #[cfg(feature = "export")]
    #[error(transparent)]
    Redact(#[from] crate::redact::RedactError),
    /// A session could not be read.
    #[error(transparent)]
    Session(#[from] SessionError),
    /// The storage reported an error.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl BundleError {
    pub(super) fn damaged(reason: impl ToString) -> Self {
        Self::Damaged { reason: reason.to_string() }
    }
}

/// How many keys are named in a message.
const NAMED: usize = 5;

fn listed(keys: &[StorageKey]) -> String {
    let named: Vec<_> = keys.iter().take(NAMED).map(StorageKey::as_str).collect();
    let more = keys.len() - named.len();
    let more = if more > 0 { format!(", {more} more") } else { String::new() };
    named.join(", ") + &more
}
