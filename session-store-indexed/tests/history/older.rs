//! Databases of other tools and older versions: all rows stay, what is missing is added.

use std::time::Duration;

use session_store_indexed::DatabaseError;
use session_store_indexed::history::{HistoryError, HistoryScope, HistoryStorage};

use crate::support::{NOW, Place, Row, as_rows, options, place, prompts, row};

/// Before there was a search index.
const NO_INDEX: &str = "
    CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
        created_at INTEGER NOT NULL DEFAULT (unixepoch()), cwd TEXT);
    CREATE INDEX idx_history_created_at ON history(created_at DESC);";

/// With the index, kept in step for inserts only.
const NO_SESSION: &str = "
    CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
        created_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)), cwd TEXT);
    CREATE INDEX idx_history_created_at ON history(created_at DESC);
    CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id');
    CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN
        INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt); END;";

const WITH_SESSION: &str = "
    CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
        created_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)), cwd TEXT,
        session_id TEXT);
    CREATE INDEX idx_history_created_at ON history(created_at DESC);
    CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id');
    CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN
        INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt); END;";

/// Where every text is kept once.
const UNIQUE: &str = "
    CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL UNIQUE,
        created_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)), cwd TEXT,
        session_id TEXT);
    CREATE INDEX idx_history_created_at ON history(created_at DESC);
    CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id');
    CREATE TRIGGER history_ai AFTER INSERT ON history BEGIN
        INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt); END;
    PRAGMA user_version = 1;";

/// The least that is a prompt history.
const BARE: &str = "CREATE TABLE history (id integer primary key, prompt text, created_at int);";

/// With an index that nothing keeps in step.
const NO_TRIGGERS: &str = "
    CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
        created_at INTEGER NOT NULL, cwd TEXT, session_id TEXT);
    CREATE VIRTUAL TABLE history_fts USING fts5(prompt, content='history', content_rowid='id');
    INSERT INTO history_fts(rowid, prompt) VALUES (1, 'no such prompt');";

/// With an index that holds copies of its own.
const OTHER_INDEX: &str = "
    CREATE TABLE history (id INTEGER PRIMARY KEY AUTOINCREMENT, prompt TEXT NOT NULL,
        created_at INTEGER NOT NULL, cwd TEXT, session_id TEXT);
    CREATE VIRTUAL TABLE history_fts USING fts5(prompt, tokenize='trigram');
    INSERT INTO history_fts(rowid, prompt) VALUES (1, 'no such prompt');";

const ALL: [&str; 7] = [NO_INDEX, NO_SESSION, WITH_SESSION, UNIQUE, BARE, NO_TRIGGERS, OTHER_INDEX];

/// Makes a database with gaps between ids, and times that are not in the order of ids.
fn older(schema: &str) -> (Place, Vec<Row>) {
    let place = place();
    let connection = place.sqlite();
    connection.execute_batch(schema).unwrap();
    let mut rows = vec![
        row(1, "alpha one", 300, None, None),
        row(2, "beta two", 100, None, None),
        row(7, "gamma three", 200, None, None),
    ];
    for row in &rows {
        connection
            .execute(
                "INSERT INTO history (id, prompt, created_at) VALUES (?, ?, ?)",
                (row.0, &row.1, row.2),
            )
            .unwrap();
    }
    if schema != BARE {
        connection.execute("UPDATE history SET cwd = '/a' WHERE id = 2", []).unwrap();
        rows[1].3 = Some("/a".to_owned());
    }
    if schema.contains("session_id") {
        connection.execute("UPDATE history SET session_id = 's' WHERE id = 7", []).unwrap();
        rows[2].4 = Some("s".to_owned());
    }
    (place, rows)
}

/// Fails unless the index holds what the table holds.
fn assert_index_in_step(place: &Place) {
    place
        .sqlite()
        .execute("INSERT INTO history_fts(history_fts, rank) VALUES ('integrity-check', 1)", [])
        .unwrap();
}

#[test]
fn keeps_every_row() {
    for schema in ALL {
        let (place, rows) = older(schema);
        let history = place.open();
        assert_eq!(history.diagnostics(), []);
        let by_time = [rows[0].clone(), rows[2].clone(), rows[1].clone()];
        assert_eq!(as_rows(history.recent(10).unwrap()), by_time, "{schema}");
        history.close().unwrap();
        assert_eq!(place.rows(), rows, "{schema}");
    }
}

#[test]
fn finds_every_row() {
    for schema in ALL {
        let (place, rows) = older(schema);
        let history = place.open();
        for row in rows {
            let found = history.search(&row.1, 10, HistoryScope::Global).unwrap();
            assert_eq!(as_rows(found), [row], "{schema}");
        }
        assert_eq!(history.search("no such prompt", 10, HistoryScope::Global).unwrap(), []);
        history.close().unwrap();
        assert_index_in_step(&place);
    }
}

#[test]
fn adds_after_the_last_row() {
    for schema in ALL {
        let (place, mut rows) = older(schema);
        let history = place.open();
        history.add("gamma three", Some("/b"), None).unwrap();
        history.add("delta four", Some("/b"), Some("t")).unwrap();
        history.close().unwrap();
        rows.push(row(8, "delta four", NOW, Some("/b"), Some("t")));
        assert_eq!(place.rows(), rows, "{schema}");
        assert_index_in_step(&place);
    }
}

/// Returns the kinds and names of all that the database defines.
fn definitions(place: &Place) -> Vec<String> {
    let connection = place.sqlite();
    let mut statement =
        connection.prepare("SELECT type || ' ' || name FROM sqlite_schema ORDER BY 1").unwrap();
    statement.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect()
}

