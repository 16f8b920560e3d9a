//! What this host and the remote last had in common of each session.

use rusqlite::{Connection, OptionalExtension, Row, named_params, params};
use session_model::storage::StorageKey;

use crate::remote::{Digest, Position};

/// The last state of a session that was the same here and on the remote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Agreed {
    pub(crate) position: Position,
    pub(crate) digest: Digest,
    /// The newest claim that was seen, to be named with the next.
    pub(crate) epoch: u64,
}

pub(crate) fn agreed(
    connection: &Connection,
    session: &StorageKey,
) -> rusqlite::Result<Option<Agreed>> {
    connection
        .prepare_cached("SELECT generation, length, digest, epoch FROM agreed WHERE key = ?")?
        .query_row([session.as_str()], read)
        .optional()
}

pub(crate) fn agree(
    connection: &Connection,
    session: &StorageKey,
    agreed: &Agreed,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached(
            "INSERT INTO agreed (key, generation, length, digest, epoch)
             VALUES (:key, :generation, :length, :digest, :epoch)
             ON CONFLICT (key) DO UPDATE SET generation = :generation, length = :length,
             digest = :digest, epoch = max(epoch, :epoch)",
        )?
        .execute(named_params! {
            ":key": session.as_str(),
            ":generation": agreed.position.generation as i64,
            ":length": agreed.position.length as i64,
            ":digest": agreed.digest.0,
            ":epoch": agreed.epoch as i64,
        })
        .map(drop)
}

/// Notes a claim of this host, before anything is written under it.
pub(crate) fn note_claim(
    connection: &Connection,
    session: &StorageKey,
    epoch: u64,
) -> rusqlite::Result<()> {
    connection
        .prepare_cached("INSERT OR REPLACE INTO claimed (key, epoch) VALUES (?, ?)")?
        .execute(params![session.as_str(), epoch as i64])
        .map(drop)
}

/// The newest claim this host had; 0 for none.
pub(crate) fn claimed(connection: &Connection, session: &StorageKey) -> rusqlite::Result<u64> {
    let epoch: Option<i64> = connection
        .prepare_cached("SELECT epoch FROM claimed WHERE key = ?")?
        .query_row([session.as_str()], |row| row.get(0))
        .optional()?;
    Ok(epoch.unwrap_or(0) as u64)
}

/// All sessions that were ever the same here and on the remote.
pub(crate) fn all_agreed(connection: &Connection) -> rusqlite::Result<Vec<(StorageKey, Agreed)>> {
    let mut query =
        connection.prepare_cached("SELECT generation, length, digest, epoch, key FROM agreed")?;
    let found = query.query_map([], |row| {
        Ok(StorageKey::new(row.get_ref(4)?.as_str()?).ok().map(|key| Ok((key, read(row)?))))
    })?;
    found.filter_map(Result::transpose).map(|found| found.and_then(|found| found)).collect()
}

fn read(row: &Row<'_>) -> rusqlite::Result<Agreed> {
    let number = |at| row.get::<_, i64>(at).map(|number| number as u64);
    Ok(Agreed {
        position: Position { generation: number(0)?, length: number(1)? },
        digest: Digest(row.get(2)?),
        epoch: number(3)?,
    })
}

pub(crate) fn forget(connection: &Connection, session: &StorageKey) -> rusqlite::Result<()> {
    connection
        .prepare_cached("DELETE FROM agreed WHERE key = ?")?
        .execute([session.as_str()])
        .map(drop)
}
