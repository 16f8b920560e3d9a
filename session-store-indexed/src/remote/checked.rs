//! A remote whose answers are checked before anything is done by them.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::StorageKey;

use super::limits::{MAX_LEASE_SECONDS, MAX_OWNER};
use super::skipped::shown;
use super::{
    AppendUnit, Applied, Change, Check, Claim, Claimed, Digest, Event, Feed, Fence, KeyKind,
    Listed, MAX_META_BYTES, MAX_NUMBER, MAX_READ_BYTES, Names, Page, Part, Position, Put, Remote,
    RemoteError, RemoteLimits, Result, Rewrite, SessionState, Skipped,
};

/// Refuses what a remote must not say: keys of other kinds, lengths above this host's limits,
/// numbers that no server counts to, more than was asked for.
///
/// One session that cannot be used is [`RemoteError::Malformed`] when it is asked for, and left
/// out of lists and of the feed, which name it. What is passed to the remote is not looked at.
#[derive(Debug)]
pub struct Checked {
    remote: Arc<dyn Remote>,
    limits: RemoteLimits,
}

impl Checked {
    /// Checks the answers of a remote by its own [limits](Remote::limits).
    pub fn new(remote: Arc<dyn Remote>) -> Self {
        let limits = remote.limits();
        Self { remote, limits }
    }

    fn state_of(&self, session: &StorageKey, state: &SessionState) -> Result<(), String> {
        let SessionState { position, fence, meta, tombstone, .. } = state;
        self.position(*position)?;
        claim_of(fence)?;
        if meta.len() > MAX_META_BYTES {
            return Err(format!("{} bytes of metadata; at most {MAX_META_BYTES}", meta.len()));
        }
        let Some(tombstone) = tombstone else { return Ok(()) };
        claim_of(&tombstone.by)?;
        match &tombstone.moved_to {
            Some(to) if to == session => Err("it was moved to where it is".to_owned()),
            Some(to) => KeyKind::Session
                .check(to)
                .map_err(|reason| format!("it was moved to {}: {reason}", shown(to.as_str()))),
            None => Ok(()),
        }
    }

    fn position(&self, position: Position) -> Result<(), String> {
        number("generation", position.generation)?;
        let limit = self.limits.session_bytes;
        if position.length <= limit {
            return Ok(());
        }
        Err(format!("it has {} bytes; this host takes at most {limit}", position.length))
    }

    fn part(&self, part: &Part, from: u64, limit: usize) -> Result<(), String> {
        self.position(part.position)?;
        let bytes = part.bytes.len();
        if bytes > limit.min(MAX_READ_BYTES) {
            return Err(format!("{bytes} bytes came where {limit} were asked for"));
        }
        let end = from.checked_add(bytes as u64);
        if bytes > 0 && end.is_none_or(|end| end > part.position.length) {
            return Err("bytes came from behind its end".to_owned());
        }
        Ok(())
    }

    fn applied(&self, session: &StorageKey, applied: Applied) -> Result<Applied> {
        let checked = match &applied {
            Applied::Ok | Applied::Dup => Ok(()),
            Applied::Gap { have } => self.position(*have),
            Applied::Conflict { at } => number("offset", *at),
            Applied::Fenced(fence) => claim_of(fence),
        };
        checked.map(|()| applied).map_err(malformed(session))
    }

    fn listed(&self, listed: &Listed) -> Result<(), String> {
        KeyKind::Session.check(&listed.session)?;
        number("time", listed.activity)?;
        self.state_of(&listed.session, &listed.state)
    }

    fn event(&self, event: &Event) -> Result<(), String> {
        KeyKind::Session.check(&event.session)?;
        number("time", event.at)?;
        match event.change {
            Change::Written(position) => self.position(position),
            Change::Removed => Ok(()),
        }
    }
}

fn number(what: &str, number: u64) -> Result<(), String> {
    match number <= MAX_NUMBER {
        true => Ok(()),
        false => Err(format!("its {what} is {number}; at most {MAX_NUMBER}")),
    }
}

fn claim_of(fence: &Fence) -> Result<(), String> {
    number("epoch", fence.epoch)?;
    if fence.owner.len() > MAX_OWNER || fence.owner.contains(char::is_control) {
        return Err(format!("its owner is called {}", shown(&fence.owner)));
    }
    Ok(())
}

fn malformed(key: &StorageKey) -> impl Fn(String) -> RemoteError {
    move |reason| RemoteError::Malformed { key: key.clone(), reason }
}

/// Keeps what is fine, and says what is not.
fn keep<T>(
    rows: Vec<T>,
    skipped: &mut Vec<Skipped>,
    key: impl Fn(&T) -> &StorageKey,
    check: impl Fn(&T) -> Result<(), String>,
) -> Vec<T> {
    let is_kept = |row: &T| match check(row) {
        Ok(()) => true,
        Err(reason) => {
            skipped.push(Skipped::new(key(row).as_str(), reason));
            false
        }
    };
    let mut kept = rows;
    kept.retain(is_kept);
    kept
}

#[async_trait]
impl Remote for Checked {
    fn limits(&self) -> RemoteLimits {
        self.limits
    }

    async fn check(&self) -> Result<Check> {
        let Check { version, writable, warnings } = self.remote.check().await?;
        let warnings = warnings.iter().map(|warning| shown(warning)).collect();
        Ok(Check { version: shown(&version), writable, warnings })
    }

