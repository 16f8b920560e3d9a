//! Claiming a session, and finding out what the remote lacks of it.

use session_model::storage::StorageKey;

use super::Held;
use super::live::{Live, Ready};
use super::publisher::{Publisher, Result};
use super::source::Source;
use crate::outbox::{self, Agreed};
use crate::remote::{Claim, Claimed, Digest, Fence, MAX_READ_BYTES, Position, SessionState};

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
        match self.live.remove(key) {
            Some(live) if live.generation == source.generation() => {
                source.knows(live.position.length, live.hash);
            }
            _ if self.set_back.contains(key) => {}
            _ => {
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
        let is_damaged = self.damaged.contains(key);
        if let Some(state) = written.filter(|_| !is_damaged)
            && let Some(ready) = self.compare(source, stop, state, agreed.as_ref()).await?
        {
            return Ok(ready);
        }
        // What was removed by this host is agreed to be empty, unless the remote was set back.
        let is_gone = |state: &SessionState| state.tombstone.is_some() && !self.wrote(state);
        if before.as_ref().is_some_and(is_gone)
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
            Some(same) => same && !is_damaged,
        };
        if !same && !self.is_known(agreed.as_ref(), &state) {
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

    /// Decides what can be decided without a claim.
    async fn compare(
        &mut self,
        source: &mut Source<'_>,
        stop: u64,
        state: &SessionState,
        agreed: Option<&Agreed>,
    ) -> Result<Option<Ready>> {
        let (length, Some(digest)) = (state.position.length, state.digest) else {
            return Ok(None);
        };
        if length > source.len() {
            if self.is_known(agreed, state) {
                return Ok(None);
            }
            let ready = match self.is_beginning(source, state).await? {
                None => Ready::Again,
                Some(true) => Ready::Nothing,
                Some(false) => Ready::Diverged,
            };
            return Ok(Some(ready));
        }
        let same = match source.begins_with(length, &digest).await? {
            None => return Ok(Some(Ready::Changed)),
            Some(same) => same,
        };
        if !same {
            return Ok((!self.is_known(agreed, state)).then_some(Ready::Diverged));
        }
        if length < stop || source.len() < stop {
            return Ok(None);
        }
        let agreed = Agreed { position: state.position, digest, epoch: state.fence.epoch };
        let key = source.key;
        self.database.run(|connection| outbox::agree(connection, key, &agreed))?;
        Ok(Some(Ready::Nothing))
    }

    /// Tells whether the remote's log begins with the local file, which is shorter.
    async fn is_beginning(
        &self,
        source: &Source<'_>,
        state: &SessionState,
    ) -> Result<Option<bool>> {
        let mut at = 0;
        while at < source.len() {
            let limit = (source.len() - at).min(MAX_READ_BYTES as u64);
            let part = self.remote.read(source.key, at, limit as usize).await?;
            let Some(part) = part.filter(|part| {
                part.position.generation == state.position.generation && !part.bytes.is_empty()
            }) else {
                return Ok(None);
            };
            let stop = at + part.bytes.len() as u64;
            match source.read(at, stop).await? {
                None => return Ok(None),
                Some(bytes) if bytes != part.bytes => return Ok(Some(false)),
                Some(_) => at = stop,
            }
        }
        Ok(Some(true))
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
                // A publisher of this database that is gone: there is one at a time.
                Claimed::Held { by, .. } if self.is_ours(&by.owner) && !claim.force => {
                    claim.force = true;
                }
                Claimed::Held { by, left } => {
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

    /// Gives up the claims of sessions that nobody here writes and of which nothing waits.
    pub(super) async fn give_up_claims(&mut self) -> Result<()> {
        for key in self.live.keys().cloned().collect::<Vec<_>>() {
            if self.shared.is_open(&key)
                || self.database.run(|connection| outbox::has_pending(connection, &key))?
            {
                continue;
            }
            if let Some(live) = self.live.remove(&key) {
                self.remote.release(&key, &live.fence).await?;
            }
        }
        Ok(())
    }
}
