//! Sessions that are gone.

use session_model::storage::StorageKey;

use super::publisher::{Publisher, Result};
use crate::outbox::{self, Agreed, BlockKind, Row};
use crate::remote::{Applied, Digest, Position, SessionState};

impl Publisher {
    /// Leaves a tombstone for a session that is gone here, unless another host went on with it.
    pub(super) async fn remove(
        &mut self,
        row: &Row,
        moved_to: &Option<StorageKey>,
    ) -> Result<bool> {
        let key = &row.key;
        self.live.remove(key);
        let agreed = self.database.run(|connection| outbox::agreed(connection, key))?;
        let state = self.remote.state(key).await?;
        let Some(state) = state else {
            self.database.run(|connection| outbox::finish(connection, row.seq))?;
            return Ok(true);
        };
        if state.tombstone.is_some() {
            return self.removed(row, state.fence.epoch);
        }
        if self.database.run(|connection| outbox::ordered(connection, key))?.is_none() {
            tracing::warn!(
                %key, "it is gone here, and no program removed it through its storage: it stays on the \
                remote, from where it can be fetched again"
            );
            self.database.run(|connection| {
                outbox::forget(connection, key)?;
                outbox::finish(connection, row.seq)
            })?;
            return Ok(true);
        }
        if state.digest.is_some() && !self.is_known(agreed.as_ref(), &state)? {
            tracing::warn!(%key, "removed here, but another host has gone on with it; it stays there");
            return self.removed(row, state.fence.epoch);
        }
        let seen = agreed.map_or(0, |agreed| agreed.epoch).max(state.fence.epoch);
        let Some(fence) = self.claim(key, seen).await? else { return Ok(false) };
        // Only now nobody else can change it.
        let now = self.remote.state(key).await?;
        if now.is_none_or(|now| now != SessionState { fence: fence.clone(), ..state }) {
            self.remote.release(key, &fence).await?;
            return Ok(true);
        }
        match self.remote.remove(key, &fence, moved_to.as_ref()).await {
            Ok(Applied::Ok | Applied::Dup) => {}
            Ok(_) => return Ok(true),
            Err(error) if error.is_temporary() => return Err(error.into()),
            Err(error) => {
                self.block(key, BlockKind::Refused, &error.to_string())?;
                return Ok(true);
            }
        }
        self.removed(row, fence.epoch)
    }

    /// Notes that there is nothing of a session here, and nothing there that was here.
    fn removed(&mut self, row: &Row, epoch: u64) -> Result<bool> {
        let (position, digest) = (Position::default(), Digest::of(b""));
        let agreed = Agreed { position, digest, epoch };
        self.database.run(|connection| {
            outbox::agree(connection, &row.key, &agreed)?;
            outbox::finish(connection, row.seq)
        })?;
        self.fulfil(&row.key)?;
        Ok(true)
    }
}