    async fn claim(&self, session: &StorageKey, claim: &Claim) -> Result<Claimed> {
        match self.remote.claim(session, claim).await? {
            Claimed::Granted(fence) => {
                claim_of(&fence).map_err(malformed(session))?;
                Ok(Claimed::Granted(fence))
            }
            Claimed::Held { by, left } => {
                claim_of(&by).map_err(malformed(session))?;
                let left = left.min(Duration::from_secs(MAX_LEASE_SECONDS));
                Ok(Claimed::Held { by, left })
            }
        }
    }

    async fn release(&self, session: &StorageKey, fence: &Fence) -> Result<()> {
        self.remote.release(session, fence).await
    }

    async fn apply(&self, units: &[AppendUnit]) -> Vec<Result<Applied>> {
        let mut answers = self.remote.apply(units).await;
        let count = answers.len();
        answers.resize(units.len(), Err(RemoteError::Protocol(format!("{count} answers"))));
        let checked = |(answer, unit): (Result<Applied>, &AppendUnit)| {
            answer.and_then(|answer| self.applied(&unit.session, answer))
        };
        answers.into_iter().zip(units).map(checked).collect()
    }

    async fn begin_rewrite(
        &self,
        session: &StorageKey,
        fence: &Fence,
        generation: u64,
    ) -> Result<Applied> {
        self.applied(session, self.remote.begin_rewrite(session, fence, generation).await?)
    }

    async fn commit_rewrite(&self, rewrite: &Rewrite) -> Result<Applied> {
        self.applied(&rewrite.session, self.remote.commit_rewrite(rewrite).await?)
    }

    async fn remove(
        &self,
        session: &StorageKey,
        fence: &Fence,
        moved_to: Option<&StorageKey>,
    ) -> Result<Applied> {
        self.applied(session, self.remote.remove(session, fence, moved_to).await?)
    }

    async fn state(&self, session: &StorageKey) -> Result<Option<SessionState>> {
        let state = self.remote.state(session).await?;
        let checked = state.as_ref().map_or(Ok(()), |state| self.state_of(session, state));
        checked.map(|()| state).map_err(malformed(session))
    }

    async fn read(&self, session: &StorageKey, from: u64, limit: usize) -> Result<Option<Part>> {
        let part = self.remote.read(session, from, limit).await?;
        let checked = part.as_ref().map_or(Ok(()), |part| self.part(part, from, limit));
        checked.map(|()| part).map_err(malformed(session))
    }

    async fn list(&self, before: Option<u64>, limit: usize) -> Result<Page> {
        let Page { sessions, mut skipped, next } = self.remote.list(before, limit).await?;
        if next.zip(before).is_some_and(|(next, before)| next >= before) {
            return Err(RemoteError::Protocol("its listing goes round in circles".to_owned()));
        }
        let check = |listed: &Listed| self.listed(listed);
        let sessions = keep(sessions, &mut skipped, |listed| &listed.session, check);
        Ok(Page { sessions, skipped, next })
    }

    async fn feed(&self, after: u64, limit: usize) -> Result<Feed> {
        let Feed { events, mut skipped, more, next, complete } =
            self.remote.feed(after, limit).await?;
        let events = keep(events, &mut skipped, |event| &event.session, |event| self.event(event));
        // One that does not get on is begun anew with a list.
        let complete = complete && next >= after && (next > after || !more) && next <= MAX_NUMBER;
        Ok(Feed { events, skipped, more, next, complete })
    }

    async fn put_object(&self, key: &StorageKey, bytes: Bytes) -> Result<Put> {
        self.remote.put_object(key, bytes).await
    }

    async fn get_object(&self, key: &StorageKey) -> Result<Option<Bytes>> {
        let object = self.remote.get_object(key).await?;
        let (bytes, limit) = (object.as_ref().map_or(0, Bytes::len), self.limits.object_bytes);
        match bytes as u64 <= limit {
            true => Ok(object),
            false => Err(malformed(key)(format!("it has {bytes} bytes; at most {limit}"))),
        }
    }

    async fn list_objects(
        &self,
        prefix: &StorageKey,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Names> {
        let Names { keys, mut skipped, next } =
            self.remote.list_objects(prefix, after, limit).await?;
        if next.as_deref().zip(after).is_some_and(|(next, after)| next <= after) {
            return Err(RemoteError::Protocol("its objects go round in circles".to_owned()));
        }
        let check = |key: &StorageKey| match key.is_below(prefix) {
            true => KeyKind::Artifact.check(key).map_err(str::to_owned),
            false => Err(format!("it is not below {prefix}")),
        };
        let keys = keep(keys, &mut skipped, |key| key, check);
        Ok(Names { keys, skipped, next })
    }

    async fn object_digests(&self, keys: &[StorageKey]) -> Result<Vec<Option<Digest>>> {
        let digests = self.remote.object_digests(keys).await?;
        match digests.len() == keys.len() {
            true => Ok(digests),
            false => Err(RemoteError::Protocol(format!("{} digests", digests.len()))),
        }
    }

    async fn remove_object(&self, key: &StorageKey) -> Result<bool> {
        self.remote.remove_object(key).await
    }

    async fn wait(&self, replicas: u32, timeout: Duration) -> Result<u32> {
        self.remote.wait(replicas, timeout).await
    }
}
