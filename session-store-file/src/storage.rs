//! The backend itself.

use std::fmt;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::{
    AppendOptions, AppendWriter, CopyOptions, Durability, ListOptions, ListStream, ObjectMeta,
    Payload, Peek, PutOptions, ReadRange, RenameOptions, Result, SessionStorage, StorageError,
    StorageKey,
};

use crate::dir::{self, Found};
use crate::error::During;
use crate::list::Listing;
use crate::root::{self, OpenRootError};
use crate::store::{Parents, Store, is_durable};
use crate::writer::FileWriter;
use crate::{peek, read, temp};

/// How a [`FileStorage`] works.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileOptions {
    /// How long an operation waits for those of other threads and processes; default: 10 seconds.
    ///
    /// An operation that waited in vain fails with an error of kind `Unavailable`. Operations
    /// take well under a millisecond, so only a stopped process makes others wait that long.
    pub lock_wait: Duration,
}

impl Default for FileOptions {
    fn default() -> Self {
        Self { lock_wait: Duration::from_secs(10) }
    }
}

impl FileOptions {
    /// These options with another wait for the operations of others.
    pub fn lock_wait(self, lock_wait: Duration) -> Self {
        Self { lock_wait }
    }
}

/// Objects as files below a root directory.
///
/// See the [crate documentation](crate) for what is promised. Several may be open on one root, in
/// this process or others; they exclude each other where the contract says so.
///
/// ```
/// use session_model::storage::SessionStorage;
/// use session_store_file::FileStorage;
///
/// let dir = tempfile::tempdir()?;
/// let storage = FileStorage::open(dir.path().join("agent"))?;
/// assert_eq!(storage.to_string(), format!("file://{}/agent", dir.path().display()));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct FileStorage {
    store: Arc<Store>,
}

impl FileStorage {
    /// Opens a root directory, creating it with mode 0700 if it is missing, with its parents.
    ///
    /// A relative path is taken from the current directory of this moment. The root itself may be
    /// a symbolic link.
    ///
    /// # Errors
    ///
    /// [`OpenRootError`] if the path is no directory, cannot be created or read, or is too long
    /// for the longest key to fit behind it.
    pub fn open(root: impl AsRef<Path>) -> Result<Self, OpenRootError> {
        Self::open_with(root, FileOptions::default())
    }

    /// As [`open`](Self::open), with options.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with(root: impl AsRef<Path>, options: FileOptions) -> Result<Self, OpenRootError> {
        let root = root::open(root.as_ref())?;
        Ok(Self { store: Arc::new(Store::new(root, options.lock_wait)) })
    }

    /// Returns the root directory.
    pub fn root(&self) -> &Path {
        &self.store.root
    }
}

impl fmt::Display for FileStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "file://{}", self.store.root.display())
    }
}

#[async_trait]
impl SessionStorage for FileStorage {
    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta> {
        let found = Parents::new(&self.store).of(key).and_then(|dir| match dir {
            Some(dir) => dir::find(dir, key.file_name()),
            None => Ok(Found::Nothing),
        });
        match found.during("look at", key)? {
            Found::Object(state) => Ok(state.meta(key)),
            Found::Nothing | Found::Directory => Err(StorageError::NotFound { key: key.clone() }),
        }
    }

    async fn read(
        &self,
        key: &StorageKey,
        ranges: &[ReadRange],
    ) -> Result<(ObjectMeta, Vec<Bytes>)> {
        let plan = |size| ranges.iter().map(|range| range.resolve(size)).collect();
        let (state, parts) = read::read(&mut Parents::new(&self.store), key, plan)?;
        Ok((state.meta(key), parts))
    }

    async fn peek(&self, keys: &[StorageKey], head: u64, tail: u64) -> Vec<Result<Peek>> {
        peek::peek(&self.store, keys, head, tail)
    }

    async fn put(
        &self,
        key: &StorageKey,
        body: Payload,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        self.store.put(key, &options, |file| temp::write(file, &body))
    }

    async fn put_joined(
        &self,
        key: &StorageKey,
        head: Payload,
        source: &StorageKey,
        part: Range<u64>,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        self.store.put_joined(key, &head, (source, part), &options)
    }

    async fn open_append(
        &self,
        key: &StorageKey,
        options: AppendOptions,
    ) -> Result<Box<dyn AppendWriter>> {
        Ok(Box::new(FileWriter::open(&self.store, key, &options)?))
    }

    async fn copy(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: CopyOptions,
    ) -> Result<ObjectMeta> {
        self.store.copy(from, to, options.overwrite)
    }

    async fn rename(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: RenameOptions,
    ) -> Result<ObjectMeta> {
        self.store.rename(from, to, options.overwrite)
    }

    async fn remove(&self, key: &StorageKey) -> Result<()> {
        self.store.remove(key)
    }

    async fn remove_all(&self, prefix: &StorageKey) -> Result<u64> {
        self.store.remove_all(prefix)
    }

    fn list(&self, prefix: Option<&StorageKey>, options: ListOptions) -> ListStream {
        Box::pin(Listing::new(&self.store, prefix, options))
    }

    async fn drain(&self, level: Durability) -> Result<()> {
        if is_durable(level)? {
            self.store.sync_all()?;
        }
        Ok(())
    }

    fn local_path(&self, key: &StorageKey) -> Option<PathBuf> {
        Some(self.store.path_of(key))
    }
}
