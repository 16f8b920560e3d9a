//! The tables of the outbox.

/// The step of the schema that brings them.
///
/// Rows of `outbox` name what is to be published and never hold it. `agreed` is the last state of
/// each session that was the same here and on the remote, `claimed` the newest claim this host had.
pub(crate) const SCHEMA: &str = "
ALTER TABLE state ADD COLUMN host TEXT;
CREATE TABLE outbox (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    key TEXT NOT NULL,
    kind INTEGER NOT NULL,
    generation INTEGER NOT NULL DEFAULT 0,
    start INTEGER NOT NULL DEFAULT 0,
    stop INTEGER NOT NULL DEFAULT 0,
    moved_to TEXT
);
CREATE INDEX outbox_key ON outbox(key, seq);
CREATE TABLE IF NOT EXISTS agreed (
    key TEXT PRIMARY KEY,
    generation INTEGER NOT NULL,
    length INTEGER NOT NULL,
    digest BLOB NOT NULL,
    epoch INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE claimed (
    key TEXT PRIMARY KEY,
    epoch INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE published_object (
    key TEXT PRIMARY KEY,
    version TEXT NOT NULL,
    digest BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE blocked (
    key TEXT PRIMARY KEY,
    kind INTEGER NOT NULL,
    since INTEGER NOT NULL,
    reason TEXT NOT NULL
) WITHOUT ROWID;
";

/// The step that tells where bytes come from.
///
/// `received` is what a file is that holds nothing but what the remote sent, `ordered` what may
/// replace the remote's log, `owner` the names sessions were claimed by, and `place` which file the
/// database is.
pub(crate) const ORIGIN: &str = "
ALTER TABLE state ADD COLUMN place TEXT;
CREATE TABLE received (
    key TEXT PRIMARY KEY,
    length INTEGER NOT NULL,
    digest BLOB NOT NULL
) WITHOUT ROWID;
CREATE TABLE ordered (
    key TEXT PRIMARY KEY,
    what INTEGER NOT NULL,
    at INTEGER NOT NULL
) WITHOUT ROWID;
CREATE TABLE owner (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE
);
";
