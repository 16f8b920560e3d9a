//! Waiting until the remote has something.

use std::future::poll_fn;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Poll, Waker};
use std::time::{Duration, Instant};

use session_model::storage::{StorageError, StorageErrorKind, StorageKey};

use super::publisher::{Publisher, Result};
use super::{PublishError, Shared};
use crate::index::Queue;
use crate::outbox::{self, BlockKind};
use crate::remote::RemoteError;
use crate::sqlite::Database;

type Answer = Result<(), StorageError>;

/// What somebody waits for.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A session, up to a length.
    Log(StorageKey, u64),
    /// An artifact.
    Object(StorageKey),
    /// Everything, but what is blocked; the key is told in errors.
    All(StorageKey),
}

/// Somebody who waits.
#[derive(Debug)]
pub(super) struct Waiter {
    what: What,
    /// What the index must have reached first.
    noted: u64,
    /// The row to wait for, once the index has.
    up_to: Option<i64>,
    deadline: Instant,
    answer: Arc<Mutex<Waiting>>,
}

#[derive(Debug, Default)]
struct Waiting {
    answer: Option<Answer>,
    waker: Option<Waker>,
    is_abandoned: bool,
}

impl Waiter {
    pub(super) fn answer(&self, answer: Answer) {
        let mut waiting = self.answer.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.answer = Some(answer);
        if let Some(waker) = waiting.waker.take() {
            waker.wake();
        }
    }

    fn is_abandoned(&self) -> bool {
        self.answer.lock().unwrap_or_else(PoisonError::into_inner).is_abandoned
    }

    /// Whether it is there, or will not be; `None` if that is still open.
    pub(super) fn look(
        &mut self,
        database: &mut Database,
        queue: &Queue,
    ) -> Result<Option<Answer>> {
        if !queue.is_settled(self.noted) {
            return Ok(None);
        }
        let done = database.run(|connection| match &self.what {
            What::Log(key, length) => {
                if let Some(blocked) = outbox::blocked_key(connection, key)? {
                    return Ok(Some(Err(refusal(key, blocked.kind, blocked.reason))));
                }
                Ok((!outbox::is_behind(connection, key, *length)?).then_some(Ok(())))
            }
            What::Object(key) => {
                if let Some(blocked) = outbox::blocked_key(connection, key)? {
                    return Ok(Some(Err(refusal(key, blocked.kind, blocked.reason))));
                }
                Ok((!outbox::has_pending(connection, key)?).then_some(Ok(())))
            }
            What::All(_) => {
                let up_to = match self.up_to {
                    Some(up_to) => up_to,
                    None => outbox::last(connection)?,
                };
                self.up_to = Some(up_to);
                if !outbox::is_sent(connection, up_to)? {
                    return Ok(None);
                }
                let refused = outbox::blocked(connection)?
                    .into_iter()
                    .find(|blocked| blocked.kind != BlockKind::Skipped);
                Ok(Some(match refused {
                    Some(blocked) => Err(refusal(&blocked.key, blocked.kind, blocked.reason)),
                    None => Ok(()),
                }))
            }
        })?;
        Ok(done)
    }

    pub(super) fn is_late(&self) -> bool {
        Instant::now() >= self.deadline
    }

    pub(super) fn late(&self, why: Option<PublishError>) -> StorageError {
        let (What::Log(key, _) | What::Object(key) | What::All(key)) = &self.what;
        let why = why.unwrap_or_else(|| {
            RemoteError::Unavailable("it was not published in time".to_owned()).into()
        });
        StorageError::failed(StorageErrorKind::Unavailable, "publish", key.clone(), why)
    }
}

fn refusal(key: &StorageKey, kind: BlockKind, reason: String) -> StorageError {
    let kind = match kind {
        BlockKind::Fenced => StorageErrorKind::Fenced,
        BlockKind::Refused | BlockKind::Skipped => StorageErrorKind::Other,
    };
    StorageError::failed(kind, "publish", key.clone(), reason)
}

impl Shared {
    /// Waits until the remote has something.
    pub(crate) async fn published(&self, what: What, noted: u64, timeout: Duration) -> Answer {
        let answer = Arc::new(Mutex::new(Waiting::default()));
        let waiter = Waiter {
            what,
            noted,
            up_to: None,
            deadline: Instant::now() + timeout,
            answer: Arc::clone(&answer),
        };
        {
            let mut state = self.state();
            if state.stopped {
                return Err(waiter.late(state.last_error.clone()));
            }
            state.waiters.push(waiter);
        }
        self.wake.notify_one();
        let _abandon = Abandon(&answer);
        poll_fn(|context| {
            let mut waiting = answer.lock().unwrap_or_else(PoisonError::into_inner);
            match waiting.answer.take() {
                Some(answer) => Poll::Ready(answer),
                None => {
                    waiting.waker = Some(context.waker().clone());
                    Poll::Pending
                }
            }
        })
        .await
    }
}

/// Tells the publisher that nobody waits any more.
struct Abandon<'a>(&'a Mutex<Waiting>);

impl Drop for Abandon<'_> {
    fn drop(&mut self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).is_abandoned = true;
    }
}

impl Publisher {
    /// Answers those who wait for what is there by now, and those who waited too long.
    pub(super) async fn answer_waiters(&mut self) {
        let (waiting, error) = {
            let mut state = self.shared.state();
            (std::mem::take(&mut state.waiters), state.last_error.clone())
        };
        let mut left = Vec::new();
        let mut done = Vec::new();
        for mut waiter in waiting {
            if waiter.is_abandoned() {
                continue;
            }
            match waiter.look(&mut self.database, &self.queue) {
                Ok(Some(answer)) => done.push((waiter, answer)),
                Err(error) if waiter.is_late() => {
                    let error = waiter.late(Some(error));
                    done.push((waiter, Err(error)));
                }
                _ if waiter.is_late() => {
                    let error = waiter.late(error.clone());
                    done.push((waiter, Err(error)));
                }
                _ => left.push(waiter),
            }
        }
        let confirmed = match done.iter().any(|(_, answer)| answer.is_ok()) {
            true => self.replicated().await,
            false => Ok(()),
        };
        for (waiter, answer) in done {
            match &confirmed {
                Err(error) if answer.is_ok() => {
                    waiter.answer(Err(waiter.late(Some(error.clone()))))
                }
                _ => waiter.answer(answer),
            }
        }
        self.shared.state().waiters.append(&mut left);
    }

    /// Waits until enough replicas have what was sent.
    async fn replicated(&self) -> Result<()> {
        let wanted = self.options.replicas;
        if wanted == 0 {
            return Ok(());
        }
        let reached = self.remote.wait(wanted, self.options.timeout).await?;
        if reached >= wanted {
            return Ok(());
        }
        let reason = format!("{reached} of {wanted} replicas have it");
        Err(RemoteError::Unavailable(reason).into())
    }
}
