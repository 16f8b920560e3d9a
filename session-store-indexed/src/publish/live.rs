//! Sessions this host has claimed.

use sha2::Sha256;

use crate::remote::{Fence, Position};

/// A session this host has claimed, and what the remote has of it.
#[derive(Clone, Debug)]
pub(super) struct Live {
    pub(super) fence: Fence,
    /// When the claim is to be prolonged, in milliseconds since the epoch.
    pub(super) prolong_ms: i64,
    /// The generation of the local file that the remote has the beginning of.
    pub(super) generation: u64,
    /// What the remote confirmed.
    pub(super) position: Position,
    /// Hash of that.
    pub(super) hash: Sha256,
    /// False after an error: the remote may have more, or less.
    pub(super) is_sure: bool,
}

/// What can be done about a session now.
#[derive(Debug)]
pub(super) enum Ready {
    /// It is claimed, and what is missing there can be sent.
    Live,
    /// The remote has it all, or more.
    Nothing,
    /// Another host has it.
    Held,
    /// The remote went on without what is here.
    Diverged,
    /// The file is another, which no program of this storage wrote, and lacks what the remote has.
    Foreign,
    /// The file is not as it is indexed.
    Changed,
    /// The remote changed meanwhile, or has to be looked at again.
    Again,
}
