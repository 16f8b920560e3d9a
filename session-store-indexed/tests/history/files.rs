//! The files of the history: where they are and who may read them.

#![cfg(unix)]

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::Path;

use session_store_indexed::DatabaseError;
use session_store_indexed::history::{HistoryError, HistoryStorage};

use crate::support::{options, place, rows};

fn mode(path: &Path) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn takes_access_from_others_where_an_older_tool_gave_it() {
    let place = place();
    let other = place.sqlite();
    other
        .execute_batch("PRAGMA journal_mode = WAL; CREATE TABLE history (id INTEGER PRIMARY KEY, prompt, created_at)")
        .unwrap();
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        fs::set_permissions(place.directory.path().join(name), PermissionsExt::from_mode(0o644))
            .unwrap();
    }
    let _history = place.open();
    for name in ["history.db", "history.db-wal", "history.db-shm"] {
        assert_eq!(mode(&place.directory.path().join(name)), 0o600, "{name}");
    }
}

#[test]
fn follows_a_link_to_the_database() {
    let place = place();
    let real = place.directory.path().join("real.db");
    drop(HistoryStorage::open(&real, options()).unwrap());
    symlink(&real, &place.database).unwrap();
    let history = place.open();
    history.add("one", None, None).unwrap();
    history.close().unwrap();
    assert_eq!(rows(&real).len(), 1);
    assert_eq!(place.files(), ["history.db", "real.db"]);
}

#[test]
fn takes_any_file_name() {
    let place = place();
    for name in [&b"a?mode=memory"[..], b"file:x", b":memory:", b"%41#", b"\xff\xfe", b" "] {
        let path = place.directory.path().join(std::ffi::OsStr::from_bytes(name));
        let history = HistoryStorage::open(&path, options()).unwrap();
        history.add("one", None, None).unwrap();
        history.close().unwrap();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
        assert_eq!(rows_of(&path), ["one"], "{}", path.display());
    }
}

/// Reads the prompts through a plain name, whatever the file's own name is.
fn rows_of(path: &Path) -> Vec<String> {
    let directory = tempfile::tempdir().unwrap();
    let copy = directory.path().join("copy.db");
    fs::copy(path, &copy).unwrap();
    rows(&copy).into_iter().map(|row| row.1).collect()
}

#[test]
fn refuses_a_directory_and_leaves_it_alone() {
    let place = place();
    fs::create_dir(&place.database).unwrap();
    fs::set_permissions(&place.database, PermissionsExt::from_mode(0o755)).unwrap();
    let error = HistoryStorage::open(&place.database, options()).unwrap_err();
    assert!(matches!(error, HistoryError::Database(DatabaseError::Denied { .. })), "{error:?}");
    assert_eq!(mode(&place.database), 0o755);
    assert_eq!(place.files(), ["history.db"]);
}

#[test]
fn leaves_one_file_when_closed() {
    let place = place();
    let history = place.open();
    history.add("one", None, None).unwrap();
    history.close().unwrap();
    assert_eq!(place.files(), ["history.db"]);
}
