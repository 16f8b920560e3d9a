//! One connection, by the rules.

use std::path::Path;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, ErrorCode, OpenFlags, ffi};

use super::DatabaseError;
use super::files::{size, with_suffix};
use super::patience::retry;

/// SQLite before 3.51.3 can lose committed transactions of a write-ahead log.
const OLDEST_VERSION: i32 = 3_051_003;

/// How commits reach the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Journal {
    /// Write-ahead log: readers and a writer do not wait for each other.
    WriteAhead,
    /// Rollback journal, where a file system cannot carry the log.
    Rollback,
}

impl Journal {
    /// Returns what it takes for a commit to be on the disk when it returns.
    fn synchronous(self) -> &'static str {
        match self {
            Self::WriteAhead => "FULL",
            // With FULL a loss of power can bring back the removed journal, and so undo a commit.
            Self::Rollback => "EXTRA",
        }
    }
}

/// Opens an existing database for reading and writing.
///
/// A lock held elsewhere is waited out for `busy_timeout`. A commit is on the disk when it
/// returns. The schema, which may come from another program, cannot call what could do harm.
///
/// The log is left alone when the connection closes, until [`checkpoint_on_close`]: a bad log, or
/// that of another file, written into a sound file would destroy that too.
pub(crate) fn connect(
    path: &Path,
    busy_timeout: Duration,
) -> Result<(Connection, Journal), DatabaseError> {
    require_version(rusqlite::version_number(), rusqlite::version())?;
    let connect = || {
        let connection = open(path, busy_timeout)?;
        let (connection, journal) = match enter_write_ahead(&connection, busy_timeout) {
            Err(error) if lacks_shared_memory(&error) => {
                drop(connection);
                leave_write_ahead(path, busy_timeout)?;
                (open(path, busy_timeout)?, Journal::Rollback)
            }
            journal => (connection, journal?),
        };
        connection.pragma_update(None, "synchronous", journal.synchronous())?;
        Ok((connection, journal))
    };
    connect().map_err(|error| DatabaseError::from_sqlite(path, error))
}

/// Opens an existing database that cannot be written.
///
/// Without a log nobody writes it, and nothing but the file is needed; else the log's shared memory
/// must be there.
pub(crate) fn connect_read_only(
    path: &Path,
    busy_timeout: Duration,
) -> Result<Connection, DatabaseError> {
    require_version(rusqlite::version_number(), rusqlite::version())?;
    let log = size(&with_suffix(path, "-wal"))?;
    let name = path.to_string_lossy().replace('%', "%25").replace('?', "%3f").replace('#', "%23");
    let name = format!("file:{name}?mode=ro{}", if log == 0 { "&immutable=1" } else { "" });
    let connect = || {
        let flags = OpenFlags::SQLITE_OPEN_READ_ONLY
            | OpenFlags::SQLITE_OPEN_URI
            | OpenFlags::SQLITE_OPEN_NO_MUTEX;
        let connection = Connection::open_with_flags(name, flags)?;
        connection.busy_timeout(busy_timeout)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
        Ok(connection)
    };
    connect().map_err(|error| DatabaseError::from_sqlite(path, error))
}

/// Lets the connection bring the log into the database file when it is the last to close.
pub(crate) fn checkpoint_on_close(connection: &Connection) -> rusqlite::Result<()> {
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false).map(drop)
}

fn require_version(number: i32, found: &'static str) -> Result<(), DatabaseError> {
    if number < OLDEST_VERSION {
        return Err(DatabaseError::LibraryTooOld { found });
    }
    Ok(())
}

fn open(path: &Path, busy_timeout: Duration) -> rusqlite::Result<Connection> {
    // Not a URI: a path may begin with `file:` or hold a question mark.
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let connection = Connection::open_with_flags(path, flags)?;
    // First, since every later statement may meet a lock.
    connection.busy_timeout(busy_timeout)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    Ok(connection)
}

/// Switches to a write-ahead log if SQLite can do so here.
fn enter_write_ahead(connection: &Connection, limit: Duration) -> rusqlite::Result<Journal> {
    let mode = switch_journal(connection, "WAL", limit)?;
    // The switch does not touch the shared memory of the log; the first read does.
    connection.query_row("SELECT count(*) FROM sqlite_schema", [], |_| Ok(()))?;
    Ok(if mode.eq_ignore_ascii_case("wal") { Journal::WriteAhead } else { Journal::Rollback })
}

/// Switches back, where the file system turned out to have no shared memory.
fn leave_write_ahead(path: &Path, limit: Duration) -> rusqlite::Result<()> {
    let connection = open(path, limit)?;
    // Who has the database for himself from the start needs no shared memory.
    connection.pragma_update(None, "locking_mode", "EXCLUSIVE")?;
    switch_journal(&connection, "DELETE", limit).map(drop)
}

/// Asks for a journal mode and returns the one in force then.
///
/// The switch needs the database for itself and does not always wait for it, so it is repeated.
fn switch_journal(
    connection: &Connection,
    mode: &str,
    limit: Duration,
) -> rusqlite::Result<String> {
    retry(limit, is_locked, || {
        connection.pragma_update_and_check(None, "journal_mode", mode, |row| row.get(0))
    })
}

