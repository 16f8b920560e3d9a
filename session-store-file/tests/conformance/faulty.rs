//! A storage in front of another that makes the system refuse single writes of it.

use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use bytes::Bytes;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use session_model::conformance::FaultPoint;
use session_model::storage::{
    AppendOptions, AppendWriter, CopyOptions, Durability, ListOptions, ListStream, ObjectMeta,
    Payload, Peek, PutOptions, ReadRange, RenameOptions, Result, SessionStorage, StorageError,
    StorageKey,
};
use session_store_file::FileStorage;

/// The failure that is due.
#[derive(Debug, Default)]
pub struct Plan(Mutex<Option<FaultPoint>>);

impl Plan {
    pub fn arm(&self, point: FaultPoint) {
        *self.0.lock().unwrap() = Some(point);
    }

    /// Takes the failure that is due if it is one of these.
    fn take(&self, points: &[FaultPoint]) -> Option<FaultPoint> {
        self.0.lock().unwrap().take_if(|point| points.contains(point))
    }
}

/// Keeps files from growing beyond a size, for this process and the life of this value.
struct Limit(Rlimit);

impl Limit {
    fn new(bytes: u64) -> Self {
        let old = getrlimit(Resource::Fsize);
        setrlimit(Resource::Fsize, Rlimit { current: Some(bytes), ..old }).unwrap();
        Self(old)
    }
}

impl Drop for Limit {
    fn drop(&mut self) {
        setrlimit(Resource::Fsize, self.0).unwrap();
    }
}

#[derive(Debug)]
pub struct Faulty {
    inner: FileStorage,
    plan: Arc<Plan>,
}

impl Faulty {
    pub fn new(inner: FileStorage, plan: &Arc<Plan>) -> Self {
        Self { inner, plan: Arc::clone(plan) }
    }
}

impl fmt::Display for Faulty {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}

#[async_trait]
impl SessionStorage for Faulty {
    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta> {
        self.inner.head(key).await
    }

    async fn read(
        &self,
        key: &StorageKey,
        ranges: &[ReadRange],
    ) -> Result<(ObjectMeta, Vec<Bytes>)> {
        self.inner.read(key, ranges).await
    }

    async fn peek(&self, keys: &[StorageKey], head: u64, tail: u64) -> Vec<Result<Peek>> {
        self.inner.peek(keys, head, tail).await
    }

    async fn put(
        &self,
        key: &StorageKey,
        body: Payload,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        let _limit = self.plan.take(&[FaultPoint::Put]).map(|_| Limit::new(body.len() / 2));
        self.inner.put(key, body, options).await
    }

    async fn open_append(
        &self,
        key: &StorageKey,
        options: AppendOptions,
    ) -> Result<Box<dyn AppendWriter>> {
        let inner = self.inner.open_append(key, options).await?;
        Ok(Box::new(FaultyWriter { inner, plan: Arc::clone(&self.plan) }))
    }

    async fn copy(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: CopyOptions,
    ) -> Result<ObjectMeta> {
        self.inner.copy(from, to, options).await
    }

    async fn rename(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: RenameOptions,
    ) -> Result<ObjectMeta> {
        self.inner.rename(from, to, options).await
    }

    async fn remove(&self, key: &StorageKey) -> Result<()> {
        self.inner.remove(key).await
    }

    async fn remove_all(&self, prefix: &StorageKey) -> Result<u64> {
        self.inner.remove_all(prefix).await
    }

    fn list(&self, prefix: Option<&StorageKey>, options: ListOptions) -> ListStream {
        self.inner.list(prefix, options)
    }

    async fn drain(&self, level: Durability) -> Result<()> {
        self.inner.drain(level).await
    }

    fn local_path(&self, key: &StorageKey) -> Option<PathBuf> {
        self.inner.local_path(key)
    }
}

#[derive(Debug)]
struct FaultyWriter {
    inner: Box<dyn AppendWriter>,
    plan: Arc<Plan>,
}

#[async_trait]
impl AppendWriter for FaultyWriter {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    async fn append(&mut self, lines: Bytes) -> Result<u64> {
        let due = self.plan.take(&[FaultPoint::Append, FaultPoint::AppendHalfway]);
        let _limit = due.map(|point| match point {
            FaultPoint::AppendHalfway => Limit::new(self.len() + lines.len() as u64 / 2),
            _ => Limit::new(self.len()),
        });
        self.inner.append(lines).await
    }

    async fn truncate(&mut self, len: u64) -> Result<()> {
        self.inner.truncate(len).await
    }

    async fn replace(&mut self, body: Payload, options: PutOptions) -> Result<ObjectMeta> {
        let _limit = self.plan.take(&[FaultPoint::Replace]).map(|_| Limit::new(body.len() / 2));
        self.inner.replace(body, options).await
    }

    async fn adopt(&mut self) -> Result<ObjectMeta> {
        self.inner.adopt().await
    }

    async fn sync(&mut self, level: Durability) -> Result<()> {
        self.inner.sync(level).await
    }

    fn error(&self) -> Option<&StorageError> {
        self.inner.error()
    }

    async fn close(self: Box<Self>) -> Result<ObjectMeta> {
        self.inner.close().await
    }
}
