//! One session of the fake: its claim, its log, a rewrite under way.

use std::{sync::Arc, time::Duration};

use bytes::Bytes;
use session_model::storage::StorageKey;

use crate::remote::{
    AppendUnit, Applied, Claim, Claimed, Digest, Fence, MAX_READ_BYTES, Part, Position, Rewrite,
    SessionState, Tombstone,
};

#[derive(Clone, Debug, Default)]
struct Log {
    generation: u64,
    bytes: Arc<Vec<u8>>,
    digest: Option<Digest>,
}

impl Log {
    fn position(&self) -> Position {
        Position { generation: self.generation, length: self.bytes.len() as u64 }
    }
}

#[derive(Clone, Debug, Default)]
pub(super) struct Session {
    epoch: u64,
    owner: String,
    until: u64,
    log: Log,
    stage: Option<Log>,
    committed: Option<(Position, Digest)>,
    meta: Bytes,
    /// Which claim removed it, and where it went.
    removed: Option<(Fence, Option<StorageKey>)>,
}

impl Session {
    fn fence(&self) -> Fence {
        Fence { epoch: self.epoch, owner: self.owner.clone() }
    }

    fn is_held(&self, fence: &Fence) -> bool {
        !self.owner.is_empty() && self.fence() == *fence
    }

    pub(super) fn position(&self) -> Position {
        self.log.position()
    }

    pub(super) fn claim(&mut self, claim: &Claim, now: u64) -> Claimed {
        let left = self.until.saturating_sub(now);
        let same = self.owner == claim.owner;
        if !self.owner.is_empty() && !same && left > 0 && !claim.force {
            return Claimed::Held { by: self.fence(), left: Duration::from_micros(left) };
        }
        if !same || self.epoch < claim.seen_epoch {
            self.epoch = self.epoch.max(claim.seen_epoch) + 1;
        }
        self.owner.clone_from(&claim.owner);
        self.until = now + super::micros(claim.lease);
        Claimed::Granted(self.fence())
    }

    pub(super) fn release(&mut self, fence: &Fence) {
        if self.is_held(fence) {
            self.owner.clear();
        }
    }

    pub(super) fn apply(&mut self, unit: &AppendUnit) -> Applied {
        if !self.is_held(&unit.fence) {
            return Applied::Fenced(self.fence());
        }
        let staged = self.stage.as_mut().filter(|log| log.generation == unit.start.generation);
        let is_staged = staged.is_some();
        let log = staged.unwrap_or(&mut self.log);
        let have = log.position();
        if unit.start.generation != have.generation || unit.start.length > have.length {
            return Applied::Gap { have };
        }
        let start = unit.start.length as usize;
        let common = unit.bytes.len().min(log.bytes.len() - start);
        let (there, new) = unit.bytes.split_at(common);
        if let Some(at) = log.bytes[start..].iter().zip(there).position(|(a, b)| a != b) {
            return Applied::Conflict { at: unit.start.length + at as u64 };
        }
        if new.is_empty() {
            return Applied::Dup;
        }
        Arc::make_mut(&mut log.bytes).extend_from_slice(new);
        log.digest = Some(unit.digest);
        if !is_staged {
            self.meta = unit.meta.clone();
            self.removed = None;
        }
        Applied::Ok
    }

    pub(super) fn begin(&mut self, fence: &Fence, generation: u64) -> Applied {
        if !self.is_held(fence) {
            return Applied::Fenced(self.fence());
        }
        if generation <= self.log.generation {
            return Applied::Gap { have: self.position() };
        }
        self.stage = Some(Log { generation, ..Log::default() });
        Applied::Ok
    }

    pub(super) fn commit(&mut self, rewrite: &Rewrite) -> Applied {
        if !self.is_held(&rewrite.fence) {
            return Applied::Fenced(self.fence());
        }
        let wanted = rewrite.position;
        if let Some(done) = self.committed
            && wanted.generation == self.log.generation
        {
            let same = done == (wanted, rewrite.digest);
            return if same { Applied::Dup } else { Applied::Conflict { at: 0 } };
        }
        let Some(stage) = &self.stage else { return Applied::Gap { have: self.position() } };
        if stage.generation != wanted.generation {
            return Applied::Gap { have: self.position() };
        }
        if stage.position() != wanted {
            return Applied::Gap { have: stage.position() };
        }
        if stage.digest.is_some_and(|digest| digest != rewrite.digest) {
            return Applied::Conflict { at: 0 };
        }
        self.log = Log { digest: Some(rewrite.digest), ..stage.clone() };
        self.stage = None;
        self.committed = Some((wanted, rewrite.digest));
        self.meta = rewrite.meta.clone();
        self.removed = None;
        Applied::Ok
    }

    pub(super) fn remove(&mut self, fence: &Fence, moved_to: Option<&StorageKey>) -> Applied {
        if self.removed.as_ref().is_some_and(|(by, _)| by == fence) {
            return Applied::Dup;
        }
        if !self.is_held(fence) {
            return Applied::Fenced(self.fence());
        }
        *self = Self {
            epoch: self.epoch,
            removed: Some((fence.clone(), moved_to.cloned())),
            ..Self::default()
        };
        Applied::Ok
    }

    pub(super) fn state(&self) -> SessionState {
        SessionState {
            position: self.position(),
            digest: self.log.digest,
            fence: self.fence(),
            meta: self.meta.clone(),
            tombstone: self
                .removed
                .as_ref()
                .map(|(by, moved_to)| Tombstone { by: by.clone(), moved_to: moved_to.clone() }),
        }
    }

    pub(super) fn read(&self, from: u64, limit: usize) -> Part {
        let from = usize::try_from(from).unwrap_or(usize::MAX).min(self.log.bytes.len());
        let end = self.log.bytes.len().min(from + limit.min(MAX_READ_BYTES));
        Part {
            position: self.position(),
            bytes: Bytes::copy_from_slice(&self.log.bytes[from..end]),
        }
    }
}
