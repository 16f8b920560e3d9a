//! Whether the remote has what this host has, asked of the remote itself.

use std::collections::BTreeMap;

use session_model::storage::StorageKey;

use super::list::Listing;
use super::{Replica, Result};
use crate::index::SessionFilter;
use crate::outbox::Agreed;
use crate::remote::{RemoteError, SessionState, SkippedRows};

/// How the sessions of this host stand on the remote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Standing {
    /// How many the remote has whole.
    pub confirmed: u64,
    /// Those of which it lacks something.
    pub lacking: Vec<StorageKey>,
    /// Those it went on with: there is something to pull.
    pub ahead: Vec<StorageKey>,
    /// What it names and cannot be used.
    pub skipped: SkippedRows,
}

impl Replica {
    /// Asks the remote for all sessions of this host, those that are blocked left out.
    ///
    /// What is compared is what each side knows of its log, and no bytes.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`](super::ReplicaError) if one of the two could not be asked.
    pub async fn standing(&self) -> Result<Standing> {
        let mut here = BTreeMap::new();
        let blocked = self.local.blocked()?;
        for session in self.local.sessions(&SessionFilter::default())? {
            let is_blocked = blocked.iter().any(|blocked| blocked.key == session.key);
            if session.problem.is_none() && session.indexed > 0 && !is_blocked {
                here.insert(session.key, session.indexed);
            }
        }
        let mut standing = Standing::default();
        let mut listing = Listing::default();
        // With nothing to confirm this shows that the remote answers, and whom.
        while let Some(sessions) = listing.next(&*self.remote).await? {
            for listed in sessions {
                if let Some(length) = here.remove(&listed.session) {
                    self.stand(&mut standing, listed.session, length, Some(&listed.state))?;
                }
            }
            if here.is_empty() {
                break;
            }
        }
        standing.skipped = listing.skipped;
        // One that is written meanwhile can be missed in a list.
        for (session, length) in here {
            match self.remote.state(&session).await {
                Err(RemoteError::Malformed { .. }) => standing.lacking.push(session),
                state => self.stand(&mut standing, session, length, state?.as_ref())?,
            }
        }
        standing.lacking.sort();
        standing.ahead.sort();
        Ok(standing)
    }

    fn stand(
        &self,
        standing: &mut Standing,
        session: StorageKey,
        length: u64,
        state: Option<&SessionState>,
    ) -> Result<()> {
        let agreed = self.local.agreed(&session)?;
        match state.filter(|state| state.digest.is_some() && state.tombstone.is_none()) {
            None => standing.lacking.push(session),
            Some(state) => match agreed {
                Some(agreed) if is_same(&agreed, state) && agreed.position.length >= length => {
                    standing.confirmed += 1;
                }
                Some(agreed) if is_same(&agreed, state) || state.position < agreed.position => {
                    standing.lacking.push(session);
                }
                _ => standing.ahead.push(session),
            },
        }
        Ok(())
    }
}

fn is_same(agreed: &Agreed, state: &SessionState) -> bool {
    agreed.position == state.position && state.digest == Some(agreed.digest)
}
