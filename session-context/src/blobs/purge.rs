//! Removing for good what a clean-up moved to the trash.

use session_model::BlobRef;
use session_model::storage::{ListOptions, SessionStorageExt, StorageError, StorageErrorKind};

use super::gc::{TRASH, trashed_at};
use super::{BlobStore, GcCandidate, GcOptions, GcPlan};

/// What a purge did.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct PurgeOutcome {
    /// What is gone for good.
    pub removed: Vec<GcCandidate>,
    /// What could not be removed.
    pub problems: Vec<StorageError>,
}

impl BlobStore {
    /// Looks for blobs in the trash that nothing refers to; changes nothing.
    ///
    /// As [`gc_plan`](Self::gc_plan), but of what was moved to `trash/blobs/<time>/`, and the time
    /// of grace, for which there is no minimum here, counts from then.
    ///
    /// # Errors
    ///
    /// None in ordinary use; what could not be looked at is told by the plan.
    pub async fn purge_plan(
        &self,
        options: &GcOptions,
        progress: impl FnMut(u64, u64),
    ) -> Result<GcPlan, StorageError> {
        let trash = self.beside(TRASH)?;
        let (objects, errors) = self.storage.list_all(Some(&trash), ListOptions::default()).await;
        let ours = objects.into_iter().filter(|object| trashed_at(&object.key).is_some());
        let blobs = ours.filter_map(|o| Some((BlobRef::from_hex(o.key.file_name()).ok()?, o)));
        Ok(self.plan((blobs.collect(), errors), options, options.grace, progress).await)
    }

    /// Removes for good what [`purge_plan`](Self::purge_plan) found.
    ///
    /// A plan that could not look at everything removes nothing, and what is not in the trash is
    /// never removed.
    pub async fn purge_apply(&self, plan: &GcPlan) -> PurgeOutcome {
        let mut outcome = PurgeOutcome::default();
        let Ok(trash) = self.beside(TRASH) else { return outcome };
        let unused = plan.unused.iter().filter(|_| plan.is_complete());
        for blob in unused.filter(|blob| blob.meta.key.is_below(&trash)) {
            match self.storage.remove(&blob.meta.key).await {
                Ok(()) => outcome.removed.push(blob.clone()),
                Err(error) if error.kind() == StorageErrorKind::NotFound => {}
                Err(error) => outcome.problems.push(error),
            }
        }
        outcome
    }
}
