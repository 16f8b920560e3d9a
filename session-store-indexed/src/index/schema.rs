//! The tables of the index, and how older ones are brought up to date.

use std::path::Path;

use rusqlite::{Connection, TransactionBehavior};

use crate::{DatabaseDiagnostic, DatabaseError};

/// Marks a database as an index of sessions.
const APPLICATION_ID: i32 = 0x5345_5349;

/// Each step brings the schema to the version of its place, counted from 1.
const MIGRATIONS: [&str; 3] = [
    "
CREATE TABLE session (
    session INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    id TEXT,
    cwd TEXT,
    parent TEXT,
    title TEXT,
    created INTEGER,
    activity INTEGER,
    status TEXT NOT NULL,
    problem TEXT,
    modified INTEGER NOT NULL,
    size INTEGER NOT NULL,
    version TEXT NOT NULL,
    identity TEXT NOT NULL,
    fingerprint INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    indexed INTEGER NOT NULL,
    entries INTEGER NOT NULL,
    messages INTEGER NOT NULL,
    leaf TEXT,
    regular INTEGER NOT NULL,
    input INTEGER NOT NULL,
    output INTEGER NOT NULL,
    cache_read INTEGER NOT NULL,
    cache_write INTEGER NOT NULL,
    premium_requests REAL NOT NULL,
    cost REAL NOT NULL
);
CREATE INDEX session_id ON session(id);
CREATE INDEX session_cwd ON session(cwd);
CREATE INDEX session_parent ON session(parent);
CREATE TABLE entry (
    session INTEGER NOT NULL,
    ordinal INTEGER NOT NULL,
    id TEXT,
    parent INTEGER,
    type TEXT NOT NULL,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    PRIMARY KEY (session, ordinal)
) WITHOUT ROWID;
CREATE UNIQUE INDEX entry_id ON entry(session, id);
CREATE TABLE state (complete INTEGER NOT NULL);
INSERT INTO state VALUES (0);
",
    "CREATE INDEX session_activity ON session(activity DESC, key);",
    crate::outbox::SCHEMA,
];

/// Makes the tables, or brings them up to date, in one transaction.
///
/// A database of something else, or of a newer version, counts as damaged: it is moved aside, and
/// its successor is made from the session files.
pub(crate) fn prepare(
    connection: &mut Connection,
    path: &Path,
    _predecessor: Option<&Path>,
) -> Result<Vec<DatabaseDiagnostic>, DatabaseError> {
    let failed = |error| DatabaseError::from_sqlite(path, error);
    let damaged = |reason| Err(DatabaseError::Damaged { path: path.to_owned(), reason });
    // What a loss of power takes from the index is read from the files again.
    let journal: String =
        connection.pragma_query_value(None, "journal_mode", |row| row.get(0)).map_err(failed)?;
    if journal.eq_ignore_ascii_case("wal") {
        connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
    }
    connection.set_prepared_statement_cache_capacity(32);
    if version(connection).map_err(failed)? == MIGRATIONS.len() && is_ours(connection) {
        return match connection.query_row("SELECT complete FROM state", [], |_| Ok(())) {
            Ok(()) => Ok(Vec::new()),
            Err(error) => match DatabaseError::from_sqlite(path, error) {
                DatabaseError::Failed { .. } => damaged("a table is missing".to_owned()),
                error => Err(error),
            },
        };
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let version = version(&transaction).map_err(failed)?;
    let tables: i64 = transaction
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    if tables > 0 && !is_ours(&transaction) {
        return damaged("it is no index of sessions".to_owned());
    }
    if version > MIGRATIONS.len() {
        return damaged(format!(
            "its version {version} is newer than {}, the newest known here",
            MIGRATIONS.len()
        ));
    }
    for step in &MIGRATIONS[version..] {
        transaction.execute_batch(step).map_err(failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", MIGRATIONS.len() as i64).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(Vec::new())
}

fn version(connection: &Connection) -> rusqlite::Result<usize> {
    connection
        .pragma_query_value(None, "user_version", |row| row.get::<_, i64>(0))
        .map(|version| usize::try_from(version).unwrap_or(usize::MAX))
}

fn is_ours(connection: &Connection) -> bool {
    let id = connection.pragma_query_value(None, "application_id", |row| row.get::<_, i32>(0));
    id.is_ok_and(|id| id == APPLICATION_ID)
}

/// Tells whether every session was looked at since the database was made.
pub(crate) fn is_complete(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT complete FROM state")?.query_row([], |row| row.get(0))
}
