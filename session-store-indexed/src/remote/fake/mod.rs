//! A remote in this process, with seeded faults: the same seed and calls give the same run.

mod faults;
mod hostile;
mod server;
mod session;

use std::{
    collections::BTreeSet,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::StorageKey;

pub use faults::FakeFaults;
use faults::{Dice, Fate};
use hostile::Lie;
use server::Server;

use super::{
    AppendUnit, Applied, Check, Claim, Claimed, Digest, Feed, Fence, MAX_OBJECT_BYTES, Names, Page,
    Part, Put, Remote, RemoteError, Result, Rewrite, SessionState,
};

/// A [`Remote`] in memory for tests and simulations.
///
/// Time is a logical clock that only calls and [`advance`](Self::advance) move. Without faults it
/// answers at once and is a reference for what a remote must do.
#[derive(Debug)]
pub struct FakeRemote {
    inner: Mutex<Inner>,
}

#[derive(Debug)]
struct Inner {
    now: u64,
    faults: FakeFaults,
    dice: Dice,
    server: Server,
    saved: Server,
    refused: BTreeSet<StorageKey>,
}

impl FakeRemote {
    /// Makes an empty remote that keeps the last `feed` events.
    pub fn new(faults: FakeFaults, feed: usize) -> Self {
        let server = Server::new(feed);
        let dice = Dice::new(faults.seed);
        let (saved, refused) = (server.clone(), BTreeSet::new());
        Self { inner: Mutex::new(Inner { now: 0, faults, dice, saved, server, refused }) }
    }

    /// Replaces the faults; the seed begins anew.
    pub fn set_faults(&self, faults: FakeFaults) {
        let mut inner = self.lock();
        inner.dice = Dice::new(faults.seed);
        inner.faults = faults;
    }

    /// Refuses every unit of a session, or an object, for its own sake, until told otherwise.
    pub fn refuse(&self, key: &StorageKey, refuse: bool) {
        let mut inner = self.lock();
        match refuse {
            true => inner.refused.insert(key.clone()),
            false => inner.refused.remove(key),
        };
    }

    /// Moves the clock.
    pub fn advance(&self, by: Duration) {
        self.lock().now += micros(by);
    }

    /// The clock, in microseconds.
    pub fn now(&self) -> u64 {
        self.lock().now
    }

    /// Keeps what is there as what a [`restart`](Self::restart) finds.
    pub fn save(&self) {
        let mut inner = self.lock();
        inner.saved = inner.server.clone();
    }

    /// Goes back to what was there at the last [`save`](Self::save), nothing at first.
    pub fn restart(&self) {
        let mut inner = self.lock();
        inner.server = inner.saved.clone();
    }

    /// Makes an answer a lie, as often as the faults say.
    fn told<T: Lie>(&self, answer: Result<T>) -> Result<T> {
        let mut inner = self.lock();
        let Inner { faults, dice, .. } = &mut *inner;
        answer.map(|mut answer| {
            if faults.hostile > 0 && dice.below(1000) < u64::from(faults.hostile) {
                answer.lie(dice);
            }
            answer
        })
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A call that changes something.
    async fn change<T>(
        &self,
        effect: impl FnOnce(&mut Server, u64) -> Result<T> + Send,
    ) -> Result<T> {
        let refused = self.lock().faults.refuse.clone();
        self.call(|server, now| refused.map_or_else(|| effect(server, now), Err)).await
    }

    /// One call: delay, perhaps a cut before, the effect, perhaps a cut after.
    async fn call<T>(
        &self,
        effect: impl FnOnce(&mut Server, u64) -> Result<T> + Send,
    ) -> Result<T> {
        let fate = self.start().await;
        if fate == Fate::CutBefore {
            return Err(cut());
        }
        let mut inner = self.lock();
        let now = inner.now;
        let answer = effect(&mut inner.server, now);
        if fate == Fate::CutAfter { Err(cut()) } else { answer }
    }

    async fn start(&self) -> Fate {
        let (fate, waits, takes) = {
            let mut inner = self.lock();
            let Inner { faults, dice, now, .. } = &mut *inner;
            *now += 1 + dice.below(micros(faults.max_delay) + 1);
            (dice.fate(faults), dice.below(u64::from(faults.reorder) + 1), faults.takes)
        };
        if !takes.is_zero() {
            tokio::time::sleep(takes).await;
        }
        for _ in 0..waits {
            pause().await;
        }
        fate
    }
}

impl Inner {
    fn allows(&self, key: &StorageKey) -> Result<()> {
        match self.refused.contains(key) {
            true => Err(RemoteError::Protocol("refused".to_owned())),
            false => Ok(()),
        }
    }
}

fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

fn cut() -> RemoteError {
    RemoteError::Unavailable("connection cut".to_owned())
}

/// Lets other futures of the same task go first.
async fn pause() {
    let mut waited = false;
    std::future::poll_fn(|context| {
        if std::mem::replace(&mut waited, true) {
            return std::task::Poll::Ready(());
        }
        context.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}

#[async_trait]
impl Remote for FakeRemote {
    async fn check(&self) -> Result<Check> {
        let writable = !matches!(self.lock().faults.refuse, Some(RemoteError::ReadOnly(_)));
        self.call(|_, _| Ok(Check { version: "fake".to_owned(), writable, warnings: Vec::new() }))
            .await
    }

    async fn claim(&self, session: &StorageKey, claim: &Claim) -> Result<Claimed> {
        claim.validate(session)?;
        self.told(self.change(|server, now| Ok(server.session(session).claim(claim, now))).await)
    }

    async fn release(&self, session: &StorageKey, fence: &Fence) -> Result<()> {
        self.change(|server, _| {
            server.release(session, fence);
            Ok(())
        })
        .await
    }

    async fn apply(&self, units: &[AppendUnit]) -> Vec<Result<Applied>> {
        let fate = self.start().await;
        let mut inner = self.lock();
        let now = inner.now;
        // A cut falls between two units: those before it are done, and of their answers some are
        // lost.
        let (done, told) = match fate {
            Fate::Fine => (units.len(), units.len()),
            Fate::CutBefore => (0, 0),
            Fate::CutAfter => {
                let done = inner.dice.below(units.len() as u64) + 1;
                (done as usize, inner.dice.below(done) as usize)
            }
        };
        let mut answers: Vec<_> = units[..done]
            .iter()
            .map(|unit| {
                unit.validate()?;
                inner.faults.refuse.clone().map_or(Ok(()), Err)?;
                inner.allows(&unit.session)?;
                Ok(inner.server.apply(unit, now))
            })
            .collect();
        answers.truncate(told);
        answers.resize(units.len(), Err(cut()));
        drop(inner);
        answers.into_iter().map(|answer| self.told(answer)).collect()
    }

    async fn begin_rewrite(
        &self,
        session: &StorageKey,
        fence: &Fence,
        generation: u64,
    ) -> Result<Applied> {
        self.told(self.change(|server, _| Ok(server.begin(session, fence, generation))).await)
    }

    async fn commit_rewrite(&self, rewrite: &Rewrite) -> Result<Applied> {
        rewrite.validate()?;
        self.told(self.change(|server, now| Ok(server.commit(rewrite, now))).await)
    }

    async fn remove(
        &self,
        session: &StorageKey,
        fence: &Fence,
        moved_to: Option<&StorageKey>,
    ) -> Result<Applied> {
        self.told(self.change(|server, now| Ok(server.remove(session, fence, moved_to, now))).await)
    }

    async fn state(&self, session: &StorageKey) -> Result<Option<SessionState>> {
        self.told(self.call(|server, _| Ok(server.state(session))).await)
    }

    async fn read(&self, session: &StorageKey, from: u64, limit: usize) -> Result<Option<Part>> {
        self.told(self.call(|server, _| Ok(server.read(session, from, limit))).await)
    }

    async fn list(&self, before: Option<u64>, limit: usize) -> Result<Page> {
        self.told(self.call(|server, _| Ok(server.list(before, limit))).await)
    }

    async fn feed(&self, after: u64, limit: usize) -> Result<Feed> {
        self.told(self.call(|server, _| Ok(server.feed(after, limit))).await)
    }

    async fn put_object(&self, key: &StorageKey, bytes: Bytes) -> Result<Put> {
        if bytes.len() > MAX_OBJECT_BYTES {
            return Err(RemoteError::Invalid { key: key.clone(), reason: "object above 256 MiB" });
        }
        self.lock().allows(key)?;
        self.change(|server, _| Ok(server.put_object(key, bytes))).await
    }

    async fn get_object(&self, key: &StorageKey) -> Result<Option<Bytes>> {
        self.told(self.call(|server, _| Ok(server.objects.get(key).cloned())).await)
    }

    async fn list_objects(
        &self,
        prefix: &StorageKey,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Names> {
        self.told(self.call(|server, _| Ok(server.list_objects(prefix, after, limit))).await)
    }

    async fn object_digests(&self, keys: &[StorageKey]) -> Result<Vec<Option<Digest>>> {
        let digest = |server: &Server, key| server.objects.get(key).map(|bytes| Digest::of(bytes));
        let digests = |server: &mut Server| keys.iter().map(|key| digest(server, key)).collect();
        self.told(self.call(|server, _| Ok(digests(server))).await)
    }

    async fn remove_object(&self, key: &StorageKey) -> Result<bool> {
        self.change(|server, _| Ok(server.objects.remove(key).is_some())).await
    }

    async fn wait(&self, _replicas: u32, _timeout: Duration) -> Result<u32> {
        self.call(|_, _| Ok(0)).await
    }
}
