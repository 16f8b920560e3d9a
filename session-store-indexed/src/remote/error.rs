//! What can go wrong with a remote, and what to do then.

use session_model::storage::StorageKey;

/// An error of a remote.
///
/// No message holds a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RemoteError {
    /// The remote did not answer. Whether the call took effect is unknown: send the same again.
    #[error("the remote does not answer ({0}); the same call can be sent again")]
    Unavailable(String),
    /// The remote has no room for more.
    #[error("the remote is full ({0}); give it more memory, then send the same again")]
    Full(String),
    /// The server is a replica.
    #[error("the remote is read only ({0}); point the address at the primary")]
    ReadOnly(String),
    /// The user lacks a right, or is not known.
    #[error("the remote denies access ({0}); check user, password and access rules")]
    Denied(String),
    /// The server is not one that can keep sessions.
    #[error("the remote cannot keep sessions: {0}")]
    Unfit(String),
    /// The call itself is at fault and never succeeds.
    #[error("the remote cannot take {key}: {reason}")]
    Invalid {
        /// What it is about.
        key: StorageKey,
        /// Why.
        reason: &'static str,
    },
    /// Bytes of a session or object are missing or wrong.
    #[error("the remote has lost bytes of {0}; write it anew from a host that has it")]
    Damaged(StorageKey),
    /// The server answered something this program does not understand.
    #[error("the remote answers unexpectedly: {0}")]
    Protocol(String),
}

impl RemoteError {
    /// Whether the same call can succeed later without anybody changing it.
    pub fn is_temporary(&self) -> bool {
        matches!(self, Self::Unavailable(_) | Self::Full(_) | Self::ReadOnly(_) | Self::Denied(_))
    }
}
