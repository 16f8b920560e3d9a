//! How far sessions are indexed, and what is shown of them.

use std::collections::HashMap;

use rusqlite::Connection;
use session_model::storage::StorageKey;

/// How far a session is indexed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct State {
    /// The state of the file; empty if it could not be read.
    pub(super) version: String,
    pub(super) size: u64,
    pub(super) identity: String,
    pub(super) fingerprint: i64,
    /// How often the file was read from its beginning.
    pub(super) generation: i64,
    /// How many bytes are indexed: whole lines.
    pub(super) indexed: u64,
    /// How many lines these are.
    pub(super) lines: u64,
}

/// What hits show of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Shown {
    pub(super) id: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) title: Option<String>,
    pub(super) problem: Option<String>,
}

/// A session of the index.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchedSession {
    /// The key of its file.
    pub key: StorageKey,
    /// Its id.
    pub id: Option<String>,
    /// The directory it works in, as its header spells it.
    pub cwd: Option<String>,
    /// Its title.
    pub title: Option<String>,
}

/// A file that should be a session, and is none or cannot be read.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedSession {
    /// The file.
    pub key: StorageKey,
    /// What is wrong.
    pub problem: String,
}

/// Returns how far each session is indexed.
pub(super) fn states(connection: &Connection) -> rusqlite::Result<HashMap<String, State>> {
    connection
        .prepare_cached(
            "SELECT key, version, size, identity, fingerprint, generation, indexed, lines
             FROM session",
        )?
        .query_map([], |row| {
            let number = |at| row.get::<_, i64>(at).map(|number| number as u64);
            let state = State {
                version: row.get(1)?,
                size: number(2)?,
                identity: row.get(3)?,
                fingerprint: row.get(4)?,
                generation: row.get(5)?,
                indexed: number(6)?,
                lines: number(7)?,
            };
            Ok((row.get(0)?, state))
        })?
        .collect()
}

/// Returns the files that are no sessions or could not be read.
pub(super) fn problems(connection: &Connection) -> rusqlite::Result<Vec<SkippedSession>> {
    let rows: Vec<(String, String)> = connection
        .prepare_cached("SELECT key, problem FROM session WHERE problem IS NOT NULL ORDER BY key")?
        .query_map([], |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let skipped = rows.into_iter().filter_map(|(key, problem)| {
        Some(SkippedSession { key: StorageKey::new(key).ok()?, problem })
    });
    Ok(skipped.collect())
}
