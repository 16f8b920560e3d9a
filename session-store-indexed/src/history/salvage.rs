//! Taking the readable prompts of a damaged database over into a new one.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags, Transaction, params};

use super::HistoryEntry;
use super::schema::columns;
use crate::sqlite::with_suffix;
use crate::{DatabaseDiagnostic, DatabaseError};

type Rows = BTreeMap<i64, HistoryEntry>;

/// Copies the prompts of the database `from` into `transaction`, as far as they can be read.
///
/// `from` itself is not touched. Prompts keep their ids unless another process was faster to use
/// one in the new database, which is at `path`.
pub(super) fn take_over(
    from: &Path,
    transaction: &Transaction<'_>,
    path: &Path,
) -> Result<DatabaseDiagnostic, DatabaseError> {
    let mut rows = Rows::new();
    // The log can be what is damaged, and the file sound without it: its rows win.
    let complete = [true, false].into_iter().any(|with_log| {
        read_copy(from, with_log, &mut rows).unwrap_or_else(|error| {
            tracing::warn!(from = %from.display(), %error, "could not read a damaged history");
            false
        })
    });
    insert(transaction, &rows).map_err(|error| DatabaseError::from_sqlite(path, error))?;
    Ok(DatabaseDiagnostic::Salvaged { from: from.to_owned(), rows: rows.len(), complete })
}

/// Adds the prompts of a copy of `from` to `rows`; tells whether all could be read.
fn read_copy(from: &Path, with_log: bool, rows: &mut Rows) -> Result<bool, Box<dyn Error>> {
    let mut builder = tempfile::Builder::new();
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o700));
    let directory = builder.prefix(".salvage-").tempdir_in(from.parent().unwrap_or(from))?;
    let copy = directory.path().join("copy.db");
    fs::copy(from, &copy)?;
    let log = with_suffix(from, "-wal");
    if with_log && log.exists() {
        fs::copy(log, with_suffix(&copy, "-wal"))?;
    }
    let connection = Connection::open_with_flags(&copy, OpenFlags::SQLITE_OPEN_READ_WRITE)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(read_all(&connection, rows)?)
}

/// Reads the prompts from both ends up to what is damaged; tells whether nothing was.
fn read_all(connection: &Connection, rows: &mut Rows) -> rusqlite::Result<bool> {
    let columns = columns(connection)?;
    let has = |name: &str| columns.iter().any(|column| column == name);
    if !has("prompt") {
        return Ok(true);
    }
    let optional = |name| if has(name) { name } else { "NULL" };
    for order in ["ASC", "DESC"] {
        let sql = format!(
            "SELECT id, prompt, created_at, {}, {} FROM history ORDER BY id {order}",
            optional("cwd"),
            optional("session_id")
        );
        let mut statement = connection.prepare(&sql)?;
        let mut found = statement.query([])?;
        let end = loop {
            match found.next().and_then(|row| row.map(HistoryEntry::from_row).transpose()) {
                Ok(Some(entry)) => drop(rows.insert(entry.id, entry)),
                Ok(None) => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        match end {
            Ok(()) => return Ok(order == "ASC"),
            Err(error) => tracing::warn!(%error, "a part of a damaged history cannot be read"),
        }
    }
    Ok(false)
}

fn insert(transaction: &Transaction<'_>, rows: &Rows) -> rusqlite::Result<()> {
    let mut statement = transaction.prepare(
        "INSERT INTO history (id, prompt, created_at, cwd, session_id)
         VALUES (CASE WHEN EXISTS (SELECT 1 FROM history WHERE id = ?1) THEN NULL ELSE ?1 END,
                 ?2, ?3, ?4, ?5)",
    )?;
    for row in rows.values() {
        statement.execute(params![row.id, row.prompt, row.created_at, row.cwd, row.session_id])?;
    }
    Ok(())
}
