//! Waiting for what another writer holds.

mod patience;
mod pause;

use std::fmt;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::Diagnostic;
use session_model::storage::{
    AppendOptions, AppendWriter, CopyOptions, Durability, ListOptions, ListStream, ObjectMeta,
    Payload, Peek, PutOptions, ReadRange, RenameOptions, Result, SessionStorage, StorageError,
    StorageKey,
};

use patience::Patience;
pub(crate) use pause::Pause;

/// Is told whom a call waits for.
type Tell = Arc<dyn Fn(&StorageError) + Send + Sync>;

/// A storage whose calls wait while another writer holds the object, in place of failing.
///
/// A call that meets [`Busy`](session_model::storage::StorageErrorKind::Busy) is made again, some
/// 40 times a second at times that vary, until it comes to something else or its time is up: then
/// its error is the `Busy` that names the holder. Every other error is returned at once, and what
/// the caller asked for is checked anew each time: an object that was removed meanwhile is not
/// found. Calls that only read never wait.
///
/// Those who wait have no order among them, but each has the same chance whenever the object
/// becomes free, so that none waits for ever as long as holders let go. No thread of the caller's
/// executor is blocked, and none of its timers is needed: any executor will do.
///
/// # Cancel safety
///
/// Dropping a call that waits ends the wait; nothing has happened then.
///
/// ```
/// # #[cfg(feature = "memory")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # pollster::block_on(async {
/// use std::sync::Arc;
/// use std::time::Duration;
///
/// use session_context::WaitingStorage;
/// use session_model::storage::{AppendOptions, SessionStorage, StorageKey};
/// use session_store_memory::MemoryStorage;
///
/// let storage = Arc::new(MemoryStorage::new());
/// let key = StorageKey::new("s.jsonl")?;
/// let held = storage.open_append(&key, AppendOptions::exclusive("an agent")).await?;
/// let waiting = WaitingStorage::new(storage, Duration::from_millis(1));
/// let error = waiting.open_append(&key, AppendOptions::exclusive("me")).await.unwrap_err();
/// assert!(error.to_string().starts_with("s.jsonl is in use by an agent"));
/// drop(held);
/// waiting.open_append(&key, AppendOptions::exclusive("me")).await?;
/// # Ok(())
/// # })
/// # }
/// # #[cfg(not(feature = "memory"))]
/// # fn main() {}
/// ```
#[derive(Clone)]
pub struct WaitingStorage {
    inner: Arc<dyn SessionStorage>,
    limit: Duration,
    tell: Option<Tell>,
    found: Option<Diagnostic>,
}

impl WaitingStorage {
    /// A storage whose calls wait, each for at most `limit`; [`Duration::MAX`] is for ever.
    pub fn new(inner: Arc<dyn SessionStorage>, limit: Duration) -> Self {
        Self { inner, limit, tell: None, found: None }
    }

    /// The storage as it is, not waiting, with something to be told of it.
    #[cfg(feature = "indexed")]
    pub(crate) fn at_once(inner: Arc<dyn SessionStorage>, found: Diagnostic) -> Self {
        Self { found: Some(found), ..Self::new(inner, Duration::ZERO) }
    }

    /// The same, telling whom a call waits for once it has waited for a second: `tell` gets the
    /// `Busy` error, once in each call.
    pub fn telling(self, tell: impl Fn(&StorageError) + Send + Sync + 'static) -> Self {
        Self { tell: Some(Arc::new(tell)), ..self }
    }

    fn patience(&self) -> Patience<'_> {
        Patience::new(self.limit, self.tell.as_deref())
    }
}

/// Makes a call again while it finds an object held and there is time.
macro_rules! patiently {
    ($storage:expr, $call:expr) => {{
        let mut patience = $storage.patience();
        loop {
            match $call.await {
                Err(error) if patience.goes_on(&error).await => {}
                done => return done,
            }
        }
    }};
}

#[async_trait]
impl SessionStorage for WaitingStorage {
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
        patiently!(self, self.inner.put(key, body.clone(), options.clone()))
    }

    async fn put_joined(
        &self,
        key: &StorageKey,
        head: Payload,
        source: &StorageKey,
        part: Range<u64>,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        patiently!(
            self,
            self.inner.put_joined(key, head.clone(), source, part.clone(), options.clone())
        )
    }

    async fn open_append(
        &self,
        key: &StorageKey,
        options: AppendOptions,
    ) -> Result<Box<dyn AppendWriter>> {
        patiently!(self, self.inner.open_append(key, options.clone()))
    }

    async fn copy(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: CopyOptions,
    ) -> Result<ObjectMeta> {
        patiently!(self, self.inner.copy(from, to, options))
    }

    async fn rename(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: RenameOptions,
    ) -> Result<ObjectMeta> {
        patiently!(self, self.inner.rename(from, to, options))
    }

    async fn remove(&self, key: &StorageKey) -> Result<()> {
        patiently!(self, self.inner.remove(key))
    }

    async fn remove_all(&self, prefix: &StorageKey) -> Result<u64> {
        patiently!(self, self.inner.remove_all(prefix))
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

    fn diagnostics(&self) -> Vec<Diagnostic> {
        self.inner.diagnostics().into_iter().chain(self.found.clone()).collect()
    }
}

impl fmt::Debug for WaitingStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut debug = f.debug_struct("WaitingStorage");
        debug.field("inner", &self.inner).field("limit", &self.limit).finish_non_exhaustive()
    }
}

impl fmt::Display for WaitingStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.inner.fmt(f)
    }
}
