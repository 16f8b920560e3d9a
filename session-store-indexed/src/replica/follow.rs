//! Following what other hosts write.

use std::collections::BTreeSet;

use session_model::storage::StorageKey;

use super::list::Listing;
use super::{Outcome, Pulled, Replica, ReplicaError, Result, found};
use crate::remote::{RemoteError, SessionState, Skipped, SkippedRows};

/// How many events are asked for at once.
const PAGE: usize = 1000;

/// How far the changes on a remote were followed.
///
/// A new one begins with a list of all sessions. It is not kept across restarts, nor need it be.
#[derive(Clone, Debug, Default)]
pub struct Cursor {
    scope: Scope,
    /// The timestamp of the last change that was seen; `None` before the first list.
    at: Option<u64>,
    /// Sessions that changed and could not be brought up to date yet.
    open: BTreeSet<StorageKey>,
    /// What was left out since it was last taken.
    skipped: SkippedRows,
}

/// Which sessions are followed.
#[derive(Clone, Debug, Default)]
enum Scope {
    #[default]
    Here,
    All,
    Only(BTreeSet<StorageKey>),
}

/// What a [step](Replica::follow) of following came to.
#[derive(Debug)]
#[non_exhaustive]
pub struct Followed {
    /// The sessions that changed, and what became of the local copies.
    pub sessions: Vec<(StorageKey, Result<Pulled>)>,
    /// Whether more changes wait already.
    pub more: bool,
    /// What the remote named and cannot be used.
    pub skipped: SkippedRows,
}

impl Cursor {
    /// Follows the sessions that this host has a copy of.
    pub fn here() -> Self {
        Self::default()
    }

    /// Follows every session, and fetches those that are missing here.
    pub fn all() -> Self {
        Self { scope: Scope::All, ..Self::default() }
    }

    /// Has a session tried again with the next step.
    pub fn try_again(&mut self, session: StorageKey) {
        self.open.insert(session);
    }

    /// Returns what the remote named and could not be used, since the last call or step.
    pub fn take_skipped(&mut self) -> SkippedRows {
        std::mem::take(&mut self.skipped)
    }

    /// Follows these sessions only, and fetches those that are missing here.
    pub fn only(sessions: impl IntoIterator<Item = StorageKey>) -> Self {
        Self { scope: Scope::Only(sessions.into_iter().collect()), ..Self::default() }
    }
}

impl Replica {
    /// Brings the local copies up to date with what changed since the last step.
    ///
    /// Returns at once if nothing did; call it again after a while. A session that could not be
    /// brought up to date, because the remote was away or a writer has it open, is tried again
    /// with the next step. Where the remote does not remember all changes since the last step, or
    /// lost some, all sessions are compared.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`] if nothing could be learned from the remote; the cursor stays.
    pub async fn follow(&self, cursor: &mut Cursor) -> Result<Followed> {
        let more = match cursor.at {
            None => self.list_anew(cursor).await?,
            Some(after) => {
                let feed = match self.remote.feed(after, PAGE).await {
                    // A feed that is none says nothing of the sessions.
                    Err(error @ RemoteError::Protocol(_)) => {
                        cursor.skipped.add(vec![Skipped::new("the feed of changes", error)]);
                        None
                    }
                    feed => Some(feed?).filter(|feed| feed.complete),
                };
                match feed {
                    Some(feed) => {
                        cursor.open.extend(feed.events.into_iter().map(|event| event.session));
                        cursor.skipped.add(feed.skipped);
                        cursor.at = Some(feed.next);
                        feed.more
                    }
                    None => {
                        cursor.at = None;
                        self.list_anew(cursor).await?
                    }
                }
            }
        };
        let mut sessions = Vec::new();
        for session in std::mem::take(&mut cursor.open) {
            match self.is_in(&cursor.scope, &session).await {
                Ok(true) => {}
                Ok(false) => continue,
                Err(error) => {
                    sessions.push((session, Err(error)));
                    continue;
                }
            }
            // What this host writes itself is nothing to fetch, once what was there is.
            let epoch = self.local.agreed(&session)?.map_or(0, |agreed| agreed.epoch);
            let is_ours = |state: &SessionState| {
                Ok(state.fence.epoch <= epoch && self.is_own(&state.fence.owner)?)
            };
            let pulled = self.pull_unless(&session, is_ours).await;
            let again = match &pulled {
                Ok(pulled) => matches!(pulled.outcome, Outcome::InUse(_)),
                Err(ReplicaError::Remote(error)) => error.is_temporary(),
                Err(_) => true,
            };
            if again {
                cursor.open.insert(session.clone());
            }
            sessions.push((session, pulled));
        }
        Ok(Followed { sessions, more, skipped: cursor.take_skipped() })
    }

    /// Lists the sessions to begin with, for a caller that pulls them one by one; those that it
    /// could not pull are to be [tried again](Cursor::try_again).
    ///
    /// # Errors
    ///
    /// As [`follow`](Self::follow).
    pub async fn begin(&self, cursor: &mut Cursor) -> Result<Vec<StorageKey>> {
        self.list_anew(cursor).await?;
        let mut found = Vec::new();
        for session in std::mem::take(&mut cursor.open) {
            // One that cannot be looked at fails alone, when it is pulled.
            if !matches!(self.is_in(&cursor.scope, &session).await, Ok(false)) {
                found.push(session);
            }
        }
        Ok(found)
    }

    /// Notes every session of the remote as changed. What changes meanwhile is in the feed, since
    /// the cursor is where the list began.
    async fn list_anew(&self, cursor: &mut Cursor) -> Result<bool> {
        let mut listing = Listing::default();
        let mut at = None;
        while let Some(sessions) = listing.next(&*self.remote).await? {
            at = at.or(sessions.first().map(|listed| listed.activity));
            cursor.open.extend(sessions.into_iter().map(|listed| listed.session));
        }
        cursor.skipped.add_all(listing.skipped);
        cursor.at = Some(at.unwrap_or_default());
        Ok(false)
    }

    async fn is_in(&self, scope: &Scope, session: &StorageKey) -> Result<bool> {
        match scope {
            Scope::All => Ok(true),
            Scope::Only(sessions) => Ok(sessions.contains(session)),
            Scope::Here => Ok(found(self.local_head(session).await)?.is_some()),
        }
    }
}
