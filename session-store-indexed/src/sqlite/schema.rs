//! The schema of a database that is made from the session files, and can be made again.

use std::path::Path;

use rusqlite::{Connection, Transaction, TransactionBehavior};

use super::DatabaseError;

/// The schema of a database that can be made again.
pub(crate) struct Schema {
    /// Marks a database as one of these.
    pub(crate) application: i32,
    /// What such a database is, for messages.
    pub(crate) what: &'static str,
    /// The newest version; 0 is an empty database.
    pub(crate) version: i32,
    /// The tables of that version.
    pub(crate) tables: &'static [&'static str],
    /// Brings an older version up to date.
    pub(crate) update: fn(&Transaction<'_>, i32) -> rusqlite::Result<()>,
}

impl Schema {
    /// Makes the tables, or brings them up to date, in one transaction.
    ///
    /// A database of something else counts as damaged: it is moved aside, and its successor is made
    /// from the session files. One of a newer version is left alone.
    pub(crate) fn prepare(
        &self,
        connection: &mut Connection,
        path: &Path,
    ) -> Result<(), DatabaseError> {
        let failed = |error| DatabaseError::from_sqlite(path, error);
        // What a loss of power takes is read from the files again.
        let journal: String = connection
            .pragma_query_value(None, "journal_mode", |row| row.get(0))
            .map_err(failed)?;
        if journal.eq_ignore_ascii_case("wal") {
            connection.pragma_update(None, "synchronous", "NORMAL").map_err(failed)?;
        }
        // Keys come in no order, so that each meets another page.
        connection.pragma_update(None, "cache_size", -16 * 1024).map_err(failed)?;
        if self.is_newest(connection, path)? {
            return Ok(());
        }
        let transaction =
            connection.transaction_with_behavior(TransactionBehavior::Immediate).map_err(failed)?;
        // Another process may have brought it up to date meanwhile.
        if !self.is_newest(&transaction, path)? {
            let (_, version) = mark(&transaction).map_err(failed)?;
            (self.update)(&transaction, version).map_err(failed)?;
            transaction
                .pragma_update(None, "application_id", self.application)
                .and_then(|()| transaction.pragma_update(None, "user_version", self.version))
                .map_err(failed)?;
        }
        transaction.commit().map_err(failed)
    }

    /// Tells whether a database is of the newest version, and not only of an older one.
    fn is_newest(&self, connection: &Connection, path: &Path) -> Result<bool, DatabaseError> {
        let failed = |error| DatabaseError::from_sqlite(path, error);
        let damaged = |reason| Err(DatabaseError::Damaged { path: path.to_owned(), reason });
        let (application, version) = mark(connection).map_err(failed)?;
        let tables = tables(connection).map_err(failed)?;
        if application != self.application {
            return match tables.is_empty() {
                true => Ok(false),
                false => damaged(format!("it is no {}", self.what)),
            };
        }
        if version > self.version {
            let (path, known) = (path.to_owned(), self.version);
            return Err(DatabaseError::Newer { path, version, known });
        }
        let has = |wanted: &&str| tables.iter().any(|table| table == wanted);
        match version == self.version {
            true if !self.tables.iter().all(has) => damaged("a table is missing".to_owned()),
            is_newest => Ok(is_newest),
        }
    }
}

/// What a database is marked as, and its version.
fn mark(connection: &Connection) -> rusqlite::Result<(i32, i32)> {
    let value = |name| connection.pragma_query_value(None, name, |row| row.get(0));
    Ok((value("application_id")?, value("user_version")?))
}

fn tables(connection: &Connection) -> rusqlite::Result<Vec<String>> {
    connection
        .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")?
        .query_map([], |row| row.get(0))?
        .collect()
}
