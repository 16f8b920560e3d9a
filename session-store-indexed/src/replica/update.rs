//! Bringing a local copy to the state of the remote's.

use session_model::storage::{
    AppendOptions, Durability, ObjectMeta, Precondition, PutOptions, ReadRange, SessionStorage,
    StorageKey,
};
use sha2::{Digest as _, Sha256};

use super::fetch::{Fetched, Lines};
use super::tail::{CHUNK, Tail};
use super::{Outcome, Replica, Result, found, refused};
use crate::outbox::{Agreed, Received};
use crate::remote::{RemoteError, SessionState};

impl Replica {
    /// Brings a session up to date that the remote has; `None` if one of the two changed meanwhile.
    pub(super) async fn update(
        &self,
        session: &StorageKey,
        state: &SessionState,
        missing: &mut Vec<StorageKey>,
    ) -> Result<Option<Outcome>> {
        let agreed = self.local.agreed(session)?;
        let Some(meta) = found(self.local_head(session).await)? else {
            // Once the remote knows of a removal the two agree on nothing, and so before this
            // host's first change is confirmed.
            let was_here = match agreed {
                Some(agreed) => agreed.position.length > 0 || self.wrote(state)?,
                None => false,
            };
            return match was_here {
                true => Ok(Some(Outcome::RemovedHere)),
                false => self.install(session, state, missing).await,
            };
        };
        // A file that was cut, or put in the place of another, is compared whatever is noted of it.
        let is_replaced = self.local.is_fenced(session)?
            || (meta.size < state.position.length && !self.local.is_rewritten(session)?);
        if let Some(agreed) = &agreed
            && !is_replaced
            && agreed.position == state.position
            && Some(agreed.digest) == state.digest
        {
            self.fetch_artifacts(session).await?;
            if agreed.epoch < self.own_epoch(state)? {
                self.agree(session, state)?;
            }
            return Ok(Some(same_or_ahead(&meta, state)));
        }
        if !is_replaced && self.wrote(state)? {
            self.fetch_artifacts(session).await?;
            return Ok(Some(Outcome::Ahead));
        }
        let Some(tail) = self.tail(session, &meta).await? else { return Ok(None) };
        let is_clean = |agreed: &Agreed| {
            agreed.position.length == tail.length && agreed.digest == tail.digest()
        };
        if let Some(agreed) = agreed.filter(is_clean) {
            let (ours, theirs) = (agreed.position, state.position);
            if theirs.generation > ours.generation {
                return self.replace(session, state, Some(&meta), missing).await;
            }
            if theirs >= ours
                && let Grown::Done(outcome) = self.grow(session, state, &tail, missing).await?
            {
                return Ok(outcome);
            }
        }
        self.reconcile(session, state, &meta, tail, missing).await
    }

    /// Compares byte by byte, where it is not known what the two had in common.
    async fn reconcile(
        &self,
        session: &StorageKey,
        state: &SessionState,
        meta: &ObjectMeta,
        tail: Tail,
        missing: &mut Vec<StorageKey>,
    ) -> Result<Option<Outcome>> {
        let Some(common) = self.common(session, state, meta).await? else { return Ok(None) };
        if common == state.position.length {
            self.agree(session, state)?;
            if common < meta.size {
                self.local.publish_again(session)?;
            }
            self.fetch_artifacts(session).await?;
            return Ok(Some(same_or_ahead(meta, state)));
        }
        if common < meta.size {
            return self.replace(session, state, None, missing).await;
        }
        match self.grow(session, state, &tail, missing).await? {
            Grown::Done(outcome) => Ok(outcome),
            Grown::Differs => Err(RemoteError::Damaged(session.clone()).into()),
        }
    }

    /// How many bytes both begin with; `None` if one of the two changed meanwhile.
    async fn common(
        &self,
        session: &StorageKey,
        state: &SessionState,
        meta: &ObjectMeta,
    ) -> Result<Option<u64>> {
        let end = meta.size.min(state.position.length);
        let mut at = 0;
        while at < end {
            let len = CHUNK.min(end - at);
            let range = ReadRange::Range { offset: at, len };
            let ours = found(self.local.read(session, &[range]).await)?;
            let theirs = self.remote.read(session, at, len as usize).await?;
            let (Some((now, parts)), Some(theirs)) = (ours, theirs) else { return Ok(None) };
            let same_log = theirs.position.generation == state.position.generation;
            if now.version != meta.version || !same_log || theirs.bytes.is_empty() {
                return Ok(None);
            }
            let ours = parts.first().map_or(&[][..], |part| part);
            let ours = &ours[..ours.len().min(theirs.bytes.len())];
            if let Some(differs) = ours.iter().zip(&theirs.bytes).position(|(a, b)| a != b) {
                return Ok(Some(at + differs as u64));
            }
            at += ours.len() as u64;
        }
        Ok(Some(at))
    }

