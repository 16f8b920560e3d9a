//! Session storage with an index beside it.
//!
//! ```
//! use std::sync::Arc;
//!
//! use session_store_indexed::index::{IndexOptions, SessionFilter};
//! use session_store_indexed::storage::IndexedStorage;
//! # use session_model::storage::{SessionStorage, SessionStorageExt, StorageKey};
//! # use session_store_memory::MemoryStorage;
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! let sessions: Arc<dyn SessionStorage> = Arc::new(MemoryStorage::new());
//! let path = directory.path().join("index.db");
//! let storage = IndexedStorage::open(sessions, &path, IndexOptions::default())?;
//!
//! let key = StorageKey::new("sessions/b/s.jsonl")?;
//! let header = r#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#;
//! pollster::block_on(storage.append_once(&key, format!("{header}\n").into()))?;
//! storage.catch_up(|_| {})?;
//! let found = storage.sessions(&SessionFilter::default().cwd("/w"))?;
//! assert_eq!(found[0].id.as_deref(), Some("s"));
//! # Ok(())
//! # }
//! ```

mod agreed;
mod alone;
mod contract;
mod orders;
mod path;
mod publishing;
mod receiving;
mod writer;

use std::error::Error;
use std::fmt;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use session_model::storage::{SessionStorage, StorageKey};
use tokio::sync::Notify;

use crate::DatabaseDiagnostic;
use crate::index::{
    self, IndexDifference, IndexError, IndexOptions, IndexStats, IndexStatus, IndexedSession, Mark,
    Queue, SessionFilter,
};
use crate::publish::Writing;
use crate::sqlite::{Database, Settings};

use alone::Turns;
pub use path::SessionPath;
use publishing::Publishing;

/// The name of an index's database in the root of a storage of files.
///
/// It begins with the [reserved prefix](session_model::storage::RESERVED_PREFIX), as do those of
/// the files SQLite keeps beside it, so that none of them is an object of the storage.
pub const INDEX_FILE: &str = ".~index.db";

/// A storage of sessions, and an index that is made from it.
///
/// The storage below is the truth: every call of [`SessionStorage`] goes to it, unchanged, and
/// what it holds can be used without the index at any time. A thread of its own indexes what
/// changed, in the background; the index may be behind, and is never ahead. Other processes may
/// use the same index, or the storage without it; their changes are found by
/// [`compare`](Self::compare), which also runs when the storage is opened.
///
/// The storage below must not need a runtime: its futures are also driven by that thread.
/// Calls that ask the index block on the disk; from async code run them on a thread made for that.
pub struct IndexedStorage {
    inner: Arc<dyn SessionStorage>,
    settings: Settings,
    queue: Arc<Queue>,
    worker: Option<JoinHandle<()>>,
    reader: Arc<Mutex<Database>>,
    diagnostics: Arc<Mutex<Vec<DatabaseDiagnostic>>>,
    publishing: Option<Publishing>,
    turns: Turns,
}

impl IndexedStorage {
    /// Opens the index at `path` over a storage, or makes it there, directories included.
    ///
    /// In the root of a storage of files the database is called [`INDEX_FILE`]; under a name that
    /// is not reserved it would be an object there.
    ///
    /// Returns before anything is indexed. A database that is damaged or foreign is moved aside
    /// whole, and made again; see [`diagnostics`](Self::diagnostics). One of a newer version is left
    /// alone.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`]; in particular a lock that outlasts
    /// [`busy_timeout`](IndexOptions::busy_timeout) is
    /// [`DatabaseError::Busy`](crate::DatabaseError::Busy), and a newer version
    /// [`DatabaseError::Newer`](crate::DatabaseError::Newer).
    pub fn open(
        inner: Arc<dyn SessionStorage>,
        path: impl AsRef<Path>,
        options: IndexOptions,
    ) -> Result<Self, IndexError> {
        let settings =
            Settings { busy_timeout: options.busy_timeout, clock: Arc::clone(&options.clock) };
        let database = Database::open(path.as_ref(), settings, index::prepare)?;
        let queue = Arc::new(Queue::new(options.queue_sessions, options.delay));
        Self::start(inner, database, queue, options, Arc::default())
    }

