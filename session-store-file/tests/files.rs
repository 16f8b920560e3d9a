//! What is on disk: modes, owners, and files that are not objects.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{MetadataExt, PermissionsExt, chown};
use std::time::Duration;

use session_model::storage::{
    AppendOptions, CopyOptions, Durability, Payload, PutOptions, RenameOptions, SessionStorage,
    StorageErrorKind,
};
use session_store_file::{FileOptions, FileStorage};
use support::{Place, accepted, block_on, key, kind, mode};

#[test]
fn a_replaced_file_hands_on_a_stricter_mode() {
    let place = Place::new();
    for (before, after) in [(0o644, 0o600), (0o600, 0o600), (0o400, 0o400), (0o777, 0o600)] {
        for name in ["put", "replaced", "copied"] {
            place.put(name, "one");
        }
        place.put("source", "two");
        fs::set_permissions(place.path("source"), Permissions::from_mode(0o644)).unwrap();
        let mut writer = place.exclusive("replaced");
        for name in ["put", "replaced", "copied"] {
            fs::set_permissions(place.path(name), Permissions::from_mode(before)).unwrap();
        }
        place.put("put", "two");
        block_on(writer.replace(Payload::from("two"), accepted())).unwrap();
        let (source, copied) = (key("source"), key("copied"));
        block_on(place.storage.copy(&source, &copied, CopyOptions::overwriting())).unwrap();
        for name in ["put", "replaced", "copied"] {
            let got = (mode(place.path(name)), place.read(name));
            assert_eq!(got, (after, "two".to_owned()), "{name} of {before:o}");
            fs::remove_file(place.path(name)).unwrap();
        }
    }
}

#[test]
fn a_replaced_file_keeps_its_owner() {
    let place = Place::new();
    place.put("a", "one");
    // Only root can give a file away; for others the owner is their own before and after.
    let owner = if rustix::process::geteuid().is_root() { 4321 } else { 0 };
    if owner != 0 {
        chown(place.path("a"), Some(owner), Some(owner)).unwrap();
    }
    let owners = || {
        let meta = fs::metadata(place.path("a")).unwrap();
        (meta.uid(), meta.gid())
    };
    let before = owners();
    place.put("a", "two");
    assert_eq!((owners(), place.read("a")), (before, "two".to_owned()));
}

#[test]
fn files_left_behind_go_and_live_ones_stay() {
    let place = Place::new();
    place.put("d/a", "one");
    for name in ["d/.~a.00000000.tmp", "d/.~gone.00000001.tmp", "d/.~live.00000002.tmp"] {
        fs::write(place.path(name), "half").unwrap();
    }
    let live = File::open(place.path("d/.~live.00000002.tmp")).unwrap();
    live.lock().unwrap();
    // A store looks once a directory, so that of another process does it.
    let other = FileStorage::open(place.path("")).unwrap();
    block_on(other.put(&key("d/a"), Payload::from("two"), accepted())).unwrap();
    assert_eq!(place.files(), [".~lock", "d/", "d/.~live.00000002.tmp", "d/a"]);
    drop(live);
    assert_eq!(block_on(place.storage.remove_all(&key("d"))).unwrap(), 1);
    assert_eq!(place.files(), [".~lock"]);
}

#[test]
fn a_failed_put_leaves_no_file() {
    let place = Place::new();
    place.put("a", "one");
    let options = PutOptions::when(session_model::storage::Precondition::Length(9));
    let outcome = block_on(place.storage.put(&key("a"), Payload::from("bad"), options));
    assert_eq!(kind(outcome), StorageErrorKind::Conflict);
    let published = PutOptions::default().durability(Durability::Published);
    let outcome = block_on(place.storage.put(&key("new/b"), Payload::from("bad"), published));
    assert_eq!(kind(outcome), StorageErrorKind::Unsupported);
    assert_eq!(place.files(), [".~lock", "a"]);
}

