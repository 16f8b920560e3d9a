//! A writer that notes what it changed.

use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::{
    AppendWriter, Durability, ObjectMeta, Payload, PutOptions, Result, StorageError, StorageKey,
};

use super::Marking;
use super::publishing::{Publishing, Waits, here};
use crate::index::{Mark, Queue};

#[derive(Debug)]
pub(super) struct IndexedWriter {
    inner: Box<dyn AppendWriter>,
    key: StorageKey,
    queue: Arc<Queue>,
    publishing: Option<Waits>,
}

impl IndexedWriter {
    pub(super) fn new(
        inner: Box<dyn AppendWriter>,
        key: &StorageKey,
        queue: Arc<Queue>,
        publishing: Option<&Publishing>,
    ) -> Self {
        let publishing = publishing.map(|publishing| publishing.opened(key));
        Self { inner, key: key.clone(), queue, publishing }
    }

    /// Waits until what was written is published, if that is asked for.
    async fn published(&mut self, level: Durability) -> Result<()> {
        match &self.publishing {
            Some(waits) if level == Durability::Published => {
                waits.published(&self.queue, &self.key, self.inner.len()).await
            }
            _ => Ok(()),
        }
    }

    /// The level the storage below is asked for.
    fn here(&self, level: Durability) -> Durability {
        here(self.publishing.is_some(), level)
    }
}

fn marking<'a>(
    (queue, publishing): (&'a Queue, &Option<Waits>),
    key: &'a StorageKey,
    mark: Mark,
) -> Marking<'a> {
    Marking { queue, key, mark, publishes: publishing.is_some() }
}

#[async_trait]
impl AppendWriter for IndexedWriter {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    async fn append(&mut self, lines: Bytes) -> Result<u64> {
        let _marking = marking((&self.queue, &self.publishing), &self.key, Mark::Grown);
        self.inner.append(lines).await
    }

    async fn truncate(&mut self, len: u64) -> Result<()> {
        let _marking = marking((&self.queue, &self.publishing), &self.key, Mark::Rewritten);
        self.inner.truncate(len).await
    }

    async fn replace(&mut self, body: Payload, options: PutOptions) -> Result<ObjectMeta> {
        let marking = marking((&self.queue, &self.publishing), &self.key, Mark::Rewritten);
        let level = options.durability;
        let options = options.durability(self.here(level));
        let meta = self.inner.replace(body, options).await?;
        drop(marking);
        self.published(level).await?;
        Ok(meta)
    }

    async fn adopt(&mut self) -> Result<ObjectMeta> {
        let _marking = marking((&self.queue, &self.publishing), &self.key, Mark::Rewritten);
        self.inner.adopt().await
    }

    async fn sync(&mut self, level: Durability) -> Result<()> {
        self.inner.sync(self.here(level)).await?;
        self.published(level).await
    }

    fn error(&self) -> Option<&StorageError> {
        self.inner.error()
    }

    async fn close(self: Box<Self>) -> Result<ObjectMeta> {
        self.inner.close().await
    }
}
