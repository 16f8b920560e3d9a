//! Sessions of other hosts: fetched from the remote, followed, taken over, forked where two wrote.
//!
//! A [`Replica`] compares this host's copy of a session with the remote's and moves only this
//! host's: what is missing comes whole, what grew is appended, what was rewritten elsewhere is
//! replaced, what was removed goes to the trash. Lines that only this host has are never
//! overwritten: where the remote went on without them they become a session of their own.

mod claim;
mod courier;
mod error;
mod fetch;
mod follow;
mod fork;
mod list;
mod objects;
mod patient;
mod push;
mod removal;
mod replace;
mod shared;
mod standing;
mod tail;
mod update;

use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex};

use session_model::storage::{Holder, StorageError, StorageErrorKind, StorageKey};

use crate::remote::{Checked, Remote, SessionState, SkippedRows};
use crate::storage::IndexedStorage;
use tail::Tail;

pub use claim::TakeOver;
pub use error::ReplicaError;
pub use follow::{Cursor, Followed};
pub use list::{Origin, RemoteSession, SharedRow, SharedRows};
pub use push::Repair;
pub use shared::{SharedOptions, SharedStorage};
pub use standing::Standing;

/// The result of a call to a [`Replica`].
pub type Result<T, E = ReplicaError> = std::result::Result<T, E>;

/// How often a session that changes while it is read is read anew.
const TRIES: usize = 8;

/// This host's copies of what is on a remote.
///
/// Several may exist, in one process and in several: every change of a local file goes through the
/// storage's claims, and is made only from the state that was compared.
///
/// # Cancel safety
///
/// Every call can be cancelled, or end in an error, at any point: a local session is whole before
/// and after, and the same call made again finishes what was begun.
pub struct Replica {
    local: Arc<IndexedStorage>,
    remote: Arc<dyn Remote>,
    owner: String,
    /// The hashes of files that were fetched, so that following reads new bytes only.
    tails: Mutex<HashMap<StorageKey, Tail>>,
    /// What was left out of sessions that are being pulled.
    refused: Mutex<HashMap<StorageKey, SkippedRows>>,
}

/// What a [pull](Replica::pull) came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Pulled {
    /// What became of the local copy.
    pub outcome: Outcome,
    /// Blobs the session names that the remote does not have either.
    pub missing: Vec<StorageKey>,
    /// Blobs and artifacts that the remote names and that cannot be used.
    pub refused: SkippedRows,
}

/// What became of the local copy of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Outcome {
    /// The remote has no such session.
    Unknown,
    /// Both have the same.
    Same,
    /// This host has what the remote lacks.
    Ahead,
    /// It was missing here.
    Installed,
    /// Lines were appended.
    Grown {
        /// How many bytes.
        bytes: u64,
    },
    /// It was rewritten elsewhere, and this host had nothing of its own.
    Replaced,
    /// Lines of this host that the remote went on without, or lost, are a session of their own
    /// now; the session itself is as on the remote.
    Forked {
        /// The new session.
        to: StorageKey,
    },
    /// It was removed elsewhere.
    Removed {
        /// Where it is in the trash; `None` if it was not here.
        trashed: Option<StorageKey>,
        /// Lines of this host that nobody else has.
        fork: Option<StorageKey>,
    },
    /// It was moved elsewhere, and so it was here: by this call, or before.
    Moved {
        /// Where it is now.
        to: StorageKey,
        /// Lines of this host that nobody else has.
        fork: Option<StorageKey>,
    },
    /// It was removed here, and the remote does not know yet.
    RemovedHere,
    /// A writer of this host has it open; pull again once it is closed.
    InUse(Box<Holder>),
}

