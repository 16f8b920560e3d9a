//! Summaries that need not be made again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use session_model::storage::{ObjectMeta, StorageKey, Version};
use session_model::summary::SessionSummary;
#[cfg(feature = "indexed")]
use session_store_indexed::DatabaseDiagnostic;

/// The summaries of files as they were when a list was made last.
#[derive(Clone, Debug, Default)]
pub(super) struct KnownSummaries {
    files: Arc<Mutex<HashMap<(usize, StorageKey), Known>>>,
    /// What was found of the indexes beside the sessions.
    #[cfg(feature = "indexed")]
    indexes: Arc<Mutex<Vec<DatabaseDiagnostic>>>,
}

#[derive(Debug)]
struct Known {
    version: Version,
    summary: SessionSummary,
}

impl KnownSummaries {
    /// Returns the summary of a file that is still as it was.
    pub(super) fn find(&self, place: usize, meta: &ObjectMeta) -> Option<SessionSummary> {
        let known = self.lock();
        let found = known.get(&(place, meta.key.clone()))?;
        (found.version == meta.version).then(|| found.summary.clone())
    }

    /// Keeps these summaries and no others, as far as the files were settled when they began to be
    /// looked at.
    pub(super) fn keep<'a>(
        &self,
        looked: SystemTime,
        seen: impl Iterator<Item = (usize, &'a ObjectMeta, &'a SessionSummary)>,
    ) {
        let mut known = self.lock();
        let mut old = std::mem::take(&mut *known);
        for (place, meta, summary) in seen.filter(|(_, meta, _)| meta.is_settled(looked)) {
            let at = (place, meta.key.clone());
            let kept = match old.remove(&at) {
                Some(kept) if kept.version == meta.version => kept,
                _ => Known { version: meta.version.clone(), summary: summary.clone() },
            };
            known.insert(at, kept);
        }
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<(usize, StorageKey), Known>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }

    #[cfg(feature = "indexed")]
    pub(super) fn indexes(&self) -> MutexGuard<'_, Vec<DatabaseDiagnostic>> {
        self.indexes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
