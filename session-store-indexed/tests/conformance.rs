//! The conformance suite over an index beside files, over one of sessions in memory, and over
//! sessions that are published: to a faulty fake, and to a real Redis.
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
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};
use session_store_memory::{MemoryStorage, Operation, When};
use tempfile::TempDir;

fn main() -> ExitCode {
    let mut trials = Vec::new();
    for (name, harness) in [
        ("file", Arc::new(OverFiles) as Arc<dyn Harness>),
        ("memory", Arc::new(OverMemory) as Arc<dyn Harness>),
        ("published", Arc::new(Published(fake)) as Arc<dyn Harness>),
        #[cfg(feature = "redis")]
        ("redis", Arc::new(Published(redis)) as Arc<dyn Harness>),
    ] {
        let abilities = harness.abilities();
        for check in conformance::checks().filter(|check| check.applies_to(&abilities)) {
            let harness = Arc::clone(&harness);
            let test = move || Ok(check.run(&harness)?);
            trials.push(Trial::test(format!("indexed::{name}::{}", check.name()), test));
        }
        for seed in 2..=3 {
            let harness = Arc::clone(&harness);
            let run = RandomRun { seed, ..RandomRun::default() };
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
struct Published(MakeRemote);

/// Makes what all handles of one place share.
type MakeRemote = fn(&TempDir) -> Arc<dyn Remote>;

struct SharedDirectory(Directory, Arc<dyn Remote>);

fn fake(_: &TempDir) -> Arc<dyn Remote> {
    let faults = FakeFaults { seed: 1, cut_before: 50, cut_after: 50, ..FakeFaults::default() };
    Arc::new(FakeRemote::new(faults, 1000))
}

#[cfg(feature = "redis")]
fn redis(place: &TempDir) -> Arc<dyn Remote> {
    use session_store_indexed::redis::{RedisOptions, RedisRemote};

    let url = std::env::var("SESSION_TEST_REDIS_URL")
        .expect("start this by `cargo xtask test`, which sets SESSION_TEST_REDIS_URL");
    let mut options = RedisOptions::default();
    options.prefix = format!("{}:", place.path().display());
    Arc::new(RedisRemote::new(&url.parse().unwrap(), options).unwrap())
}

impl Harness for Published {
    fn abilities(&self) -> Abilities {
        let levels = [Durability::Accepted, Durability::Durable, Durability::Published];
        OverFiles.abilities().levels(levels)
    }

    fn subject(&self) -> HookResult<Box<dyn Subject>> {
        let place = tempfile::tempdir()?;
        let remote = self.0(&place);
        Ok(Box::new(SharedDirectory(Directory(place), remote)))
    }

    fn block_on(&self, task: Task<'_>) {
        pollster::block_on(task);
    }
}

#[async_trait]
impl Subject for SharedDirectory {
    async fn open(&self) -> HookResult<Arc<dyn SessionStorage>> {
        let root = self.0.0.path().join("root");
        let files = Arc::new(FileStorage::open(&root)?);
        let publish =
            PublishOptions::default().pauses(Duration::from_millis(1), Duration::from_millis(10));
        let (path, remote) = (root.join(INDEX_FILE), Arc::clone(&self.1));
        let options = IndexOptions::default();
        Ok(Arc::new(IndexedStorage::open_shared(files, path, options, remote, publish)?))
    }

    async fn tamper(&self, key: &StorageKey, how: Tampering) -> HookResult<()> {
        self.0.tamper(key, how).await
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
