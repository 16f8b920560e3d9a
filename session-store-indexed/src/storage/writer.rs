//! A writer that notes what it changed.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::{
    AppendWriter, Durability, ObjectMeta, Payload, PutOptions, Result, StorageError, StorageKey,
};

use super::Marking;
use crate::index::{Mark, Queue};

#[derive(Debug)]
pub(super) struct IndexedWriter {
    inner: Box<dyn AppendWriter>,
    key: StorageKey,
    queue: Arc<Queue>,
}

impl IndexedWriter {
    pub(super) fn new(inner: Box<dyn AppendWriter>, key: &StorageKey, queue: Arc<Queue>) -> Self {
        Self { inner, key: key.clone(), queue }
    }
}

fn marking<'a>(queue: &'a Queue, key: &'a StorageKey, mark: Mark) -> Marking<'a> {
    Marking { queue, key, mark }
}

#[async_trait]
impl AppendWriter for IndexedWriter {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    async fn append(&mut self, lines: Bytes) -> Result<u64> {
        let _marking = marking(&self.queue, &self.key, Mark::Grown);
        self.inner.append(lines).await
    }

    async fn truncate(&mut self, len: u64) -> Result<()> {
        let _marking = marking(&self.queue, &self.key, Mark::Rewritten);
        self.inner.truncate(len).await
    }

    async fn replace(&mut self, body: Payload, options: PutOptions) -> Result<ObjectMeta> {
        let _marking = marking(&self.queue, &self.key, Mark::Rewritten);
        self.inner.replace(body, options).await
    }

    async fn adopt(&mut self) -> Result<ObjectMeta> {
        let _marking = marking(&self.queue, &self.key, Mark::Rewritten);
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
