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
    /// What the remote says of one session or object cannot be used; nothing here was changed.
    #[error("what the remote says of {key} cannot be used: {reason}")]
    Malformed {
        /// What it is about.
        key: StorageKey,
        /// Why.
        reason: String,
    },
    /// The server answers, and cannot take or give anything just now.
    #[error("the remote is not ready ({0}); the same call can be sent again")]
    NotReady(String),
    /// There is no connection that keeps others out, or none of the kind the server speaks.
    #[error("no secure connection to the remote: {0}")]
    Tls(String),
    /// The server answered something this program does not understand.
    #[error("the remote answers unexpectedly: {0}")]
    Protocol(String),
}

impl RemoteError {
    /// Returns whether the same call can succeed later: its reason is the server, and not what the
    /// call is about.
    pub fn is_temporary(&self) -> bool {
        match self {
            Self::Unavailable(_)
            | Self::NotReady(_)
            | Self::Full(_)
            | Self::ReadOnly(_)
            | Self::Denied(_)
            | Self::Tls(_)
            | Self::Unfit(_) => true,
            Self::Invalid { .. }
            | Self::Malformed { .. }
            | Self::Damaged(_)
            | Self::Protocol(_) => false,
        }
    }
}
