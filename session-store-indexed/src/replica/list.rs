//! The sessions of this host and of the remote, in one list.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use session_model::storage::StorageKey;

use super::{Replica, Result};
use crate::index::{IndexedSession, SessionFilter};
use crate::remote::{
    Fence, Listed, MAX_LISTED, Position, Remote, SessionMeta, Skipped, SkippedRows,
};

/// How many sessions are asked for at once.
const PAGE: usize = 1000;

/// Where a session is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// On this host only.
    Here,
    /// On the remote only.
    Remote,
    /// On both.
    Both,
}

/// What the remote says of a session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct RemoteSession {
    /// Generation and length of its log.
    pub position: Position,
    /// When it was last changed, in microseconds since the epoch, by the remote's clock.
    pub changed_us: u64,
    /// The newest claim; the owner is empty when nobody has it.
    pub fence: Fence,
    /// What the host that wrote it says of it.
    pub meta: SessionMeta,
}

/// A session in the list of both.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SharedRow {
    /// The session.
    pub session: StorageKey,
    /// What the index says; `None` if it is not here.
    pub here: Option<IndexedSession>,
    /// What the remote says; `None` if it is not there.
    pub remote: Option<RemoteSession>,
}

/// The list of both.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SharedRows {
    /// The sessions, the last active first.
    pub rows: Vec<SharedRow>,
    /// What the remote lists and cannot be used.
    pub skipped: SkippedRows,
}

impl SharedRow {
    /// Returns where the session is.
    pub fn origin(&self) -> Origin {
        match (&self.here, &self.remote) {
            (Some(_), Some(_)) => Origin::Both,
            (None, Some(_)) => Origin::Remote,
            _ => Origin::Here,
        }
    }

    /// Returns when somebody last said something, in milliseconds since the epoch.
    pub fn activity_ms(&self) -> Option<i64> {
        let here = self.here.as_ref().and_then(|here| here.activity_ms);
        let remote = self.remote.as_ref().and_then(|remote| remote.meta.activity_ms);
        here.max(remote)
    }
}

impl Replica {
    /// Lists the sessions of this host and of the remote, the last active first.
    ///
    /// What the remote lists and cannot be used is left out, and named. Those that were removed elsewhere are listed as here until they are pulled.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`](super::ReplicaError) if one of the two could not be asked.
    pub async fn sessions(&self) -> Result<SharedRows> {
        let row =
            |session: &StorageKey| SharedRow { session: session.clone(), here: None, remote: None };
        let mut rows = BTreeMap::new();
        for here in self.local.sessions(&SessionFilter::default())? {
            let key = here.key.clone();
            let row = row(&key);
            rows.insert(key, SharedRow { here: Some(here), ..row });
        }
        let mut listing = Listing::default();
        while let Some(sessions) = listing.next(&*self.remote).await? {
            for listed in sessions {
                let state = listed.state;
                if state.tombstone.is_some() || state.digest.is_none() {
                    continue;
                }
                let remote = RemoteSession {
                    position: state.position,
                    changed_us: listed.activity,
                    fence: state.fence,
                    meta: SessionMeta::read(&state.meta),
                };
                let session = listed.session;
                rows.entry(session.clone()).or_insert_with(|| row(&session)).remote = Some(remote);
            }
        }
        let mut rows: Vec<_> = rows.into_values().collect();
        rows.sort_by_key(|row| Reverse(row.activity_ms()));
        Ok(SharedRows { rows, skipped: listing.skipped })
    }
}

/// A listing of a remote, read page by page.
#[derive(Debug, Default)]
pub(super) struct Listing {
    before: Option<u64>,
    rows: u64,
    is_over: bool,
    /// What was left out by now.
    pub(super) skipped: SkippedRows,
}

impl Listing {
    /// Reads the next page; `None` at the end.
    pub(super) async fn next(&mut self, remote: &dyn Remote) -> Result<Option<Vec<Listed>>> {
        if self.is_over {
            return Ok(None);
        }
        let page = remote.list(self.before, PAGE).await?;
        // Rows without a session count as well.
        self.rows = self.rows.saturating_add(PAGE as u64);
        self.skipped.add(page.skipped);
        self.before = page.next;
        self.is_over = page.next.is_none();
        if !self.is_over && self.rows >= MAX_LISTED {
            let reason = format!("the remote lists more than {MAX_LISTED} sessions");
            self.skipped.add(vec![Skipped::new("all further sessions", reason)]);
            self.is_over = true;
        }
        Ok(Some(page.sessions))
    }
}
