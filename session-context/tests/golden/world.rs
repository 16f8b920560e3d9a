//! What a case runs in: a storage, a clock and ids that follow the recording.

use std::io::Write as _;
use std::path::PathBuf;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use session_context::SessionOptions;
use session_model::env::{Clock, IdSource};
use session_model::storage::{
    ListOptions, PutOptions, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};
use session_store_file::FileStorage;
use session_store_memory::MemoryStorage;
use tempfile::TempDir;

use crate::Failure;
use crate::value::Value;

/// The directory a session is opened in whose header names none.
pub(crate) const PROJECT_DIR: &str = "/work/here";

/// The backends each case runs on.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Backend {
    Memory,
    File,
}

impl Backend {
    pub(crate) const ALL: [Self; 2] = [Self::Memory, Self::File];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::File => "file",
        }
    }
}

pub(crate) struct World {
    pub(crate) storage: Arc<dyn SessionStorage>,
    outside: Outside,
    time: Arc<AtomicI64>,
    ids: Arc<Mutex<Ids>>,
}

/// The way around the storage, as other programs take it.
enum Outside {
    Memory(MemoryStorage),
    Folder(TempDir),
}

/// The k-th entry id is a fixed function of k; a session's id is told beforehand.
#[derive(Debug, Default)]
struct Ids {
    entries: Vec<String>,
    session: Option<String>,
}

#[derive(Debug)]
struct SetClock(Arc<AtomicI64>);

#[derive(Debug)]
struct SharedIds(Arc<Mutex<Ids>>);

impl World {
    pub(crate) fn new(backend: Backend) -> Result<Self, Failure> {
        let (storage, outside): (Arc<dyn SessionStorage>, _) = match backend {
            Backend::Memory => {
                let storage = MemoryStorage::new();
                (Arc::new(storage.clone()), Outside::Memory(storage))
            }
            Backend::File => {
                let folder = TempDir::new()?;
                (Arc::new(FileStorage::open(folder.path())?), Outside::Folder(folder))
            }
        };
        let (time, ids) = (Arc::default(), Arc::default());
        Ok(Self { storage, outside, time, ids })
    }

    pub(crate) fn options(&self) -> SessionOptions {
        SessionOptions::default()
            .resolve()
            .clock(SetClock(Arc::clone(&self.time)))
            .ids(SharedIds(Arc::clone(&self.ids)))
    }

    pub(crate) fn set_time(&self, ms: i64) {
        self.time.store(ms, Ordering::Relaxed);
    }

    pub(crate) fn next_session_id(&self, id: &str) {
        self.ids.lock().unwrap().session = Some(id.to_owned());
    }

    /// How many entry ids were asked for so far.
    pub(crate) fn ids_taken(&self) -> usize {
        self.ids.lock().unwrap().entries.len()
    }

    /// The entry ids asked for since there were `from`.
    pub(crate) fn ids_since(&self, from: usize) -> Vec<String> {
        self.ids.lock().unwrap().entries[from..].to_vec()
    }

    /// Takes an entry id, as another writer in the recorder's process did.
    pub(crate) fn take_id(&self) -> String {
        SharedIds(Arc::clone(&self.ids)).entry_id()
    }

    /// Forgets that entry ids were asked for beyond the first so many.
    pub(crate) fn give_back_ids(&self, to: usize) {
        self.ids.lock().unwrap().entries.truncate(to);
    }

    pub(crate) async fn read(&self, key: &StorageKey) -> Result<Option<Bytes>, Failure> {
        match self.storage.read_all(key).await {
            Ok((_, bytes)) => Ok(Some(bytes)),
            Err(error) if error.kind() == StorageErrorKind::NotFound => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    pub(crate) async fn put(&self, key: &StorageKey, bytes: Bytes) -> Result<(), Failure> {
        self.storage.put(key, bytes.into(), PutOptions::default()).await?;
        Ok(())
    }

    /// All files, by key.
    pub(crate) async fn files(&self) -> Result<Vec<(StorageKey, Bytes)>, Failure> {
        let (objects, errors) = self.storage.list_all(None, ListOptions::default()).await;
        if let Some(error) = errors.into_iter().next() {
            return Err(error.into());
        }
        let mut files = Vec::new();
        for object in objects {
            let bytes = self.read(&object.key).await?.unwrap_or_default();
            files.push((object.key, bytes));
        }
        Ok(files)
    }

    /// Appends to a file, as a program does that knows nothing of claims.
    pub(crate) async fn append_outside(
        &self,
        key: &StorageKey,
        more: &[u8],
    ) -> Result<(), Failure> {
        match &self.outside {
            Outside::Memory(storage) => {
                let old = self.read(key).await?.unwrap_or_default();
                storage.faults().overwrite(key, Some([&old[..], more].concat().into()))?;
            }
            Outside::Folder(folder) => {
                let path = folder.path().join(key.as_str());
                std::fs::OpenOptions::new().append(true).open(path)?.write_all(more)?;
            }
        }
        Ok(())
    }

    /// Dates a file, as a backup does; files in memory have the times they were written at.
    pub(crate) fn set_file_time(&self, key: &StorageKey, seconds: i64) -> Result<(), Failure> {
        if let Outside::Folder(folder) = &self.outside {
            let file =
                std::fs::File::options().append(true).open(folder.path().join(key.as_str()))?;
            file.set_modified(UNIX_EPOCH + Duration::from_secs(seconds.try_into()?))?;
        }
        Ok(())
    }

    /// Removes a file, as a program does that knows nothing of claims.
    pub(crate) fn remove_outside(&self, key: &StorageKey) -> Result<(), Failure> {
        match &self.outside {
            Outside::Memory(storage) => storage.faults().overwrite(key, None)?,
            Outside::Folder(folder) => std::fs::remove_file(folder.path().join(key.as_str()))?,
        }
        Ok(())
    }
}

impl Clock for SetClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::Relaxed)
    }
}

impl IdSource for SharedIds {
    fn entry_id(&mut self) -> String {
        let mut ids = self.0.lock().unwrap();
        let count = ids.entries.len() as u32 + 1;
        let id = format!("{:08x}", count.wrapping_mul(2_654_435_761));
        ids.entries.push(id.clone());
        id
    }

    fn session_id(&mut self) -> String {
        self.0.lock().unwrap().session.take().unwrap_or_else(|| "no-id-was-recorded".to_owned())
    }
}

/// A recorded path as a key: `{ROOT}/sessions/s.jsonl` is `sessions/s.jsonl`.
pub(crate) fn key_of(path: &str) -> Result<StorageKey, Failure> {
    let inside =
        path.strip_prefix("{ROOT}/").ok_or_else(|| format!("{path} is not in the root"))?;
    Ok(StorageKey::new(inside)?)
}

/// A key as a recorded path.
pub(crate) fn path_of(key: &StorageKey) -> String {
    format!("{{ROOT}}/{key}")
}

/// Recorded text with the directory of this test in the place of the recorder's.
pub(crate) fn here(recorded: &[u8]) -> Bytes {
    match std::str::from_utf8(recorded) {
        Ok(text) if text.contains("{PROJECT_DIR}") => {
            text.replace("{PROJECT_DIR}", PROJECT_DIR).into()
        }
        _ => Bytes::copy_from_slice(recorded),
    }
}

/// A recorded value with the directory of this test in the place of the recorder's.
pub(crate) fn local(recorded: &Value) -> Result<Value, Failure> {
    Value::parse(here(recorded.to_json().as_bytes()))
}

/// The folder of our own cases.
pub(crate) fn own_cases() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/golden-cases")
}
