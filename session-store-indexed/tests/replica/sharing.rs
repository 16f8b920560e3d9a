//! A storage that fetches what is missing and claims what is written, without a runtime.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pollster::block_on;
use session_model::BlobRef;
use session_model::storage::{
    AppendOptions, CopyOptions, PutOptions, SessionStorage, SessionStorageExt, StorageError,
    StorageErrorKind,
};
use session_store_indexed::remote::{FakeFaults, FakeRemote, Put, Remote};
use session_store_indexed::replica::{SharedOptions, SharedStorage};

use super::host::*;

/// How long what is there may take to come on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

fn share(host: &Host, remote: &Arc<FakeRemote>) -> SharedStorage {
    let options =
        SharedOptions::default().patience(PATIENCE).interval(Duration::from_millis(1)).lease(LEASE);
    let storage = Arc::clone(&host.storage);
    SharedStorage::start(storage, Arc::clone(remote) as _, host.name, options).unwrap()
}

fn read(storage: &SharedStorage, key: &str) -> Result<Bytes, StorageErrorKind> {
    block_on(storage.read_all(&super::host::key(key)))
        .map(|(_, bytes)| bytes)
        .map_err(|error| error.kind())
}

#[test]
fn what_is_missing_is_fetched_when_it_is_read() {
    let (remote, first, second) = two();
    let blob = format!("blobs/{}", BlobRef::of(b"picture").to_hex());
    let wrong = format!("blobs/{}", BlobRef::of(b"other").to_hex());
    let artifact = "sessions/b/2026-01-01T00-00-00-000Z_s/1.bash.log";
    for name in [&*blob, &*wrong, artifact, "settings.json"] {
        let put = block_on(remote.put_object(&key(name), Bytes::from_static(b"picture")));
        assert_eq!(put.unwrap(), Put::Created);
    }
    let storage = share(&second, &remote);
    assert_eq!(
        block_on(storage.head(&session())).unwrap().size,
        first.read(&session()).len() as u64
    );
    assert_eq!(read(&storage, session().as_str()).unwrap(), first.read(&session()));
    assert_eq!(read(&storage, &blob).unwrap(), "picture");
    assert_eq!(read(&storage, artifact).unwrap(), "picture");
    // Other bytes than the name says, and what is neither blob nor artifact.
    for name in [&*wrong, "settings.json", "sessions/b/nothing.jsonl"] {
        assert_eq!(read(&storage, name), Err(StorageErrorKind::NotFound), "{name}");
    }
}

#[test]
fn a_session_of_many_parts_comes_however_long_that_takes() {
    let (remote, first, second) = two();
    for id in ["b", "c", "d", "e", "f", "g", "h", "i"] {
        first.append(&session(), &line(id, &"x".repeat(1_000_000)));
        first.publish(&session());
    }
    let faults = FakeFaults { takes: Duration::from_millis(100), ..FakeFaults::default() };
    remote.set_faults(faults);
    let patience = Duration::from_millis(500);
    let options = SharedOptions::default().patience(patience).interval(Duration::from_millis(1));
    let storage = Arc::clone(&second.storage);
    let storage = SharedStorage::start(storage, Arc::clone(&remote) as _, "b", options).unwrap();
    let start = Instant::now();
    // A single answer can be late on a busy machine.
    while read(&storage, session().as_str()) != Ok(first.read(&session()).into()) {
        assert!(start.elapsed() < PATIENCE, "it does not come");
    }
    // What is never answered is given up.
    remote.set_faults(FakeFaults { takes: Duration::MAX, ..FakeFaults::default() });
    assert_eq!(read(&storage, "sessions/b/other.jsonl"), Err(StorageErrorKind::NotFound));
}

#[test]
fn what_is_missing_is_fetched_when_it_is_copied() {
    let (remote, first, second) = two();
    let storage = share(&second, &remote);
    let content = first.read(&session());
    let (joined, copied) = (key("sessions/b/joined.jsonl"), key("sessions/b/copied.jsonl"));
    let part = 0..content.len() as u64;
    let source = session();
    let made = storage.put_joined(&joined, "".into(), &source, part, PutOptions::default());
    block_on(made).unwrap();
    assert_eq!(read(&storage, joined.as_str()).unwrap(), content);

    let (remote, first, second) = two();
    let storage = share(&second, &remote);
    block_on(storage.copy(&session(), &copied, CopyOptions::default())).unwrap();
    assert_eq!(read(&storage, copied.as_str()).unwrap(), first.read(&session()));
}

#[test]
fn a_session_is_claimed_before_it_is_written() {
    let (remote, first, second) = two();
    let storage = share(&second, &remote);
    let options = || AppendOptions::exclusive("an agent");
    let error = block_on(storage.open_append(&session(), options())).unwrap_err();
    let StorageError::Busy { holder, .. } = error else { panic!("{error:?}") };
    assert_eq!(holder.owner.as_deref(), Some("the host first"));
    // Reading goes on meanwhile.
    assert_eq!(read(&storage, session().as_str()).unwrap(), first.read(&session()));
    first.append(&session(), &line("b", "two"));
    first.publish(&session());
    remote.advance(LEASE);
    let mut writer = block_on(storage.open_append(&session(), options())).unwrap();
    assert_eq!(second.read(&session()), first.read(&session()));
    block_on(writer.append(line("c", "three").into())).unwrap();
    block_on(writer.close()).unwrap();
    let owner = block_on(remote.state(&session())).unwrap().unwrap().fence.owner;
    assert_eq!(owner, "second");
}

#[test]
fn with_the_remote_away_everything_goes_on() {
    let (remote, first, second) = two();
    assert_eq!(second.pull(&session()), session_store_indexed::replica::Outcome::Installed);
    remote.set_faults(FakeFaults { cut_before: 1000, ..FakeFaults::default() });
    let storage = share(&second, &remote);
    let missing = "sessions/b/other.jsonl";
    assert_eq!(read(&storage, missing), Err(StorageErrorKind::NotFound));
    for name in [session().as_str(), missing] {
        let options = AppendOptions::exclusive("an agent");
        let mut writer = block_on(storage.open_append(&key(name), options)).unwrap();
        block_on(writer.append(line("c", "mine").into())).unwrap();
        block_on(writer.close()).unwrap();
    }
    assert_eq!(second.read(&session()), first.read(&session()) + &line("c", "mine"));
}

#[test]
fn the_copy_follows_by_itself() {
    let (remote, first, second) = two();
    second.pull(&session());
    let storage = share(&second, &remote);
    for n in 0..5 {
        first.append(&session(), &line("b", &n.to_string()));
        first.publish(&session());
        let start = Instant::now();
        while read(&storage, session().as_str()).unwrap() != first.read(&session()) {
            assert!(start.elapsed() < PATIENCE, "line {n} did not come");
            std::thread::yield_now();
        }
    }
}
