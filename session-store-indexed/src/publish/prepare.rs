//! Claiming a session, and finding out what the remote lacks of it.

use session_model::storage::StorageKey;

use super::Held;
use super::compare::Compared;
use super::live::{Live, Ready};
use super::publisher::{Publisher, Result};
use super::source::Source;
use crate::outbox::{self, Agreed, Order};
use crate::remote::{Claim, Claimed, Digest, Fence, Position};

impl Publisher {
    /// Claims a session unless there is nothing to send, and compares the remote with the file.
    ///
    /// What must be replaced on the remote is, if `may_rewrite`; else the answer is
    /// [`Ready::Again`].
    pub(super) async fn prepare(
        &mut self,
        source: &mut Source<'_>,
        stop: u64,
        may_rewrite: bool,
    ) -> Result<Ready> {
        let key = source.key;
        let agreed = self.database.run(|connection| outbox::agreed(connection, key))?;
        let order = self.database.run(|connection| outbox::ordered(connection, key))?;
        let is_damaged = order == Some(Order::Repair) || self.damaged.contains(key);
        match self.live.remove(key) {
            Some(live) if live.generation == source.generation() => {
                source.knows(live.position.length, live.hash);
            }
            _ if self.set_back.contains(key) => {}
            _ if order == Some(Order::Repair) => {}
            _ => {
                let received = self.database.run(|connection| outbox::received(connection, key))?;
                if let Some(received) = received.filter(|it| it.length == source.len()) {
                    match source.begins_with(received.length, &received.digest).await? {
                        None => return Ok(Ready::Changed),
                        Some(true) => return Ok(Ready::Nothing),
                        Some(false) => {}
                    }
                }
                if let Some(agreed) = agreed.filter(|agreed| agreed.position.length >= stop) {
                    let length = agreed.position.length;
                    match source.begins_with(length, &agreed.digest).await? {
                        None => return Ok(Ready::Changed),
                        Some(true) => return Ok(Ready::Nothing),
                        Some(false) => {}
                    }
                }
            }
        }
        let before = self.remote.state(key).await?;
        let written = before.as_ref().filter(|state| state.digest.is_some());
        let mut may_replace = false;
        if let Some(state) = written.filter(|_| !is_damaged) {
            match self.compare(source, stop, state, agreed.as_ref()).await? {
                Compared::Done(ready) => return Ok(ready),
                Compared::GoesOn => {}
                Compared::Replaces => may_replace = true,
            }
        }
        // What was removed by this host is agreed to be empty, unless the remote was set back.
        if let Some(state) = before.as_ref().filter(|state| state.tombstone.is_some())
            && !self.wrote(state)?
            && agreed.is_some_and(|agreed| agreed.position.length > 0)
        {
            return Ok(Ready::Diverged);
        }
        let Some(fence) = self.claim(key, agreed.map_or(0, |agreed| agreed.epoch)).await? else {
            return Ok(Ready::Held);
        };
        // Only now nobody else can change it.
        let state = self.remote.state(key).await?;
        let Some(state) = state.filter(|state| state.fence == fence) else {
            return Ok(Ready::Again);
        };
        let position = state.position;
        let digest = state.digest.unwrap_or_else(|| Digest::of(b""));
        let same = match source.begins_with(position.length, &digest).await? {
            None => return Ok(Ready::Changed),
            Some(same) => same,
        };
        if is_damaged {
            // A copy that has all of what was lost can bring it back, whoever wrote it.
            may_replace = same || (order.is_some() && self.is_known(agreed.as_ref(), &state)?);
        } else if let Some(before) = before
            && (before.position, before.digest) != (position, state.digest)
        {
            self.remote.release(key, &fence).await?;
            return Ok(Ready::Again);
        }
        let same = same && !is_damaged;
        if !same && !may_replace {
            self.remote.release(key, &fence).await?;
            return Ok(Ready::Diverged);
        }
        // Before anything is written: whatever is there from now on under this claim is known.
        let agreed = Agreed { position, digest, epoch: fence.epoch };
        self.database.run(|connection| outbox::agree(connection, key, &agreed))?;
        if same {
            let Some(hash) = source.hash(position.length).await? else {
                return Ok(Ready::Changed);
            };
            self.keep(source, fence, position, hash);
            return Ok(Ready::Live);
        }
        if !may_rewrite {
            return Ok(Ready::Again);
        }
        self.rewrite(source, fence, position.generation + 1).await
    }

    pub(super) fn keep(
        &mut self,
        source: &Source<'_>,
        fence: Fence,
        position: Position,
        hash: sha2::Sha256,
    ) {
        let (prolong_ms, generation) = (self.prolong_ms(), source.generation());
        let live = Live { fence, prolong_ms, generation, position, hash, is_sure: true };
        self.live.insert(source.key.clone(), live);
    }

    /// Claims a session; `None` if another host has it.
    pub(super) async fn claim(&mut self, key: &StorageKey, agreed: u64) -> Result<Option<Fence>> {
        let claimed = self.database.run(|connection| outbox::claimed(connection, key))?;
        let seen_epoch = claimed.max(agreed);
        let mut claim = Claim {
            owner: self.owner.clone(),
            lease: self.options.lease,
            force: false,
            seen_epoch,
        };
        loop {
            match self.remote.claim(key, &claim).await? {
                Claimed::Granted(fence) => {
                    let note =
                        |connection: &mut _| outbox::note_claim(connection, key, fence.epoch);
                    self.database.run(note)?;
                    return Ok(Some(fence));
                }
                Claimed::Held { by, left } => {
                    // A publisher of this database that is gone: there is one at a time.
                    if !claim.force && self.is_ours(&by.owner)? {
                        claim.force = true;
                        continue;
                    }
                    let left = i64::try_from(left.as_millis()).unwrap_or(i64::MAX);
                    let until_ms = self.clock.now_ms().saturating_add(left.max(1));
                    tracing::info!(%key, owner = %by.owner, "another host has the session");
                    let held = Held { key: key.clone(), owner: by.owner, until_ms };
                    self.held.insert(key.clone(), held);
                    return Ok(None);
                }
            }
        }
    }

    fn prolong_ms(&self) -> i64 {
        let half = i64::try_from(self.options.lease.as_millis() / 2).unwrap_or(i64::MAX);
        self.clock.now_ms().saturating_add(half)
    }

    /// Prolongs the claims that are half over.
    pub(super) async fn keep_claims(&mut self) -> Result<()> {
        let now = self.clock.now_ms();
        let due = self.live.iter().filter(|(_, live)| live.prolong_ms <= now);
        for key in due.map(|(key, _)| key.clone()).collect::<Vec<_>>() {
            let epoch = self.live.get(&key).map_or(0, |live| live.fence.epoch);
            let fence = self.claim(&key, epoch).await?;
            let prolong_ms = self.prolong_ms();
            match self.live.get_mut(&key) {
                Some(live) if fence.as_ref() == Some(&live.fence) => live.prolong_ms = prolong_ms,
                // Somebody else had it in between, or the remote lost data.
                _ => drop(self.live.remove(&key)),
            }
        }
        Ok(())
    }
}
