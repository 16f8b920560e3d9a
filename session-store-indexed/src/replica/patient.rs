//! A remote that is not waited for without end.

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::StorageKey;
use tokio::time::timeout;

use crate::remote::{
    AppendUnit, Applied, Check, Claim, Claimed, Digest, Feed, Fence, Names, Page, Part, Put,
    Remote, RemoteError, RemoteLimits, Result, Rewrite, SessionState,
};

/// Gives up a call that is not answered in time.
///
/// Each answer has its own time, so that a session of many parts comes however long that takes.
/// What moves a whole object is left to the remote, which alone knows its parts.
#[derive(Debug)]
pub(super) struct Patient {
    pub(super) remote: Arc<dyn Remote>,
    pub(super) patience: Duration,
}

impl Patient {
    async fn bounded<T>(&self, call: impl Future<Output = Result<T>>) -> Result<T> {
        timeout(self.patience, call).await.unwrap_or_else(|_| {
            Err(RemoteError::Unavailable(format!("no answer in {:?}", self.patience)))
        })
    }
}

#[async_trait]
impl Remote for Patient {
    fn limits(&self) -> RemoteLimits {
        self.remote.limits()
    }

    async fn check(&self) -> Result<Check> {
        self.bounded(self.remote.check()).await
    }

    async fn claim(&self, session: &StorageKey, claim: &Claim) -> Result<Claimed> {
        self.bounded(self.remote.claim(session, claim)).await
    }

    async fn release(&self, session: &StorageKey, fence: &Fence) -> Result<()> {
        self.bounded(self.remote.release(session, fence)).await
    }

    async fn apply(&self, units: &[AppendUnit]) -> Vec<Result<Applied>> {
        self.remote.apply(units).await
    }

    async fn begin_rewrite(
        &self,
        session: &StorageKey,
        fence: &Fence,
        generation: u64,
    ) -> Result<Applied> {
        self.bounded(self.remote.begin_rewrite(session, fence, generation)).await
    }

    async fn commit_rewrite(&self, rewrite: &Rewrite) -> Result<Applied> {
        self.bounded(self.remote.commit_rewrite(rewrite)).await
    }

    async fn remove(
        &self,
        session: &StorageKey,
        fence: &Fence,
        moved_to: Option<&StorageKey>,
    ) -> Result<Applied> {
        self.bounded(self.remote.remove(session, fence, moved_to)).await
    }

    async fn state(&self, session: &StorageKey) -> Result<Option<SessionState>> {
        self.bounded(self.remote.state(session)).await
    }

    async fn read(&self, session: &StorageKey, from: u64, limit: usize) -> Result<Option<Part>> {
        self.bounded(self.remote.read(session, from, limit)).await
    }

    async fn list(&self, before: Option<u64>, limit: usize) -> Result<Page> {
        self.bounded(self.remote.list(before, limit)).await
    }

    async fn feed(&self, after: u64, limit: usize) -> Result<Feed> {
        self.bounded(self.remote.feed(after, limit)).await
    }

    async fn put_object(&self, key: &StorageKey, bytes: Bytes) -> Result<Put> {
        self.remote.put_object(key, bytes).await
    }

    async fn get_object(&self, key: &StorageKey) -> Result<Option<Bytes>> {
        self.remote.get_object(key).await
    }

    async fn list_objects(
        &self,
        prefix: &StorageKey,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Names> {
        self.bounded(self.remote.list_objects(prefix, after, limit)).await
    }

    async fn object_digests(&self, keys: &[StorageKey]) -> Result<Vec<Option<Digest>>> {
        self.bounded(self.remote.object_digests(keys)).await
    }

    async fn remove_object(&self, key: &StorageKey) -> Result<bool> {
        self.bounded(self.remote.remove_object(key)).await
    }

    async fn wait(&self, replicas: u32, timeout: Duration) -> Result<u32> {
        self.remote.wait(replicas, timeout).await
    }
}
