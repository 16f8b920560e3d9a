//! Damaged databases: moved aside whole, read as far as possible, never deleted.

use std::collections::BTreeSet;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

use session_store_indexed::history::{HistoryError, HistoryOptions, HistoryScope, HistoryStorage};
use session_store_indexed::{DatabaseDiagnostic, DatabaseError};

use crate::support::{NOW, Place, Row, place, prompts, row};

const ASIDE: &str = "history.db.damaged-2026-01-01T00-00-00-000Z";

const PAGE: usize = 4096;

/// The place's database by its real path, as diagnostics name it.
fn real(place: &Place, name: &str) -> PathBuf {
    place.directory.path().canonicalize().unwrap().join(name)
}

fn read(place: &Place, name: &str) -> Vec<u8> {
    fs::read(place.directory.path().join(name)).unwrap()
}

/// Makes a closed history of prompts long enough to fill many pages.
fn fill(place: &Place, first: i64, last: i64) -> Vec<Row> {
    let history = place.open();
    for number in first..=last {
        let text = format!("prompt {number} {}", "lorem ipsum ".repeat(20));
        history.add(&text, Some("/a"), None).unwrap();
    }
    history.close().unwrap();
    place.rows()
}

/// Overwrites a page in the middle of the prompts.
fn damage_a_page(place: &Place) {
    let page: usize = {
        let bytes = read(place, "history.db");
        let text = b"prompt 250 ";
        bytes.windows(text.len()).position(|window| window == text).unwrap() / PAGE
    };
    let mut file = OpenOptions::new().write(true).open(&place.database).unwrap();
    file.seek(SeekFrom::Start((page * PAGE) as u64)).unwrap();
    file.write_all(&[0xff; PAGE]).unwrap();
}

/// Fails unless `found` is a part of `all` that lacks only what a page or two can hold.
fn assert_mostly(found: &[Row], all: &[Row]) {
    let all: BTreeSet<_> = all.iter().collect();
    let found: BTreeSet<_> = found.iter().collect();
    assert!(found.is_subset(&all));
    let missing: Vec<i64> = all.difference(&found).map(|row| row.0).collect();
    assert!(missing.contains(&250) && missing.len() < 40, "{missing:?}");
}

#[test]
fn moves_aside_what_is_no_database() {
    let place = place();
    let bytes = b"not a database, just bytes";
    fs::write(&place.database, bytes).unwrap();
    let history = place.open();
    assert_eq!(
        history.diagnostics(),
        [
            DatabaseDiagnostic::SetAside {
                path: real(&place, "history.db"),
                moved_to: real(&place, ASIDE),
                reason: "file is not a database".to_owned(),
            },
            DatabaseDiagnostic::Salvaged { from: real(&place, ASIDE), rows: 0, complete: false },
        ]
    );
    history.add("one", None, None).unwrap();
    history.close().unwrap();
    assert_eq!(place.files(), ["history.db", ASIDE, "history.db.lock"]);
    assert_eq!(read(&place, ASIDE), bytes);
    assert_eq!(place.rows(), [row(1, "one", NOW, None, None)]);
    assert_eq!(place.open().diagnostics(), []);
}

#[test]
fn moves_aside_what_is_no_prompt_history() {
    for foreign in [
        "CREATE TABLE history (url TEXT); INSERT INTO history VALUES ('x')",
        "CREATE VIEW history AS SELECT 1 AS id, 'x' AS prompt, 2 AS created_at",
        "CREATE TABLE history (id INTEGER PRIMARY KEY, prompt, created_at);
         CREATE TABLE history_fts (mine)",
    ] {
        let place = place();
        place.sqlite().execute_batch(foreign).unwrap();
        let history = place.open();
        let from = real(&place, ASIDE);
        let salvaged = DatabaseDiagnostic::Salvaged { from, rows: 0, complete: true };
        assert_eq!(history.diagnostics()[1], salvaged);
        history.add("one", None, None).unwrap();
        history.close().unwrap();
        assert_eq!(place.rows(), [row(1, "one", NOW, None, None)], "{foreign}");
        let aside = rusqlite::Connection::open(place.directory.path().join(ASIDE)).unwrap();
        let objects: i64 =
            aside.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0)).unwrap();
        assert_eq!(objects, foreign.matches("CREATE").count() as i64, "{foreign}");
    }
}

