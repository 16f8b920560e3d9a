//! What the index survives.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use rusqlite::Connection;
use session_model::storage::{SessionStorage, SessionStorageExt};
use session_store_file::FileStorage;
use session_store_indexed::index::{IndexError, IndexOptions};
use session_store_indexed::storage::IndexedStorage;
use session_store_indexed::{DatabaseDiagnostic, DatabaseError};

use crate::support::{Place, ROLE, ROOT, Test, append, header, key, keys, message, open, options};

pub const TESTS: &[Test] = &[
    ("a_kill_after_an_append_loses_nothing", a_kill_after_an_append_loses_nothing),
    ("two_processes_keep_one_index", two_processes_keep_one_index),
    ("a_database_that_is_deleted_is_made_again", a_database_that_is_deleted_is_made_again),
    ("a_lock_held_elsewhere_delays_no_append", a_lock_held_elsewhere_delays_no_append),
    ("damaged_and_foreign_databases_are_set_aside", set_aside),
    ("a_newer_database_is_left_alone", newer_is_left_alone),
    ("an_older_database_is_brought_up_to_date", an_older_database_is_brought_up_to_date),
    #[cfg(unix)]
    ("the_database_is_private", the_database_is_private),
];

/// What a child does.
pub fn play(role: &str) {
    let root = env::var_os(ROOT).unwrap();
    let storage = open(root.as_ref(), options());
    let pid = std::process::id();
    match role {
        "append until killed" => {
            append(&storage, &key("s"), &header("s", ""));
            for number in 0.. {
                append(&storage, &key("s"), &message(&format!("m{number}"), None, "user", ""));
                println(&number.to_string());
            }
        }
        "append beside others" => {
            println("ready");
            std::io::stdin().read_line(&mut String::new()).unwrap();
            let own = key(&format!("own{pid}"));
            append(&storage, &own, &header("own", ""));
            for number in 0..100 {
                let line = message(&format!("{pid}-{number}"), None, "user", "");
                append(&storage, &own, &line);
                append(&storage, &key("shared"), &line);
            }
            storage.catch_up(|_| {}).unwrap();
        }
        role => panic!("there is no role {role}"),
    }
}

fn println(line: &str) {
    let mut out = std::io::stdout();
    writeln!(out, "{line}").unwrap();
    out.flush().unwrap();
}

fn child(place: &Place, role: &str) -> Child {
    Command::new(env::current_exe().unwrap())
        .env(ROLE, role)
        .env(ROOT, place.root())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap()
}

fn a_kill_after_an_append_loses_nothing() {
    let place = Place::new();
    for round in 1..=5 {
        let mut child = child(&place, "append until killed");
        let mut said = BufReader::new(child.stdout.take().unwrap()).lines();
        let last = said.by_ref().nth(round * 40).unwrap().unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        let storage = place.open();
        storage.catch_up(|_| {}).unwrap();
        let session = storage.session(&key("s")).unwrap().unwrap();
        assert!(session.entries > last.parse().unwrap());
        assert_eq!(storage.check(|_| {}).unwrap(), []);
        block_on(storage.remove(&key("s"))).unwrap();
    }
}

fn two_processes_keep_one_index() {
    let place = Place::new();
    let storage = place.open();
    append(&storage, &key("shared"), &header("shared", ""));
    let mut children = [0, 1].map(|_| child(&place, "append beside others"));
    for child in &mut children {
        BufReader::new(child.stdout.as_mut().unwrap()).read_line(&mut String::new()).unwrap();
    }
    for child in &mut children {
        child.stdin.take().unwrap().write_all(b"go\n").unwrap();
    }
    for child in &mut children {
        assert!(child.wait().unwrap().success());
    }
    assert_eq!(storage.check(|_| {}).unwrap(), []);
    let shared = storage.session(&key("shared")).unwrap().unwrap();
    assert_eq!((shared.entries, shared.generation), (200, 1));
}

fn a_database_that_is_deleted_is_made_again() {
    let place = Place::new();
    let storage = place.open();
    append(&storage, &key("a"), &header("a", ""));
    storage.catch_up(|_| {}).unwrap();
    for suffix in ["-wal", "-shm", ""] {
        let _ = fs::remove_file(format!("{}{suffix}", place.database().display()));
    }
    append(&storage, &key("b"), &header("b", ""));
    assert_eq!(keys(&storage), ["sessions/b/a.jsonl", "sessions/b/b.jsonl"]);
    assert_eq!(storage.check(|_| {}).unwrap(), []);
}