#[test]
fn puts_and_copies_make_no_lock_files_of_their_own() {
    let place = Place::new();
    for name in ["blobs/a", "blobs/b"] {
        let absent = PutOptions::when(session_model::storage::Precondition::Absent);
        block_on(place.storage.put(&key(name), Payload::from(name), absent)).unwrap();
    }
    place.put("terminal-sessions/t1", "/w");
    place.put("terminal-sessions/t1", "/x");
    let (from, to) = (key("blobs/a"), key("c/a"));
    block_on(place.storage.copy(&from, &to, CopyOptions::default())).unwrap();
    block_on(place.storage.rename(&to, &key("c/b"), RenameOptions::default())).unwrap();
    let files = [
        ".~lock",
        "blobs/",
        "blobs/a",
        "blobs/b",
        "c/",
        "c/b",
        "terminal-sessions/",
        "terminal-sessions/t1",
    ];
    assert_eq!(place.files(), files);
}

#[test]
fn lock_files_go_with_their_objects_and_directories() {
    let place = Place::new();
    for name in ["d/a", "d/e/b", "d/e/f/c"] {
        block_on(place.exclusive(name).close()).unwrap();
    }
    block_on(place.storage.remove(&key("d/a"))).unwrap();
    let (b, moved) = (key("d/e/b"), key("d/e/moved"));
    block_on(place.storage.rename(&b, &moved, RenameOptions::default())).unwrap();
    let files = [".~lock", "d/", "d/e/", "d/e/f/", "d/e/f/.~c.lock", "d/e/f/c", "d/e/moved"];
    assert_eq!(place.files(), files);
    assert_eq!(block_on(place.storage.remove_all(&key("d/e"))).unwrap(), 2);
    assert_eq!(place.files(), [".~lock", "d/"]);
    assert_eq!(block_on(place.storage.remove_all(&key("d"))).unwrap(), 0);
    assert_eq!(place.files(), [".~lock"]);
}

#[test]
fn a_held_lock_file_keeps_its_directory() {
    let place = Place::new();
    let writer = place.exclusive("d/e/a");
    fs::remove_file(place.path("d/e/a")).unwrap();
    place.put("d/e/b", "x");
    assert_eq!(block_on(place.storage.remove_all(&key("d"))).unwrap(), 1);
    assert_eq!(place.files(), [".~lock", "d/", "d/e/", "d/e/.~a.lock"]);
    let again = block_on(place.storage.open_append(&key("d/e/a"), AppendOptions::default()));
    assert_eq!(kind(again), StorageErrorKind::Busy);
    drop(writer);
    place.put("d", "x");
    assert_eq!(place.files(), [".~lock", "d"]);
}

#[test]
fn an_operation_does_not_wait_for_ever() {
    let place = Place::new();
    place.put("a", "one");
    let lock = File::open(place.path(".~lock")).unwrap();
    lock.lock().unwrap();
    let options = FileOptions::default().lock_wait(Duration::from_millis(30));
    let storage = FileStorage::open_with(place.path(""), options).unwrap();
    let a = key("a");
    let error = block_on(storage.put(&a, Payload::from("bad"), accepted())).unwrap_err();
    assert_eq!((error.kind(), error.is_retryable()), (StorageErrorKind::Unavailable, true));
    let opened = block_on(storage.open_append(&a, AppendOptions::default()));
    assert_eq!(kind(opened), StorageErrorKind::Unavailable);
    assert_eq!(kind(block_on(storage.remove(&a))), StorageErrorKind::Unavailable);
    assert_eq!(place.read("a"), "one");
    drop(lock);
    block_on(storage.put(&a, Payload::from("two"), accepted())).unwrap();
    assert_eq!(place.read("a"), "two");
}

#[test]
fn an_object_made_again_is_another_one() {
    let place = Place::new();
    let mut seen = std::collections::HashSet::new();
    for round in 0..50_u8 {
        let mut writer = place.exclusive("a");
        block_on(writer.append(vec![round; 5].into())).unwrap();
        let meta = block_on(writer.close()).unwrap();
        assert!(seen.insert(meta.version.clone()), "{} came before", meta.version);
        if round % 2 == 0 {
            block_on(place.storage.remove(&meta.key)).unwrap();
        } else {
            let (a, b) = (key("a"), key("b"));
            block_on(place.storage.rename(&a, &b, RenameOptions::overwriting())).unwrap();
            let back = block_on(place.storage.rename(&b, &a, RenameOptions::default())).unwrap();
            assert!(seen.insert(back.version.clone()), "{} came before", back.version);
            block_on(place.storage.remove(&a)).unwrap();
        }
    }
}
