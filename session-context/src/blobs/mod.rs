//! Content-addressed bytes beside the sessions: images, and long texts kept whole.
//!
//! A blob is an object named by the SHA-256 of its bytes, so that equal ones are kept once.

mod gc;
mod purge;
mod scan;

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use session_model::storage::{
    AppendOptions, AppendWriter, ListOptions, ObjectMeta, PutOptions, SessionStorage,
    SessionStorageExt, StorageError, StorageErrorKind, StorageKey,
};
use session_model::{Blob, BlobRef, Diagnostic, DiagnosticCode};

pub use gc::{GcCandidate, GcOptions, GcOutcome, GcPlan, GcRoot, MIN_GRACE};
pub use purge::PurgeOutcome;

/// The folder of blobs in an agent directory.
pub const BLOBS_DIR: &str = "blobs";

/// How long a blob that is being moved away is waited for.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

/// Blobs in a storage.
///
/// Cloning is cheap.
///
/// ```
/// # #[cfg(feature = "memory")]
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # tokio::runtime::Builder::new_current_thread().build()?.block_on(async {
/// use std::sync::Arc;
///
/// use session_context::blobs::BlobStore;
/// use session_model::Blob;
///
/// let blobs = BlobStore::new(Arc::new(session_store_memory::MemoryStorage::new()))?;
/// let blob = Blob::new("pixels");
/// blobs.put(&blob).await?;
/// assert_eq!(blobs.get(blob.id()).await?, "pixels");
/// # Ok(())
/// # })
/// # }
/// # #[cfg(not(feature = "memory"))]
/// # fn main() {}
/// ```
#[derive(Clone, Debug)]
pub struct BlobStore {
    storage: Arc<dyn SessionStorage>,
    prefix: StorageKey,
}

/// Why there is no blob to be had.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BlobError {
    /// There is no such blob.
    #[error("{id} is missing; look for it in the trash, or in another agent directory")]
    Missing {
        /// The blob.
        id: BlobRef,
    },
    /// The content is not what the name says.
    #[error("{id} is damaged: it has {size} bytes of other content; it was left as it is")]
    Damaged {
        /// The blob.
        id: BlobRef,
        /// The size of what is there, in bytes.
        size: u64,
    },
    /// The storage reported an error.
    #[error(transparent)]
    Storage(#[from] StorageError),
}

impl BlobError {
    /// Returns it as something a reader of a session should know.
    pub fn diagnostic(&self) -> Diagnostic {
        let code = match self {
            Self::Missing { .. } => DiagnosticCode::MissingBlob,
            Self::Damaged { .. } => DiagnosticCode::DamagedBlob,
            Self::Storage(_) => DiagnosticCode::Unreadable,
        };
        Diagnostic::new(code, self.to_string())
    }
}

/// What is wrong with the blobs of a store.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct BlobCheck {
    /// How many are whole.
    pub whole: u64,
    /// What is damaged, or could not be read.
    pub problems: Vec<BlobError>,
}

impl BlobStore {
    /// The blobs in the folder `blobs` of a storage.
    ///
    /// # Errors
    ///
    /// None in ordinary use.
    pub fn new(storage: Arc<dyn SessionStorage>) -> Result<Self, StorageError> {
        Ok(Self::at(storage, StorageKey::new(BLOBS_DIR)?))
    }

    /// The blobs below another prefix.
    pub fn at(storage: Arc<dyn SessionStorage>, prefix: StorageKey) -> Self {
        Self { storage, prefix }
    }

    /// Returns the storage the blobs are in.
    pub fn storage(&self) -> &Arc<dyn SessionStorage> {
        &self.storage
    }

    /// Returns the key of a blob.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::Invalid`] if the prefix is too long for it.
    pub fn key(&self, id: BlobRef) -> Result<StorageKey, StorageError> {
        Ok(self.prefix.join(id.to_hex())?)
    }

    /// Makes sure that a blob is there, whole and durable.
    ///
    /// One that is there already is written again: that mends it if it is damaged, makes it
    /// durable whoever wrote it, and shows a clean-up that it is in use.
    ///
    /// # Errors
    ///
    /// The storage's; the blob may be missing then.
    pub async fn put(&self, blob: &Blob) -> Result<(), StorageError> {
        let key = self.key(blob.id())?;
        let is_there = self.head(blob.id()).await?.is_some();
        let lock = if is_there { Some(self.lock().await?) } else { None };
        let options = PutOptions::default();
        let put = self.storage.put(&key, blob.bytes().clone().into(), options).await;
        if let Some(lock) = lock {
            lock.close().await?;
        }
        put.map(drop)
    }

    /// Keeps a clean-up from moving a blob away, and a writer from refreshing one meanwhile.
    async fn lock(&self) -> Result<Box<dyn AppendWriter>, StorageError> {
        let name = format!("{}.lock", self.prefix.file_name());
        let key = self.prefix.with_file_name(name)?;
        let deadline = Instant::now() + LOCK_PATIENCE;
        loop {
            match self.storage.open_append(&key, AppendOptions::exclusive("blobs")).await {
                Err(error)
                    if error.kind() == StorageErrorKind::Busy && Instant::now() < deadline =>
                {
                    give_way().await;
                }
                opened => return opened,
            }
        }
    }

    /// Returns a blob's content, checked against its name.
    ///
    /// # Errors
    ///
    /// [`BlobError`].
    pub async fn get(&self, id: BlobRef) -> Result<Bytes, BlobError> {
        match self.storage.read_all(&self.key(id)?).await {
            Ok((_, bytes)) if BlobRef::of(&bytes) == id => Ok(bytes),
            Ok((meta, _)) => Err(BlobError::Damaged { id, size: meta.size }),
            Err(error) if error.kind() == StorageErrorKind::NotFound => {
                Err(BlobError::Missing { id })
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Returns size and time of a blob without reading it; `None` if there is none.
    ///
    /// # Errors
    ///
    /// The storage's.
    pub async fn head(&self, id: BlobRef) -> Result<Option<ObjectMeta>, StorageError> {
        match self.storage.head(&self.key(id)?).await {
            Ok(meta) => Ok(Some(meta)),
            Err(error) if error.kind() == StorageErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Reads every blob and checks it against its name.
    pub async fn verify_all(&self) -> BlobCheck {
        let (blobs, errors) = self.list().await;
        let mut check = BlobCheck::default();
        check.problems.extend(errors.into_iter().map(BlobError::from));
        for (id, _) in blobs {
            match self.get(id).await {
                Ok(_) => check.whole += 1,
                Err(problem) => check.problems.push(problem),
            }
        }
        check
    }

    /// Lists the blobs; other files in the folder are none.
    async fn list(&self) -> (Vec<(BlobRef, ObjectMeta)>, Vec<StorageError>) {
        let options = ListOptions::default().max_depth(1);
        let (objects, errors) = self.storage.list_all(Some(&self.prefix), options).await;
        let blobs = objects.into_iter();
        let blobs = blobs.filter_map(|o| Some((BlobRef::from_hex(o.key.file_name()).ok()?, o)));
        (blobs.collect(), errors)
    }
}

/// Lets others run once.
async fn give_way() {
    std::thread::yield_now();
    let mut waited = false;
    std::future::poll_fn(|cx| {
        if std::mem::replace(&mut waited, true) {
            return std::task::Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        std::task::Poll::Pending
    })
    .await;
}
