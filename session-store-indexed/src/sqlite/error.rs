//! The error of a database.

use std::error::Error;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rusqlite::ErrorCode;

/// A database that could not be opened, read or written.
///
/// A failed write has changed nothing. The message does not repeat the source; print the chain
/// to see both. Cloning is cheap.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DatabaseError {
    /// The SQLite library this program runs with can lose committed data.
    #[error(
        "SQLite {found} can lose committed data; build with the bundled library, or 3.51.3 or newer"
    )]
    LibraryTooOld {
        /// The version in use.
        found: &'static str,
    },
    /// Another connection kept the database locked for longer than was waited.
    #[error("{} is locked by another program; try again when that is done", path.display())]
    Busy {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
    /// The database may not be opened or written.
    #[error("{} cannot be opened or written; check owner and permissions", path.display())]
    Denied {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
    /// There is no space left.
    #[error("no space is left to write {}; free some and try again", path.display())]
    Full {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
    /// What is stored is damaged, or is no such database at all.
    #[error("{} is damaged: {reason}; try again to have it moved aside", path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// A newer version of this program made it, which this one cannot read.
    #[error(
        "{} is of version {version}, newer than {known}, the newest known here; it is left alone: update this program to use it", path.display()
    )]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        version: i32,
        /// The newest version this program knows.
        known: i32,
    },
    /// A file operation beside SQLite failed.
    #[error("could not {operation} {}; check owner, permissions and space", path.display())]
    File {
        /// What was being done, as a verb in plain form.
        operation: &'static str,
        /// The file or directory in question.
        path: PathBuf,
        /// What the system said.
        #[source]
        source: Arc<io::Error>,
    },
    /// Anything else SQLite reports.
    #[error("the database {} failed", path.display())]
    Failed {
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        #[source]
        source: Arc<dyn Error + Send + Sync>,
    },
}

impl DatabaseError {
    /// Sorts what SQLite said about the database at `path`.
    ///
    /// A lock is never damage, and neither is a failed read or write of the file.
    pub(crate) fn from_sqlite(path: &Path, error: rusqlite::Error) -> Self {
        let path = path.to_owned();
        match error.sqlite_error_code() {
            Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
                Self::Damaged { path, reason: error.to_string() }
            }
            Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked) => {
                Self::Busy { path, source: Arc::new(error) }
            }
            Some(ErrorCode::CannotOpen | ErrorCode::PermissionDenied | ErrorCode::ReadOnly) => {
                Self::Denied { path, source: Arc::new(error) }
            }
            Some(ErrorCode::DiskFull) => Self::Full { path, source: Arc::new(error) },
            _ => Self::Failed { path, source: Arc::new(error) },
        }
    }

    /// A failed file operation.
    pub(crate) fn file(operation: &'static str, path: &Path, source: io::Error) -> Self {
        Self::File { operation, path: path.to_owned(), source: Arc::new(source) }
    }

    /// Tells whether the database cannot be used here, but what it was made from can: it cannot be
    /// made or written for want of access or space, its file system fails, or it is of a newer version.
    pub fn is_unusable_here(&self) -> bool {
        matches!(
            self,
            Self::Denied { .. }
                | Self::Full { .. }
                | Self::File { .. }
                | Self::Newer { .. }
                | Self::Failed { .. }
        )
    }

    /// Tells whether the same call can succeed later with nothing else changed.
    pub fn is_retryable(&self) -> bool {
        matches!(self, Self::Busy { .. })
    }
}
