//! Publishing what was asked for, wherever it comes from.

use session_model::storage::StorageKey;

use super::{Origin, Replica, Result};
use crate::publish::{Verified, verify};

/// What became of the wish to write a session anew on the remote.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Repair {
    /// The remote has all of it.
    Whole,
    /// It is written anew by the publisher.
    Begun,
    /// This host's copy has not all that was lost.
    NotHere,
}

impl Replica {
    /// Has everything published that is here and that the remote lacks, also of sessions that this
    /// host only fetched; returns which those are.
    ///
    /// What is on the remote stays.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`](super::ReplicaError) if one of the two could not be asked.
    pub async fn push(&self) -> Result<Vec<StorageKey>> {
        let mut lacking = Vec::new();
        for row in self.sessions().await?.rows {
            let there = row.remote.as_ref().map_or(0, |remote| remote.position.length);
            let is_longer = row.here.as_ref().is_some_and(|here| here.indexed > there);
            if row.origin() != Origin::Remote && is_longer {
                self.local.publish_told(&row.session)?;
                lacking.push(row.session);
            }
        }
        Ok(lacking)
    }

    /// Has a session written anew of which the remote has lost bytes, if this host's copy has them.
    ///
    /// # Errors
    ///
    /// [`ReplicaError`](super::ReplicaError).
    pub async fn repair(&self, session: &StorageKey) -> Result<Repair> {
        match verify(&*self.local, &*self.remote, session).await? {
            Verified::Damaged { here: true } => {
                self.local.repair(session)?;
                Ok(Repair::Begun)
            }
            Verified::Damaged { here: false } => Ok(Repair::NotHere),
            _ => Ok(Repair::Whole),
        }
    }
}
