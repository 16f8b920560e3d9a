//! What a check works with: its subject, opening and reopening it, and threads.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::thread;

use super::failure::{Failure, Result};
use super::harness::{Abilities, FaultPoint, Harness, Subject, Tampering};
use super::support::key;
use crate::storage::{Durability, SessionStorage};

/// A handle of the store under test.
pub(super) type Store = Arc<dyn SessionStorage>;

/// One run of one check.
pub(super) struct Cx {
    harness: Arc<dyn Harness>,
    subject: Box<dyn Subject>,
    abilities: Abilities,
}

impl Cx {
    pub(super) fn new(harness: Arc<dyn Harness>) -> Result<Self> {
        let subject = harness.subject()?;
        let abilities = harness.abilities();
        Ok(Self { harness, subject, abilities })
    }

    /// Opens a further handle, as another process would.
    pub(super) async fn open(&self) -> Result<Store> {
        Ok(self.subject.open().await?)
    }

    /// Drops the only handle there is and opens the same data again.
    pub(super) async fn reopen(&self, store: Store) -> Result<Store> {
        let holders = Arc::strong_count(&store);
        if holders != 1 {
            let what = format!("{holders} holders keep the store that is to be dropped");
            return Err(Failure::new(what));
        }
        drop(store);
        self.open().await
    }

    pub(super) fn gives(&self, level: Durability) -> bool {
        self.abilities.levels.contains(&level)
    }

    pub(super) fn has_local_paths(&self) -> bool {
        self.abilities.local_paths
    }

    pub(super) async fn tamper(&self, name: &str, how: Tampering) -> Result {
        Ok(self.subject.tamper(&key(name)?, how).await?)
    }

    pub(super) async fn fail_next(&self, point: FaultPoint) -> Result {
        Ok(self.subject.fail_next(point).await?)
    }

    /// Starts a future on a thread of its own.
    pub(super) fn on_thread<T, F>(&self, future: F) -> OnThread<T>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        self.work_on_thread(move |harness| block_on(harness, future).flatten())
    }

    /// Starts work on a thread of its own.
    pub(super) fn work_on_thread<T, W>(&self, work: W) -> OnThread<T>
    where
        T: Send + 'static,
        W: FnOnce(&dyn Harness) -> Result<T> + Send + 'static,
    {
        let slot = Arc::new(Mutex::new(Slot { outcome: None, waker: None }));
        let (theirs, harness) = (Arc::clone(&slot), Arc::clone(&self.harness));
        thread::spawn(move || {
            let outcome = catch_unwind(AssertUnwindSafe(|| work(harness.as_ref())))
                .unwrap_or_else(|_| Err(Failure::new("a thread of the check panicked")));
            let mut slot = lock(&theirs);
            slot.outcome = Some(outcome);
            if let Some(waker) = slot.waker.take() {
                waker.wake();
            }
        });
        OnThread(slot)
    }
}

/// Work under way on another thread; waiting for it does not hold up this one.
#[must_use]
pub(super) struct OnThread<T>(Arc<Mutex<Slot<T>>>);

/// Where a thread leaves its outcome, and who waits for it.
struct Slot<T> {
    outcome: Option<Result<T>>,
    waker: Option<Waker>,
}

impl<T> OnThread<T> {
    pub(super) fn is_running(&self) -> bool {
        lock(&self.0).outcome.is_none()
    }
}

impl<T> Future for OnThread<T> {
    type Output = Result<T>;

    fn poll(self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<Self::Output> {
        let mut slot = lock(&self.0);
        match slot.outcome.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                slot.waker = Some(task.waker().clone());
                Poll::Pending
            }
        }
    }
}

fn lock<T>(slot: &Mutex<Slot<T>>) -> MutexGuard<'_, Slot<T>> {
    slot.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a future to its end and hands out what it returned.
pub(super) fn block_on<T: Send>(
    harness: &dyn Harness,
    future: impl Future<Output = T> + Send,
) -> Result<T> {
    let mut outcome = None;
    harness.block_on(Box::pin(async { outcome = Some(future.await) }));
    outcome.ok_or_else(|| Failure::new("the harness did not run the future to its end"))
}
