//! What the tests share.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use rusqlite::Connection;
use session_model::env::Clock;
use session_store_indexed::history::{HistoryEntry, HistoryOptions, HistoryStorage};
use tempfile::TempDir;

/// 2026-01-01T00:00:00Z, the time of every test.
pub(crate) const NOW: i64 = 1_767_225_600;

/// A row of the table: id, prompt, time, directory, session.
pub(crate) type Row = (i64, String, i64, Option<String>, Option<String>);

/// A directory of a test's own, and the database in it.
pub(crate) struct Place {
    pub(crate) directory: TempDir,
    pub(crate) database: PathBuf,
}

pub(crate) fn place() -> Place {
    let directory = tempfile::tempdir().unwrap();
    let database = directory.path().join("history.db");
    Place { directory, database }
}

/// A clock that shows what it is set to, in seconds.
#[derive(Debug)]
pub(crate) struct SetClock(pub(crate) AtomicI64);

impl Clock for SetClock {
    fn now_ms(&self) -> i64 {
        self.0.load(Ordering::SeqCst) * 1000
    }
}

pub(crate) fn options() -> HistoryOptions {
    // Whoever is to find a lock says so; all others wait for the disk, however busy it is.
    let patience = Duration::from_secs(120);
    HistoryOptions::default().busy_timeout(patience).clock(Arc::new(SetClock(AtomicI64::new(NOW))))
}

impl Place {
    pub(crate) fn open(&self) -> HistoryStorage {
        HistoryStorage::open(&self.database, options()).unwrap()
    }

    /// Opens the database as another program would.
    pub(crate) fn sqlite(&self) -> Connection {
        Connection::open(&self.database).unwrap()
    }

    /// Returns all rows as another program would read them.
    pub(crate) fn rows(&self) -> Vec<Row> {
        rows(&self.database)
    }

    /// Returns the sorted names of the files in the directory.
    pub(crate) fn files(&self) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(self.directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }
}

pub(crate) fn rows(database: &Path) -> Vec<Row> {
    let connection = Connection::open(database).unwrap();
    let mut statement = connection
        .prepare("SELECT id, prompt, created_at, cwd, session_id FROM history ORDER BY id")
        .unwrap();
    statement
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?, row.get(4)?)))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap()
}

/// A row as [`rows`] returns it.
pub(crate) fn row(
    id: i64,
    prompt: &str,
    time: i64,
    cwd: Option<&str>,
    session: Option<&str>,
) -> Row {
    (id, prompt.to_owned(), time, cwd.map(str::to_owned), session.map(str::to_owned))
}

/// The rows of entries.
pub(crate) fn as_rows(entries: Vec<HistoryEntry>) -> Vec<Row> {
    entries
        .into_iter()
        .map(|entry| (entry.id, entry.prompt, entry.created_at, entry.cwd, entry.session_id))
        .collect()
}

/// The prompts of entries, in order.
pub(crate) fn prompts(entries: Vec<HistoryEntry>) -> Vec<String> {
    entries.into_iter().map(|entry| entry.prompt).collect()
}
