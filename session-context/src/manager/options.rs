//! How a session is opened or made.

use std::sync::Arc;
use std::time::Duration;

use session_model::document::LoadOptions;
use session_model::env::{Clock, IdSource};
use session_model::persisted::PersistOptions;
use session_model::storage::{Durability, SessionStorage, StorageKey};

use super::{PersistenceObserver, WriteFilter};
use crate::WaitingStorage;
use crate::blobs::BlobStore;
use crate::env::{RandomIds, SystemClock};

/// What a [`SessionManager`](super::SessionManager) needs beside the session itself.
#[derive(Debug)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Tells the time; default: the system's clock.
    pub clock: Arc<dyn Clock>,
    /// Makes ids; default: random ones.
    pub ids: Box<dyn IdSource>,
    /// What others are told who find the session in use; default: `session-context`.
    pub owner: String,
    /// Whether the file is made at once and every entry written as it comes.
    ///
    /// By default nothing is written before the first assistant message, so that sessions nobody
    /// answered leave no files.
    pub eager: bool,
    /// How far an entry has got when an `append_*` returns; default:
    /// [`Accepted`](Durability::Accepted).
    ///
    /// `Accepted` survives the end of this process, and a loss of power only after a
    /// [`flush`](super::SessionManager::flush). With [`Durable`](Durability::Durable) each append
    /// waits for the disk; [`append_batch`](super::SessionManager::append_batch) and
    /// [`SharedSession`](super::SharedSession) wait once for many.
    pub durability: Durability,
    /// Who is told how saving goes; default: nobody.
    pub observers: Vec<Arc<dyn PersistenceObserver>>,
    /// How files are read; by default large ones with as many threads as there are processors.
    pub load: LoadOptions,
    /// How images and long texts are written; default: images as blobs, long texts cut.
    ///
    /// A session [`in_memory`](super::SessionManager::in_memory) has no blobs.
    pub persist: PersistOptions,
    /// What says how entries are written; default: as they are given.
    pub filter: Option<Arc<dyn WriteFilter>>,
    /// Where blobs are; default: in `blobs/` of the storage the session is in.
    pub blobs: Option<BlobStore>,
    /// Whether opening puts the content of blobs in the place of references, in memory; default:
    /// no, [`resolved`](super::SessionManager::resolved) does when asked.
    pub resolve: bool,
    /// How long to wait while another writer has the session, as a [`WaitingStorage`] does;
    /// default: not at all. [`Duration::MAX`] is for ever.
    ///
    /// The manager's [`storage`](super::SessionManager::storage) is one that waits then.
    pub wait: Duration,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Box::new(RandomIds),
            owner: env!("CARGO_PKG_NAME").to_owned(),
            eager: false,
            durability: Durability::Accepted,
            observers: Vec::new(),
            load: load_options(),
            persist: PersistOptions::default(),
            filter: None,
            blobs: None,
            resolve: false,
            wait: Duration::ZERO,
        }
    }
}

fn load_options() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    options
}

impl SessionOptions {
    /// These options with another clock.
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// These options with another source of ids.
    pub fn ids(self, ids: impl IdSource + 'static) -> Self {
        Self { ids: Box::new(ids), ..self }
    }

    /// These options with another name for others to see.
    pub fn owner(self, owner: impl Into<String>) -> Self {
        Self { owner: owner.into(), ..self }
    }

    /// These options with another way to write images and long texts.
    pub fn persist(self, persist: PersistOptions) -> Self {
        Self { persist, ..self }
    }

    /// These options with something that says how entries are written.
    pub fn filter(self, filter: impl WriteFilter + 'static) -> Self {
        Self { filter: Some(Arc::new(filter)), ..self }
    }

    /// These options with blobs at another place.
    pub fn blobs(self, blobs: BlobStore) -> Self {
        Self { blobs: Some(blobs), ..self }
    }

    /// These options, with whole values in memory after opening.
    pub fn resolve(self) -> Self {
        Self { resolve: true, ..self }
    }

    /// These options, waiting so long while another writer has the session.
    pub fn wait(self, wait: Duration) -> Self {
        Self { wait, ..self }
    }

    /// The storage a session is opened in: one that waits, if it is to.
    pub(super) fn patient(&mut self, storage: Arc<dyn SessionStorage>) -> Arc<dyn SessionStorage> {
        match std::mem::take(&mut self.wait) {
            Duration::ZERO => storage,
            wait => Arc::new(WaitingStorage::new(storage, wait)),
        }
    }

    /// These options, writing the file from the first entry on.
    pub fn eager(self) -> Self {
        Self { eager: true, ..self }
    }

    /// These options with another level that each append reaches.
    pub fn durability(self, durability: Durability) -> Self {
        Self { durability, ..self }
    }

    /// These options with one more observer.
    pub fn observer(mut self, observer: Arc<dyn PersistenceObserver>) -> Self {
        self.observers.push(observer);
        self
    }
}

/// A session to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewSession {
    /// The directory the agent works in.
    pub cwd: String,
    /// Where the file goes: the key of the project's bucket; default: `sessions/` and the bucket
    /// of the directory.
    pub bucket: Option<StorageKey>,
    /// The name of the file in the bucket; default: the time and the session's id.
    pub file_name: Option<String>,
    /// The session's id; default: a new UUIDv7.
    pub id: Option<String>,
    /// Where the session comes from: an id or a path.
    pub parent_session: Option<String>,
    /// What a provider's prompt cache is keyed by.
    pub provider_prompt_cache_key: Option<String>,
}

impl NewSession {
    /// A session for this directory.
    pub fn in_cwd(cwd: impl Into<String>) -> Self {
        Self {
            cwd: cwd.into(),
            bucket: None,
            file_name: None,
            id: None,
            parent_session: None,
            provider_prompt_cache_key: None,
        }
    }

    /// The same with its file in this bucket.
    pub fn bucket(self, bucket: StorageKey) -> Self {
        Self { bucket: Some(bucket), ..self }
    }

    /// The same with its file under this name, which is to end in `.jsonl`.
    pub fn file_name(self, name: impl Into<String>) -> Self {
        Self { file_name: Some(name.into()), ..self }
    }

    /// The same with a given id.
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// The same with a record of where it comes from.
    pub fn parent_session(self, parent: impl Into<String>) -> Self {
        Self { parent_session: Some(parent.into()), ..self }
    }

    /// The same with a prompt cache key.
    pub fn provider_prompt_cache_key(self, key: impl Into<String>) -> Self {
        Self { provider_prompt_cache_key: Some(key.into()), ..self }
    }
}
