//! Artifacts that go along when a session is copied or moved.

use session_model::storage::{
    CopyOptions, ListOptions, RenameOptions, SessionStorageExt, StorageError, StorageKey,
};

use super::Artifacts;
use crate::error::Result;

/// What came of taking artifacts to another session.
#[derive(Debug, Default)]
#[non_exhaustive]
pub struct Copied {
    /// The new objects.
    pub done: Vec<StorageKey>,
    /// What stayed behind, and why.
    pub failed: Vec<StorageError>,
}

impl Artifacts {
    /// Copies all artifacts, child sessions too, to those of another session in the same storage.
    ///
    /// What cannot be copied does not keep the rest from it. What is already there is not
    /// written over.
    pub async fn copy_to(&self, other: &Self) -> Copied {
        self.take(other, false).await
    }

    /// Moves all artifacts, child sessions too, as [`copy_to`](Self::copy_to) copies them.
    ///
    /// To undo it, move them back.
    pub async fn move_to(&self, other: &Self) -> Copied {
        self.take(other, true).await
    }

    async fn take(&self, other: &Self, moved: bool) -> Copied {
        let (found, failed) =
            self.storage.list_all(Some(&self.prefix), ListOptions::default()).await;
        let mut copied = Copied { done: Vec::new(), failed };
        for from in found.into_iter().map(|meta| meta.key) {
            match self.take_one(&from, other, moved).await {
                Ok(to) => copied.done.push(to),
                Err(error) => {
                    tracing::warn!(artifact = %from, error = %error, "an artifact stays behind");
                    copied.failed.push(error);
                }
            }
        }
        copied
    }

    async fn take_one(
        &self,
        from: &StorageKey,
        other: &Self,
        moved: bool,
    ) -> Result<StorageKey, StorageError> {
        let rest = &from.as_str()[self.prefix.as_str().len() + 1..];
        let to = other.prefix.join(rest)?;
        if moved {
            self.storage.rename(from, &to, RenameOptions::default()).await?;
        } else {
            self.storage.copy(from, &to, CopyOptions::default()).await?;
        }
        Ok(to)
    }
}
