//! What a check works with: its subject, opening and reopening it, and threads.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Poll, Waker};
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

    /// Starts a future on a thread of its own; the result waits for it.
    pub(super) fn on_thread<T, F>(&self, future: F) -> impl Future<Output = Result<T>> + use<T, F>
    where
        T: Send + 'static,
        F: Future<Output = Result<T>> + Send + 'static,
    {
        work_on_thread(self, move |harness| block_on(harness, future).flatten())
    }
}

/// Starts work on a thread of its own; the result waits for it without holding up this thread.
pub(super) fn work_on_thread<T: Send + 'static, W>(
    cx: &Cx,
    work: W,
) -> impl Future<Output = Result<T>> + use<T, W>
where
    W: FnOnce(&dyn Harness) -> Result<T> + Send + 'static,
{
    let slot = Arc::new(Slot(Mutex::new((None, None))));
    let (theirs, harness) = (Arc::clone(&slot), Arc::clone(&cx.harness));
    thread::spawn(move || {
        let outcome = catch_unwind(AssertUnwindSafe(|| work(harness.as_ref())))
            .unwrap_or_else(|_| Err(Failure::new("a thread of the check panicked")));
        let mut state = theirs.lock();
        state.0 = Some(outcome);
        if let Some(waker) = state.1.take() {
            waker.wake();
        }
    });
    poll_fn(move |task| {
        let mut state = slot.lock();
        match state.0.take() {
            Some(outcome) => Poll::Ready(outcome),
            None => {
                state.1 = Some(task.waker().clone());
                Poll::Pending
            }
        }
    })
}

/// Where a thread leaves its outcome, and who waits for it.
struct Slot<T>(Mutex<(Option<Result<T>>, Option<Waker>)>);

impl<T> Slot<T> {
    fn lock(&self) -> MutexGuard<'_, (Option<Result<T>>, Option<Waker>)> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
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
