//! A host: a root of files with an index, and a publisher and a replica that are stepped by hand.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::task::{Context, Waker};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use pollster::block_on;
use session_model::env::Clock;
use session_model::storage::{
    ListOptions, PutOptions, RenameOptions, SessionStorage, SessionStorageExt, StorageKey,
};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::publish::{Progress, PublishError, PublishOptions, Publisher};
use session_store_indexed::remote::Remote;
use session_store_indexed::replica::{Cursor, Followed, Outcome, Replica, ReplicaError, TakeOver};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};
use tempfile::TempDir;

use super::support::key;

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
    open: Option<Open>,
}

struct Open {
    publisher: Publisher,
    replica: Replica,
    cursor: Cursor,
}

fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let (from, to) = (entry.path(), to.join(entry.file_name()));
        match from.is_dir() {
            true => copy(&from, &to),
            false => drop(std::fs::copy(from, to).unwrap()),
        }
    }
}

/// How long claims are respected.
pub const LEASE: Duration = Duration::from_secs(30);

impl Host {
    pub fn new(remote: Arc<dyn Remote>, clock: &Arc<Time>) -> Self {
        // In memory where there is such a place: nothing is to outlive a power cut.
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
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
        let (storage, publisher) = opened.unwrap();
        let (storage, remote) = (Arc::new(storage), Arc::clone(&self.remote));
        let replica = Replica::new(storage, remote, publisher.owner());
        self.open = Some(Open { publisher, replica, cursor: Cursor::all() });
        self.settle();
    }

    /// A host whose directory is a copy of this one's, the database included.
    pub fn cloned(&mut self) -> Self {
        let mut clone = self.closed_copy();
        self.reopen();
        clone.reopen();
        clone
    }

    /// As [`cloned`](Self::cloned), with a database that takes itself for the one it was copied
    /// from, as on a copy of a whole disk.
    pub fn cloned_in_place(&mut self) -> Self {
        let mut clone = self.closed_copy();
        let place = {
            let name = clone.root().join(INDEX_FILE);
            let metadata = std::fs::metadata(name).unwrap();
            let made = metadata.created().unwrap().duration_since(UNIX_EPOCH).unwrap();
            use std::os::unix::fs::MetadataExt;
            format!("{:x}-{:x}", metadata.ino(), made.as_nanos())
        };
        let database = rusqlite::Connection::open(clone.root().join(INDEX_FILE)).unwrap();
        database.execute("UPDATE state SET place = ?", [place]).unwrap();
        drop(database);
        self.reopen();
        clone.reopen();
        clone
    }

    fn closed_copy(&mut self) -> Self {
        self.open = None;
        let dir = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
        copy(&self.root(), &dir.path().join("root"));
        let (clock, remote) = (Arc::clone(&self.clock), Arc::clone(&self.remote));
        Self { dir, clock, remote, open: None }
    }

    pub fn root(&self) -> PathBuf {
        self.dir.path().join("root")
    }

    pub fn storage(&self) -> &IndexedStorage {
        self.replica().local()
    }

    pub fn publisher(&mut self) -> &mut Publisher {
        &mut self.open.as_mut().unwrap().publisher
    }

    pub fn replica(&self) -> &Replica {
        &self.open.as_ref().unwrap().replica
    }

    /// Does here what was done elsewhere since the last time.
    pub fn follow(&mut self) -> Result<Followed, ReplicaError> {
        let Open { replica, cursor, .. } = self.open.as_mut().unwrap();
        block_on(replica.follow(cursor))
    }

    /// As [`follow`](Self::follow), with sessions and what became of them.
    pub fn followed(&mut self) -> Vec<(StorageKey, Outcome)> {
        let followed = self.follow().unwrap().sessions;
        followed.into_iter().map(|(key, pulled)| (key, pulled.unwrap().outcome)).collect()
    }

    pub fn take_over(&self, key: &StorageKey, force: bool) -> Result<TakeOver, ReplicaError> {
        block_on(self.replica().take_over(key, LEASE, force))
    }

    /// The sessions in a folder, of any depth, and in no other: `trash`, or `sessions`.
    pub fn all_in(&self, folder: &str) -> BTreeMap<StorageKey, String> {
        let options = ListOptions::default().suffix(".jsonl");
        let (found, errors) = block_on(self.storage().list_all(Some(&key(folder)), options));
        assert!(errors.is_empty(), "{errors:?}");
        let text = |key: &StorageKey| String::from_utf8(self.read(key).to_vec()).unwrap();
        found.into_iter().map(|meta| (meta.key.clone(), text(&meta.key))).collect()
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

    /// Steps while the index reads what is there, batch by batch, and then until nothing is left to
    /// do; looks at the remote after each step.
    pub fn publish_while_indexing(&mut self, mut look: impl FnMut()) {
        let storage = Arc::clone(self.replica().local());
        let index = std::thread::spawn(move || storage.catch_up(|_| {}).unwrap());
        while !index.is_finished() {
            block_on(self.publisher().step()).unwrap();
            look();
        }
        index.join().unwrap();
        while self.step().unwrap() == Progress::Worked {
            look();
        }
        look();
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