#[test]
fn restores_what_was_dropped() {
    let meanwhile = "INSERT INTO history (id, prompt) VALUES (30, 'new text');
                     UPDATE history SET prompt = 'other text' WHERE id = 30;
                     DELETE FROM history WHERE id = 30;";
    for (dropped, meanwhile) in [
        ("TRIGGER history_ai", ""),
        ("TRIGGER history_ad", ""),
        ("TRIGGER history_ad", meanwhile),
        ("TRIGGER history_au", ""),
        ("TRIGGER history_au", meanwhile),
        ("INDEX idx_history_created_at", meanwhile),
        ("TABLE history_fts", ""),
    ] {
        let (place, rows) = older(WITH_SESSION);
        drop(place.open());
        let complete = definitions(&place);
        place.sqlite().execute_batch(&format!("DROP {dropped}; {meanwhile}")).unwrap();
        drop(place.open());
        assert_eq!(definitions(&place), complete, "{dropped}");
        assert_eq!(place.rows(), rows, "{dropped}");
        assert_index_in_step(&place);
    }
}

#[test]
fn opens_without_writing_once_complete() {
    for schema in ALL {
        let (place, _) = older(schema);
        drop(place.open());
        let before = std::fs::read(&place.database).unwrap();
        drop(place.open());
        assert_eq!(std::fs::read(&place.database).unwrap(), before, "{schema}");
    }
}

#[test]
fn leaves_the_version_of_other_tools_alone() {
    let (place, _) = older(UNIQUE);
    drop(place.open());
    let version: i64 =
        place.sqlite().query_row("PRAGMA user_version", [], |row| row.get(0)).unwrap();
    assert_eq!(version, 1);
}

#[test]
fn dates_a_prompt_anew_where_every_text_is_kept_once() {
    let (place, mut rows) = older(UNIQUE);
    let history = place.open();
    history.add("beta two", Some("/b"), Some("t")).unwrap();
    history.flush().unwrap();
    assert_eq!(prompts(history.recent(1).unwrap()), ["beta two"]);
    history.close().unwrap();
    rows[1] = row(2, "beta two", NOW, Some("/b"), Some("t"));
    assert_eq!(place.rows(), rows);
    assert_index_in_step(&place);
}

#[test]
fn stays_writable_for_the_other_tools() {
    for schema in [NO_SESSION, UNIQUE] {
        let (place, _) = older(schema);
        let history = place.open();
        let upsert = if schema == UNIQUE {
            "ON CONFLICT(prompt) DO UPDATE SET created_at = excluded.created_at"
        } else {
            ""
        };
        place
            .sqlite()
            .execute(
                &format!("INSERT INTO history (prompt, cwd) VALUES (?, ?) {upsert}"),
                ["from elsewhere", "/c"],
            )
            .unwrap();
        let found = history.search("elsewhere", 10, HistoryScope::Cwd("/c")).unwrap();
        assert_eq!(prompts(found), ["from elsewhere"]);
    }
}

#[test]
fn keeps_the_index_in_step_with_changes_of_other_tools() {
    let (place, _) = older(NO_SESSION);
    let history = place.open();
    let other = place.sqlite();
    other.execute("UPDATE history SET prompt = 'epsilon five' WHERE id = 1", []).unwrap();
    other.execute("UPDATE history SET id = 20 WHERE id = 2", []).unwrap();
    other.execute("DELETE FROM history WHERE id = 7", []).unwrap();
    let found = |query| {
        as_rows(history.search(query, 10, HistoryScope::Global).unwrap())
            .into_iter()
            .map(|row| row.0)
            .collect::<Vec<_>>()
    };
    assert_eq!(found("alpha"), [0; 0]);
    assert_eq!(found("epsilon"), [1]);
    assert_eq!(found("beta"), [20]);
    assert_eq!(found("gamma"), [0; 0]);
    assert_index_in_step(&place);
}

#[test]
fn keeps_tables_it_does_not_know() {
    let place = place();
    place.sqlite().execute_batch("CREATE TABLE notes (x); INSERT INTO notes VALUES (5)").unwrap();
    let history = place.open();
    assert_eq!(history.diagnostics(), []);
    assert_eq!(history.recent(10).unwrap(), []);
    let note: i64 = place.sqlite().query_row("SELECT x FROM notes", [], |row| row.get(0)).unwrap();
    assert_eq!(note, 5);
}

#[test]
fn reads_rows_of_odd_types() {
    let (place, _) = older(BARE);
    place
        .sqlite()
        .execute_batch(
            "DELETE FROM history;
             INSERT INTO history VALUES (1, x'61ff62', '12');
             INSERT INTO history VALUES (2, NULL, NULL);
             INSERT INTO history VALUES (3, 5, 7.9);",
        )
        .unwrap();
    let rows = as_rows(place.open().recent(10).unwrap());
    let mut by_id = rows.clone();
    by_id.sort();
    assert_eq!(
        by_id,
        [
            row(1, "a\u{fffd}b", 12, None, None),
            row(2, "", 0, None, None),
            row(3, "5", 7, None, None),
        ]
    );
}

#[test]
fn never_takes_a_lock_for_damage_or_an_old_schema() {
    for schema in ALL {
        let (place, rows) = older(schema);
        let lock = place.sqlite();
        lock.execute_batch("PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE").unwrap();
        let error = HistoryStorage::open(&place.database, options().busy_timeout(Duration::ZERO))
            .unwrap_err();
        let HistoryError::Database(DatabaseError::Busy { path, .. }) = error else {
            panic!("{error:?}");
        };
        assert_eq!(path, place.database.canonicalize().unwrap());
        drop(lock);
        assert_eq!(place.files(), ["history.db"]);
        drop(place.open());
        assert_eq!(place.rows(), rows, "{schema}");
    }
}
