//! What happens to a database that is damaged: it is moved aside, never deleted.

use std::fs::{self, File, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_model::time::to_iso;

use super::files::{parts, private, with_suffix};
use super::patience::retry;
use super::{DatabaseError, Settings};

/// Claims the repair of the database at `path`; one process at a time may move it aside.
///
/// The claim ends when the file is dropped. The lock file stays: removing it would let a third
/// process lock a new one while this one still works.
pub(crate) fn claim_repair(path: &Path, settings: &Settings) -> Result<File, DatabaseError> {
    let lock = with_suffix(path, ".lock");
    let failed = |error| DatabaseError::file("lock", &lock, error);
    let file = private().write(true).create(true).truncate(false).open(&lock).map_err(failed)?;
    let locked = retry(
        settings.busy_timeout,
        |error| matches!(error, TryLockError::WouldBlock),
        || file.try_lock(),
    );
    match locked {
        Ok(()) => Ok(file),
        Err(TryLockError::Error(error)) => Err(failed(error)),
        Err(error @ TryLockError::WouldBlock) => {
            Err(DatabaseError::Busy { path: path.to_owned(), source: Arc::new(error) })
        }
    }
}

/// Moves the files of a database to a dated name beside it, and returns that name.
///
/// The log goes first. A log that stayed behind would be taken for the log of the new database;
/// a database that stays behind without its log is found damaged again, or is sound.
pub(crate) fn set_aside(path: &Path, settings: &Settings) -> Result<PathBuf, DatabaseError> {
    let aside = free_name(path, settings.clock.now_ms());
    for (from, to) in parts(path).iter().zip(parts(&aside)) {
        if from.exists() {
            fs::rename(from, to).map_err(|error| DatabaseError::file("move aside", from, error))?;
        }
    }
    Ok(aside)
}

fn free_name(path: &Path, time_ms: i64) -> PathBuf {
    let time = to_iso(time_ms).replace([':', '.'], "-");
    let dated = with_suffix(path, &format!(".damaged-{time}"));
    let taken = |name: &PathBuf| parts(name).iter().any(|part| part.exists());
    let numbered = (2..).map(|number| with_suffix(&dated, &format!("-{number}")));
    std::iter::once(dated.clone()).chain(numbered).find(|name| !taken(name)).unwrap_or(dated)
}