    /// Starts the thread of an opened index; `written` is told when that wrote something.
    fn start(
        inner: Arc<dyn SessionStorage>,
        database: Database,
        queue: Arc<Queue>,
        options: IndexOptions,
        written: Arc<Notify>,
    ) -> Result<Self, IndexError> {
        let settings =
            Settings { busy_timeout: options.busy_timeout, clock: Arc::clone(&options.clock) };
        let reader = Arc::new(Mutex::new(database.another()?));
        let diagnostics = database.diagnostics();
        queue.compare();
        let worker =
            index::spawn(Arc::clone(&queue), Arc::clone(&inner), database, options.clock, written)
                .map_err(|error| IndexError::Start(Arc::new(error)))?;
        let (worker, publishing) = (Some(worker), None);
        let turns = Turns::default();
        Ok(Self { inner, settings, queue, worker, reader, diagnostics, publishing, turns })
    }

    /// Returns what was found since opening that the user should be told.
    pub fn diagnostics(&self) -> Vec<DatabaseDiagnostic> {
        self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Tells how far the index is behind.
    pub fn status(&self) -> IndexStatus {
        self.queue.status()
    }

    /// Waits until everything changed through this storage so far is indexed; tells of the
    /// progress now and then.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`] if an attempt fails; it is tried again in the background.
    pub fn catch_up(&self, progress: impl FnMut(IndexStatus)) -> Result<(), IndexError> {
        self.queue.wait(progress)
    }

    /// Compares the index with all session files, by name, size and version, and catches up with
    /// those that differ.
    ///
    /// # Errors
    ///
    /// As [`catch_up`](Self::catch_up).
    pub fn compare(&self, progress: impl FnMut(IndexStatus)) -> Result<(), IndexError> {
        self.queue.compare();
        self.queue.wait(progress)
    }

    /// Returns the sessions, the last active first, as the index has them.
    ///
    /// Waits for the index only where it was never complete since its database was made.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn sessions(&self, filter: &SessionFilter) -> Result<Vec<IndexedSession>, IndexError> {
        self.answer(|connection| index::sessions(connection, filter))
    }

    /// Returns a session as the index has it; `None` if it has no such session.
    ///
    /// # Errors
    ///
    /// As [`sessions`](Self::sessions).
    pub fn session(&self, key: &StorageKey) -> Result<Option<IndexedSession>, IndexError> {
        self.answer(|connection| index::session(connection, key))
    }

    /// Returns the sessions that name this one as their parent, the oldest first.
    ///
    /// # Errors
    ///
    /// As [`sessions`](Self::sessions).
    pub fn children(&self, key: &StorageKey) -> Result<Vec<IndexedSession>, IndexError> {
        let path = self.inner.local_path(key);
        let path = path.as_deref().and_then(Path::to_str);
        let session = self.session(key)?;
        let id = session.as_ref().and_then(|session| session.id.as_deref());
        self.answer(|connection| index::children(connection, id, path))
    }

    /// Returns the session this one comes from, the one that comes from, and so on.
    ///
    /// Ends where a parent is not in the index, or comes a second time.
    ///
    /// # Errors
    ///
    /// As [`sessions`](Self::sessions).
    pub fn lineage(&self, key: &StorageKey) -> Result<Vec<IndexedSession>, IndexError> {
        let mut found: Vec<IndexedSession> = Vec::new();
        let mut next = self.session(key)?.and_then(|session| session.parent_session);
        while let Some(parent) = next {
            let session = match self.key_of(&parent) {
                Some(key) => self.session(&key)?,
                None => self.answer(|connection| index::session_by_id(connection, &parent))?,
            };
            let Some(session) = session else { break };
            if session.key == *key || found.iter().any(|known| known.key == session.key) {
                break;
            }
            next = session.parent_session.clone();
            found.push(session);
        }
        Ok(found)
    }

