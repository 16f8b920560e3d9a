//! Conveniences for callers of any backend.

use std::future::poll_fn;

use async_trait::async_trait;
use bytes::Bytes;

use super::{
    AppendOptions, ListOptions, ObjectMeta, ReadRange, Result, SessionStorage, StorageError,
    StorageErrorKind, StorageKey,
};

/// Calls built from those of [`SessionStorage`]; every backend has them.
#[async_trait]
pub trait SessionStorageExt: SessionStorage {
    /// Reads a whole object.
    ///
    /// # Errors
    ///
    /// As [`SessionStorage::read`].
    async fn read_all(&self, key: &StorageKey) -> Result<(ObjectMeta, Bytes)> {
        let (meta, mut parts) = self.read(key, &[ReadRange::Full]).await?;
        Ok((meta, parts.pop().unwrap_or_default()))
    }

    /// Tells whether an object exists.
    ///
    /// # Errors
    ///
    /// Any error of [`SessionStorage::head`] but `NotFound`.
    async fn exists(&self, key: &StorageKey) -> Result<bool> {
        match self.head(key).await {
            Ok(_) => Ok(true),
            Err(error) if error.kind() == StorageErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Appends bytes through a writer of their own and returns the object's state after.
    ///
    /// # Errors
    ///
    /// As [`SessionStorage::open_append`], [`AppendWriter::append`](super::AppendWriter::append)
    /// and [`AppendWriter::close`](super::AppendWriter::close).
    async fn append_once(&self, key: &StorageKey, lines: Bytes) -> Result<ObjectMeta> {
        let mut writer = self.open_append(key, AppendOptions::default()).await?;
        writer.append(lines).await?;
        writer.close().await
    }

    /// Collects a whole listing: the objects, and the errors of those that could not be listed.
    async fn list_all(
        &self,
        prefix: Option<&StorageKey>,
        options: ListOptions,
    ) -> (Vec<ObjectMeta>, Vec<StorageError>) {
        let mut stream = self.list(prefix, options);
        let (mut objects, mut errors) = (Vec::new(), Vec::new());
        while let Some(item) = poll_fn(|cx| stream.as_mut().poll_next(cx)).await {
            match item {
                Ok(meta) => objects.push(meta),
                Err(error) => errors.push(error),
            }
        }
        (objects, errors)
    }
}

impl<S: SessionStorage + ?Sized> SessionStorageExt for S {}
