//! The thread that publishes.

use std::collections::hash_map::RandomState;
use std::fs::{File, TryLockError};
use std::future::poll_fn;
use std::hash::{BuildHasher, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::thread::{Builder, JoinHandle};
use std::time::{Duration, Instant};

use tokio::runtime;
use tokio::time::{timeout, timeout_at};

use super::{Connection, Progress, PublishError, Publisher, Shared};
use crate::sqlite::{private, with_suffix};

/// How often the outbox is looked at for rows of other processes, and claims are prolonged.
const POLL: Duration = Duration::from_millis(250);

/// The same while somebody waits for the remote to confirm.
const POLL_WAITED: Duration = Duration::from_millis(10);

/// A thread that publishes until it is told to end.
#[derive(Debug)]
pub(crate) struct Driver {
    shared: Arc<Shared>,
    drain: Duration,
    thread: Option<JoinHandle<()>>,
}

impl Driver {
    /// Starts the thread. Of all processes with this database one publishes; the others stand by.
    pub(crate) fn start(publisher: Publisher, database: &Path) -> io::Result<Self> {
        let shared = Arc::clone(&publisher.shared);
        let drain = publisher.options.drain;
        let lock = with_suffix(database, "-publisher");
        let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
        let guard = StopOnDrop(Arc::clone(&shared));
        let thread = Builder::new().name("session-publisher".to_owned()).spawn(move || {
            let _guard = guard;
            let mut run = Run { publisher, lock, claim: None, failures: 0 };
            runtime.block_on(run.run());
        })?;
        Ok(Self { shared, drain, thread: Some(thread) })
    }
}

impl Drop for Driver {
    fn drop(&mut self) {
        self.shared.close(Instant::now() + self.drain);
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the publisher ended in a panic; what is left is published later");
        }
    }
}

struct Run {
    publisher: Publisher,
    lock: PathBuf,
    claim: Option<File>,
    failures: u32,
}

impl Run {
    async fn run(&mut self) {
        loop {
            match self.publisher.shared.closing() {
                Some(by) => return self.drain(by).await,
                None if !self.is_leader() => {
                    self.publisher.shared.state().connection = Connection::Elsewhere;
                    self.publisher.answer_waiters().await;
                    self.sleep(POLL).await;
                }
                None => match self.step().await {
                    None => {}
                    Some(Ok(Progress::Worked)) => self.failures = 0,
                    Some(Ok(Progress::Idle)) => {
                        self.failures = 0;
                        self.sleep(POLL).await;
                    }
                    Some(Err(_)) => {
                        self.failures = self.failures.saturating_add(1);
                        self.pause().await;
                    }
                },
            }
        }
    }

    /// A step, given up when the time to close is up.
    async fn step(&mut self) -> Option<Result<Progress, PublishError>> {
        let shared = Arc::clone(&self.publisher.shared);
        let mut ended = pin!(shared.ended());
        let mut step = pin!(self.publisher.step());
        poll_fn(|context| match step.as_mut().poll(context) {
            Poll::Ready(outcome) => Poll::Ready(Some(outcome)),
            Poll::Pending => ended.as_mut().poll(context).map(|()| None),
        })
        .await
    }

    /// Publishes what is left, until there is nothing, the remote fails or the time is up.
    async fn drain(&mut self, by: Instant) {
        if !self.is_leader() {
            // Another process publishes what was written here, and claims it for that.
            let release = self.publisher.release();
            if timeout_at(by.into(), release).await.is_err() {
                tracing::info!("claims are not given up in time; they end by themselves");
            }
            return;
        }
        let is_down = self.failures > 0;
        let publisher = &mut self.publisher;
        let finish = async {
            while !is_down && matches!(publisher.step().await, Ok(Progress::Worked)) {}
            publisher.release().await;
        };
        if timeout_at(by.into(), finish).await.is_err() {
            tracing::info!("not everything is published; the rest is when it is opened again");
        }
    }

    /// Sleeps until something is to be done, at most so long.
    async fn sleep(&self, limit: Duration) {
        let shared = &self.publisher.shared;
        let is_waited_for = !shared.state().waiters.is_empty();
        let limit = if is_waited_for { POLL_WAITED } else { limit };
        // Passing the limit is no error.
        let _ = timeout(limit, shared.wake.notified()).await;
    }

    /// Waits after a failure: longer each time, and not as long as others do.
    async fn pause(&mut self) {
        let options = &self.publisher.options;
        let factor = 1_u32 << (self.failures - 1).min(20);
        let full = options.first_pause.saturating_mul(factor).min(options.longest_pause);
        let share = RandomState::new().build_hasher().finish() % 1000;
        let pause = full.mul_f64(0.5 + share as f64 / 2000.0);
        let until = Instant::now() + pause;
        while Instant::now() < until && self.publisher.shared.closing().is_none() {
            self.publisher.answer_waiters().await;
            let left = until.saturating_duration_since(Instant::now());
            self.sleep(left.min(POLL)).await;
        }
    }

    fn is_leader(&mut self) -> bool {
        if self.claim.is_none() {
            self.claim = claim(&self.lock).unwrap_or_else(|error| {
                tracing::warn!(%error, path = %self.lock.display(), "cannot lock");
                None
            });
        }
        self.claim.is_some()
    }
}

/// Locks a file that is never removed; `None` if another process has it.
fn claim(path: &Path) -> io::Result<Option<File>> {
    let file = private().write(true).create(true).truncate(false).open(path)?;
    match file.try_lock() {
        Ok(()) => Ok(Some(file)),
        Err(TryLockError::WouldBlock) => Ok(None),
        Err(TryLockError::Error(error)) => Err(error),
    }
}

/// Fails those who wait when the thread ends, even by a panic.
#[derive(Debug)]
struct StopOnDrop(Arc<Shared>);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.stopped = true;
        let error = state.last_error.clone();
        for waiter in std::mem::take(&mut state.waiters) {
            waiter.answer(Err(waiter.late(error.clone())));
        }
    }
}
