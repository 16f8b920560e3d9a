//! Where the bytes of a session come from: the remote, this host's programs, or neither is known.

use rusqlite::{Connection, OptionalExtension, params};
use session_model::storage::StorageKey;

use crate::remote::Digest;

/// How many of this host's owners are remembered.
const OWNERS: i64 = 4096;

/// What a file is, or will be in a moment, that holds nothing but what the remote sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Received {
    pub(crate) length: u64,
    pub(crate) digest: Digest,
}

/// What this host may do to the remote's log, beyond adding to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Order {
    /// A program rewrote, moved or removed the session through its storage.
    Written,
    /// Somebody asked for what the remote lost to be written anew.
    Repair,
}

/// Notes what is about to come from the remote, before it is written to the file.
pub(crate) fn receive(
    connection: &Connection,
    session: &StorageKey,
    received: &Received,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO received (key, length, digest) VALUES (?, ?, ?)")?
        .execute(params![session.as_str(), received.length as i64, received.digest.0])
        .map(drop)
}

pub(crate) fn received(
    connection: &Connection,
    session: &StorageKey,
) -> rusqlite::Result<Option<Received>> {
    connection
        .prepare_cached("SELECT length, digest FROM received WHERE key = ?")?
        .query_row([session.as_str()], |row| {
            let length = row.get::<_, i64>(0)? as u64;
            Ok(Received { length, digest: Digest(row.get(1)?) })
        })
        .optional()
}

/// Has a session count as one that may be sent, wherever its bytes come from.
pub(crate) fn forget_received(
    connection: &Connection,
    session: &StorageKey,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM received WHERE key = ?")?
        .execute([session.as_str()])
        .map(drop)
}

/// Notes what this host may do, before the file is changed.
pub(crate) fn order(
    connection: &Connection,
    session: &StorageKey,
    order: Order,
    now_ms: i64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO ordered (key, what, at) VALUES (?, ?, ?)")?
        .execute(params![session.as_str(), order.number(), now_ms])
        .map(drop)
}

/// Notes that every session below a prefix is about to be removed.
pub(crate) fn order_below(
    connection: &Connection,
    prefix: &StorageKey,
    now_ms: i64,
) -> rusqlite::Result<()> {
    // `0` follows `/`.
    let (from, to) = (format!("{prefix}/"), format!("{prefix}0"));
    connection
        .execute(
            "INSERT OR REPLACE INTO ordered (key, what, at)
             SELECT key, ?1, ?2 FROM session WHERE key = ?3 OR (key > ?4 AND key < ?5)",
            params![Order::Written.number(), now_ms, prefix.as_str(), from, to],
        )
        .map(drop)
}

pub(crate) fn ordered(
    connection: &Connection,
    session: &StorageKey,
) -> rusqlite::Result<Option<Order>> {
    let what: Option<i64> = connection
        .prepare_cached("SELECT what FROM ordered WHERE key = ?")?
        .query_row([session.as_str()], |row| row.get(0))
        .optional()?;
    Ok(what.map(|what| if what == 1 { Order::Repair } else { Order::Written }))
}

/// Notes that the remote has what was ordered.
pub(crate) fn fulfil(connection: &Connection, session: &StorageKey) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM ordered WHERE key = ?")?
        .execute([session.as_str()])
        .map(drop)
}

/// Drops orders from before a time of which nothing waits: their change was never made.
pub(crate) fn drop_orders(connection: &Connection, before_ms: i64) -> rusqlite::Result<()> {
    const OLD: &str = "FROM ordered WHERE at < ?
        AND NOT EXISTS (SELECT 1 FROM outbox WHERE outbox.key = ordered.key)";
    let any: bool = connection
        .prepare_cached(&format!("SELECT EXISTS (SELECT 1 {OLD})"))?
        .query_row([before_ms], |row| row.get(0))?;
    match any {
        true => connection.execute(&format!("DELETE {OLD}"), [before_ms]).map(drop),
        false => Ok(()),
    }
}

/// Notes an owner that sessions are claimed by from now on.
pub(crate) fn add_owner(connection: &Connection, owner: &str) -> rusqlite::Result<()> {
    connection.execute("INSERT OR IGNORE INTO owner (name) VALUES (?)", [owner])?;
    connection
        .execute("DELETE FROM owner WHERE seq <= (SELECT max(seq) FROM owner) - ?", [OWNERS])
        .map(drop)
}

/// Tells whether sessions were ever claimed by an owner from this database.
pub(crate) fn is_owner(connection: &Connection, owner: &str) -> rusqlite::Result<bool> {
    connection
        .prepare_cached("SELECT EXISTS (SELECT 1 FROM owner WHERE name = ?)")?
        .query_row([owner], |row| row.get(0))
}

/// Takes a new name if the database's file is not the one that had the name so far: a copy of it
/// may be in use elsewhere. Tells whether it is such a copy.
pub(crate) fn rename_copy(
    connection: &Connection,
    place: &str,
    new_host: &str,
) -> rusqlite::Result<bool> {
    let known: Option<String> =
        connection.query_row("SELECT place FROM state", [], |row| row.get(0))?;
    if known.as_deref() == Some(place) {
        return Ok(false);
    }
    connection.execute("UPDATE state SET place = ?", [place])?;
    let was_named = super::is_publishing(connection)?;
    if known.is_none() || !was_named {
        return Ok(false);
    }
    connection.execute("UPDATE state SET host = ?", [new_host])?;
    connection.execute("DELETE FROM owner", [])?;
    Ok(true)
}

/// Has the next one that opens the database take a new name.
pub(crate) fn note_copy(connection: &Connection) -> rusqlite::Result<()> {
    connection.execute("UPDATE state SET place = ''", []).map(drop)
}

impl Order {
    fn number(self) -> i64 {
        match self {
            Self::Written => 0,
            Self::Repair => 1,
        }
    }
}
