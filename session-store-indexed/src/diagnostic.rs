//! What opening a database found that its user should know.

use std::error::Error;
use std::fmt;
use std::path::PathBuf;

use session_model::{Diagnostic, DiagnosticCode};

/// Something the caller should tell its user; the database works all the same.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum DatabaseDiagnostic {
    /// The database was damaged, or was none; it was moved aside whole and a new one made.
    SetAside {
        /// The database in question.
        path: PathBuf,
        /// Where its file is now; the files with `-wal` and `-shm` behind this name belong to it.
        moved_to: PathBuf,
        /// What was wrong with it.
        reason: String,
    },
    /// The database is not used, and left as it is; the sessions are read in its place.
    NotUsed {
        /// The database in question.
        path: PathBuf,
        /// Why not, with the causes.
        reason: String,
    },
    /// What could be read of the database that was moved aside is in the new one.
    Salvaged {
        /// The file that was read.
        from: PathBuf,
        /// How many rows were taken over.
        rows: usize,
        /// Whether the file could be read to its end; else rows may be missing.
        complete: bool,
    },
    /// The file system cannot carry a write-ahead log; a slower rollback journal is used.
    ///
    /// Such a file system (a network or container mount) may also lock unreliably: let one host
    /// at a time use the database.
    NoWriteAheadLog {
        /// The database in question.
        path: PathBuf,
    },
    /// The database is a copy of one that publishes sessions, or was put back from one; it has a
    /// name of its own now.
    Copied {
        /// The database in question.
        path: PathBuf,
    },
    /// A copy of the database publishes sessions under the same name; this one takes a new name when
    /// it is opened next, and until then counts what the copy claims as another host's.
    CopyInUse {
        /// The database in question.
        path: PathBuf,
        /// What the copy claims sessions by.
        owner: String,
    },
}

impl DatabaseDiagnostic {
    /// A database that is not used, because of this error.
    pub fn not_used(path: impl Into<PathBuf>, error: &dyn Error) -> Self {
        let mut reason = error.to_string();
        let mut next = error.source();
        while let Some(cause) = next {
            reason = format!("{reason}: {cause}");
            next = cause.source();
        }
        Self::NotUsed { path: path.into(), reason }
    }
}

impl From<DatabaseDiagnostic> for Diagnostic {
    fn from(found: DatabaseDiagnostic) -> Self {
        let code = match found {
            DatabaseDiagnostic::SetAside { .. } | DatabaseDiagnostic::Salvaged { .. } => {
                DiagnosticCode::IndexSetAside
            }
            DatabaseDiagnostic::NotUsed { .. } => DiagnosticCode::IndexNotUsed,
            DatabaseDiagnostic::NoWriteAheadLog { .. } => DiagnosticCode::IndexWithoutLog,
            DatabaseDiagnostic::Copied { .. } | DatabaseDiagnostic::CopyInUse { .. } => {
                DiagnosticCode::IndexCopied
            }
        };
        Self::new(code, found.to_string())
    }
}

impl fmt::Display for DatabaseDiagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::SetAside { path, moved_to, reason } => write!(
                f,
                "{} could not be used ({reason}); it is kept as {} and a new one was made",
                path.display(),
                moved_to.display()
            ),
            Self::NotUsed { path, reason } => {
                write!(f, "{} is not used, and slower ways are taken: {reason}", path.display())
            }
            Self::Salvaged { from, rows, complete } => {
                let rest = if *complete { "" } else { "; others could not be read" };
                write!(f, "{rows} rows were taken over from {}{rest}", from.display())
            }
            Self::NoWriteAheadLog { path } => write!(
                f,
                "{} is on a file system without a write-ahead log; use it from one host at a time",
                path.display()
            ),
            Self::Copied { path } => write!(
                f,
                "{} is a copy of the database of another host, or was put back from a copy; it is \
                 a host of its own from now on",
                path.display()
            ),
            Self::CopyInUse { path, owner } => write!(
                f,
                "a copy of {} is in use as {owner}; what it claims counts as another host's, and \
                 this host takes a new name when it is opened next",
                path.display()
            ),
        }
    }
}
