//! Answers from the index.

use rusqlite::{Connection, OptionalExtension, named_params};
use session_model::storage::StorageKey;

use super::session::{COLUMNS, IndexedSession};

/// Which sessions are wanted; by default all.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionFilter {
    /// Only those that work in this directory, as their headers spell it.
    pub cwd: Option<String>,
    /// Only those with this id.
    pub id: Option<String>,
    /// Only those below this key.
    pub below: Option<StorageKey>,
    /// At most so many.
    pub limit: Option<usize>,
}

impl SessionFilter {
    /// Only sessions that work in this directory.
    #[must_use]
    pub fn cwd(self, cwd: impl Into<String>) -> Self {
        Self { cwd: Some(cwd.into()), ..self }
    }

    /// Only sessions with this id.
    #[must_use]
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// Only sessions below this key.
    #[must_use]
    pub fn below(self, prefix: StorageKey) -> Self {
        Self { below: Some(prefix), ..self }
    }

    /// At most so many sessions.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit: Some(limit), ..self }
    }
}

/// How much is indexed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct IndexStats {
    /// How many sessions.
    pub sessions: u64,
    /// How many files that should be sessions and are none.
    pub problems: u64,
    /// How many entries.
    pub entries: u64,
    /// How many messages.
    pub messages: u64,
    /// How many bytes the files had when they were last looked at.
    pub size: u64,
    /// How many of these bytes are indexed.
    pub indexed: u64,
}

/// Where an entry lies in its file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) id: Option<String>,
    pub(crate) offset: u64,
    pub(crate) length: u64,
}

/// Where the entries of a path lie, and in which state of the file.
#[derive(Debug)]
pub(crate) struct PathPlaces {
    /// The state of the file when it was indexed.
    pub(crate) version: String,
    /// Whether all of the file is indexed.
    pub(crate) is_whole: bool,
    /// Whether the index can tell the path: ids are unique and name earlier entries as parents.
    pub(crate) regular: bool,
    /// The entries from the root on; `None` if the leaf is unknown.
    pub(crate) places: Option<Vec<Place>>,
}

/// Returns sessions, the last active first.
pub(crate) fn sessions(
    connection: &Connection,
    filter: &SessionFilter,
) -> rusqlite::Result<Vec<IndexedSession>> {
    let mut wanted = Vec::new();
    let mut values: Vec<&dyn rusqlite::ToSql> = Vec::new();
    if let Some(cwd) = &filter.cwd {
        wanted.push("cwd = ?");
        values.push(cwd);
    }
    if let Some(id) = &filter.id {
        wanted.push("id = ?");
        values.push(id);
    }
    let range = filter.below.as_ref().map(|prefix| (format!("{prefix}/"), format!("{prefix}0")));
    if let Some((from, to)) = &range {
        // `0` follows `/`.
        wanted.push("key >= ? AND key < ?");
        values.extend([from as &dyn rusqlite::ToSql, to]);
    }
    let condition = if wanted.is_empty() { "1".to_owned() } else { wanted.join(" AND ") };
    let limit = filter.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let sql = format!(
        "SELECT {COLUMNS} FROM session WHERE {condition}
         ORDER BY activity DESC, key LIMIT {limit}"
    );
    connection
        .prepare_cached(&sql)?
        .query_map(&values[..], IndexedSession::read)?
        .filter_map(Result::transpose)
        .collect()
}

pub(crate) fn session(
    connection: &Connection,
    key: &StorageKey,
) -> rusqlite::Result<Option<IndexedSession>> {
    let sql = format!("SELECT {COLUMNS} FROM session WHERE key = ?");
    let found = connection
        .prepare_cached(&sql)?
        .query_row([key.as_str()], IndexedSession::read)
        .optional()?;
    Ok(found.flatten())
}

/// Finds a session by its id; of several, the last active.
pub(crate) fn session_by_id(
    connection: &Connection,
    id: &str,
) -> rusqlite::Result<Option<IndexedSession>> {
    let filter = SessionFilter::default().id(id).limit(1);
    Ok(sessions(connection, &filter)?.pop())
}

/// Returns the sessions that name this one as their parent, by its id or by its path.
pub(crate) fn children(
    connection: &Connection,
    id: Option<&str>,
    path: Option<&str>,
) -> rusqlite::Result<Vec<IndexedSession>> {
    let sql =
        format!("SELECT {COLUMNS} FROM session WHERE parent IN (:id, :path) ORDER BY created, key");
    connection
        .prepare_cached(&sql)?
        .query_map(named_params! {":id": id, ":path": path}, IndexedSession::read)?
        .filter_map(Result::transpose)
        .collect()
}

/// Finds the entries from a root to `leaf`, or to the last entry; `None` if the session is unknown.
pub(crate) fn path_places(
    connection: &mut Connection,
    key: &StorageKey,
    leaf: Option<&str>,
) -> rusqlite::Result<Option<PathPlaces>> {
    // One state of the database for both questions.
    let transaction = connection.transaction()?;
    let found = transaction
        .prepare_cached(
            "SELECT session, version, indexed = size, regular, entries FROM session WHERE key = ?",
        )?
        .query_row([key.as_str()], |row| {
            let path = PathPlaces {
                version: row.get(1)?,
                is_whole: row.get(2)?,
                regular: row.get(3)?,
                places: None,
            };
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(4)?, path))
        })
        .optional()?;
    let Some((session, entries, mut path)) = found else { return Ok(None) };
    let start = match leaf {
        None => Some(entries - 1),
        Some(leaf) => transaction
            .prepare_cached("SELECT ordinal FROM entry WHERE session = ? AND id = ?")?
            .query_row((session, leaf), |row| row.get(0))
            .optional()?,
    };
    if let Some(start) = start {
        let mut places = transaction
            .prepare_cached(
                "WITH RECURSIVE path (ordinal, id, parent, offset, length) AS (
                     SELECT ordinal, id, parent, offset, length FROM entry
                     WHERE session = :session AND ordinal = :start
                     UNION ALL
                     SELECT e.ordinal, e.id, e.parent, e.offset, e.length
                     FROM path AS p JOIN entry AS e
                     ON e.session = :session AND e.ordinal = p.parent
                 ) SELECT id, offset, length FROM path",
            )?
            .query_map(named_params! {":session": session, ":start": start}, |row| {
                Ok(Place {
                    id: row.get(0)?,
                    offset: row.get::<_, i64>(1)? as u64,
                    length: row.get::<_, i64>(2)? as u64,
                })
            })?
            .collect::<rusqlite::Result<Vec<_>>>()?;
        places.reverse();
        path.places = Some(places);
    }
    Ok(Some(path))
}

pub(crate) fn stats(connection: &Connection) -> rusqlite::Result<IndexStats> {
    connection.query_row(
        "SELECT count(*) - count(problem), count(problem), total(entries), total(messages),
         total(size), total(indexed) FROM session",
        [],
        |row| {
            let sum = |at| row.get::<_, f64>(at).map(|sum| sum as u64);
            Ok(IndexStats {
                sessions: row.get::<_, i64>(0)? as u64,
                problems: row.get::<_, i64>(1)? as u64,
                entries: sum(2)?,
                messages: sum(3)?,
                size: sum(4)?,
                indexed: sum(5)?,
            })
        },
    )
}
