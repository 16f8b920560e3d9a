//! The storage contract: every call goes to the storage below, and what it changes is noted.

use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::{
    AppendOptions, AppendWriter, CopyOptions, Durability, ListOptions, ListStream, ObjectMeta,
    Payload, Peek, PutOptions, ReadRange, RenameOptions, Result, SessionStorage, StorageKey,
};
use session_model::{Diagnostic, DiagnosticCode};

use super::IndexedStorage;
use super::writer::IndexedWriter;
use crate::index::{self, Mark};

#[async_trait]
impl SessionStorage for IndexedStorage {
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
        let (options, waits) = self.here(options);
        let marking = self.writing(key);
        let meta = self.inner.put(key, body, options).await?;
        drop(marking);
        if waits {
            self.published(key, meta.size).await?;
        }
        Ok(meta)
    }

    async fn put_joined(
        &self,
        key: &StorageKey,
        head: Payload,
        source: &StorageKey,
        part: Range<u64>,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        let (options, waits) = self.here(options);
        let marking = self.writing(key);
        let meta = self.inner.put_joined(key, head, source, part, options).await?;
        drop(marking);
        if waits {
            self.published(key, meta.size).await?;
        }
        Ok(meta)
    }

    async fn open_append(
        &self,
        key: &StorageKey,
        options: AppendOptions,
    ) -> Result<Box<dyn AppendWriter>> {
        let _marking = self.marking(key, Mark::Grown);
        let inner = self.inner.open_append(key, options).await?;
        let queue = Arc::clone(&self.queue);
        Ok(Box::new(IndexedWriter::new(inner, key, queue, self.publishing.as_ref())))
    }

    async fn copy(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: CopyOptions,
    ) -> Result<ObjectMeta> {
        let _marking = self.writing(to);
        self.inner.copy(from, to, options).await
    }

    async fn rename(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: RenameOptions,
    ) -> Result<ObjectMeta> {
        let _markings = (self.writing(from), self.writing(to));
        let meta = self.inner.rename(from, to, options).await?;
        if index::is_session(from) && index::is_session(to) {
            self.queue.mark_move(from, to);
        }
        Ok(meta)
    }

    async fn remove(&self, key: &StorageKey) -> Result<()> {
        let _marking = self.writing(key);
        self.inner.remove(key).await
    }

    async fn remove_all(&self, prefix: &StorageKey) -> Result<u64> {
        if let Some(publishing) = &self.publishing {
            publishing.orders.removing_all(prefix);
        }
        let removed = self.inner.remove_all(prefix).await;
        self.queue.compare();
        removed
    }

    fn list(&self, prefix: Option<&StorageKey>, options: ListOptions) -> ListStream {
        self.inner.list(prefix, options)
    }

    async fn drain(&self, level: Durability) -> Result<()> {
        match &self.publishing {
            Some(publishing) if level == Durability::Published => {
                self.inner.drain(Durability::Durable).await?;
                publishing.all(&self.queue).await
            }
            _ => self.inner.drain(level).await,
        }
    }

    fn local_path(&self, key: &StorageKey) -> Option<PathBuf> {
        self.inner.local_path(key)
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        let mut found = self.inner.diagnostics();
        found.extend(self.diagnostics().into_iter().map(Diagnostic::from));
        if let Some(error) = self.status().error {
            let behind = format!("the index is behind, and catches up later: {error}");
            found.push(Diagnostic::new(DiagnosticCode::IndexNotUsed, behind));
        }
        found
    }
}
