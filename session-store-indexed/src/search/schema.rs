//! The tables of the full-text index.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use crate::sqlite::Schema;
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

const SCHEMA: Schema = Schema {
    application: APPLICATION_ID,
    what: "full-text index of sessions",
    version: VERSION,
    tables: &TABLES,
    update: |transaction, _| create(transaction),
};

/// Makes the tables, unless they are there.
pub(super) fn prepare(
    connection: &mut Connection,
    path: &Path,
    _predecessor: Option<&Path>,
) -> Result<Vec<DatabaseDiagnostic>, DatabaseError> {
    SCHEMA.prepare(connection, path)?;
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
