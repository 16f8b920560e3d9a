//! Adding rows, and taking away those that are done.

use rusqlite::{Connection, OptionalExtension, params};
use session_model::storage::StorageKey;

use crate::remote::Digest;

use super::read::{GONE, LOG, OBJECT};

/// The most rows before those of one session are joined.
const MAX_ROWS: i64 = 100_000;

/// What goes into the outbox with the rows of the index.
#[derive(Clone, Debug, Default)]
pub(crate) struct Outgoing {
    /// Milliseconds since the epoch.
    pub(crate) now_ms: i64,
    /// Artifacts that changed, or went away.
    pub(crate) objects: Vec<StorageKey>,
}

/// Tells whether this database's sessions are published, and under which host's name.
pub(crate) fn host(connection: &Connection) -> rusqlite::Result<Option<String>> {
    connection.prepare_cached("SELECT host FROM state")?.query_row([], |row| row.get(0))
}

pub(crate) fn is_publishing(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(host(connection)?.is_some())
}

/// Begins to publish under a name, unless there is one, and adds what is not published yet.
pub(crate) fn fill(connection: &Connection, host: &str, now_ms: i64) -> rusqlite::Result<()> {
    if connection.execute("UPDATE state SET host = ? WHERE host IS NULL", [host])? == 0 {
        return Ok(());
    }
    connection
        .execute(
            "INSERT INTO outbox (at, key, kind, generation, start, stop)
             SELECT ?, key, ?, generation, 0, indexed FROM session
             WHERE indexed > 0 ORDER BY activity, key",
            params![now_ms, LOG],
        )
        .map(drop)
}

/// Adds a range of a session's file; a new generation replaces what there was of older ones.
pub(crate) fn add_log(
    connection: &Connection,
    key: &StorageKey,
    generation: u64,
    (start, stop): (u64, u64),
    now_ms: i64,
) -> rusqlite::Result<()> {
    if super::blocked::is_skipped(connection, key)? {
        return Ok(());
    }
    let newest = connection
        .prepare_cached(
            "SELECT seq, kind, generation, stop FROM outbox WHERE key = ? ORDER BY seq DESC LIMIT 1",
        )?
        .query_row([key.as_str()], |row| {
            let at = (row.get::<_, i64>(2)? as u64, row.get::<_, i64>(3)? as u64);
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)?, at))
        })
        .optional()?;
    if start == 0 {
        // What the rows of an older generation name is not there any more.
        connection
            .prepare_cached("DELETE FROM outbox WHERE key = ? AND kind = ?")?
            .execute(params![key.as_str(), LOG])?;
        super::unblock(connection, key)?;
    } else if let Some((seq, LOG, at)) = newest
        && at == (generation, start)
    {
        let (first, last) = bounds(connection)?;
        if seq == last || last - first >= MAX_ROWS {
            return connection
                .prepare_cached("UPDATE outbox SET stop = ? WHERE seq = ?")?
                .execute(params![stop as i64, seq])
                .map(drop);
        }
    }
    connection
        .prepare_cached(
            "INSERT INTO outbox (at, key, kind, generation, start, stop) VALUES (?, ?, ?, ?, ?, ?)",
        )?
        .execute(params![now_ms, key.as_str(), LOG, generation as i64, start as i64, stop as i64])
        .map(drop)
}

/// Adds that a session is gone, if anybody else may know of it.
pub(crate) fn add_gone(
    connection: &Connection,
    key: &StorageKey,
    moved_to: Option<&StorageKey>,
    now_ms: i64,
) -> rusqlite::Result<()> {
    drop_rows(connection, key)?;
    connection
        .prepare_cached(
            "INSERT INTO outbox (at, key, kind, moved_to)
             SELECT ?, key, ?, ? FROM agreed WHERE key = ?",
        )?
        .execute(params![now_ms, GONE, moved_to.map(StorageKey::as_str), key.as_str()])
        .map(drop)
}

/// Adds an artifact that changed or went away.
pub(crate) fn add_object(
    connection: &Connection,
    key: &StorageKey,
    now_ms: i64,
) -> rusqlite::Result<()> {
    // A new row, since the state the old one was written for may be on its way.
    drop_rows(connection, key)?;
    connection
        .prepare_cached("INSERT INTO outbox (at, key, kind) VALUES (?, ?, ?)")?
        .execute(params![now_ms, key.as_str(), OBJECT])
        .map(drop)
}

/// Takes away all there is of a key.
pub(crate) fn drop_rows(connection: &Connection, key: &StorageKey) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM outbox WHERE key = ?")?.execute([key.as_str()]).map(drop)
}

/// Takes a row away.
pub(crate) fn finish(connection: &Connection, seq: i64) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM outbox WHERE seq = ?")?.execute([seq]).map(drop)
}

/// Takes away what is published of a session: its rows up to an offset of a generation.
pub(crate) fn finish_log(
    connection: &Connection,
    key: &StorageKey,
    generation: u64,
    length: u64,
) -> rusqlite::Result<()> {
    let (key, kind, generation, length) = (key.as_str(), LOG, generation as i64, length as i64);
    connection
        .prepare_cached(
            "DELETE FROM outbox WHERE key = ? AND kind = ? AND generation = ? AND stop <= ?",
        )?
        .execute(params![key, kind, generation, length])?;
    connection
        .prepare_cached(
            "UPDATE outbox SET start = ?4
             WHERE key = ?1 AND kind = ?2 AND generation = ?3 AND start < ?4",
        )?
        .execute(params![key, kind, generation, length])
        .map(drop)
}

/// Notes which state of an object is published.
pub(crate) fn note_object(
    connection: &Connection,
    key: &StorageKey,
    version: &str,
    digest: &Digest,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO published_object (key, version, digest) VALUES (?, ?, ?)",
        )?
        .execute(params![key.as_str(), version, digest.0])
        .map(drop)
}

pub(crate) fn forget_object(connection: &Connection, key: &StorageKey) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM published_object WHERE key = ?")?
        .execute([key.as_str()])
        .map(drop)
}

/// Takes away all that is known of objects in a folder, and what is to be done about them.
pub(crate) fn forget_objects_below(
    connection: &Connection,
    folder: &StorageKey,
) -> rusqlite::Result<()> {
    // `0` follows `/`.
    let (from, to) = (format!("{folder}/"), format!("{folder}0"));
    for table in ["outbox", "published_object"] {
        connection
            .execute(&format!("DELETE FROM {table} WHERE key > ? AND key < ?"), [&from, &to])?;
    }
    Ok(())
}

fn bounds(connection: &Connection) -> rusqlite::Result<(i64, i64)> {
    connection
        .prepare_cached(
            "SELECT ifnull((SELECT min(seq) FROM outbox), 0), ifnull((SELECT max(seq) FROM outbox), 0)",
        )?
        .query_row([], |row| Ok((row.get(0)?, row.get(1)?)))
}
