//! A host: a root of files with an index, and a publisher that is stepped by hand.

use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Waker};
use std::time::Duration;

use bytes::Bytes;
use pollster::block_on;
use session_model::env::Clock;
use session_model::storage::{
    PutOptions, RenameOptions, SessionStorage, SessionStorageExt, StorageKey,
};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::publish::{Progress, PublishError, PublishOptions, Publisher};
use session_store_indexed::remote::Remote;
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};
use tempfile::TempDir;

/// A clock that moves when it is told to.
#[derive(Debug)]
pub struct Time(pub AtomicI64);

impl Clock for Time {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst)
    }
}

impl Time {
    pub fn new() -> Arc<Self> {
        Arc::new(Self(AtomicI64::new(1_767_225_600_000)))
    }

    pub fn advance(&self, by: Duration) {
        self.0.fetch_add(by.as_millis() as i64, Ordering::SeqCst);
    }
}

pub struct Host {
    dir: TempDir,
    clock: Arc<Time>,
    remote: Arc<dyn Remote>,
    open: Option<(IndexedStorage, Publisher)>,
}

impl Host {
    pub fn new(remote: Arc<dyn Remote>, clock: &Arc<Time>) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let mut host = Self { dir, clock: Arc::clone(clock), remote, open: None };
        host.reopen();
        host
    }

    /// Opens anew, as after a kill: nothing is drained.
    pub fn reopen(&mut self) {
        self.open = None;
        let root = self.root();
        let files = Arc::new(FileStorage::open(&root).unwrap());
        // The index works when it is waited for, and at no other time.
        let options = IndexOptions::default()
            .delay(Duration::from_secs(3600))
            .clock(Arc::clone(&self.clock) as Arc<dyn Clock>);
        let remote = Arc::clone(&self.remote);
        let publish = PublishOptions::default();
        let path = root.join(INDEX_FILE);
        let opened = IndexedStorage::open_with_publisher(files, path, options, remote, publish);
        self.open = Some(opened.unwrap());
        self.settle();
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub fn storage(&self) -> &IndexedStorage {
        &self.open.as_ref().unwrap().0
    }

    pub fn publisher(&mut self) -> &mut Publisher {
        &mut self.open.as_mut().unwrap().1
    }

    /// Has the index do what is to be done.
    pub fn settle(&self) {
        self.storage().catch_up(|_| {}).unwrap();
    }

    pub fn append(&self, key: &StorageKey, lines: &str) {
        block_on(self.storage().append_once(key, lines.to_owned().into())).unwrap();
    }

    pub fn put(&self, key: &StorageKey, body: &str) {
        let options = PutOptions::default();
        block_on(self.storage().put(key, body.to_owned().into(), options)).unwrap();
    }

    pub fn rename(&self, from: &StorageKey, to: &StorageKey) {
        block_on(self.storage().rename(from, to, RenameOptions::default())).unwrap();
    }

    pub fn remove(&self, key: &StorageKey) {
        block_on(self.storage().remove(key)).unwrap();
    }

    pub fn read(&self, key: &StorageKey) -> Bytes {
        block_on(self.storage().read_all(key)).unwrap().1
    }

    pub fn step(&mut self) -> Result<Progress, PublishError> {
        self.settle();
        block_on(self.publisher().step())
    }

    /// Begins a step and gives it up after some rounds, as a kill would.
    pub fn step_cut(&mut self, rounds: usize) {
        self.settle();
        let mut step = pin!(self.publisher().step());
        let mut context = Context::from_waker(Waker::noop());
        for _ in 0..rounds {
            if step.as_mut().poll(&mut context).is_ready() {
                break;
            }
        }
    }

    /// Steps until nothing is left to do, whatever fails on the way.
    pub fn publish(&mut self) {
        for _ in 0..1000 {
            match self.step() {
                Ok(Progress::Idle) => return,
                Ok(_) => {}
                Err(error) => eprintln!("{error}"),
            }
        }
        panic!("never done: {:?}", self.storage().publish_status(10));
    }
}
