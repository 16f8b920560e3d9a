//! The tables of the prompt history, and what older databases lack of them.

use std::path::Path;

use rusqlite::{
    Connection, ErrorCode, OpenFlags, OptionalExtension, Transaction, TransactionBehavior,
};

use super::{salvage, search_index, segments};
use crate::{DatabaseDiagnostic, DatabaseError};

/// The default of `created_at` is for the other programs that write this table.
const TABLE: &str = "
CREATE TABLE IF NOT EXISTS history (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    prompt TEXT NOT NULL,
    created_at INTEGER NOT NULL DEFAULT (CAST(strftime('%s','now') AS INTEGER)),
    cwd TEXT,
    session_id TEXT
);
CREATE INDEX IF NOT EXISTS idx_history_created_at ON history(created_at DESC);
";

/// Refuses a history of a version that none had so far and whose tables are others, before its file
/// is touched: bringing it to a write-ahead log would write it.
pub(super) fn refuse_newer(path: &Path) -> Result<(), DatabaseError> {
    let flags = OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let judged = Connection::open_with_flags(path, flags).and_then(|connection| {
        let version = version(&connection)?;
        Ok((version, version != KNOWN && shape_damage(&connection)?.is_some()))
    });
    match judged {
        Ok((version, true)) => {
            Err(DatabaseError::Newer { path: path.to_owned(), version, known: KNOWN })
        }
        // Opening it for good meets what there is, and tells it.
        Ok(_) | Err(_) => Ok(()),
    }
}

/// Brings a database that any version of any tool of the family wrote up to date.
///
/// All in one transaction; nothing is written if nothing is missing. A database with a `history`
/// that is no prompt history counts as damaged.
pub(super) fn prepare(
    connection: &mut Connection,
    path: &Path,
    predecessor: Option<&Path>,
) -> Result<Vec<DatabaseDiagnostic>, DatabaseError> {
    let failed = |error| DatabaseError::from_sqlite(path, error);
    let damaged = |reason| DatabaseError::Damaged { path: path.to_owned(), reason };

    if let Some(reason) = table_damage(connection).map_err(failed)? {
        return Err(damaged(reason));
    }
    if predecessor.is_none() && is_complete(connection).map_err(failed)? {
        return Ok(Vec::new());
    }
    let transaction =
        connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
    complete_table(&transaction).map_err(failed)?;
    if !search_index::is_complete(&transaction).map_err(failed)? {
        search_index::complete(&transaction).map_err(|error| match error {
            // The index can neither be used nor be removed.
            rusqlite::Error::SqlInputError { .. } => damaged(error.to_string()),
            _ if error.sqlite_error_code() == Some(ErrorCode::Unknown) => {
                damaged(error.to_string())
            }
            _ => failed(error),
        })?;
    }
    if !segments::is_complete(&transaction).map_err(failed)? {
        segments::create(&transaction).map_err(failed)?;
    }
    let diagnostics = predecessor
        .map(|from| salvage::take_over(from, &transaction, path))
        .transpose()?
        .into_iter()
        .collect();
    transaction.commit().map_err(failed)?;
    tracing::info!(path = %path.display(), "brought the prompt history up to date");
    Ok(diagnostics)
}

/// The version that all tools of the family have left a history at so far.
const KNOWN: i32 = 0;

fn version(connection: &Connection) -> rusqlite::Result<i32> {
    connection.pragma_query_value(None, "user_version", |row| row.get(0))
}

/// Returns the columns of the table `history`, none if there is no such table.
pub(super) fn columns(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare(
            "SELECT c.name FROM sqlite_schema AS s, pragma_table_info(s.name) AS c
             WHERE s.name = 'history' AND s.type = 'table'",
        )?
        .query_map([], |row| row.get(0))?
        .collect()
}

/// Says why the tables are none of a history, if there are some.
fn shape_damage(connection: &Connection) -> rusqlite::Result<Option<String>> {
    if !exists(connection, "history")? {
        return Ok(None);
    }
    let columns = columns(connection)?;
    if !["id", "prompt", "created_at"].iter().all(|name| has(&columns, name)) {
        return Ok(Some("its \"history\" holds no prompts".to_owned()));
    }
    let is_foreign = search_index::is_foreign(connection)?;
    Ok(is_foreign.then(|| "its \"history_fts\" is no full-text index".to_owned()))
}

/// Says what is wrong with the tables, if anything is.
fn table_damage(connection: &Connection) -> rusqlite::Result<Option<String>> {
    if let Some(reason) = shape_damage(connection)? {
        return Ok(Some(reason));
    }
    if !exists(connection, "history")? {
        return Ok(None);
    }
    // Tables without pages of their own are left out: checking the index would read every prompt.
    connection
        .query_row(
            "SELECT quick_check FROM sqlite_schema AS s, pragma_quick_check(s.name)
             WHERE s.type = 'table' AND s.rootpage > 0 AND quick_check <> 'ok' LIMIT 1",
            [],
            |row| row.get(0),
        )
        .optional()
}

fn is_complete(connection: &Connection) -> rusqlite::Result<bool> {
    let columns = columns(connection)?;
    Ok(has(&columns, "cwd")
        && has(&columns, "session_id")
        && exists(connection, "idx_history_created_at")?
        && segments::is_complete(connection)?
        && search_index::is_complete(connection)?)
}

fn has(columns: &[String], name: &str) -> bool {
    columns.iter().any(|column| column == name)
}

/// Tells whether the database defines something by this name.
pub(super) fn exists(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
    connection.prepare_cached("SELECT 1 FROM sqlite_schema WHERE name = ?")?.exists([name])
}

fn complete_table(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    transaction.execute_batch(TABLE)?;
    let columns = columns(transaction)?;
    for name in ["cwd", "session_id"] {
        if !has(&columns, name) {
            transaction.execute_batch(&format!("ALTER TABLE history ADD COLUMN {name} TEXT"))?;
        }
    }
    Ok(())
}
