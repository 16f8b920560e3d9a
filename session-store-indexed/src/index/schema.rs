//! The tables of the index, and how older ones are brought up to date.

use std::path::Path;

use rusqlite::Connection;

use crate::sqlite::Schema;
use crate::{DatabaseDiagnostic, DatabaseError};

/// Marks a database as an index of sessions.
const APPLICATION_ID: i32 = 0x5345_5349;

/// Each step brings the schema to the version of its place, counted from 1.
const MIGRATIONS: [&str; 5] = [
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
    "
CREATE TABLE summary (
    key TEXT PRIMARY KEY,
    version TEXT NOT NULL,
    note TEXT
) WITHOUT ROWID;
",
    crate::outbox::ORIGIN,
];

const SCHEMA: Schema = Schema {
    application: APPLICATION_ID,
    what: "index of sessions",
    version: MIGRATIONS.len() as i32,
    tables: &[
        "session",
        "entry",
        "state",
        "summary",
        "outbox",
        "agreed",
        "claimed",
        "published_object",
        "blocked",
        "received",
        "ordered",
        "owner",
    ],
    update: |transaction, version| {
        let mut steps = MIGRATIONS.iter().skip(usize::try_from(version).unwrap_or(0));
        steps.try_for_each(|step| transaction.execute_batch(step))
    },
};

/// Makes the tables, or brings them up to date.
pub(crate) fn prepare(
    connection: &mut Connection,
    path: &Path,
    _predecessor: Option<&Path>,
) -> Result<Vec<DatabaseDiagnostic>, DatabaseError> {
    SCHEMA.prepare(connection, path)?;
    connection.set_prepared_statement_cache_capacity(32);
    Ok(Vec::new())
}

/// Tells whether every session was looked at since the database was made.
pub(crate) fn is_complete(connection: &Connection) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT complete FROM state")?.query_row([], |row| row.get(0))
}