fn a_lock_held_elsewhere_delays_no_append() {
    let place = Place::new();
    let options = IndexOptions::default().busy_timeout(Duration::from_millis(20));
    let storage = open(&place.root(), options);
    storage.catch_up(|_| {}).unwrap();
    let lock = Connection::open(place.database()).unwrap();
    lock.execute_batch("BEGIN IMMEDIATE").unwrap();
    append(&storage, &key("a"), &(header("a", "") + &message("m", None, "user", "")));
    let error = storage.catch_up(|_| {}).unwrap_err();
    assert!(matches!(error, IndexError::Database(DatabaseError::Busy { .. })), "{error:?}");
    assert!(storage.status().error.is_some());
    let path = block_on(storage.path(&key("a"), None)).unwrap();
    assert_eq!((path.entries.len(), path.read_whole), (1, true));
    lock.execute_batch("COMMIT").unwrap();
    storage.catch_up(|_| {}).unwrap();
    assert!(storage.status().error.is_none());
    assert_eq!(keys(&storage), ["sessions/b/a.jsonl"]);
}

fn set_aside() {
    type Damage = fn(&std::path::Path);
    let damage: [(&str, Damage); 2] = [
        ("file is not a database", |path| fs::write(path, "x".repeat(8192)).unwrap()),
        ("it is no index of sessions", |path| {
            fs::remove_file(path).unwrap();
            Connection::open(path).unwrap().execute_batch("CREATE TABLE t (x)").unwrap();
        }),
    ];
    for (want, damage) in damage {
        let place = Place::new();
        let storage = place.open();
        append(&storage, &key("a"), &header("a", ""));
        drop(storage);
        damage(&place.database());
        let storage = place.open();
        let diagnostics = storage.diagnostics();
        let [DatabaseDiagnostic::SetAside { moved_to, reason, .. }] = &diagnostics[..] else {
            panic!("{diagnostics:?}");
        };
        assert!(moved_to.exists());
        assert!(reason.contains(want), "{reason}");
        assert_eq!(keys(&storage), ["sessions/b/a.jsonl"]);
        let (listed, _) = block_on(storage.list_all(None, Default::default()));
        assert_eq!(listed.len(), 1, "{listed:?}");
    }
}

fn newer_is_left_alone() {
    let place = Place::new();
    let storage = place.open();
    append(&storage, &key("a"), &header("a", ""));
    drop(storage);
    Connection::open(place.database()).unwrap().pragma_update(None, "user_version", 99).unwrap();
    let before = fs::read(place.database()).unwrap();
    let files = Arc::new(FileStorage::open(place.root()).unwrap());
    let opened = IndexedStorage::open(files, place.database(), IndexOptions::default());
    let error = opened.unwrap_err();
    assert!(
        matches!(error, IndexError::Database(DatabaseError::Newer { version: 99, .. })),
        "{error:?}"
    );
    assert_eq!(fs::read(place.database()).unwrap(), before);
}

fn an_older_database_is_brought_up_to_date() {
    let place = Place::new();
    let storage = place.open();
    append(&storage, &key("a"), &(header("a", "") + &message("m", None, "user", "")));
    drop(storage);
    let database = Connection::open(place.database()).unwrap();
    // What came with versions 4 and 5.
    let older = "DROP TABLE summary; DROP TABLE received; DROP TABLE ordered; DROP TABLE owner;
                 ALTER TABLE state DROP COLUMN place; PRAGMA user_version = 3";
    database.execute_batch(older).unwrap();
    drop(database);
    let storage = place.open();
    assert_eq!(storage.check(|_| {}).unwrap(), []);
    assert_eq!(storage.diagnostics(), []);
    assert_eq!(keys(&storage), ["sessions/b/a.jsonl"]);
    drop(storage);
    let database = Connection::open(place.database()).unwrap();
    database.execute_batch("DROP TABLE entry").unwrap();
    drop(database);
    let diagnostics = place.open().diagnostics();
    let [DatabaseDiagnostic::SetAside { reason, .. }] = &diagnostics[..] else {
        panic!("{diagnostics:?}");
    };
    assert!(reason.contains("a table is missing"), "{reason}");
}

#[cfg(unix)]
fn the_database_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let place = Place::new();
    let storage = place.open();
    append(&storage, &key("a"), &header("a", ""));
    storage.catch_up(|_| {}).unwrap();
    for suffix in ["-wal", "-shm", ""] {
        let path = format!("{}{suffix}", place.database().display());
        assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o600, "{suffix}");
    }
}
