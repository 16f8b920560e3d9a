//! Writing a session's copy: a new file, with the artifacts beside it.

use std::ops::Range;
use std::sync::Arc;

use session_model::storage::{
    AppendOptions, AppendWriter, Precondition, PutOptions, SessionStorage, StorageError,
    StorageErrorKind, StorageKey,
};
use session_model::{Diagnostic, DiagnosticCode, SessionDocument};

use crate::artifacts::Artifacts;
use crate::error::Result;

/// Where a copy is made of which session.
pub(crate) struct Copy<'a> {
    pub(crate) storage: &'a Arc<dyn SessionStorage>,
    pub(crate) from: &'a StorageKey,
    pub(crate) to: &'a StorageKey,
    /// What others are told who find the copy in use.
    pub(crate) owner: &'a str,
}

/// A copy that was made.
pub(crate) struct Written {
    /// The claim on its file.
    pub(crate) writer: Box<dyn AppendWriter>,
    /// What was not copied.
    pub(crate) left_behind: Vec<Diagnostic>,
}

impl Copy<'_> {
    /// Writes a document to the new file, and copies the artifacts; on failure there is neither.
    ///
    /// With `rest` that part of the old file follows the document's header, whatever else the
    /// document holds: it does not pass through memory where the storage can spare that.
    pub(crate) async fn write(
        &self,
        document: &SessionDocument,
        rest: Option<Range<u64>>,
    ) -> Result<Written> {
        // The file comes last, so that it never refers to what is yet to come.
        let (copied, left_behind) = self.copy_artifacts().await;
        match self.write_file(document, rest).await {
            Ok(writer) => Ok(Written { writer, left_behind }),
            Err(error) => {
                // A new id is in the name: unless somebody was there first, it is ours.
                if error.kind() != StorageErrorKind::AlreadyExists {
                    remove_quietly(&**self.storage, self.to).await;
                }
                for artifact in &copied {
                    remove_quietly(&**self.storage, artifact).await;
                }
                Err(error.into())
            }
        }
    }

    async fn write_file(
        &self,
        document: &SessionDocument,
        rest: Option<Range<u64>>,
    ) -> Result<Box<dyn AppendWriter>, StorageError> {
        let new = PutOptions::when(Precondition::Absent);
        let (len, put) = match rest {
            None => {
                let whole = document.to_payload();
                (whole.len(), self.storage.put(self.to, whole, new).await)
            }
            Some(rest) => {
                let head = document.beginning();
                let len = head.len() + (rest.end - rest.start);
                (len, self.storage.put_joined(self.to, head, self.from, rest, new).await)
            }
        };
        put?;
        let claim = AppendOptions::exclusive(self.owner).when(Precondition::Length(len));
        self.storage.open_append(self.to, claim).await
    }

    /// Copies the artifacts, as far as that works.
    async fn copy_artifacts(&self) -> (Vec<StorageKey>, Vec<Diagnostic>) {
        let of = |key| Artifacts::of(Arc::clone(self.storage), key);
        let (Ok(ours), Ok(theirs)) = (of(self.from), of(self.to)) else {
            return Default::default();
        };
        let copied = ours.copy_to(&theirs).await;
        let told = copied.failed.iter().map(|error| {
            Diagnostic::new(DiagnosticCode::ArtifactLeftBehind, format!("not copied: {error}"))
        });
        (copied.done, told.collect())
    }
}

/// Takes back an object of a step that failed; the failure itself is reported.
pub(crate) async fn remove_quietly(storage: &dyn SessionStorage, key: &StorageKey) {
    if let Err(error) = storage.remove(key).await
        && error.kind() != StorageErrorKind::NotFound
    {
        tracing::warn!(%key, error = %error, "an unfinished copy stays");
    }
}
