//! How much a remote may make this host take.

/// The highest number a remote may give as an epoch, a generation or a time: 2^53 - 1.
///
/// Scripts of a server count in floating point, which is exact up to it.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;

/// The most rows of one listing that are looked at: 10 million.
pub const MAX_LISTED: u64 = 10_000_000;

/// The longest lease of another host that is believed, in seconds: 10 years.
pub(crate) const MAX_LEASE_SECONDS: u64 = 10 * 366 * 86_400;

/// The most bytes of a claim's owner.
pub(crate) const MAX_OWNER: usize = 256;

/// How much a remote may make this host take; more is refused, and told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteLimits {
    /// The most bytes of one session; default: 2 GiB.
    pub session_bytes: u64,
    /// The most bytes of one blob or artifact; default and most: 256 MiB
    /// ([`MAX_OBJECT_BYTES`](super::MAX_OBJECT_BYTES)).
    pub object_bytes: u64,
}

impl Default for RemoteLimits {
    fn default() -> Self {
        Self { session_bytes: 2 << 30, object_bytes: super::MAX_OBJECT_BYTES as u64 }
    }
}

impl RemoteLimits {
    /// These limits with another for sessions.
    #[must_use]
    pub fn session_bytes(self, session_bytes: u64) -> Self {
        Self { session_bytes, ..self }
    }

    /// These limits with another for blobs and artifacts.
    #[must_use]
    pub fn object_bytes(self, object_bytes: u64) -> Self {
        Self { object_bytes: object_bytes.min(super::MAX_OBJECT_BYTES as u64), ..self }
    }
}