impl Replica {
    /// Compares a storage with a remote, whose answers are [checked](Checked); `owner` is the name
    /// this host claims sessions by.
    pub fn new(
        local: Arc<IndexedStorage>,
        remote: Arc<dyn Remote>,
        owner: impl Into<String>,
    ) -> Self {
        let remote = Arc::new(Checked::new(remote));
        let (tails, refused) = (Mutex::default(), Mutex::default());
        Self { local, remote, owner: owner.into(), tails, refused }
    }

    /// Brings the local copy of a session to the state of the remote's.
    ///
    /// A session that was removed here is not fetched again; [`restore`](Self::restore) does.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`]. [`RemoteError::Damaged`](crate::remote::RemoteError::Damaged) if what the
    /// remote has is not what was written; the local copy stays as it is then.
    pub async fn pull(&self, session: &StorageKey) -> Result<Pulled> {
        self.pull_unless(session, |_| Ok(false)).await
    }

    /// Pulls a session unless it need not be for what the remote says of it.
    async fn pull_unless(
        &self,
        session: &StorageKey,
        needless: impl Fn(&SessionState) -> Result<bool>,
    ) -> Result<Pulled> {
        let _alone = self.local.alone(session).await;
        let mut missing = Vec::new();
        drop(self.take_refused(session));
        for _ in 0..TRIES {
            let outcome = match self.remote.state(session).await? {
                None => Some(Outcome::Unknown),
                Some(state) if needless(&state)? => Some(Outcome::Ahead),
                Some(state) => match &state.tombstone {
                    Some(tombstone) => self.removed(session, tombstone).await?,
                    None if state.digest.is_none() => Some(Outcome::Unknown),
                    None => self.update(session, &state, &mut missing).await?,
                },
            };
            if let Some(outcome) = outcome {
                if !matches!(outcome, Outcome::InUse(_)) {
                    self.local.unfence(session)?;
                }
                return Ok(Pulled { outcome, missing, refused: self.take_refused(session) });
            }
            missing.clear();
            drop(self.take_refused(session));
        }
        Err(ReplicaError::Restless(session.clone()))
    }

    /// Returns the storage of this host.
    pub fn local(&self) -> &Arc<IndexedStorage> {
        &self.local
    }

    /// Returns the remote, whose answers are checked.
    pub fn remote(&self) -> &Arc<dyn Remote> {
        &self.remote
    }

    /// Returns whether a claim is this host's, from this process or one before.
    ///
    /// # Errors
    ///
    /// [`ReplicaError::Index`].
    pub fn is_own(&self, owner: &str) -> Result<bool> {
        Ok(owner == self.owner || self.local.is_own(owner)?)
    }

    /// Tells whether this host made the last change of a session: what is here comes from that.
    fn wrote(&self, state: &SessionState) -> Result<bool> {
        state.writer().map_or(Ok(false), |writer| self.is_own(&writer))
    }

    /// As [`pull`](Self::pull), and fetches a session again that was removed here.
    ///
    /// # Errors
    ///
    /// As `pull`.
    pub async fn restore(&self, session: &StorageKey) -> Result<Pulled> {
        if found(self.local_head(session).await)?.is_none() {
            self.local.forget_removal(session)?;
        }
        self.pull(session).await
    }
}

impl fmt::Debug for Replica {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Replica").field("local", &self.local).field("remote", &self.remote).finish()
    }
}

/// Makes of an object that is not there, and no error, none.
fn found<T>(result: Result<T, StorageError>) -> Result<Option<T>, StorageError> {
    match result {
        Ok(found) => Ok(Some(found)),
        Err(error) if error.kind() == StorageErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
    }
}

/// What a refused claim of a local file means: it is in use, or changed since it was looked at.
fn refused(error: StorageError) -> Result<Option<Outcome>> {
    match error {
        StorageError::Busy { holder, .. } => Ok(Some(Outcome::InUse(holder))),
        StorageError::Conflict { .. }
        | StorageError::NotFound { .. }
        | StorageError::AlreadyExists { .. } => Ok(None),
        error => Err(error.into()),
    }
}
