//! Objects joined from parts of others that count once the remote has confirmed them.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use session_model::storage::{
    Durability, PutOptions, SessionStorage, SessionStorageExt, StorageErrorKind,
};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::publish::PublishOptions;
use session_store_indexed::remote::{FakeFaults, Remote};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};

use super::steps::fake;
use super::support::{Test, header, key, log, message, run, session};

pub const TESTS: &[Test] =
    &[("a_joined_object_is_confirmed_by_the_fake", a_joined_object_is_confirmed_by_the_fake)];

fn a_joined_object_is_confirmed_by_the_fake() {
    let remote = fake();
    let connect = || Arc::clone(&remote) as Arc<dyn Remote>;
    joined_objects_are_confirmed(connect, |is_away| {
        let cut_before = if is_away { 1000 } else { 0 };
        remote.set_faults(FakeFaults { cut_before, ..FakeFaults::default() });
    });
}

/// Joins objects with a remote that answers, and with one that does not.
pub fn joined_objects_are_confirmed(
    connect: impl Fn() -> Arc<dyn Remote>,
    mut set_away: impl FnMut(bool),
) {
    let dir = tempfile::tempdir().unwrap();
    let open = |timeout| {
        let files = Arc::new(FileStorage::open(dir.path()).unwrap());
        let publish = PublishOptions::default()
            .pauses(Duration::from_millis(1), Duration::from_millis(10))
            .timeout(Duration::from_secs(timeout));
        let (path, options) = (dir.path().join(INDEX_FILE), IndexOptions::default());
        IndexedStorage::open_shared(files, path, options, connect(), publish).unwrap()
    };
    let storage = open(120);
    let (a, b, c) = (session("a"), session("b"), session("c"));
    let line = message("1", "x");
    let lines = header("a") + &line;
    block_on(storage.put(&a, lines.clone().into(), PutOptions::default())).unwrap();
    let part = header("a").len() as u64..lines.len() as u64;
    let confirmed = || PutOptions::default().durability(Durability::Published);
    let there = |key| run(async { log(&*connect(), key).await });

    for (source, head) in [(&a, "b"), (&b, "e")] {
        let made = storage.put_joined(&b, header(head).into(), source, part.clone(), confirmed());
        let joined = header(head) + &line;
        assert_eq!(block_on(made).unwrap().size, joined.len() as u64);
        assert_eq!(there(&b).unwrap(), joined);
    }
    let artifact = key("sessions/b/a/0.x.log");
    let made = storage.put_joined(&artifact, "head\n".into(), &a, part.clone(), confirmed());
    block_on(made).unwrap();
    let object = run(async { connect().get_object(&artifact).await }).unwrap();
    assert_eq!(object.unwrap(), "head\n".to_owned() + &line);

    drop(storage);
    let storage = open(2);
    set_away(true);
    let made = storage.put_joined(&c, header("c").into(), &a, part, confirmed());
    assert_eq!(block_on(made).unwrap_err().kind(), StorageErrorKind::Unavailable);
    let joined = header("c") + &line;
    assert_eq!(block_on(storage.read_all(&c)).unwrap().1, joined);
    set_away(false);
    drop(storage);
    let storage = open(120);
    block_on(storage.drain(Durability::Published)).unwrap();
    assert_eq!(there(&c).unwrap(), joined);
}
