//! Sessions to be indexed, and places for them.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use session_model::storage::{SessionStorage, SessionStorageExt, StorageKey};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};
use tempfile::TempDir;

pub const ROLE: &str = "INDEX_TEST_ROLE";
pub const ROOT: &str = "INDEX_TEST_ROOT";

pub type Test = (&'static str, fn());

pub fn key(name: &str) -> StorageKey {
    StorageKey::new(format!("sessions/b/{name}.jsonl")).unwrap()
}

pub fn header(id: &str, more: &str) -> String {
    let time = r#""timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w""#;
    format!("{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",{time}{more}}}\n")
}

pub fn message(id: &str, parent: Option<&str>, role: &str, more: &str) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent}\""));
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":{parent},\
         \"timestamp\":\"2026-01-01T00:00:05.000Z\",\
         \"message\":{{\"role\":\"{role}\",\"content\":\"say {id}\"{more}}}}}\n"
    )
}

/// Options of an index that waits for others however busy the disk is.
pub fn options() -> IndexOptions {
    IndexOptions::default().busy_timeout(Duration::from_secs(120))
}

/// A root of files with an index in it.
pub struct Place {
    pub dir: TempDir,
}

impl Place {
    pub fn new() -> Self {
        Self { dir: tempfile::tempdir().unwrap() }
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub fn database(&self) -> PathBuf {
        self.root().join(INDEX_FILE)
    }

    pub fn open(&self) -> IndexedStorage {
        open(&self.root(), options())
    }
}

pub fn open(root: &std::path::Path, options: IndexOptions) -> IndexedStorage {
    let files = Arc::new(FileStorage::open(root).unwrap());
    IndexedStorage::open(files, root.join(INDEX_FILE), options).unwrap()
}

pub fn append(storage: &dyn SessionStorage, key: &StorageKey, lines: &str) {
    block_on(storage.append_once(key, lines.to_owned().into())).unwrap();
}

pub fn keys(storage: &IndexedStorage) -> Vec<String> {
    let sessions = storage.sessions(&Default::default()).unwrap();
    let mut keys: Vec<_> = sessions.into_iter().map(|session| session.key.to_string()).collect();
    keys.sort();
    keys
}
