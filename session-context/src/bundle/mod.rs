//! Sessions in one file, with everything that belongs to them: blobs, artifacts, child sessions.
//!
//! [`Bundle::gather`] collects, [`Bundle::to_bytes`] writes, [`Bundle::from_bytes`] reads and checks
//! every byte, and [`Bundle::install`] puts all of it into a storage or nothing. The same sessions
//! give the same bytes. `docs/format.md` describes the file.

mod container;
#[cfg(feature = "encrypt")]
mod encrypted;
mod error;
mod gather;
mod install;
mod limits;
mod manifest;
#[cfg(feature = "export")]
mod redacted;
mod references;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use bytes::Bytes;
use session_model::storage::StorageKey;
use session_model::{BlobRef, Diagnostic};

#[cfg(feature = "encrypt")]
pub use encrypted::{decrypt, encrypt};
pub use error::BundleError;
pub use gather::BundleSource;
pub use install::Installed;
pub use limits::BundleLimits;

/// A session of a bundle.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct BundledSession {
    /// Its key in an agent directory.
    pub key: StorageKey,
    /// Its id.
    pub id: String,
    /// Its title.
    pub title: Option<String>,
    /// The directory it works in.
    pub cwd: Option<String>,
}

/// Sessions with all that belongs to them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bundle {
    sessions: Vec<BundledSession>,
    /// Everything by its key in an agent directory.
    members: BTreeMap<StorageKey, Bytes>,
    redacted: bool,
    missing: BTreeSet<BlobRef>,
    left_out: Vec<Diagnostic>,
}

impl Bundle {
    /// Returns the sessions, sorted by key; child sessions are not among them.
    pub fn sessions(&self) -> &[BundledSession] {
        &self.sessions
    }

    /// Returns everything the bundle holds, by its key in an agent directory.
    pub fn members(&self) -> &BTreeMap<StorageKey, Bytes> {
        &self.members
    }

    /// Tells whether secrets were hidden.
    pub fn is_redacted(&self) -> bool {
        self.redacted
    }

    /// Returns the blobs that are named and were not found, or were damaged, when it was gathered.
    pub fn missing_blobs(&self) -> &BTreeSet<BlobRef> {
        &self.missing
    }

    /// Makes sure that all of it is within limits.
    ///
    /// # Errors
    ///
    /// [`BundleError::TooLarge`], [`BundleError::TooManyFiles`].
    pub fn ensure_within(&self, limits: &BundleLimits) -> Result<(), BundleError> {
        limits.admit(self.size(), self.members.len())
    }

    /// Returns what lay among artifacts and is no file, such as a link or a pipe.
    pub fn left_out(&self) -> &[Diagnostic] {
        &self.left_out
    }

    /// Returns the size of everything in it, in bytes.
    pub fn size(&self) -> u64 {
        self.members.values().map(|bytes| bytes.len() as u64).sum()
    }
}