fn is_locked(error: &rusqlite::Error) -> bool {
    matches!(error.sqlite_error_code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
}

/// Tells whether the log's shared memory is what failed: the file system cannot map or lock it.
fn lacks_shared_memory(error: &rusqlite::Error) -> bool {
    matches!(
        error.sqlite_extended_error_code(),
        Some(
            ffi::SQLITE_IOERR_SHMOPEN
                | ffi::SQLITE_IOERR_SHMSIZE
                | ffi::SQLITE_IOERR_SHMLOCK
                | ffi::SQLITE_IOERR_SHMMAP
        )
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pragma(connection: &Connection, name: &str) -> String {
        connection
            .pragma_query_value(None, name, |row| row.get::<_, rusqlite::types::Value>(0))
            .map(|value| match value {
                rusqlite::types::Value::Integer(number) => number.to_string(),
                rusqlite::types::Value::Text(text) => text,
                other => panic!("{other:?}"),
            })
            .unwrap()
    }

    #[test]
    fn syncs_every_commit_of_a_write_ahead_log() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let (connection, journal) = connect(file.path(), Duration::from_millis(7)).unwrap();
        assert_eq!(journal, Journal::WriteAhead);
        assert_eq!(pragma(&connection, "journal_mode"), "wal");
        assert_eq!(pragma(&connection, "synchronous"), "2");
        assert_eq!(pragma(&connection, "trusted_schema"), "0");
        assert_eq!(pragma(&connection, "busy_timeout"), "7");
    }

    /// SQLite's lock files stand for a file system without shared memory.
    #[cfg(unix)]
    #[test]
    fn uses_a_rollback_journal_where_there_is_no_shared_memory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        let flags = OpenFlags::default();
        let connection = Connection::open_with_flags_and_vfs(path, flags, c"unix-dotfile").unwrap();
        let journal = enter_write_ahead(&connection, Duration::ZERO).unwrap();
        assert_eq!((journal, journal.synchronous()), (Journal::Rollback, "EXTRA"));
        assert_eq!(pragma(&connection, "journal_mode"), "delete");
    }

    #[test]
    fn leaves_a_write_ahead_log_without_using_shared_memory() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        std::fs::write(&path, "").unwrap();
        let (connection, _) = connect(&path, Duration::ZERO).unwrap();
        checkpoint_on_close(&connection).unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        drop(connection);
        // No shared memory can be opened by this name.
        std::fs::create_dir(directory.path().join("history.db-shm")).unwrap();
        leave_write_ahead(&path, Duration::ZERO).unwrap();
        let connection = open(&path, Duration::ZERO).unwrap();
        assert_eq!(pragma(&connection, "journal_mode"), "delete");
        connection.execute_batch("INSERT INTO t VALUES (1)").unwrap();
    }

    #[test]
    fn waits_for_a_lock_to_enter_the_write_ahead_log() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lock = Connection::open(file.path()).unwrap();
        lock.execute_batch("BEGIN IMMEDIATE; CREATE TABLE t (x)").unwrap();
        let (sender, connected) = std::sync::mpsc::channel();
        std::thread::scope(|scope| {
            scope.spawn(|| {
                let connection = connect(file.path(), Duration::from_secs(60));
                sender.send(connection.map(|(_, journal)| journal)).unwrap();
            });
            let early = connected.recv_timeout(Duration::from_millis(300));
            assert!(early.is_err(), "{early:?}");
            lock.execute_batch("COMMIT").unwrap();
            assert_eq!(connected.recv().unwrap().unwrap(), Journal::WriteAhead);
        });
    }

    #[test]
    fn says_who_cannot_be_waited_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let lock = Connection::open(file.path()).unwrap();
        lock.execute_batch("BEGIN EXCLUSIVE").unwrap();
        let error = connect(file.path(), Duration::from_millis(20)).unwrap_err();
        assert!(error.is_retryable());
        assert_eq!(
            error.to_string(),
            format!(
                "{} is locked by another program; try again when that is done",
                file.path().display()
            )
        );
    }

    #[test]
    fn runs_on_a_library_that_loses_nothing() {
        require_version(rusqlite::version_number(), rusqlite::version()).unwrap();
        require_version(3_051_003, "3.51.3").unwrap();
        let error = require_version(3_051_002, "3.51.2").unwrap_err();
        assert_eq!(
            error.to_string(),
            "SQLite 3.51.2 can lose committed data; build with the bundled library, or 3.51.3 or newer"
        );
    }

    #[test]
    fn leaves_the_log_of_an_untrusted_database_alone() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("history.db");
        std::fs::write(&path, "").unwrap();
        let log = directory.path().join("history.db-wal");
        let (connection, _) = connect(&path, Duration::ZERO).unwrap();
        connection.execute_batch("CREATE TABLE t (x)").unwrap();
        drop(connection);
        assert!(log.exists());
        let (connection, _) = connect(&path, Duration::ZERO).unwrap();
        checkpoint_on_close(&connection).unwrap();
        drop(connection);
        assert!(!log.exists());
    }
}
