//! Sessions and objects that are not published until somebody decides.

use rusqlite::{Connection, OptionalExtension, params};
use session_model::storage::StorageKey;

/// Why something is not published.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum BlockKind {
    /// The remote refuses it for its own sake.
    Refused,
    /// The session and the remote's do not go together: another host has gone on with it, or the
    /// file is another. Pulling keeps both, as a session and its fork.
    Fenced,
    /// Somebody decided not to publish it.
    Skipped,
}

/// A session or object that is not published.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocked {
    /// Which.
    pub key: StorageKey,
    /// Why.
    pub kind: BlockKind,
    /// Since when, in milliseconds since the epoch.
    pub since_ms: i64,
    /// What the remote said.
    pub reason: String,
}

impl BlockKind {
    /// Returns the name programs know this by.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Fenced => "fenced",
            Self::Skipped => "skipped",
        }
    }

    fn number(self) -> i64 {
        match self {
            Self::Refused => 0,
            Self::Fenced => 1,
            Self::Skipped => 2,
        }
    }
}

pub(crate) fn block(
    connection: &Connection,
    key: &StorageKey,
    kind: BlockKind,
    reason: &str,
    now_ms: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO blocked (key, kind, since, reason) VALUES (?, ?, ?, ?)",
        )?
        .execute(params![key.as_str(), kind.number(), now_ms, reason])
        .map(drop)
}

/// Publishes it again; tells whether it was blocked.
pub(crate) fn unblock(connection: &Connection, key: &StorageKey) -> rusqlite::Result<bool> {
    let removed =
        connection.prepare_cached("DELETE FROM blocked WHERE key = ?")?.execute([key.as_str()])?;
    Ok(removed > 0)
}

pub(super) fn is_skipped(connection: &Connection, key: &StorageKey) -> rusqlite::Result<bool> {
    let found = blocked_key(connection, key)?;
    Ok(found.is_some_and(|blocked| blocked.kind == BlockKind::Skipped))
}

pub(crate) fn blocked_key(
    connection: &Connection,
    key: &StorageKey,
) -> rusqlite::Result<Option<Blocked>> {
    let mut query =
        connection.prepare_cached("SELECT key, kind, since, reason FROM blocked WHERE key = ?")?;
    Ok(query.query_row([key.as_str()], read).optional()?.flatten())
}

/// All that is blocked, by key.
pub(crate) fn blocked(connection: &Connection) -> rusqlite::Result<Vec<Blocked>> {
    connection
        .prepare_cached("SELECT key, kind, since, reason FROM blocked ORDER BY key")?
        .query_map([], read)?
        .filter_map(Result::transpose)
        .collect()
}

fn read(row: &rusqlite::Row<'_>) -> rusqlite::Result<Option<Blocked>> {
    let Ok(key) = StorageKey::new(row.get_ref(0)?.as_str()?) else { return Ok(None) };
    let kind = match row.get::<_, i64>(1)? {
        0 => BlockKind::Refused,
        1 => BlockKind::Fenced,
        _ => BlockKind::Skipped,
    };
    Ok(Some(Blocked { key, kind, since_ms: row.get(2)?, reason: row.get(3)? }))
}
