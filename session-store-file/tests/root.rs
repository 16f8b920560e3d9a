//! Opening the root directory.
#![allow(clippy::unwrap_used)]

mod support;

use std::env;
use std::error::Error;
use std::fs;
use std::io::ErrorKind;

use session_model::storage::{MAX_KEY_BYTES, SessionStorage, StorageErrorKind};
use session_store_file::FileStorage;
use support::{Place, block_on, key, kind, mode};

#[test]
fn a_missing_root_is_created_with_its_parents() {
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path().join("a/b/root");
    let storage = FileStorage::open(&root).unwrap();
    assert_eq!(storage.root(), root);
    assert_eq!(storage.to_string(), format!("file://{}", root.display()));
    let modes = ["a", "a/b", "a/b/root"].map(|name| mode(dir.path().join(name)));
    assert_eq!(modes, [0o700; 3]);
    assert_eq!(storage.local_path(&key("d/x")), Some(root.join("d/x")));
}

#[test]
fn an_existing_root_is_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let before = mode(dir.path());
    FileStorage::open(dir.path()).unwrap();
    assert_eq!(mode(dir.path()), before);
    assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 0);
}

#[test]
fn a_relative_root_is_made_absolute() {
    let storage = FileStorage::open(".").unwrap();
    assert_eq!(storage.root(), env::current_dir().unwrap());
}

#[test]
fn a_root_that_is_no_directory_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    fs::write(&file, "x").unwrap();
    for (path, want) in
        [(file.clone(), ErrorKind::NotADirectory), (file.join("below"), ErrorKind::NotADirectory)]
    {
        let error = FileStorage::open(&path).unwrap_err();
        assert_eq!((error.path(), error.kind()), (path.as_path(), want));
        assert_eq!(
            error.to_string(),
            format!("could not open the storage directory {}", path.display())
        );
        assert!(error.source().is_some());
    }
}

#[test]
fn a_root_too_long_for_its_keys_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let longest = 4096 - 2 - MAX_KEY_BYTES;
    let mut root = dir.path().to_path_buf();
    while longest - root.as_os_str().len() > 201 {
        root.push("r".repeat(200));
    }
    root.push("r".repeat(longest - root.as_os_str().len() - 1));
    assert_eq!(root.as_os_str().len(), longest);
    let storage = FileStorage::open(&root).unwrap();
    let longest_key = key(&format!("{}/{}", ["k"; 400].join("/"), "n".repeat(224)));
    assert_eq!(longest_key.as_str().len(), MAX_KEY_BYTES);
    let mut writer = block_on(storage.open_append(&longest_key, Default::default())).unwrap();
    assert_eq!(block_on(writer.append("one".into())).unwrap(), 0);
    drop(writer);
    let mut writer = block_on(
        storage.open_append(&longest_key, session_model::storage::AppendOptions::exclusive("x")),
    )
    .unwrap();
    assert_eq!(block_on(writer.append("two".into())).unwrap(), 3);

    let too_long = root.with_file_name("r".repeat(root.file_name().unwrap().len() + 1));
    assert_eq!(FileStorage::open(too_long).unwrap_err().kind(), ErrorKind::InvalidFilename);
}

#[test]
fn a_root_that_went_away_is_an_error_until_it_is_back() {
    let place = Place::new();
    place.put("a", "one");
    let moved = place.dir.path().join("moved");
    fs::rename(place.path(""), &moved).unwrap();
    let a = key("a");
    assert_eq!(kind(block_on(place.storage.head(&a))), StorageErrorKind::Unavailable);
    let opened = block_on(place.storage.open_append(&a, Default::default()));
    assert_eq!(kind(opened), StorageErrorKind::Unavailable);
    assert!(!place.path("").exists());
    fs::rename(moved, place.path("")).unwrap();
    assert_eq!(place.read("a"), "one");
}
