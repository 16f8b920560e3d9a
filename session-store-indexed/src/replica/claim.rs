//! Taking a session over from another host, and giving it up.

use std::time::Duration;

use session_model::storage::StorageKey;

use super::{Pulled, Replica, ReplicaError, Result};
use crate::remote::{Claim, Claimed, Fence};

/// What a wish to write a session came to.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TakeOver {
    /// The remote has no such session; there is nothing to take over.
    Unknown,
    /// Another host has it.
    Held {
        /// The claim.
        by: Fence,
        /// How long it lasts unless it is prolonged.
        left: Duration,
    },
    /// The session is this host's.
    Taken {
        /// The claim.
        fence: Fence,
        /// What became of the local copy, which is as on the remote now.
        pulled: Pulled,
    },
}

impl Replica {
    /// Claims a session for this host, and then brings the local copy to the remote's state, so
    /// that it can be gone on with.
    ///
    /// Refused while another host's lease lasts, unless `force` is set. Whoever had the session
    /// is fenced: what that host has not published becomes a fork there. For a claim this host
    /// has already, `lease` begins anew.
    ///
    /// # Errors
    ///
    /// As [`pull`](Self::pull). A claim that was made for it is given up again, unless the remote
    /// does not answer.
    pub async fn take_over(
        &self,
        session: &StorageKey,
        lease: Duration,
        force: bool,
    ) -> Result<TakeOver> {
        let before = match self.remote.state(session).await? {
            Some(state) if state.tombstone.is_none() && state.digest.is_some() => state.fence,
            _ => return Ok(TakeOver::Unknown),
        };
        let seen_epoch = self.local.seen_epoch(session)?;
        let claim = Claim { owner: self.owner.clone(), lease, force, seen_epoch };
        match self.remote.claim(session, &claim).await? {
            Claimed::Held { by, left } => Ok(TakeOver::Held { by, left }),
            Claimed::Granted(fence) => {
                let taken = match self.local.note_claim(session, fence.epoch) {
                    Ok(()) => self.pull(session).await,
                    Err(error) => Err(error.into()),
                };
                match taken {
                    Ok(pulled) => Ok(TakeOver::Taken { fence, pulled }),
                    Err(error) => {
                        if fence != before {
                            self.give_back(session, &fence).await;
                        }
                        Err(error)
                    }
                }
            }
        }
    }

    /// Gives up a claim that came to nothing.
    async fn give_back(&self, session: &StorageKey, fence: &Fence) {
        if let Err(error) = self.remote.release(session, fence).await {
            tracing::warn!(%session, %error, "the claim is not given up; it ends by itself");
        }
    }

    /// Gives a session up so that another host need not wait; tells whether this host had it.
    ///
    /// # Errors
    ///
    /// [`ReplicaError::Remote`] and [`ReplicaError::Index`].
    pub async fn release(&self, session: &StorageKey) -> Result<bool, ReplicaError> {
        let state = self.remote.state(session).await?;
        let Some(state) = state else { return Ok(false) };
        if state.fence.owner.is_empty() || !self.is_own(&state.fence.owner)? {
            return Ok(false);
        }
        self.remote.release(session, &state.fence).await?;
        Ok(true)
    }
}
