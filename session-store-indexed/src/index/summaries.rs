//! What lists show of sessions, kept until the files change.

use std::path::Path;
use std::sync::PoisonError;
use std::time::SystemTime;

use rusqlite::{Connection, TransactionBehavior, params};
use session_model::storage::ObjectMeta;
use session_model::summary::SessionSummary;

use super::{IndexError, IndexOptions};
use crate::DatabaseDiagnostic;
use crate::sqlite::{Database, Settings};

/// A summary to be kept.
#[derive(Clone, Debug)]
pub(super) struct Noted {
    version: String,
    /// `None` for a file that is no session.
    note: Option<String>,
}

impl Noted {
    /// `None` for a file that may have changed without a trace since it began to be looked at.
    pub(super) fn new(
        looked: SystemTime,
        meta: &ObjectMeta,
        summary: Option<&SessionSummary>,
    ) -> Option<Self> {
        let note = || summary.map(SessionSummary::to_note);
        meta.is_settled(looked).then(|| Self { version: meta.version.to_string(), note: note() })
    }
}

/// The summaries an index keeps, for lists that look at the files first.
///
/// A summary is of one state of a file; whoever lists knows the states from the directory, and
/// looks into those files only of which there is no summary. So the answer is that of a list without
/// the index, however far that is behind.
#[derive(Debug)]
pub struct Summaries {
    database: Database,
}

impl Summaries {
    /// Opens the index at `path`, or makes an empty one.
    ///
    /// Where nothing can be written, an index that is there is read, and nothing is kept.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`].
    pub fn open(path: impl AsRef<Path>, options: IndexOptions) -> Result<Self, IndexError> {
        let settings = Settings { busy_timeout: options.busy_timeout, clock: options.clock };
        Ok(Self { database: Database::open_as_possible(path.as_ref(), settings, super::prepare)? })
    }

    /// Returns what was found since opening that the user should be told.
    pub fn diagnostics(&self) -> Vec<DatabaseDiagnostic> {
        self.database.diagnostics().lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Returns the summary of each file that is still in the state it was summed up in.
    ///
    /// The files are in the order of their keys, as a listing brings them.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`].
    pub fn find(
        &mut self,
        files: &[&ObjectMeta],
    ) -> Result<Vec<Option<SessionSummary>>, IndexError> {
        Ok(self.database.run(|connection| find(connection, files))?)
    }

    /// Keeps the summaries of files, as far as they had been as they are for two seconds at the time
    /// they began to be looked at, and the index knows the sessions.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`].
    pub fn keep<'a>(
        &mut self,
        looked: SystemTime,
        summaries: impl IntoIterator<Item = (&'a ObjectMeta, &'a SessionSummary)>,
    ) -> Result<(), IndexError> {
        let noted: Vec<_> = summaries
            .into_iter()
            .filter_map(|(meta, summary)| Some((meta, Noted::new(looked, meta, Some(summary))?)))
            .collect();
        if noted.is_empty() || self.database.is_read_only() {
            return Ok(());
        }
        Ok(self.database.run(|connection| {
            let transaction =
                connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            for (meta, noted) in noted {
                keep(&transaction, meta.key.as_str(), Some(&noted))?;
            }
            transaction.commit()
        })?)
    }
}

fn find(
    connection: &Connection,
    files: &[&ObjectMeta],
) -> rusqlite::Result<Vec<Option<SessionSummary>>> {
    let mut found = vec![None; files.len()];
    let (Some(first), Some(last)) = (files.first(), files.last()) else { return Ok(found) };
    let mut query = connection.prepare_cached(
        "SELECT key, version, note FROM summary WHERE key >= ? AND key <= ? ORDER BY key",
    )?;
    let mut rows = query.query([first.key.as_str(), last.key.as_str()])?;
    let mut at = 0;
    while let Some(row) = rows.next()? {
        let key = row.get_ref(0)?.as_str()?;
        while files.get(at).is_some_and(|meta| meta.key.as_str() < key) {
            at += 1;
        }
        let is_as_it_was = files.get(at).is_some_and(|meta| meta.key.as_str() == key)
            && row.get_ref(1)?.as_str()? == files[at].version.as_str();
        if is_as_it_was && let Some(note) = row.get_ref(2)?.as_str_or_null()? {
            found[at] = SessionSummary::from_note(note);
        }
    }
    Ok(found)
}

/// Keeps the summary of a session that is in the index, or that there is none.
pub(super) fn keep(
    connection: &Connection,
    key: &str,
    noted: Option<&Noted>,
) -> rusqlite::Result<()> {
    let Some(Noted { version, note }) = noted else {
        return forget(connection, key);
    };
    connection
        .prepare_cached(
            "INSERT OR REPLACE INTO summary (key, version, note)
             SELECT key, ?, ? FROM session WHERE key = ?",
        )?
        .execute(params![version, note, key])
        .map(drop)
}

pub(super) fn forget(connection: &Connection, key: &str) -> rusqlite::Result<()> {
    connection.prepare_cached("DELETE FROM summary WHERE key = ?")?.execute([key]).map(drop)
}
