//! A storage whose missing parts are fetched from the remote when they are asked for.

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::Diagnostic;
use session_model::layout::BLOBS_DIR;
use session_model::storage::{
    AppendOptions, AppendWriter, CopyOptions, Durability, Holder, ListOptions, ListStream,
    ObjectMeta, Payload, Peek, PutOptions, ReadRange, RenameOptions, Result, SessionStorage,
    StorageError, StorageErrorKind, StorageKey,
};

use super::courier::Courier;
use super::patient::Patient;
use super::{Outcome, Replica, TakeOver};
use crate::index::{IndexError, is_artifact, is_session};
use crate::remote::{Fence, Remote};
use crate::storage::IndexedStorage;

/// How a [`SharedStorage`] works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SharedOptions {
    /// How long one answer of the remote is waited for before going on without it; default: 5 s. A
    /// session comes in many, and an object has the remote's own limits.
    pub patience: Duration,
    /// How often the remote is asked for changes; default: 1 s.
    pub interval: Duration,
    /// How long other hosts respect a claim that is not prolonged; default: 30 s.
    pub lease: Duration,
}

impl Default for SharedOptions {
    fn default() -> Self {
        Self {
            patience: Duration::from_secs(5),
            interval: Duration::from_secs(1),
            lease: Duration::from_secs(30),
        }
    }
}

impl SharedOptions {
    /// These options with another wait for answers.
    #[must_use]
    pub fn patience(self, patience: Duration) -> Self {
        Self { patience, ..self }
    }

    /// These options with another pause between looks for changes.
    #[must_use]
    pub fn interval(self, interval: Duration) -> Self {
        Self { interval, ..self }
    }

    /// These options with another length of claims.
    #[must_use]
    pub fn lease(self, lease: Duration) -> Self {
        Self { lease, ..self }
    }
}

/// An [`IndexedStorage`] that is one of several hosts' copies.
///
/// Everything is answered from this host's storage. What is missing in it (a session, an artifact,
/// a blob) is fetched from the remote first, verified and stored; a thread of its own keeps the
/// sessions that are here up to date. Opening a session for exclusive writing claims it and
/// brings it up to date; while another host has it, that is an error of kind `Busy` which names
/// that host. With the remote away everything goes on with what is here.
///
/// Lists are of this host; [`Replica::sessions`] lists both.
pub struct SharedStorage {
    courier: Courier,
    replica: Arc<Replica>,
    local: Arc<IndexedStorage>,
}

impl SharedStorage {
    /// Begins to follow a remote; `owner` is the name this host claims sessions by.
    ///
    /// # Errors
    ///
    /// [`IndexError::Start`] if no thread can be started.
    pub fn start(
        local: Arc<IndexedStorage>,
        remote: Arc<dyn Remote>,
        owner: impl Into<String>,
        options: SharedOptions,
    ) -> Result<Self, IndexError> {
        let owner = owner.into();
        let patient = Patient { remote: Arc::clone(&remote), patience: options.patience };
        let patient = Replica::new(Arc::clone(&local), Arc::new(patient), owner.clone());
        let courier = Courier::start(Arc::new(patient), options)
            .map_err(|error| IndexError::Start(Arc::new(error)))?;
        let replica = Arc::new(Replica::new(Arc::clone(&local), remote, owner));
        Ok(Self { courier, replica, local })
    }

    /// Returns the storage of this host.
    pub fn local(&self) -> &Arc<IndexedStorage> {
        &self.local
    }

    /// Returns what compares this host with the remote; its calls need what the remote needs.
    pub fn replica(&self) -> &Arc<Replica> {
        &self.replica
    }

    /// Fetches what is missing here; tells whether it is here now.
    async fn fetch(&self, key: &StorageKey) -> bool {
        let fetched = if is_session(key) {
            let installed = self.courier.pull(key).await;
            installed.map(|pulled| pulled.outcome == Outcome::Installed)
        } else if is_artifact(key) || key.segments().next() == Some(BLOBS_DIR) {
            self.courier.object(key).await
        } else {
            return false;
        };
        fetched.unwrap_or_else(|error| {
            tracing::warn!(%key, %error, "not here, and the remote cannot be asked");
            false
        })
    }

