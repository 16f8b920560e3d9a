//! The sessions of this host and of the remote, in one list.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use session_model::storage::StorageKey;

use super::{Replica, Result};
use crate::index::{IndexedSession, SessionFilter};
use crate::remote::{Fence, Position, SessionMeta};

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
    /// Those that were removed elsewhere are listed as here until they are pulled.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`](super::ReplicaError) if one of the two could not be asked.
    pub async fn sessions(&self) -> Result<Vec<SharedRow>> {
        let row =
            |session: &StorageKey| SharedRow { session: session.clone(), here: None, remote: None };
        let mut rows = BTreeMap::new();
        for here in self.local.sessions(&SessionFilter::default())? {
            let key = here.key.clone();
            let row = row(&key);
            rows.insert(key, SharedRow { here: Some(here), ..row });
        }
        let mut before = None;
        loop {
            let page = self.remote.list(before, PAGE).await?;
            for listed in page.sessions {
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
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        let mut rows: Vec<_> = rows.into_values().collect();
        rows.sort_by_key(|row| Reverse(row.activity_ms()));
        Ok(rows)
    }
}
