//! The conformance suite over an index beside files, over one of sessions in memory, and over
//! sessions that are published to a faulty fake and to a real Redis, without and with following it.
#![allow(clippy::expect_used, clippy::unwrap_used)]

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use libtest_mimic::{Arguments, Trial};
use session_model::conformance::{
    self, Abilities, FaultPoint, Harness, HookResult, RandomRun, Subject, Tampering, Task,
};
use session_model::storage::{
    Durability, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::publish::PublishOptions;
use session_store_indexed::remote::{FakeFaults, FakeRemote, Remote};
use session_store_indexed::replica::{SharedOptions, SharedStorage};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};
use session_store_memory::{MemoryStorage, Operation, When};
use tempfile::TempDir;

/// Keys that are indexed, published and fetched: of sessions, and of artifacts.
const SESSIONS: &[&str] = &[
    "sessions/b/a.jsonl",
    "sessions/b/c.jsonl",
    "sessions/b/a/1.x.log",
    "sessions/b/a/agent.jsonl",
    "sessions/b/c.jsonl/1.x.log",
    "sessions/d.jsonl",
    "sessions/d.jsonl/e.jsonl",
];

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for (name, harness) in [
        ("file", Arc::new(OverFiles) as Arc<dyn Harness>),
        ("memory", Arc::new(OverMemory) as Arc<dyn Harness>),
        ("published", Arc::new(Published(fake, Copies::Own)) as Arc<dyn Harness>),
        ("shared", Arc::new(Published(fake, Copies::Followed)) as Arc<dyn Harness>),
        #[cfg(feature = "redis")]
        ("redis", Arc::new(Published(redis, Copies::Own)) as Arc<dyn Harness>),
        #[cfg(feature = "redis")]
        ("redis_shared", Arc::new(Published(redis, Copies::Followed)) as Arc<dyn Harness>),
    ] {
        let abilities = harness.abilities();
        for check in conformance::checks().filter(|check| check.applies_to(&abilities)) {
            let harness = Arc::clone(&harness);
            let test = move || Ok(check.run(&harness)?);
            trials.push(Trial::test(format!("indexed::{name}::{}", check.name()), test));
        }
        for (seed, keys) in [(2, RandomRun::default().keys), (3, SESSIONS)] {
            let harness = Arc::clone(&harness);
            let run = RandomRun { seed, keys, ..RandomRun::default() };
            let test = move || Ok(run.run(&harness)?);
            trials.push(Trial::test(format!("indexed::{name}::random::seed_{seed}"), test));
        }
    }
    libtest_mimic::run(&Arguments::from_args(), trials).exit_code()
}

/// The database lies in the root of the files, where a user has it.
struct OverFiles;

struct Directory(TempDir);

impl Harness for OverFiles {
    fn abilities(&self) -> Abilities {
        Abilities::default().local_paths().tampering()
    }

    fn subject(&self) -> HookResult<Box<dyn Subject>> {
        Ok(Box::new(Directory(tempfile::tempdir()?)))
    }

    fn block_on(&self, task: Task<'_>) {
        pollster::block_on(task);
    }
}

#[async_trait]
impl Subject for Directory {
    async fn open(&self) -> HookResult<Arc<dyn SessionStorage>> {
        let root = self.0.path().join("root");
        let files = Arc::new(FileStorage::open(&root)?);
        Ok(Arc::new(IndexedStorage::open(files, root.join(INDEX_FILE), IndexOptions::default())?))
    }

    async fn tamper(&self, key: &StorageKey, how: Tampering) -> HookResult<()> {
        let path = self.0.path().join("root").join(key.as_str());
        match how {
            Tampering::Replace(body) => {
                let other = self.0.path().join("other");
                std::fs::write(&other, body)?;
                std::fs::rename(other, path)?;
            }
            Tampering::Append(body) => {
                use std::io::Write;
                std::fs::OpenOptions::new().append(true).open(path)?.write_all(&body)?;
            }
            Tampering::Remove => std::fs::remove_file(path)?,
            other => return Err(format!("cannot do {other:?}").into()),
        }
        Ok(())
    }
}

/// The same, published to a remote: everything that can be asked for is confirmed by it.
struct Published(MakeRemotes, Copies);

/// Makes what all handles of one place share: to publish to, and to fetch from.
type MakeRemotes = fn(&TempDir) -> [Arc<dyn Remote>; 2];

/// Whether what other hosts do is done here too.
#[derive(Clone, Copy)]
enum Copies {
    Own,
    Followed,
}

struct SharedDirectory {
    directory: Directory,
    remotes: [Arc<dyn Remote>; 2],
    copies: Copies,
}

