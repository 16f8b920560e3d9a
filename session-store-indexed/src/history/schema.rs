//! The tables of the prompt history, and what older databases lack of them.

use std::path::Path;

use rusqlite::ffi::SQLITE_CORRUPT_VTAB;
use rusqlite::{Connection, ErrorCode, OptionalExtension, Transaction, TransactionBehavior};

use super::salvage;
use crate::{DatabaseError, Diagnostic};

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

const INDEX: &str = "
CREATE VIRTUAL TABLE IF NOT EXISTS history_fts
    USING fts5(prompt, content='history', content_rowid='id');
CREATE TRIGGER IF NOT EXISTS history_ai AFTER INSERT ON history BEGIN
    INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt);
END;
CREATE TRIGGER IF NOT EXISTS history_ad AFTER DELETE ON history BEGIN
    INSERT INTO history_fts(history_fts, rowid, prompt) VALUES ('delete', old.id, old.prompt);
END;
CREATE TRIGGER IF NOT EXISTS history_au AFTER UPDATE OF id, prompt ON history BEGIN
    INSERT INTO history_fts(history_fts, rowid, prompt) VALUES ('delete', old.id, old.prompt);
    INSERT INTO history_fts(rowid, prompt) VALUES (new.id, new.prompt);
END;
INSERT INTO history_fts(history_fts) VALUES ('rebuild');
";

/// Brings a database that any version of any tool of the family wrote up to date.
///
/// All in one transaction; nothing is written if nothing is missing. A database with a `history`
/// that is no prompt history counts as damaged.
pub(super) fn prepare(
    connection: &mut Connection,
    path: &Path,
    predecessor: Option<&Path>,
) -> Result<Vec<Diagnostic>, DatabaseError> {
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
    if !has_index(&transaction).map_err(failed)? {
        complete_index(&transaction).map_err(|error| match error {
            // The index can neither be used nor be removed.
            rusqlite::Error::SqlInputError { .. } => damaged(error.to_string()),
            _ if error.sqlite_error_code() == Some(ErrorCode::Unknown) => {
                damaged(error.to_string())
            }
            _ => failed(error),
        })?;
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

/// Does `work`; if the full-text index turns out to be damaged, makes it anew and tries again.
///
/// The index holds nothing of its own, so its damage is no reason to fail.
pub(super) fn healing_index<T>(
    connection: &mut Connection,
    work: impl Fn(&mut Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    match work(connection) {
        Err(error) if error.sqlite_extended_error_code() == Some(SQLITE_CORRUPT_VTAB) => {
            tracing::warn!(%error, "the search index of the prompt history is damaged; rebuilding");
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute("INSERT INTO history_fts(history_fts) VALUES ('rebuild')", [])?;
            transaction.commit()?;
            work(connection)
        }
        outcome => outcome,
    }
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

/// Says what is wrong with the tables, if anything is.
fn table_damage(connection: &Connection) -> rusqlite::Result<Option<String>> {
    if !exists(connection, "history")? {
        return Ok(None);
    }
    let columns = columns(connection)?;
    if !["id", "prompt", "created_at"].iter().all(|name| has(&columns, name)) {
        return Ok(Some("its \"history\" holds no prompts".to_owned()));
    }
    if index_definition(connection)? == IndexDefinition::Foreign {
        return Ok(Some("its \"history_fts\" is no full-text index".to_owned()));
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
        && has_index(connection)?)
}

/// Tells whether the full-text index is there, kept in step, and has an entry for every prompt.
fn has_index(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(index_definition(connection)? == IndexDefinition::Right
        && exists(connection, "history_ai")?
        && exists(connection, "history_ad")?
        && exists(connection, "history_au")?
        && connection.query_row(
            "SELECT (SELECT count(*) FROM history) = (SELECT count(*) FROM history_fts_docsize)
                AND NOT EXISTS (SELECT id FROM history EXCEPT SELECT id FROM history_fts_docsize)",
            [],
            |row| row.get(0),
        )?)
}

/// What goes by the name of the full-text index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum IndexDefinition {
    Missing,
    Right,
    /// A full-text index, but of another kind.
    Other,
    /// Something else, which may hold data of its own.
    Foreign,
}

fn index_definition(connection: &Connection) -> rusqlite::Result<IndexDefinition> {
    let sql: Option<String> = connection
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'history_fts'", [], |row| row.get(0))
        .optional()?;
    let Some(sql) = sql else { return Ok(IndexDefinition::Missing) };
    let skipped = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '[' | ']');
    let sql = sql.to_lowercase().replace(skipped, "");
    Ok(if sql.ends_with("usingfts5(prompt,content=history,content_rowid=id)") {
        IndexDefinition::Right
    } else if sql.starts_with("createvirtualtable") && sql.contains("usingfts5(") {
        IndexDefinition::Other
    } else {
        IndexDefinition::Foreign
    })
}

fn has(columns: &[String], name: &str) -> bool {
    columns.iter().any(|column| column == name)
}

fn exists(connection: &Connection, name: &str) -> rusqlite::Result<bool> {
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

fn complete_index(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    if index_definition(transaction)? == IndexDefinition::Other {
        transaction.execute_batch("DROP TABLE history_fts")?;
    }
    transaction.execute_batch(INDEX)
}
