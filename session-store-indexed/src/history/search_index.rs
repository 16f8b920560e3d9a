//! The full-text index over the prompts, which is made anew whenever it does not fit them.

use rusqlite::ffi::SQLITE_CORRUPT_VTAB;
use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior};

use super::schema::exists;

const TABLE_AND_TRIGGERS: &str = "
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
";

const REBUILD: &str = "INSERT INTO history_fts(history_fts) VALUES ('rebuild')";

/// Tells whether the index is there, kept in step, and has an entry for every prompt.
pub(super) fn is_complete(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(definition(connection)? == Definition::Right
        && exists(connection, "history_ai")?
        && exists(connection, "history_ad")?
        && exists(connection, "history_au")?
        && exists(connection, "history_fts_docsize")?
        && connection.query_row(
            "SELECT (SELECT count(*) FROM history) = (SELECT count(*) FROM history_fts_docsize)
                AND NOT EXISTS (SELECT id FROM history EXCEPT SELECT id FROM history_fts_docsize)",
            [],
            |row| row.get(0),
        )?)
}

/// Tells whether something else goes by the name of the index.
pub(super) fn is_foreign(connection: &Connection) -> rusqlite::Result<bool> {
    Ok(definition(connection)? == Definition::Foreign)
}

/// Adds what is missing of the index and fills it from the prompts.
pub(super) fn complete(transaction: &Transaction<'_>) -> rusqlite::Result<()> {
    if definition(transaction)? == Definition::Other {
        transaction.execute_batch("DROP TABLE history_fts")?;
    }
    transaction.execute_batch(TABLE_AND_TRIGGERS)?;
    transaction.execute_batch(REBUILD)
}

/// Does `work`; if the index turns out to be damaged, makes it anew and tries again.
///
/// The index holds nothing of its own, so its damage is no reason to fail.
pub(super) fn healing<T>(
    connection: &mut Connection,
    work: impl Fn(&mut Connection) -> rusqlite::Result<T>,
) -> rusqlite::Result<T> {
    match work(connection) {
        Err(error) if error.sqlite_extended_error_code() == Some(SQLITE_CORRUPT_VTAB) => {
            tracing::warn!(%error, "the search index of the prompt history is damaged; rebuilding");
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            transaction.execute_batch(REBUILD)?;
            transaction.commit()?;
            work(connection)
        }
        outcome => outcome,
    }
}

/// What goes by the name of the full-text index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Definition {
    Missing,
    Right,
    /// A full-text index, but of another kind.
    Other,
    /// Something else, which may hold data of its own.
    Foreign,
}

fn definition(connection: &Connection) -> rusqlite::Result<Definition> {
    let sql: Option<String> = connection
        .query_row("SELECT sql FROM sqlite_schema WHERE name = 'history_fts'", [], |row| row.get(0))
        .optional()?;
    let Some(sql) = sql else { return Ok(Definition::Missing) };
    let skipped = |c: char| c.is_whitespace() || matches!(c, '\'' | '"' | '`' | '[' | ']');
    let sql = sql.to_lowercase().replace(skipped, "");
    Ok(if sql.ends_with("usingfts5(prompt,content=history,content_rowid=id)") {
        Definition::Right
    } else if sql.starts_with("createvirtualtable") && sql.contains("usingfts5(") {
        Definition::Other
    } else {
        Definition::Foreign
    })
}
