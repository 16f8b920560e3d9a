//! Bringing two copies of one session together.

use std::collections::HashSet;

use bytes::Bytes;
use session_model::document::Loaded;
use session_model::persisted::{blob_refs, names_blobs};
use session_model::storage::StorageKey;
use session_model::{Blob, Diagnostic, Entry, SessionDocument};

use super::foreign::{missing_from, reworded};
use super::{FileState, SessionManager};
use crate::blobs::BlobStore;
use crate::error::{Result, SessionError};

/// Another copy of a session, from another machine, a backup or a folder kept in step by a sync
/// service.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct OtherCopy {
    /// The content of its file.
    pub bytes: Bytes,
    /// What to call it in errors.
    pub name: String,
    /// Where its blobs are; default: where this session's are.
    pub blobs: Option<BlobStore>,
}

impl OtherCopy {
    /// A copy with this content, called by this name in errors.
    pub fn new(bytes: impl Into<Bytes>, name: impl Into<String>) -> Self {
        Self { bytes: bytes.into(), name: name.into(), blobs: None }
    }

    /// The same with its blobs there.
    pub fn blobs(self, blobs: BlobStore) -> Self {
        Self { blobs: Some(blobs), ..self }
    }
}

/// What came of bringing in another copy.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Merged {
    /// How many entries only the other copy had; they are at the end now, in its order.
    pub added: usize,
    /// How many entries only this session had.
    pub only_here: usize,
    /// The entries that both have in different words; this session keeps its own.
    pub reworded: Vec<String>,
    /// The object beside the session's file that keeps the other copy's wording of them.
    pub kept_in: Option<StorageKey>,
    /// What of the other copy is no entry or could not be brought in; the copy still has it.
    pub left: Vec<Diagnostic>,
}

impl SessionManager {
    /// Brings in the entries that another copy of this session has and this one lacks.
    ///
    /// Entries are told apart by id, and by their text if they have none. What is brought in is
    /// written behind this session's last entry with ids and parents as they are, so that work
    /// that went on in both copies becomes two branches. The session stays at its leaf, durably;
    /// if the other copy went on from there, it moves to the other's last entry. Merging the same
    /// copy again adds nothing. Blobs come first. Titles stay those of this session, and artifacts
    /// are left alone.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotASession`] for what is none, [`SessionError::OtherSession`] for a
    /// session of another id, [`SessionError::OtherFormat`] for a copy in another format version,
    /// and as [`append`](Self::append): the session then has some of the new entries or none, and
    /// merging again brings in the rest.
    pub async fn merge(&mut self, other: OtherCopy) -> Result<Merged> {
        self.check_writable()?;
        let OtherCopy { bytes, name, blobs } = other;
        let load = SessionDocument::load(bytes, &self.load);
        let Loaded { document, diagnostics: left, .. } =
            load.map_err(|source| SessionError::NotASession { key: self.key.clone(), source })?;
        self.check_same_session(&document, name)?;
        let added = missing_from(self.document(), document.tree().entries());
        let only_here = missing_from(&document, self.entries()).len();
        let reworded = reworded(&document, self.document());
        let mut merged = Merged { added: added.len(), only_here, left, ..Merged::default() };
        merged.kept_in = self.put_reworded_aside(&reworded).await?;
        merged.reworded = reworded.iter().filter_map(Entry::id).map(Into::into).collect();
        if let Some(blobs) = blobs {
            self.bring_blobs(&added, &blobs, &mut merged.left).await?;
        }
        let Some(first) = added.first() else { return Ok(merged) };
        let first = first.id().unwrap_or_default().into_owned();
        let leaf = self.leaf_id();
        self.usage = None;
        self.save_new(added, &first).await?;
        if !self.goes_on_from(leaf.as_deref()) {
            self.branch_durably(leaf.as_deref()).await?;
        }
        self.settle_durability(&first).await?;
        Ok(merged)
    }

    fn check_same_session(&self, other: &SessionDocument, name: String) -> Result<()> {
        let (ours, theirs) = (self.header(), other.header());
        if ours.id() != theirs.id() {
            return Err(SessionError::OtherSession { name, id: theirs.id(), expected: ours.id() });
        }
        if ours.version() != theirs.version() {
            let (version, expected) = (theirs.version(), ours.version());
            return Err(SessionError::OtherFormat { name, version, expected });
        }
        Ok(())
    }

    /// Tells whether the present leaf is the old one or came out of it.
    fn goes_on_from(&self, old: Option<&str>) -> bool {
        let tree = self.tree();
        let (Some(new), Some(old)) = (tree.leaf(), old.and_then(|id| tree.find(id))) else {
            return old.is_none() && self.entries().is_empty();
        };
        tree.path_to(new).contains(&old)
    }

    async fn put_reworded_aside(&mut self, reworded: &[Entry]) -> Result<Option<StorageKey>> {
        if reworded.is_empty() || !matches!(self.file, FileState::Open(_)) {
            return Ok(None);
        }
        self.put_lines_aside(reworded).await.map(Some)
    }

    /// Copies the blobs that entries name and this session's store lacks.
    async fn bring_blobs(
        &mut self,
        entries: &[Entry],
        from: &BlobStore,
        left: &mut Vec<Diagnostic>,
    ) -> Result<()> {
        let to = self.blobs()?;
        let naming = entries.iter().filter(|entry| names_blobs(entry.line()));
        let wanted: HashSet<_> = naming.flat_map(|entry| blob_refs(&entry.json())).collect();
        for id in wanted {
            if to.head(id).await?.is_some() {
                continue;
            }
            match from.get(id).await {
                Ok(bytes) => drop(to.put(&Blob::new(bytes)).await?),
                Err(error) => left.push(error.diagnostic()),
            }
        }
        Ok(())
    }
}
