//! Summaries that the index beside the sessions keeps.

#[cfg(feature = "indexed")]
use std::path::PathBuf;
#[cfg(feature = "indexed")]
use std::time::Duration;
use std::time::SystemTime;

#[cfg(feature = "indexed")]
use session_model::layout::SESSIONS_DIR;
#[cfg(feature = "indexed")]
use session_model::storage::StorageKey;
use session_model::storage::{ObjectMeta, SessionStorage};
use session_model::summary::SessionSummary;
#[cfg(feature = "indexed")]
use session_model::{Diagnostic, DiagnosticCode};
#[cfg(feature = "indexed")]
use session_store_indexed::{
    DatabaseDiagnostic,
    index::{IndexError, IndexOptions, Summaries},
    storage::INDEX_FILE,
};

use super::{KnownSummaries, SessionRow};

/// How long a lock held by another program is waited for: looking into the files takes no longer.
#[cfg(feature = "indexed")]
const BUSY_TIMEOUT: Duration = Duration::from_millis(100);

/// The index of a place; one that cannot be used is as good as none.
#[cfg(feature = "indexed")]
#[derive(Debug, Default)]
pub(super) struct Noted {
    summaries: Option<Summaries>,
    database: PathBuf,
    /// Why the index is not used.
    found: Option<DatabaseDiagnostic>,
}

#[cfg(feature = "indexed")]
impl Noted {
    /// Opens the index beside the sessions of a storage, if there is one.
    pub(super) fn beside(storage: &dyn SessionStorage) -> Self {
        let sessions = StorageKey::new(SESSIONS_DIR).ok();
        let sessions = sessions.and_then(|sessions| storage.local_path(&sessions));
        let database = sessions.map(|sessions| sessions.with_file_name(INDEX_FILE));
        let options = IndexOptions::default().busy_timeout(BUSY_TIMEOUT);
        let database = database.filter(|database| database.is_file());
        // What the storage itself could not use is told already.
        let is_told = |told: &Diagnostic| told.code == DiagnosticCode::IndexNotUsed;
        let Some(database) = database.filter(|_| !storage.diagnostics().iter().any(is_told)) else {
            return Self::default();
        };
        let opened = Summaries::open(&database, options);
        let mut noted = Self { database, ..Self::default() };
        noted.summaries = noted.usable(opened);
        noted
    }

    /// Fills in the summaries that are missing, of files that are as they were.
    pub(super) fn fill<'a>(
        &mut self,
        files: impl Iterator<Item = &'a ObjectMeta>,
        found: &mut [Option<SessionSummary>],
    ) {
        let Some(summaries) = &mut self.summaries else { return };
        let (files, missing): (Vec<_>, Vec<_>) =
            files.zip(found).filter(|(_, found)| found.is_none()).unzip();
        let noted = summaries.find(&files);
        for (missing, noted) in missing.into_iter().zip(self.usable(noted).unwrap_or_default()) {
            *missing = noted;
        }
    }

    /// Keeps what was found out by looking into files, which began at a time.
    pub(super) fn keep<'a>(
        &mut self,
        looked: SystemTime,
        rows: impl Iterator<Item = &'a SessionRow>,
    ) {
        let Some(summaries) = &mut self.summaries else { return };
        let seen = rows.filter_map(|row| Some((row.meta.as_ref()?, row.summary.as_ref().ok()?)));
        let kept = summaries.keep(looked, seen);
        self.usable(kept);
    }

    /// Hands on what was found of the index.
    pub(super) fn tell(&self, known: Option<&KnownSummaries>) {
        let Some(known) = known else { return };
        let found = self.summaries.iter().flat_map(Summaries::diagnostics);
        known.indexes().extend(found.chain(self.found.clone()));
    }

    /// Makes no further use of the index after an error.
    fn usable<T>(&mut self, answer: Result<T, IndexError>) -> Option<T> {
        answer
            .inspect_err(|error| {
                tracing::debug!(%error, "the index is not used for this list");
                self.summaries = None;
                // What another program keeps locked is used the next time.
                if !matches!(error, IndexError::Database(error) if error.is_retryable()) {
                    self.found = Some(DatabaseDiagnostic::not_used(&self.database, error));
                }
            })
            .ok()
    }
}

/// No index, in a build without them.
#[cfg(not(feature = "indexed"))]
#[derive(Debug)]
pub(super) struct Noted;

#[cfg(not(feature = "indexed"))]
impl Noted {
    pub(super) fn beside(_: &dyn SessionStorage) -> Self {
        Self
    }

    pub(super) fn fill<'a>(
        &mut self,
        _: impl Iterator<Item = &'a ObjectMeta>,
        _: &mut [Option<SessionSummary>],
    ) {
    }

    pub(super) fn keep<'a>(&mut self, _: SystemTime, _: impl Iterator<Item = &'a SessionRow>) {}

    pub(super) fn tell(&self, _: Option<&KnownSummaries>) {}
}
