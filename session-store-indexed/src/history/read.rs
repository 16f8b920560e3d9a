//! Reading prompts back: the newest, and those that hold some words.

use rusqlite::{Connection, ToSql};

use super::words::Words;
use super::{HistoryEntry, HistoryScope};

/// The most prompts one call returns.
pub(super) const LARGEST_LIMIT: usize = 1000;

const NEWEST_FIRST: &str = "ORDER BY h.created_at DESC, h.id DESC";

/// Returns the newest prompts.
pub(super) fn recent(connection: &Connection, limit: usize) -> rusqlite::Result<Vec<HistoryEntry>> {
    let columns = HistoryEntry::COLUMNS;
    let sql = format!("SELECT {columns} FROM history h {NEWEST_FIRST} LIMIT ?");
    connection
        .prepare_cached(&sql)?
        .query_map([limit.min(LARGEST_LIMIT) as i64], HistoryEntry::from_row)?
        .collect()
}

/// Returns the newest prompts of `scope` that hold all `words`, without an index of our own.
pub(super) fn search(
    connection: &Connection,
    words: &Words,
    limit: usize,
    scope: HistoryScope<'_>,
) -> rusqlite::Result<Vec<HistoryEntry>> {
    let mut sql = format!("SELECT {} FROM history h", HistoryEntry::COLUMNS);
    let mut conditions = Vec::new();
    let mut values: Vec<&dyn ToSql> = Vec::new();
    if !words.expression.is_empty() {
        sql.push_str(" JOIN history_fts ON history_fts.rowid = h.id");
        conditions.push("history_fts MATCH ?");
        values.push(&words.expression);
    }
    match &scope {
        HistoryScope::Global => {}
        HistoryScope::Cwd(cwd) => {
            conditions.push("h.cwd = ?");
            values.push(cwd);
        }
        HistoryScope::Session(session_id) => {
            conditions.push("h.session_id = ?");
            values.push(session_id);
        }
    }
    if !conditions.is_empty() {
        sql = format!("{sql} WHERE {}", conditions.join(" AND "));
    }
    let limit = limit.min(LARGEST_LIMIT);
    // What the index does not decide is decided below, row by row.
    let rows = if words.literals.is_empty() { limit as i64 } else { -1 };
    values.push(&rows);
    sql = format!("{sql} {NEWEST_FIRST} LIMIT ?");

    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(values.as_slice())?;
    let mut found = Vec::new();
    while found.len() < limit
        && let Some(row) = rows.next()?
    {
        let entry = HistoryEntry::from_row(row)?;
        if words.occur_in(&entry.prompt) {
            found.push(entry);
        }
    }
    Ok(found)
}
