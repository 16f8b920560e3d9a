//! Symbolic links and other things that are no files.
#![allow(clippy::unwrap_used)]

mod support;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::net::UnixListener;

use bytes::Bytes;
use session_model::storage::{
    AppendOptions, CopyOptions, ListOptions, Payload, RenameOptions, SessionStorage,
    SessionStorageExt, StorageErrorKind,
};
use session_store_file::FileStorage;
use support::{Place, accepted, block_on, key, kind};

/// Tries everything that can be done with a key that leads through or to something refused.
fn assert_refused(place: &Place, name: &str, want: StorageErrorKind) {
    let (storage, refused) = (&place.storage, key(name));
    place.put("other", "x");
    let put = storage.put(&refused, Payload::from("bad"), accepted());
    assert_eq!(kind(block_on(put)), want, "put");
    assert_eq!(kind(block_on(storage.head(&refused))), want, "head");
    assert_eq!(kind(block_on(storage.read_all(&refused))), want, "read");
    let peeks = block_on(storage.peek(&[refused.clone(), key("other")], 1, 1));
    let heads: Vec<_> = peeks.into_iter().map(|peek| peek.map(|peek| peek.head)).collect();
    assert_eq!(heads[0].as_ref().unwrap_err().kind(), want, "peek");
    assert_eq!(heads[1].as_ref().unwrap(), &Bytes::from("x"));
    for options in [AppendOptions::default(), AppendOptions::exclusive("test")] {
        assert_eq!(kind(block_on(storage.open_append(&refused, options))), want, "open");
    }
    assert_eq!(kind(block_on(storage.remove(&refused))), want, "remove");
    for overwrite in [true, false] {
        let (mut copy, mut rename) = (CopyOptions::default(), RenameOptions::default());
        (copy.overwrite, rename.overwrite) = (overwrite, overwrite);
        let other = key("other");
        assert_eq!(kind(block_on(storage.copy(&other, &refused, copy))), want, "copy onto");
        assert_eq!(kind(block_on(storage.copy(&refused, &key("new"), copy))), want, "copy");
        assert_eq!(kind(block_on(storage.rename(&other, &refused, rename))), want, "rename onto");
        assert_eq!(kind(block_on(storage.rename(&refused, &key("new"), rename))), want, "rename");
    }
    assert_eq!(place.read("other"), "x");
}

#[test]
fn a_link_in_place_of_an_object_is_refused() {
    let place = Place::new();
    let outside = place.dir.path().join("outside");
    fs::write(&outside, "precious").unwrap();
    symlink(&outside, place.path("link")).unwrap();
    symlink("nowhere", place.path("dangling")).unwrap();
    place.put("real", "x");
    symlink("real", place.path("inside")).unwrap();
    for link in ["link", "dangling", "inside"] {
        assert_refused(&place, link, StorageErrorKind::Denied);
        assert!(place.path(link).is_symlink());
    }
    assert_eq!(fs::read_to_string(outside).unwrap(), "precious");
    assert!(!place.path("nowhere").exists());
}

#[test]
fn a_link_in_place_of_a_directory_is_refused() {
    let place = Place::new();
    let outside = place.dir.path().join("outside");
    fs::create_dir(&outside).unwrap();
    fs::write(outside.join("a"), "precious").unwrap();
    fs::create_dir(place.path("d")).unwrap();
    symlink(&outside, place.path("d/link")).unwrap();
    assert_refused(&place, "d/link/a", StorageErrorKind::Denied);
    assert_refused(&place, "d/link/new/b", StorageErrorKind::Denied);
    assert_eq!(kind(block_on(place.storage.remove_all(&key("d/link")))), StorageErrorKind::Denied);
    assert_eq!(kind(block_on(place.storage.remove_all(&key("d")))), StorageErrorKind::Denied);
    let names: Vec<_> =
        fs::read_dir(&outside).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names, ["a"]);
}

#[test]
fn a_writer_does_not_follow_its_object_to_a_link() {
    let place = Place::new();
    let mut writer = place.exclusive("a");
    let mut shared =
        block_on(place.storage.open_append(&key("b"), AppendOptions::default())).unwrap();
    for name in ["a", "b"] {
        fs::rename(place.path(name), place.dir.path().join(name)).unwrap();
        symlink(place.dir.path().join(name), place.path(name)).unwrap();
    }
    let bad = || Bytes::from("bad");
    assert_eq!(kind(block_on(writer.append(bad()))), StorageErrorKind::Conflict);
    assert_eq!(kind(block_on(writer.adopt())), StorageErrorKind::Denied);
    assert_eq!(kind(block_on(shared.append(bad()))), StorageErrorKind::Denied);
    assert_eq!(fs::read(place.dir.path().join("a")).unwrap(), b"");
    assert_eq!(fs::read(place.dir.path().join("b")).unwrap(), b"");
}

#[test]
fn links_in_place_of_lock_files_are_refused() {
    for link in [".~lock", ".~a.lock"] {
        let place = Place::new();
        let outside = place.dir.path().join("outside");
        fs::write(&outside, "precious").unwrap();
        symlink(&outside, place.path(link)).unwrap();
        let opened = block_on(place.storage.open_append(&key("a"), AppendOptions::exclusive("x")));
        assert_eq!(kind(opened), StorageErrorKind::Denied, "{link}");
        assert_eq!(fs::read_to_string(outside).unwrap(), "precious");
    }
}

#[test]
fn pipes_and_sockets_are_refused_without_waiting() {
    let place = Place::new();
    let made = std::process::Command::new("mkfifo").arg(place.path("pipe")).status().unwrap();
    assert!(made.success());
    let _listener = UnixListener::bind(place.path("socket")).unwrap();
    for name in ["pipe", "socket"] {
        assert_refused(&place, name, StorageErrorKind::Invalid);
    }
}

#[test]
fn the_root_may_be_a_link() {
    let place = Place::new();
    place.put("d/a", "one");
    let link = place.dir.path().join("link");
    symlink(place.path(""), &link).unwrap();
    let storage = FileStorage::open(&link).unwrap();
    let (metas, errors) = block_on(storage.list_all(None, ListOptions::default()));
    let keys: Vec<_> = metas.into_iter().map(|meta| meta.key).collect();
    assert_eq!((keys, errors.len()), (vec![key("d/a")], 0));
    let mut writer =
        block_on(storage.open_append(&key("d/a"), AppendOptions::exclusive("x"))).unwrap();
    assert_eq!(block_on(writer.append(Bytes::from("+"))).unwrap(), 3);
    assert_eq!(place.read("d/a"), "one+");
}