#[test]
fn moves_aside_a_database_whose_index_cannot_be_repaired() {
    let place = place();
    let history = place.open();
    history.add("one", Some("/a"), Some("s")).unwrap();
    history.close().unwrap();
    place.sqlite().execute_batch("DROP TABLE history_fts_docsize").unwrap();
    let history = place.open();
    let diagnostics = history.diagnostics();
    assert!(matches!(diagnostics[0], DatabaseDiagnostic::SetAside { .. }), "{diagnostics:?}");
    let from = real(&place, ASIDE);
    assert_eq!(diagnostics[1], DatabaseDiagnostic::Salvaged { from, rows: 1, complete: true });
    assert_eq!(prompts(history.search("one", 10, HistoryScope::Global).unwrap()), ["one"]);
    assert_eq!(place.rows(), [row(1, "one", NOW, Some("/a"), Some("s"))]);
}

#[test]
fn takes_over_what_is_readable() {
    let place = place();
    let all = fill(&place, 1, 500);
    damage_a_page(&place);
    let damaged = read(&place, "history.db");

    let history = place.open();
    let rows = place.rows();
    assert_mostly(&rows, &all);
    let diagnostics = history.diagnostics();
    let [DatabaseDiagnostic::SetAside { moved_to, .. }, salvaged] = &diagnostics[..] else {
        panic!("{diagnostics:?}");
    };
    assert_eq!(*moved_to, real(&place, ASIDE));
    assert_eq!(
        *salvaged,
        DatabaseDiagnostic::Salvaged {
            from: real(&place, ASIDE),
            rows: rows.len(),
            complete: false
        }
    );
    assert_eq!(read(&place, ASIDE), damaged);
    let found = history.search("\"prompt 499\"", 10, HistoryScope::Cwd("/a")).unwrap();
    assert_eq!(prompts(found), [all[498].1.clone()]);
}

#[test]
fn takes_over_the_file_without_a_log_that_is_not_its_own() {
    let (place, other) = (place(), place());
    let all = fill(&place, 1, 500);
    fill(&other, 1000, 1200);
    let writing = other.open();
    writing.add("the log holds some pages of this database only", None, None).unwrap();
    writing.flush().unwrap();
    let before = read(&place, "history.db");
    let log = read(&other, "history.db-wal");
    drop(writing);
    fs::write(place.directory.path().join("history.db-wal"), &log).unwrap();

    let history = place.open();
    let diagnostics = history.diagnostics();
    assert!(matches!(diagnostics[0], DatabaseDiagnostic::SetAside { .. }), "{diagnostics:?}");
    assert_eq!(read(&place, ASIDE), before);
    assert_eq!(read(&place, &format!("{ASIDE}-wal")), log);
    let rows: BTreeSet<Row> = place.rows().into_iter().collect();
    assert!(all.into_iter().all(|row| rows.contains(&row)));
}

/// A database whose rows are in its log, copied while it was open.
fn place_with_log() -> Place {
    let (source, copy) = (place(), place());
    let history = source.open();
    for number in 0..200 {
        history.add(&format!("other {number} {}", "dolor ".repeat(50)), None, None).unwrap();
    }
    history.flush().unwrap();
    for name in ["history.db", "history.db-wal"] {
        let to = copy.directory.path().join(name);
        fs::copy(source.directory.path().join(name), to).unwrap();
    }
    copy
}

#[test]
fn reads_a_log_that_was_left_behind() {
    let place = place_with_log();
    let history = place.open();
    assert_eq!(history.diagnostics(), []);
    assert_eq!(history.recent(1000).unwrap().len(), 200);
}

#[test]
fn keeps_a_log_whose_database_is_gone() {
    let place = place_with_log();
    let log = read(&place, "history.db-wal");
    fs::remove_file(&place.database).unwrap();
    let history = place.open();
    let diagnostics = history.diagnostics();
    assert!(matches!(diagnostics[0], DatabaseDiagnostic::SetAside { .. }), "{diagnostics:?}");
    assert_eq!(read(&place, &format!("{ASIDE}-wal")), log);
}

