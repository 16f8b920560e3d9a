//! What is sent to a session's log, and what is answered.

use std::fmt;

use bytes::Bytes;
use session_model::storage::StorageKey;

use super::{MAX_META_BYTES, MAX_UNIT_BYTES, RemoteError};

/// SHA-256 of a log from its first byte to some end.
///
/// A remote keeps it and never computes it; who reads the log back compares.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub [u8; 32]);

impl Digest {
    /// Computes the digest of bytes.
    pub fn of(bytes: &[u8]) -> Self {
        use sha2::Digest as _;
        Self(sha2::Sha256::digest(bytes).into())
    }
}

impl fmt::Display for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for Digest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// The right to change a session: the epoch a claim gave, and to whom.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fence {
    /// The epoch.
    pub epoch: u64,
    /// The owner, one name for each writer that ever lived.
    pub owner: String,
}

/// A place in the history of a session's log.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Position {
    /// How often the log was replaced.
    pub generation: u64,
    /// Bytes in it.
    pub length: u64,
}

/// Bytes for one place of a session's log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AppendUnit {
    /// The session.
    pub session: StorageKey,
    /// The claim.
    pub fence: Fence,
    /// Where the bytes begin.
    pub start: Position,
    /// The bytes, 1 to [`MAX_UNIT_BYTES`].
    pub bytes: Bytes,
    /// Digest of the log up to the end of these bytes.
    pub digest: Digest,
    /// What listings show, opaque, at most [`MAX_META_BYTES`].
    pub meta: Bytes,
}

impl AppendUnit {
    /// Refuses what no remote takes.
    pub(crate) fn validate(&self) -> Result<(), RemoteError> {
        let invalid = |reason| Err(RemoteError::Invalid { key: self.session.clone(), reason });
        match () {
            () if self.bytes.is_empty() => invalid("a unit without bytes"),
            () if self.bytes.len() > MAX_UNIT_BYTES => invalid("a unit above 1 MiB"),
            () if self.meta.len() > MAX_META_BYTES => invalid("metadata above 64 KiB"),
            () => Ok(()),
        }
    }
}

/// The end of a rewrite.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Rewrite {
    /// The session.
    pub session: StorageKey,
    /// The claim.
    pub fence: Fence,
    /// Generation and length of the new log.
    pub position: Position,
    /// Digest of the new log.
    pub digest: Digest,
    /// What listings show, opaque, at most [`MAX_META_BYTES`].
    pub meta: Bytes,
}

impl Rewrite {
    /// Refuses what no remote takes.
    pub(crate) fn validate(&self) -> Result<(), RemoteError> {
        if self.meta.len() <= MAX_META_BYTES {
            return Ok(());
        }
        Err(RemoteError::Invalid { key: self.session.clone(), reason: "metadata above 64 KiB" })
    }
}

/// What became of a change.
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Applied {
    /// Done.
    Ok,
    /// It was there already.
    Dup,
    /// What comes before it is missing, or is superseded: go on from `have`.
    Gap {
        /// What the remote has.
        have: Position,
    },
    /// Other bytes are at this place.
    Conflict {
        /// Offset of the first byte that differs.
        at: u64,
    },
    /// The claim is not the newest. An empty owner says that nobody has the session.
    Fenced(Fence),
}