    /// Claims a session that is to be written; `None` if that is left to the publisher.
    async fn claim(&self, key: &StorageKey) -> Result<Option<Fence>> {
        let is_own = |owner: &str| {
            let failed =
                |error| StorageError::failed(StorageErrorKind::Other, "claim", key.clone(), error);
            self.replica.is_own(owner).map_err(failed)
        };
        match self.courier.take_over(key).await {
            Ok(TakeOver::Held { by, .. }) if !is_own(&by.owner)? => {
                let mut holder = Holder::default();
                holder.owner = Some(format!("the host {}", by.owner));
                Err(StorageError::Busy { key: key.clone(), holder: Box::new(holder) })
            }
            Ok(TakeOver::Taken { fence, .. }) => Ok(Some(fence)),
            Ok(_) => Ok(None),
            Err(error) => {
                tracing::warn!(%key, %error, "written without a claim; it is published later");
                Ok(None)
            }
        }
    }

    /// Opens a session that is claimed first; the claim is given up when it cannot be opened.
    async fn open_claimed(
        &self,
        key: &StorageKey,
        options: AppendOptions,
    ) -> Result<Box<dyn AppendWriter>> {
        // Kept from the publisher, which gives up claims that nobody needs.
        let opening = self.local.opening(key);
        let fence = self.claim(key).await?;
        let opened = {
            // Whoever brings the copy up to date here is done then.
            let _alone = self.local.alone(key).await;
            self.local.open_append(key, options).await
        };
        if let Some(fence) = fence {
            // The publisher gives it up when nobody has the session open and nothing waits.
            self.local.took(key, fence);
        }
        drop(opening);
        opened
    }
}

fn is_missing<T>(answer: &Result<T>) -> bool {
    matches!(answer, Err(error) if error.kind() == StorageErrorKind::NotFound)
}

#[async_trait]
impl SessionStorage for SharedStorage {
    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta> {
        let answer = self.local.head(key).await;
        if is_missing(&answer) && self.fetch(key).await {
            return self.local.head(key).await;
        }
        answer
    }

    async fn read(
        &self,
        key: &StorageKey,
        ranges: &[ReadRange],
    ) -> Result<(ObjectMeta, Vec<Bytes>)> {
        let answer = self.local.read(key, ranges).await;
        if is_missing(&answer) && self.fetch(key).await {
            return self.local.read(key, ranges).await;
        }
        answer
    }

    async fn peek(&self, keys: &[StorageKey], head: u64, tail: u64) -> Vec<Result<Peek>> {
        self.local.peek(keys, head, tail).await
    }

    async fn put(
        &self,
        key: &StorageKey,
        body: Payload,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        self.local.put(key, body, options).await
    }

    async fn put_joined(
        &self,
        key: &StorageKey,
        head: Payload,
        source: &StorageKey,
        part: Range<u64>,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        self.head(source).await?;
        self.local.put_joined(key, head, source, part, options).await
    }

    async fn open_append(
        &self,
        key: &StorageKey,
        options: AppendOptions,
    ) -> Result<Box<dyn AppendWriter>> {
        if options.exclusive && is_session(key) {
            return self.open_claimed(key, options).await;
        }
        self.local.open_append(key, options).await
    }

    async fn copy(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: CopyOptions,
    ) -> Result<ObjectMeta> {
        self.head(from).await?;
        self.local.copy(from, to, options).await
    }

    async fn rename(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: RenameOptions,
    ) -> Result<ObjectMeta> {
        self.local.rename(from, to, options).await
    }

    async fn remove(&self, key: &StorageKey) -> Result<()> {
        self.local.remove(key).await
    }

    async fn remove_all(&self, prefix: &StorageKey) -> Result<u64> {
        self.local.remove_all(prefix).await
    }

    fn list(&self, prefix: Option<&StorageKey>, options: ListOptions) -> ListStream {
        self.local.list(prefix, options)
    }

    async fn drain(&self, level: Durability) -> Result<()> {
        self.local.drain(level).await
    }

    fn local_path(&self, key: &StorageKey) -> Option<PathBuf> {
        self.local.local_path(key)
    }

    fn diagnostics(&self) -> Vec<Diagnostic> {
        SessionStorage::diagnostics(&*self.local)
    }
}

impl fmt::Debug for SharedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SharedStorage").field("replica", &self.replica).finish_non_exhaustive()
    }
}

impl fmt::Display for SharedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "shared {}", self.local)
    }
}