#[test]
fn gives_every_damaged_database_a_name_of_its_own() {
    let place = place();
    for bytes in [&b"first"[..], b"second", b"third"] {
        fs::write(&place.database, bytes).unwrap();
        drop(place.open());
    }
    assert_eq!(read(&place, ASIDE), b"first");
    assert_eq!(read(&place, &format!("{ASIDE}-2")), b"second");
    assert_eq!(read(&place, &format!("{ASIDE}-3")), b"third");
}

#[test]
fn recovers_from_damage_found_while_open() {
    let place = place();
    let all = fill(&place, 1, 500);
    let history = place.open();
    damage_a_page(&place);
    let error = history.recent(1000).unwrap_err();
    assert!(matches!(error, HistoryError::Database(DatabaseError::Damaged { .. })), "{error:?}");
    let found = history.recent(1000).unwrap();
    assert_mostly(&place.rows(), &all);
    assert_eq!(found.len(), place.rows().len());
    history.add("one more", None, None).unwrap();
    history.flush().unwrap();
    assert_eq!(prompts(history.recent(1).unwrap()), ["one more"]);
    let diagnostics = history.diagnostics();
    assert!(matches!(diagnostics[0], DatabaseDiagnostic::SetAside { .. }), "{diagnostics:?}");
}

#[test]
fn goes_to_a_new_file_when_its_own_is_removed() {
    let place = place();
    let history = place.open();
    history.add("one", None, None).unwrap();
    history.flush().unwrap();
    for name in place.files() {
        fs::remove_file(place.directory.path().join(name)).unwrap();
    }
    history.add("two", None, None).unwrap();
    history.flush().unwrap();
    assert_eq!(prompts(history.recent(10).unwrap()), ["two"]);
    history.close().unwrap();
    assert_eq!(place.rows(), [row(1, "two", NOW, None, None)]);
}

#[test]
fn repairs_a_damaged_index_when_searching() {
    let place = place();
    let history = place.open();
    history.add("one", None, None).unwrap();
    history.flush().unwrap();
    place.sqlite().execute("DELETE FROM history_fts_data WHERE id > 10", []).unwrap();
    assert_eq!(prompts(history.search("one", 10, HistoryScope::Global).unwrap()), ["one"]);
    assert_eq!(history.diagnostics(), []);
}

#[test]
fn repairs_a_damaged_index_when_writing() {
    let place = place();
    let history = place.open();
    history.add("one", None, None).unwrap();
    history.flush().unwrap();
    place.sqlite().execute("DELETE FROM history_fts_data WHERE id = 10", []).unwrap();
    history.add("two", None, None).unwrap();
    history.flush().unwrap();
    assert_eq!(prompts(history.search("two", 10, HistoryScope::Global).unwrap()), ["two"]);
    assert_eq!(prompts(history.search("one", 10, HistoryScope::Global).unwrap()), ["one"]);
    assert_eq!(history.diagnostics(), []);
}

#[test]
fn leaves_a_history_of_a_newer_version_alone() {
    let place = place();
    let newer = "CREATE TABLE history (id INTEGER PRIMARY KEY, words TEXT);
                 INSERT INTO history VALUES (1, 'kept'); PRAGMA user_version = 5;";
    rusqlite::Connection::open(&place.database).unwrap().execute_batch(newer).unwrap();
    let before = read(&place, "history.db");
    let error = HistoryStorage::open(&place.database, HistoryOptions::default()).unwrap_err();
    assert!(
        matches!(error, HistoryError::Database(DatabaseError::Newer { version: 5, known: 0, .. })),
        "{error:?}"
    );
    assert_eq!(read(&place, "history.db"), before);
    let names = fs::read_dir(place.directory.path()).unwrap();
    let aside = names
        .filter(|name| name.as_ref().unwrap().file_name().to_string_lossy().contains("damaged"));
    assert_eq!(aside.count(), 0);
}
