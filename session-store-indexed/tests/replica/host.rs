//! A host with a storage of its own, and what it needs to publish by hand.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use pollster::block_on;
use session_model::storage::{
    ListOptions, Payload, PutOptions, SessionStorage, SessionStorageExt, StorageKey,
};
use session_store_indexed::index::IndexOptions;
use session_store_indexed::remote::{
    AppendUnit, Applied, Claim, Claimed, Digest, FakeFaults, FakeRemote, Fence, Position, Remote,
    Rewrite, SessionMeta,
};
use session_store_indexed::replica::{Outcome, Replica};
use session_store_indexed::storage::IndexedStorage;
use session_store_memory::MemoryStorage;
use tempfile::TempDir;

pub(crate) const LEASE: Duration = Duration::from_secs(30);

pub(crate) struct Host {
    pub(crate) name: &'static str,
    pub(crate) storage: Arc<IndexedStorage>,
    pub(crate) replica: Replica,
    pub(crate) files: Arc<MemoryStorage>,
    remote: Arc<FakeRemote>,
    _dir: TempDir,
}

pub(crate) fn key(key: &str) -> StorageKey {
    StorageKey::new(key).unwrap()
}

pub(crate) fn session() -> StorageKey {
    key("sessions/b/2026-01-01T00-00-00-000Z_s.jsonl")
}

pub(crate) fn header() -> String {
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#
        .to_owned()
        + "\n"
}

pub(crate) fn line(id: &str, text: &str) -> String {
    format!(
        r#"{{"type":"custom","id":"{id}","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","customType":"t","data":"{text}"}}"#
    ) + "\n"
}

pub(crate) fn fake() -> Arc<FakeRemote> {
    Arc::new(FakeRemote::new(FakeFaults::default(), 1000))
}

impl Host {
    pub(crate) fn new(name: &'static str, remote: &Arc<FakeRemote>) -> Self {
        let dir = TempDir::new().unwrap();
        let files = Arc::new(MemoryStorage::new());
        let path = dir.path().join("index.db");
        let storage =
            IndexedStorage::open(Arc::clone(&files) as _, path, IndexOptions::default()).unwrap();
        let storage = Arc::new(storage);
        let replica = Replica::new(Arc::clone(&storage), Arc::clone(remote) as _, name);
        Self { name, storage, replica, files, remote: Arc::clone(remote), _dir: dir }
    }

    pub(crate) fn append(&self, key: &StorageKey, lines: &str) {
        block_on(self.storage.append_once(key, lines.to_owned().into())).unwrap();
    }

    pub(crate) fn put(&self, key: &StorageKey, body: impl Into<Payload>) {
        block_on(self.storage.put(key, body.into(), PutOptions::default())).unwrap();
    }

    pub(crate) fn read(&self, key: &StorageKey) -> String {
        let bytes = block_on(self.storage.read_all(key)).unwrap().1;
        String::from_utf8(bytes.to_vec()).unwrap()
    }

    /// Every object of this host.
    pub(crate) fn all(&self) -> BTreeMap<String, String> {
        let (found, errors) = block_on(self.storage.list_all(None, ListOptions::default()));
        assert!(errors.is_empty(), "{errors:?}");
        found.into_iter().map(|meta| (meta.key.to_string(), self.read(&meta.key))).collect()
    }

    pub(crate) fn pull(&self, key: &StorageKey) -> Outcome {
        let pulled = block_on(self.replica.pull(key)).unwrap();
        assert_eq!(pulled.missing, []);
        pulled.outcome
    }

    pub(crate) fn claim(&self, key: &StorageKey, force: bool) -> Claimed {
        let claim = Claim { owner: self.name.to_owned(), lease: LEASE, force, seen_epoch: 0 };
        block_on(self.remote.claim(key, &claim)).unwrap()
    }

    pub(crate) fn fence(&self, key: &StorageKey) -> Fence {
        match self.claim(key, true) {
            Claimed::Granted(fence) => fence,
            held => panic!("{held:?}"),
        }
    }

    /// Publishes what the local file has beyond the remote, under a claim it has or gets.
    pub(crate) fn publish(&self, key: &StorageKey) {
        let fence = self.fence(key);
        let have = block_on(self.remote.state(key)).unwrap().unwrap().position;
        let log = self.read(key).into_bytes();
        let applied = self.apply(key, &fence, have, &log);
        assert!(matches!(applied, Applied::Ok), "{applied:?}");
        // Notes what both have.
        assert_eq!(self.pull(key), Outcome::Same);
    }

    pub(crate) fn apply(
        &self,
        key: &StorageKey,
        fence: &Fence,
        start: Position,
        log: &[u8],
    ) -> Applied {
        self.try_apply(key, fence, start, log).unwrap()
    }

    /// As [`apply`](Self::apply); `None` if the remote did not answer.
    pub(crate) fn try_apply(
        &self,
        key: &StorageKey,
        fence: &Fence,
        start: Position,
        log: &[u8],
    ) -> Option<Applied> {
        let unit = AppendUnit {
            session: key.clone(),
            fence: fence.clone(),
            start,
            bytes: Bytes::copy_from_slice(&log[start.length as usize..]),
            digest: Digest::of(log),
            meta: self.meta().to_bytes(),
        };
        block_on(self.remote.apply(&[unit])).remove(0).ok()
    }

    /// Publishes the local file as a new generation.
    pub(crate) fn publish_rewritten(&self, key: &StorageKey) {
        let fence = self.fence(key);
        let log = self.read(key).into_bytes();
        let have = block_on(self.remote.state(key)).unwrap().unwrap().position;
        let start = Position { generation: have.generation + 1, length: 0 };
        let begun = block_on(self.remote.begin_rewrite(key, &fence, start.generation)).unwrap();
        assert_eq!(begun, Applied::Ok);
        assert_eq!(self.apply(key, &fence, start, &log), Applied::Ok);
        let rewrite = Rewrite {
            session: key.clone(),
            fence,
            position: Position { length: log.len() as u64, ..start },
            digest: Digest::of(&log),
            meta: self.meta().to_bytes(),
        };
        assert_eq!(block_on(self.remote.commit_rewrite(&rewrite)).unwrap(), Applied::Ok);
        assert_eq!(self.pull(key), Outcome::Same);
    }

    pub(crate) fn meta(&self) -> SessionMeta {
        SessionMeta {
            id: Some("s".to_owned()),
            title: Some(format!("of {}", self.name)),
            activity_ms: Some(1_767_225_601_000),
            ..SessionMeta::default()
        }
    }
}

/// Two hosts of which the first has published a session of one line.
pub(crate) fn two() -> (Arc<FakeRemote>, Host, Host) {
    let remote = fake();
    let (first, second) = (Host::new("first", &remote), Host::new("second", &remote));
    first.append(&session(), &(header() + &line("a", "one")));
    first.publish(&session());
    (remote, first, second)
}
