//! What several test binaries share.
#![allow(dead_code, unreachable_pub, clippy::unwrap_used)]

use std::fs;
use std::future::Future;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use session_model::storage::{
    AppendOptions, AppendWriter, Durability, ObjectMeta, Payload, PutOptions, SessionStorage,
    SessionStorageExt, StorageError, StorageErrorKind, StorageKey,
};
use session_store_file::FileStorage;
use tempfile::TempDir;

/// Makes a key of a text that is one.
pub fn key(name: &str) -> StorageKey {
    StorageKey::new(name).unwrap()
}

/// A directory for one test, and a storage in `root` below it.
pub struct Place {
    pub dir: TempDir,
    pub storage: FileStorage,
}

impl Place {
    pub fn new() -> Self {
        let dir = tempfile::tempdir().unwrap();
        let storage = FileStorage::open(dir.path().join("root")).unwrap();
        Self { dir, storage }
    }

    /// Where an object, or another file of the storage, lies.
    pub fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join("root").join(name)
    }

    pub fn put(&self, name: &str, body: &str) -> ObjectMeta {
        block_on(self.storage.put(&key(name), Payload::from(body.to_owned()), accepted())).unwrap()
    }

    pub fn read(&self, name: &str) -> String {
        let (_, body) = block_on(self.storage.read_all(&key(name))).unwrap();
        String::from_utf8(body.into()).unwrap()
    }

    pub fn exclusive(&self, name: &str) -> Box<dyn AppendWriter> {
        let options = AppendOptions::exclusive("test");
        block_on(self.storage.open_append(&key(name), options)).unwrap()
    }

    /// The names of all files and directories below the root, sorted.
    pub fn files(&self) -> Vec<String> {
        let mut names = Vec::new();
        let mut dirs = vec![self.path("")];
        while let Some(dir) = dirs.pop() {
            for entry in fs::read_dir(dir).unwrap() {
                let path = entry.unwrap().path();
                let name = path.strip_prefix(self.path("")).unwrap().to_str().unwrap().to_owned();
                if path.is_dir() && !path.is_symlink() {
                    names.push(name + "/");
                    dirs.push(path);
                } else {
                    names.push(name);
                }
            }
        }
        names.sort();
        names
    }
}

/// Options of a put that does not wait for the disk.
pub fn accepted() -> PutOptions {
    PutOptions::default().durability(Durability::Accepted)
}

/// Returns the kind of error of a call that is to fail.
pub fn kind<T: std::fmt::Debug>(outcome: Result<T, StorageError>) -> StorageErrorKind {
    outcome.unwrap_err().kind()
}

/// Returns the permission bits of a file.
pub fn mode(path: impl AsRef<Path>) -> u32 {
    fs::symlink_metadata(path).unwrap().permissions().mode() & 0o7777
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    let mut future = pin!(future);
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            Poll::Pending => thread::park(),
        }
    }
}
