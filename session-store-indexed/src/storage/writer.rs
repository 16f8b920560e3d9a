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

/// Notes a change when the returned value is dropped; one that `replaces` is noted before it, too.
fn marking<'a>(
    (queue, publishing): (&'a Queue, &Option<Waits>),
    key: &'a StorageKey,
    mark: Mark,
    replaces: bool,
) -> Marking<'a> {
    let waits = publishing.as_ref().filter(|_| replaces);
    let _writing = waits.and_then(|waits| waits.orders.writing(key));
    Marking { queue, key, mark, publishes: publishing.is_some(), _writing }
}

#[async_trait]
impl AppendWriter for IndexedWriter {
    fn len(&self) -> u64 {
        self.inner.len()
    }

    async fn append(&mut self, lines: Bytes) -> Result<u64> {
        let _marking = marking((&self.queue, &self.publishing), &self.key, Mark::Grown, false);
        self.inner.append(lines).await
    }

    async fn truncate(&mut self, len: u64) -> Result<()> {
        let source = (&*self.queue, &self.publishing);
        let _marking = marking(source, &self.key, Mark::Rewritten, true);
        self.inner.truncate(len).await
    }

    async fn replace(&mut self, body: Payload, options: PutOptions) -> Result<ObjectMeta> {
        let source = (&*self.queue, &self.publishing);
        let marking = marking(source, &self.key, Mark::Rewritten, true);
        let level = options.durability;
        let options = options.durability(self.here(level));
        let meta = self.inner.replace(body, options).await?;
        drop(marking);
        self.published(level).await?;
        Ok(meta)
    }

    async fn adopt(&mut self) -> Result<ObjectMeta> {
        // Another program wrote it.
        let source = (&*self.queue, &self.publishing);
        let _marking = marking(source, &self.key, Mark::Rewritten, false);
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