fn fake(_: &TempDir) -> [Arc<dyn Remote>; 2] {
    let faults = FakeFaults { seed: 1, cut_before: 50, cut_after: 50, ..FakeFaults::default() };
    let remote: Arc<dyn Remote> = Arc::new(FakeRemote::new(faults, 1000));
    [Arc::clone(&remote), remote]
}

#[cfg(feature = "redis")]
fn redis(place: &TempDir) -> [Arc<dyn Remote>; 2] {
    use session_store_indexed::redis::{RedisOptions, RedisRemote};

    let url = std::env::var("SESSION_TEST_REDIS_URL")
        .expect("start this by `cargo xtask test`, which sets SESSION_TEST_REDIS_URL");
    let mut options = RedisOptions::default();
    options.prefix = format!("{}:", place.path().display());
    let remote = || RedisRemote::new(&url.parse().unwrap(), options.clone()).unwrap();
    [Arc::new(remote()), Arc::new(remote())]
}

impl Harness for Published {
    fn abilities(&self) -> Abilities {
        let levels = [Durability::Accepted, Durability::Durable, Durability::Published];
        OverFiles.abilities().levels(levels)
    }

    fn subject(&self) -> HookResult<Box<dyn Subject>> {
        let place = tempfile::tempdir()?;
        let remotes = self.0(&place);
        Ok(Box::new(SharedDirectory { directory: Directory(place), remotes, copies: self.1 }))
    }

    fn block_on(&self, task: Task<'_>) {
        pollster::block_on(task);
    }
}

#[async_trait]
impl Subject for SharedDirectory {
    async fn open(&self) -> HookResult<Arc<dyn SessionStorage>> {
        let root = self.directory.0.path().join("root");
        let files = Arc::new(FileStorage::open(&root)?);
        let patience = Duration::from_secs(300);
        let publish = PublishOptions::default()
            .pauses(Duration::from_millis(1), Duration::from_millis(10))
            .timeout(patience);
        let [remote, other] = self.remotes.clone();
        let (path, options) = (root.join(INDEX_FILE), IndexOptions::default());
        let storage = IndexedStorage::open_shared(files, path, options, remote, publish)?;
        let storage = Arc::new(storage);
        if let Copies::Own = self.copies {
            return Ok(storage);
        }
        let owner = storage.owner().unwrap_or_default().to_owned();
        let options =
            SharedOptions::default().patience(patience).interval(Duration::from_millis(1));
        Ok(Arc::new(SharedStorage::start(storage, other, owner, options)?))
    }

    async fn tamper(&self, key: &StorageKey, how: Tampering) -> HookResult<()> {
        self.directory.tamper(key, how).await
    }
}

struct OverMemory;

struct Instance(MemoryStorage, TempDir);

impl Harness for OverMemory {
    fn abilities(&self) -> Abilities {
        Abilities::default().tampering().faults([
            FaultPoint::Append,
            FaultPoint::AppendHalfway,
            FaultPoint::Sync,
            FaultPoint::Put,
            FaultPoint::Replace,
        ])
    }

    fn subject(&self) -> HookResult<Box<dyn Subject>> {
        Ok(Box::new(Instance(MemoryStorage::new(), tempfile::tempdir()?)))
    }

    fn block_on(&self, task: Task<'_>) {
        pollster::block_on(task);
    }
}

#[async_trait]
impl Subject for Instance {
    async fn open(&self) -> HookResult<Arc<dyn SessionStorage>> {
        let path = self.1.path().join("index.db");
        let memory = Arc::new(self.0.clone());
        Ok(Arc::new(IndexedStorage::open(memory, path, IndexOptions::default())?))
    }

    async fn tamper(&self, key: &StorageKey, how: Tampering) -> HookResult<()> {
        let body = match how {
            Tampering::Replace(body) => Some(body),
            Tampering::Append(tail) => Some([self.0.read_all(key).await?.1, tail].concat().into()),
            Tampering::Remove => None,
            other => return Err(format!("{other:?} is not known here").into()),
        };
        Ok(self.0.faults().overwrite(key, body)?)
    }

    async fn fail_next(&self, point: FaultPoint) -> HookResult<()> {
        let (operation, when) = match point {
            FaultPoint::Append => (Operation::Append, When::Before),
            FaultPoint::AppendHalfway => (Operation::Append, When::Partway(3)),
            FaultPoint::Sync => (Operation::Sync, When::Before),
            FaultPoint::Put => (Operation::Put, When::Before),
            FaultPoint::Replace => (Operation::Replace, When::Before),
            other => return Err(format!("{other:?} is not known here").into()),
        };
        self.0.faults().fail_nth(operation, 0, when, StorageErrorKind::Full);
        Ok(())
    }
}
