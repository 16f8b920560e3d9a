//! An open database: made if missing, moved aside if damaged, found again if replaced.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::SystemTime;
use std::{fs, io};

use rusqlite::Connection;

use super::connection::{Journal, checkpoint_on_close, connect, connect_read_only};
use super::damage::{claim_repair, set_aside};
use super::files::{Identity, ensure, size, with_suffix};
use super::{DatabaseError, Settings};
use crate::DatabaseDiagnostic;

/// Brings the schema of a database up to date.
///
/// Gets the database's path and, if the database replaces a damaged one, the name that one has
/// now. Answers what the user should know. Answering [`DatabaseError::Damaged`] has the database
/// moved aside.
pub(crate) type Prepare =
    fn(&mut Connection, &Path, Option<&Path>) -> Result<Vec<DatabaseDiagnostic>, DatabaseError>;

/// A connection to a database that stays with the file at its path.
///
/// When another program replaces the file, or a call finds it damaged, the next call opens what
/// is there by then.
#[derive(Debug)]
pub(crate) struct Database {
    path: PathBuf,
    settings: Settings,
    prepare: Prepare,
    connection: Connection,
    /// Which file the connection is to; `None` once that file was found damaged.
    identity: Option<Identity>,
    /// The state of the file if it can only be read; SQLite does not notice a change then.
    read_only: Option<FileState>,
    diagnostics: Arc<Mutex<Vec<DatabaseDiagnostic>>>,
}

/// The size of a file, and when it was written.
type FileState = (u64, SystemTime);

impl Database {
    /// Opens the database at `path`, which need not exist, and prepares it.
    ///
    /// # Errors
    ///
    /// Any [`DatabaseError`]; `Damaged` only if the database made in place of a damaged one is
    /// damaged too.
    pub(crate) fn open(
        path: &Path,
        settings: Settings,
        prepare: Prepare,
    ) -> Result<Self, DatabaseError> {
        let path = ensure(path)?;
        let diagnostics = Arc::default();
        let (connection, identity) = open_or_replace(&path, &settings, prepare, &diagnostics)?;
        let identity = Some(identity);
        Ok(Self { path, settings, prepare, connection, identity, read_only: None, diagnostics })
    }

    /// As [`open`](Self::open); where nothing can be written, a database that is there is read.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub(crate) fn open_as_possible(
        path: &Path,
        settings: Settings,
        prepare: Prepare,
    ) -> Result<Self, DatabaseError> {
        match Self::open(path, settings.clone(), prepare) {
            Err(error @ (DatabaseError::Denied { .. } | DatabaseError::File { .. })) => {
                match Self::open_read_only(path, settings, prepare) {
                    Err(newer @ DatabaseError::Newer { .. }) => Err(newer),
                    opened => opened.map_err(|_| error),
                }
            }
            opened => opened,
        }
    }

    /// Opens the database at `path`, which cannot be written, if it needs no preparation.
    fn open_read_only(
        path: &Path,
        settings: Settings,
        prepare: Prepare,
    ) -> Result<Self, DatabaseError> {
        let failed = |error| DatabaseError::file("find the real path of", path, error);
        let path = path.canonicalize().map_err(failed)?;
        let read_only = Some(file_state(&path)?);
        let mut connection = connect_read_only(&path, settings.busy_timeout)?;
        prepare(&mut connection, &path, None)?;
        let (identity, diagnostics) = (None, Arc::default());
        Ok(Self { path, settings, prepare, connection, identity, read_only, diagnostics })
    }

    /// Opens a further connection to the same file.
    pub(crate) fn another(&self) -> Result<Self, DatabaseError> {
        let (connection, _) = connect(&self.path, self.settings.busy_timeout)?;
        if Identity::of(&self.path) == self.identity {
            checkpoint_on_close(&connection)
                .map_err(|error| DatabaseError::from_sqlite(&self.path, error))?;
        }
        Ok(Self {
            path: self.path.clone(),
            settings: self.settings.clone(),
            prepare: self.prepare,
            connection,
            identity: self.identity,
            read_only: None,
            diagnostics: Arc::clone(&self.diagnostics),
        })
    }

    /// Returns what was found so far that the user should know.
    pub(crate) fn diagnostics(&self) -> Arc<Mutex<Vec<DatabaseDiagnostic>>> {
        Arc::clone(&self.diagnostics)
    }

    /// Tells the user of the database something.
    pub(crate) fn report(&self, diagnostic: DatabaseDiagnostic) {
        tracing::warn!("{diagnostic}");
        self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner).push(diagnostic);
    }

    /// Returns where the database is.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Tells whether the database can only be read.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only.is_some()
    }

    /// Does `work` with the connection.
    pub(crate) fn run<T>(
        &mut self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>,
    ) -> Result<T, DatabaseError> {
        if let Some(state) = self.read_only {
            let done = work(&mut self.connection)
                .map_err(|error| DatabaseError::from_sqlite(&self.path, error))?;
            return match file_state(&self.path)? == state {
                true => Ok(done),
                false => Err(DatabaseError::Busy {
                    path: self.path.clone(),
                    source: Arc::new(io::Error::other("it was written since it was opened")),
                }),
            };
        }
        if self.identity.is_none() || self.identity != Identity::of(&self.path) {
            let (connection, identity) =
                open_or_replace(&self.path, &self.settings, self.prepare, &self.diagnostics)?;
            (self.connection, self.identity) = (connection, Some(identity));
        }
        work(&mut self.connection).map_err(|error| {
            let error = DatabaseError::from_sqlite(&self.path, error);
            if matches!(error, DatabaseError::Damaged { .. }) {
                self.identity = None;
            }
            error
        })
    }
}

