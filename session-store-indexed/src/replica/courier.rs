//! A thread that speaks with the remote for callers without a runtime, and follows it meanwhile.

use std::future::Future;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::{Builder, JoinHandle};

use session_model::storage::StorageKey;
use tokio::runtime::Builder as Runtime;
use tokio::sync::{mpsc, oneshot};
use tokio::time::sleep;

use super::{Cursor, Pulled, Replica, ReplicaError, Result, SharedOptions, TakeOver};
use crate::remote::RemoteError;

/// What callers wish.
enum Request {
    Pull(StorageKey, oneshot::Sender<Result<Pulled>>),
    Object(StorageKey, oneshot::Sender<Result<bool>>),
    TakeOver(StorageKey, oneshot::Sender<Result<TakeOver>>),
}

#[derive(Debug)]
pub(super) struct Courier {
    requests: Option<mpsc::UnboundedSender<Request>>,
    thread: Option<JoinHandle<()>>,
    is_up: Arc<AtomicBool>,
}

impl Courier {
    pub(super) fn start(replica: Arc<Replica>, options: SharedOptions) -> io::Result<Self> {
        let runtime = Runtime::new_current_thread().enable_all().build()?;
        let (requests, received) = mpsc::unbounded_channel();
        let is_up = Arc::new(AtomicBool::new(true));
        let run = Run { replica, options, is_up: Arc::clone(&is_up) };
        let thread = Builder::new()
            .name("session-courier".to_owned())
            .spawn(move || runtime.block_on(run.run(received)))?;
        Ok(Self { requests: Some(requests), thread: Some(thread), is_up })
    }

    pub(super) async fn pull(&self, session: &StorageKey) -> Result<Pulled> {
        self.ask(|reply| Request::Pull(session.clone(), reply)).await
    }

    pub(super) async fn object(&self, key: &StorageKey) -> Result<bool> {
        self.ask(|reply| Request::Object(key.clone(), reply)).await
    }

    pub(super) async fn take_over(&self, session: &StorageKey) -> Result<TakeOver> {
        self.ask(|reply| Request::TakeOver(session.clone(), reply)).await
    }

    /// Fails at once while the remote is known to be away.
    async fn ask<T>(
        &self,
        request: impl FnOnce(oneshot::Sender<Result<T>>) -> Request,
    ) -> Result<T> {
        let away = || RemoteError::Unavailable("it was away a moment ago".to_owned());
        if !self.is_up.load(Ordering::Relaxed) {
            return Err(away().into());
        }
        let (reply, answer) = oneshot::channel();
        let sent = self.requests.as_ref().map(|requests| requests.send(request(reply)));
        match sent {
            Some(Ok(())) => answer.await.unwrap_or_else(|_| Err(away().into())),
            _ => Err(away().into()),
        }
    }
}

impl Drop for Courier {
    fn drop(&mut self) {
        self.requests = None;
        if self.thread.take().is_some_and(|thread| thread.join().is_err()) {
            tracing::error!("the thread that follows the remote ended in a panic");
        }
    }
}

#[derive(Clone)]
struct Run {
    replica: Arc<Replica>,
    options: SharedOptions,
    is_up: Arc<AtomicBool>,
}

impl Run {
    /// Answers until nobody can ask any more.
    async fn run(self, mut requests: mpsc::UnboundedReceiver<Request>) {
        let following = tokio::spawn(self.clone().follow());
        while let Some(request) = requests.recv().await {
            let run = self.clone();
            // Who asked may have gone.
            tokio::spawn(async move {
                let replica = &run.replica;
                match request {
                    Request::Pull(session, reply) => {
                        let _ = reply.send(run.noted(replica.pull(&session)).await);
                    }
                    Request::Object(key, reply) => {
                        let _ = reply.send(run.noted(replica.fetch_object(&key)).await);
                    }
                    Request::TakeOver(session, reply) => {
                        let lease = run.options.lease;
                        let taken = replica.take_over(&session, lease, false);
                        let _ = reply.send(run.noted(taken).await);
                    }
                }
            });
        }
        following.abort();
    }

    /// Keeps the local copies up to date.
    async fn follow(self) {
        let mut cursor = Cursor::here();
        loop {
            let more = match self.noted(self.replica.follow(&mut cursor)).await {
                Ok(followed) => {
                    for (session, error) in followed
                        .sessions
                        .iter()
                        .filter_map(|(key, pulled)| Some((key, pulled.as_ref().err()?)))
                    {
                        tracing::warn!(%session, %error, "not brought up to date; tried again");
                    }
                    followed.more
                }
                Err(error) => {
                    tracing::debug!(%error, "the remote cannot be followed; tried again");
                    false
                }
            };
            if !more {
                sleep(self.options.interval).await;
            }
        }
    }

    /// Notes whether the remote answers a call.
    async fn noted<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        let answer = call.await;
        let is_away = matches!(
            &answer,
            Err(ReplicaError::Remote(error)) if error.is_temporary()
        );
        self.is_up.store(!is_away, Ordering::Relaxed);
        answer
    }
}