    /// Returns how much is indexed.
    ///
    /// # Errors
    ///
    /// As [`sessions`](Self::sessions).
    pub fn stats(&self) -> Result<IndexStats, IndexError> {
        self.answer(|connection| index::stats(connection))
    }

    /// Catches up, makes another index of all session files, and tells where the two differ.
    ///
    /// Reads every session. A session that is written meanwhile may be told to differ.
    ///
    /// # Errors
    ///
    /// Any [`IndexError`].
    pub fn check(
        &self,
        progress: impl FnMut(IndexStatus),
    ) -> Result<Vec<IndexDifference>, IndexError> {
        self.compare(progress)?;
        let failed = |error| crate::DatabaseError::file("make", &std::env::temp_dir(), error);
        let directory = tempfile::tempdir().map_err(failed)?;
        let fresh = directory.path().join("index.db");
        let database = Database::open(&fresh, self.settings.clone(), index::prepare)?;
        index::build(&*self.inner, database, Arc::clone(&self.settings.clock))?;
        Ok(self.reader().run(|connection| index::differences(connection, &fresh))?)
    }

    /// Returns the key of a session that is named by a path.
    fn key_of(&self, path: &str) -> Option<StorageKey> {
        let mut starts = path.match_indices("sessions/").map(|(at, _)| &path[at..]);
        starts.find_map(|key| {
            let key = StorageKey::new(key).ok()?;
            (self.inner.local_path(&key)? == Path::new(path)).then_some(key)
        })
    }

    fn answer<T>(
        &self,
        question: impl Fn(&mut rusqlite::Connection) -> rusqlite::Result<T>,
    ) -> Result<T, IndexError> {
        if !self.reader().run(|connection| index::is_complete(connection))? {
            self.compare(|_| {})?;
        }
        Ok(self.reader().run(|connection| question(connection))?)
    }

    fn reader(&self) -> MutexGuard<'_, Database> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Notes a change when the returned value is dropped, whether the call that makes it ends well,
    /// fails or is cancelled.
    fn marking<'a>(&'a self, key: &'a StorageKey, mark: Mark) -> Marking<'a> {
        let publishes = self.publishing.is_some();
        Marking { queue: &self.queue, key, mark, publishes, _writing: None }
    }

    /// As [`marking`](Self::marking), for a change that a program makes and that may replace what
    /// the remote has.
    fn writing<'a>(&'a self, key: &'a StorageKey) -> Marking<'a> {
        let _writing = self.publishing.as_ref().and_then(|publishing| publishing.writing(key));
        let publishes = self.publishing.is_some();
        Marking { queue: &self.queue, key, mark: Mark::Rewritten, publishes, _writing }
    }
}

/// Notes a change when it is dropped.
struct Marking<'a> {
    queue: &'a Queue,
    key: &'a StorageKey,
    mark: Mark,
    publishes: bool,
    /// Ends after the change is noted.
    _writing: Option<Writing>,
}

impl Drop for Marking<'_> {
    fn drop(&mut self) {
        if index::is_session(self.key) {
            self.queue.mark(self.key, self.mark);
        } else if self.publishes && index::is_artifact(self.key) {
            self.queue.mark_object(self.key);
        }
    }
}

impl Drop for IndexedStorage {
    fn drop(&mut self) {
        self.queue.close();
        if let Some(worker) = self.worker.take()
            && worker.join().is_err()
        {
            tracing::error!(
                "the thread of the index ended in a panic; what it left is found later"
            );
        } else if let Some(error) = self.status().error {
            let source = error.source();
            tracing::warn!(%error, source, "the index is behind; it catches up when opened again");
        }
        // With what the index has brought by now.
        self.publishing = None;
    }
}

impl fmt::Debug for IndexedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("IndexedStorage").field("inner", &self.inner).finish_non_exhaustive()
    }
}

impl fmt::Display for IndexedStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "indexed {}", self.inner)
    }
}