fn file_state(path: &Path) -> Result<FileState, DatabaseError> {
    fs::metadata(path)
        .and_then(|metadata| Ok((metadata.len(), metadata.modified()?)))
        .map_err(|error| DatabaseError::file("look at", path, error))
}

/// Opens the database; one that is damaged is moved aside and a new one opened in its place.
fn open_or_replace(
    path: &Path,
    settings: &Settings,
    prepare: Prepare,
    diagnostics: &Mutex<Vec<DatabaseDiagnostic>>,
) -> Result<(Connection, Identity), DatabaseError> {
    let report = |diagnostic: DatabaseDiagnostic| {
        tracing::warn!("{diagnostic}");
        diagnostics.lock().unwrap_or_else(PoisonError::into_inner).push(diagnostic);
    };
    let open = |predecessor: Option<&Path>| {
        let (connection, identity, found) = open_as_is(path, settings, prepare, predecessor)?;
        found.into_iter().for_each(report);
        Ok((connection, identity))
    };

    match open(None) {
        Err(DatabaseError::Damaged { .. }) => {}
        outcome => return outcome,
    }
    let _claim = claim_repair(path, settings)?;
    // Another process may have repaired it while this one waited.
    let reason = match open(None) {
        Err(DatabaseError::Damaged { reason, .. }) => reason,
        outcome => return outcome,
    };
    let moved_to = set_aside(path, settings)?;
    report(DatabaseDiagnostic::SetAside {
        path: path.to_owned(),
        moved_to: moved_to.clone(),
        reason,
    });
    open(Some(&moved_to))
}

/// Opens and prepares the database without touching it if it is damaged.
fn open_as_is(
    path: &Path,
    settings: &Settings,
    prepare: Prepare,
    predecessor: Option<&Path>,
) -> Result<(Connection, Identity, Vec<DatabaseDiagnostic>), DatabaseError> {
    loop {
        ensure(path)?;
        let before = Identity::of(path);
        let outcome = connect_and_prepare(path, settings, prepare, predecessor);
        // A file that was replaced meanwhile says nothing about the one that is there now.
        if let Some(identity) = before
            && before == Identity::of(path)
        {
            let (connection, found) = outcome?;
            // Only now: a connection to a file that was moved aside meanwhile finds the log of the
            // new one at the path, and would write that into the old file.
            checkpoint_on_close(&connection)
                .map_err(|error| DatabaseError::from_sqlite(path, error))?;
            return Ok((connection, identity, found));
        }
    }
}

fn connect_and_prepare(
    path: &Path,
    settings: &Settings,
    prepare: Prepare,
    predecessor: Option<&Path>,
) -> Result<(Connection, Vec<DatabaseDiagnostic>), DatabaseError> {
    // SQLite would delete such a log.
    if size(path)? == 0 && size(&with_suffix(path, "-wal"))? > 0 {
        let reason = "it is empty, but its write-ahead log is not".to_owned();
        return Err(DatabaseError::Damaged { path: path.to_owned(), reason });
    }
    let (mut connection, journal) = connect(path, settings.busy_timeout)?;
    let mut found = prepare(&mut connection, path, predecessor)?;
    if journal == Journal::Rollback {
        found.push(DatabaseDiagnostic::NoWriteAheadLog { path: path.to_owned() });
    }
    Ok((connection, found))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::clock::SystemClock;

    /// Fails once, while another program puts a new file in place.
    fn fail_while_replaced(
        _: &mut Connection,
        path: &Path,
        _: Option<&Path>,
    ) -> Result<Vec<DatabaseDiagnostic>, DatabaseError> {
        let replacement = with_suffix(path, "-new");
        if !replacement.exists() {
            return Ok(Vec::new());
        }
        fs::rename(replacement, path).unwrap();
        Err(DatabaseError::file("prepare", path, io::Error::other("gone")))
    }

    #[test]
    fn opens_a_file_that_was_put_in_place_meanwhile() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("a.db");
        Connection::open(with_suffix(&path, "-new"))
            .unwrap()
            .execute_batch("CREATE TABLE t (x); INSERT INTO t VALUES (5)")
            .unwrap();
        let settings = Settings { busy_timeout: Duration::ZERO, clock: Arc::new(SystemClock) };
        let mut database = Database::open(&path, settings, fail_while_replaced).unwrap();
        let value = database.run(|connection| {
            connection.query_row("SELECT x FROM t", [], |row| row.get::<_, i64>(0))
        });
        assert_eq!(value.unwrap(), 5);
    }
}