    /// Fetches a session that is missing here.
    async fn install(
        &self,
        session: &StorageKey,
        state: &SessionState,
        missing: &mut Vec<StorageKey>,
    ) -> Result<Option<Outcome>> {
        let Some(lines) = self.fetch_whole(session, state).await? else { return Ok(None) };
        if lines.bytes.is_empty() {
            return Ok(Some(Outcome::Unknown));
        }
        self.fetch_objects(session, &lines.bytes, missing).await?;
        let absent = PutOptions::when(Precondition::Absent);
        self.receive(session, &lines)?;
        match self.local.put_received(session, lines.bytes.clone().into(), absent).await {
            Ok(meta) => self.took(session, state, lines, &meta)?,
            Err(error) => return refused(error),
        }
        Ok(Some(Outcome::Installed))
    }

    /// Appends what the remote has beyond the end of the local file.
    async fn grow(
        &self,
        session: &StorageKey,
        state: &SessionState,
        tail: &Tail,
        missing: &mut Vec<StorageKey>,
    ) -> Result<Grown> {
        let lines = match self.fetch(session, state, tail.length, tail.hasher.clone()).await? {
            Fetched::Lines(lines) => lines,
            Fetched::Differs => return Ok(Grown::Differs),
            Fetched::Changed => return Ok(Grown::Done(None)),
        };
        self.fetch_objects(session, &lines.bytes, missing).await?;
        if lines.bytes.is_empty() {
            return Ok(Grown::Done(Some(Outcome::Same)));
        }
        let claim =
            AppendOptions::exclusive(&self.owner).when(Precondition::Version(tail.version.clone()));
        let mut writer = match self.local.open_received(session, claim).await {
            Ok(writer) => writer,
            Err(error) => return refused(error).map(Grown::Done),
        };
        if self.is_all_received(session, tail)? {
            self.receive(session, &lines)?;
        }
        let bytes = lines.bytes.len() as u64;
        let appended = match writer.append(lines.bytes.clone()).await {
            Ok(_) => writer.sync(Durability::Durable).await,
            Err(error) => Err(error),
        };
        match appended {
            Ok(()) => self.took(session, state, lines, &writer.close().await?)?,
            Err(error) => return refused(error).map(Grown::Done),
        }
        Ok(Grown::Done(Some(Outcome::Grown { bytes })))
    }

    /// Reads a whole log; `None` if it was replaced meanwhile.
    pub(super) async fn fetch_whole(
        &self,
        session: &StorageKey,
        state: &SessionState,
    ) -> Result<Option<Lines>> {
        match self.fetch(session, state, 0, Sha256::new()).await? {
            Fetched::Lines(lines) => Ok(Some(lines)),
            Fetched::Changed => Ok(None),
            Fetched::Differs => Err(RemoteError::Damaged(session.clone()).into()),
        }
    }

    /// Tells whether a file holds what the remote sent, and nothing else.
    fn is_all_received(&self, session: &StorageKey, tail: &Tail) -> Result<bool> {
        let received = Received { length: tail.length, digest: tail.digest() };
        Ok(self.local.received(session)? == Some(received))
    }

    /// Notes that a file is about to hold what the remote sent, and nothing else.
    pub(super) fn receive(&self, session: &StorageKey, lines: &Lines) -> Result<()> {
        let received = Received { length: lines.position.length, digest: lines.digest() };
        Ok(self.local.receive(session, &received)?)
    }

    /// Notes what was taken over from the remote.
    pub(super) fn took(
        &self,
        session: &StorageKey,
        state: &SessionState,
        lines: Lines,
        meta: &ObjectMeta,
    ) -> Result<()> {
        let agreed =
            Agreed { position: lines.position, digest: lines.digest(), epoch: state.fence.epoch };
        self.local.agree(session, &agreed)?;
        let Lines { hasher, position, .. } = lines;
        // Somebody else may have written behind the end already.
        if meta.size == position.length {
            let version = meta.version.clone();
            self.keep_tail(session, Tail { version, length: position.length, hasher });
        }
        Ok(())
    }

    /// The epoch of this host's claim, once what others wrote before it is here.
    fn own_epoch(&self, state: &SessionState) -> Result<u64> {
        Ok(if self.is_own(&state.fence.owner)? { state.fence.epoch } else { 0 })
    }

    fn agree(&self, session: &StorageKey, state: &SessionState) -> Result<()> {
        let Some(digest) = state.digest else { return Ok(()) };
        let agreed = Agreed { position: state.position, digest, epoch: self.own_epoch(state)? };
        Ok(self.local.agree(session, &agreed)?)
    }
}

/// What appending came to.
enum Grown {
    Done(Option<Outcome>),
    /// The remote's log does not go on from the local one.
    Differs,
}

fn same_or_ahead(meta: &ObjectMeta, state: &SessionState) -> Outcome {
    if meta.size == state.position.length { Outcome::Same } else { Outcome::Ahead }
}
