//! What waits in the outbox.

use rusqlite::{Connection, OptionalExtension, params};
use session_model::storage::StorageKey;

use crate::remote::Digest;

pub(super) const LOG: i64 = 0;
pub(super) const GONE: i64 = 1;
pub(super) const OBJECT: i64 = 2;

/// A row of the outbox.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Row {
    pub(crate) seq: i64,
    pub(crate) key: StorageKey,
    pub(crate) item: Item,
}

/// What a row names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Item {
    /// Bytes of a session's file up to an end; those before may be done.
    Log { generation: u64, stop: u64 },
    /// The session is not there any more.
    Gone { moved_to: Option<StorageKey> },
    /// An artifact or blob.
    Object,
}

/// How much waits in all, without what is blocked.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Backlog {
    pub(crate) rows: u64,
    pub(crate) bytes: u64,
    /// When the oldest row was written, in milliseconds since the epoch.
    pub(crate) since_ms: Option<i64>,
}

/// Reads rows in order, without those of blocked keys.
pub(crate) fn rows(
    connection: &Connection,
    after: i64,
    limit: usize,
) -> rusqlite::Result<Vec<Row>> {
    let mut query = connection.prepare_cached(
        "SELECT seq, key, kind, generation, stop, moved_to FROM outbox
         WHERE seq > ? AND NOT EXISTS (SELECT 1 FROM blocked WHERE blocked.key = outbox.key)
         ORDER BY seq LIMIT ?",
    )?;
    let found = query.query_map(params![after, limit as i64], |row| {
        let (generation, stop) = (row.get::<_, i64>(3)? as u64, row.get::<_, i64>(4)? as u64);
        let moved_to = row.get::<_, Option<String>>(5)?.and_then(|key| StorageKey::new(key).ok());
        let item = match row.get(2)? {
            GONE => Item::Gone { moved_to },
            OBJECT => Item::Object,
            _ => Item::Log { generation, stop },
        };
        // A key that is none comes from a foreign hand.
        let key = StorageKey::new(row.get_ref(1)?.as_str()?).ok();
        Ok(key.map(|key| (row.get(0), key, item)))
    })?;
    found
        .filter_map(Result::transpose)
        .map(|found| found.and_then(|(seq, key, item)| Ok(Row { seq: seq?, key, item })))
        .collect()
}

/// The number of the newest row, 0 if none waits.
pub(crate) fn last(connection: &Connection) -> rusqlite::Result<i64> {
    connection
        .prepare_cached("SELECT ifnull(max(seq), 0) FROM outbox")?
        .query_row([], |row| row.get(0))
}

/// Tells whether rows up to a number are done, but those of blocked keys.
pub(crate) fn is_sent(connection: &Connection, up_to: i64) -> rusqlite::Result<bool> {
    Ok(rows(connection, 0, 1)?.first().is_none_or(|row| row.seq > up_to))
}

/// Tells whether something of a key waits.
pub(crate) fn has_pending(connection: &Connection, key: &StorageKey) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM outbox WHERE key = ?)")?
        .query_row([key.as_str()], |row| row.get(0))
}

/// Tells whether something before an offset of a session waits.
pub(crate) fn is_behind(
    connection: &Connection,
    key: &StorageKey,
    length: u64,
) -> rusqlite::Result<bool> {
    connection
        .prepare_cached(
            "SELECT EXISTS (SELECT 1 FROM outbox WHERE key = ? AND (kind <> ? OR start < ?))",
        )?
        .query_row(params![key.as_str(), LOG, length as i64], |row| row.get(0))
}

pub(crate) fn backlog(connection: &Connection) -> rusqlite::Result<Backlog> {
    connection
        .prepare_cached(
            "SELECT count(*), total(stop - start), min(at) FROM outbox
             WHERE NOT EXISTS (SELECT 1 FROM blocked WHERE blocked.key = outbox.key)",
        )?
        .query_row([], |row| {
            Ok(Backlog {
                rows: row.get::<_, i64>(0)? as u64,
                bytes: row.get::<_, f64>(1)? as u64,
                since_ms: row.get(2)?,
            })
        })
}

/// How far each session is behind: key, entries, bytes and the time of its oldest row.
pub(crate) fn lag(
    connection: &Connection,
    limit: usize,
) -> rusqlite::Result<Vec<(String, u64, u64, i64)>> {
    connection
        .prepare_cached(
            "SELECT o.key, (SELECT count(*) FROM entry AS e JOIN session AS s USING (session)
                 WHERE s.key = o.key AND e.offset >= o.start),
                 o.bytes, o.since
             FROM (SELECT key, min(start) AS start, total(stop - start) AS bytes, min(at) AS since,
                 min(seq) AS seq FROM outbox GROUP BY key) AS o
             ORDER BY o.seq LIMIT ?",
        )?
        .query_map([i64::try_from(limit).unwrap_or(i64::MAX)], |row| {
            let bytes = row.get::<_, f64>(2)? as u64;
            Ok((row.get(0)?, row.get::<_, i64>(1)? as u64, bytes, row.get(3)?))
        })?
        .collect()
}

/// Which state of an object is published.
pub(crate) fn object_version(
    connection: &Connection,
    key: &StorageKey,
) -> rusqlite::Result<Option<String>> {
    connection
        .prepare_cached("SELECT version FROM published_object WHERE key = ?")?
        .query_row([key.as_str()], |row| row.get(0))
        .optional()
}

/// All objects that are published, sorted, with the state they have there.
pub(crate) fn objects(connection: &Connection) -> rusqlite::Result<Vec<(String, String)>> {
    connection
        .prepare_cached("SELECT key, version FROM published_object ORDER BY key")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect()
}

/// What the remote should have of each object.
pub(crate) fn object_digests(
    connection: &Connection,
) -> rusqlite::Result<Vec<(StorageKey, Digest)>> {
    let mut query = connection.prepare_cached("SELECT key, digest FROM published_object")?;
    let found = query.query_map([], |row| {
        let key = StorageKey::new(row.get_ref(0)?.as_str()?).ok();
        Ok(key.map(|key| row.get(1).map(|digest| (key, Digest(digest)))))
    })?;
    found.filter_map(Result::transpose).map(|found| found.and_then(|found| found)).collect()
}
