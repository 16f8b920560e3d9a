//! The tables of the full-text index.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::{DatabaseDiagnostic, DatabaseError};

/// Marks a database as a full-text index of sessions.
const APPLICATION_ID: i32 = 0x5345_5346;

/// What is kept is made from the session files, so that an older version is not brought up to date
/// but made again. To be raised with every change of the tables, of blocks, and of what terms are.
const VERSION: i32 = 2;

const TABLES: [&str; 5] = ["session", "part", "text", "segment", "block"];

const CREATE: &str = "
CREATE TABLE session (
    session INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    id TEXT,
    cwd TEXT,
    title TEXT,
    problem TEXT,
    version TEXT NOT NULL,
    size INTEGER NOT NULL,
    identity TEXT NOT NULL,
    fingerprint INTEGER NOT NULL,
    generation INTEGER NOT NULL,
    indexed INTEGER NOT NULL,
    lines INTEGER NOT NULL
);
CREATE TABLE part (
    first INTEGER PRIMARY KEY,
    count INTEGER NOT NULL,
    session INTEGER NOT NULL,
    cut INTEGER NOT NULL,
    is_open INTEGER NOT NULL
);
CREATE INDEX part_session ON part(session);
CREATE TABLE text (
    text INTEGER PRIMARY KEY,
    offset INTEGER NOT NULL,
    length INTEGER NOT NULL,
    line INTEGER NOT NULL,
    is_thought INTEGER NOT NULL
);
CREATE TABLE segment (
    segment INTEGER PRIMARY KEY,
    first INTEGER NOT NULL UNIQUE,
    count INTEGER NOT NULL,
    texts INTEGER NOT NULL,
    size INTEGER NOT NULL,
    all_words INTEGER NOT NULL,
    latest INTEGER NOT NULL,
    words BLOB NOT NULL,
    times BLOB NOT NULL
);
CREATE TABLE block (
    block INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    term BLOB NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX block_term ON block(segment, term);
";

/// Makes the tables in one transaction, unless they are there.
pub(super) fn prepare(
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
    connection.pragma_update(None, "cache_size", -16 * 1024).map_err(failed)?;
    if version(connection).map_err(failed)? == (APPLICATION_ID, VERSION) {
        return match is_whole(connection).map_err(failed)? {
            true => Ok(Vec::new()),
            false => damaged("a table is missing".to_owned()),
        };
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    let (application, version) = version(&transaction).map_err(failed)?;
    let tables: i64 = transaction
        .query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))
        .map_err(failed)?;
    if tables > 0 && application != APPLICATION_ID {
        return damaged("it is no full-text index of sessions".to_owned());
    }
    if version > VERSION {
        return damaged(format!("its version {version} is newer than {VERSION}"));
    }
    if version < VERSION || !is_whole(&transaction).map_err(failed)? {
        for table in TABLES {
            transaction.execute_batch(&format!("DROP TABLE IF EXISTS {table}")).map_err(failed)?;
        }
        transaction.execute_batch(CREATE).map_err(failed)?;
    }
    transaction.pragma_update(None, "application_id", APPLICATION_ID).map_err(failed)?;
    transaction.pragma_update(None, "user_version", VERSION).map_err(failed)?;
    transaction.commit().map_err(failed)?;
    Ok(Vec::new())
}

/// Forgets all that is indexed.
pub(super) fn empty(connection: &mut Connection) -> rusqlite::Result<()> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    create(&transaction)?;
    transaction.commit()
}

/// Makes the tables anew.
fn create(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    for table in TABLES {
        transaction.execute_batch(&format!("DROP TABLE IF EXISTS {table}"))?;
    }
    transaction.execute_batch(CREATE)
}

fn version(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let value = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((value("application_id")?, value("user_version")?))
}

fn is_whole(connection: &Connection) -> rusqlite::Result<bool> {
    let names = TABLES.map(|table| format!("'{table}'")).join(", ");
    let count: i64 = connection.query_row(
        &format!("SELECT count(*) FROM sqlite_schema WHERE type = 'table' AND name IN ({names})"),
        [],
        |row| row.get(0),
    )?;
    Ok(count == TABLES.len() as i64)
}
