//! Claims, states, listings and the feed.

use std::time::Duration;

use bytes::Bytes;
use session_model::storage::StorageKey;

use super::{Digest, Fence, Position, RemoteError, SessionMeta, Skipped};

/// What a server says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Check {
    /// Its version.
    pub version: String,
    /// Whether it takes writes.
    pub writable: bool,
    /// What an operator should change, one sentence each.
    pub warnings: Vec<String>,
}

/// A wish to write a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Claim {
    /// Who asks; not empty.
    pub owner: String,
    /// How long the claim is respected without being prolonged.
    pub lease: Duration,
    /// Whether the lease of another owner is ignored.
    pub force: bool,
    /// The highest epoch the owner has ever seen for this session.
    ///
    /// A remote that lost data must not give an epoch twice.
    pub seen_epoch: u64,
}

/// The answer to a [`Claim`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[must_use]
pub enum Claimed {
    /// The session is the owner's.
    Granted(Fence),
    /// Somebody else's lease lasts.
    Held {
        /// The claim.
        by: Fence,
        /// How long yet.
        left: Duration,
    },
}

/// What a remote knows of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SessionState {
    /// Generation and length of its log.
    pub position: Position,
    /// Digest of its log; `None` while nothing was written.
    pub digest: Option<Digest>,
    /// The newest claim; the owner is empty when nobody has it.
    pub fence: Fence,
    /// What listings show.
    pub meta: Bytes,
    /// Set once the session was removed.
    pub tombstone: Option<Tombstone>,
}

/// What is left of a removed session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tombstone {
    /// The claim under which it was removed.
    pub by: Fence,
    /// Where it went, if it was renamed.
    pub moved_to: Option<StorageKey>,
}

/// Bytes of a log.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    /// Generation and length of the log at the moment of reading.
    pub position: Position,
    /// The bytes.
    pub bytes: Bytes,
}

/// A session in a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Listed {
    /// The session.
    pub session: StorageKey,
    /// Timestamp of its last change.
    pub activity: u64,
    /// What is known of it.
    pub state: SessionState,
}

/// A part of a listing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page {
    /// The sessions, the last active first.
    pub sessions: Vec<Listed>,
    /// What is listed and cannot be used.
    pub skipped: Vec<Skipped>,
    /// Where the next page begins; `None` at the end.
    pub next: Option<u64>,
}

/// What happened to a session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    /// Its log reached this position, or a later one.
    Written(Position),
    /// It was removed or renamed.
    Removed,
}

/// One entry of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Event {
    /// When, in microseconds.
    pub at: u64,
    /// The session.
    pub session: StorageKey,
    /// What happened.
    pub change: Change,
}

/// A part of the feed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Feed {
    /// The events, the oldest first.
    pub events: Vec<Event>,
    /// What is told and cannot be used.
    pub skipped: Vec<Skipped>,
    /// Whether more events wait already.
    pub more: bool,
    /// Where to go on.
    pub next: u64,
    /// False if events after the asked timestamp were dropped or lost: list the sessions anew.
    pub complete: bool,
}

/// A part of a list of objects.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Names {
    /// Their keys, sorted.
    pub keys: Vec<StorageKey>,
    /// What is listed and cannot be used.
    pub skipped: Vec<Skipped>,
    /// What the next part comes after; `None` at the end.
    pub next: Option<String>,
}

/// What became of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub enum Put {
    /// It is stored.
    Created,
    /// The same bytes were there already.
    Same,
    /// Other bytes are under this key; they stay.
    Differs,
}

impl SessionState {
    /// Returns who made the last change, as far as is known.
    pub(crate) fn writer(&self) -> Option<String> {
        match &self.tombstone {
            Some(tombstone) => Some(tombstone.by.owner.clone()),
            None => SessionMeta::read(&self.meta).writer,
        }
    }
}

impl Claim {
    /// Refuses an owner nobody could tell from none.
    pub(crate) fn validate(&self, session: &StorageKey) -> Result<(), RemoteError> {
        if !self.owner.is_empty() {
            return Ok(());
        }
        Err(RemoteError::Invalid { key: session.clone(), reason: "a claim without an owner" })
    }
}
