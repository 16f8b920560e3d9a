//! What an entry's line names and does not hold.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use session_model::persisted::{blob_refs, names_blobs, restored};
use session_model::{BlobRef, Diagnostic, DiagnosticCode, Entry, SessionDocument};

use super::SessionManager;
use crate::blobs::BlobStore;
use crate::context::SessionContext;
use crate::error::Result;

impl SessionManager {
    /// Returns where this session's blobs are.
    ///
    /// # Errors
    ///
    /// None in ordinary use.
    pub fn blobs(&self) -> Result<BlobStore> {
        match &self.blobs {
            Some(blobs) => Ok(blobs.clone()),
            None => Ok(BlobStore::new(self.storage.clone())?),
        }
    }

    /// Makes the blobs durable that these entries' lines name, before the lines are written.
    ///
    /// Lines that were read and not changed have nothing to add.
    pub(super) async fn save_blobs(&mut self, entries: &[Entry]) -> Result<()> {
        let names_blobs = |entry: &&Entry| entry.is_shortened() && names_blobs(entry.line());
        for entry in entries.iter().filter(names_blobs) {
            let new = entry.blobs().into_iter();
            let new: Vec<_> = new.filter(|b| !self.saved_blobs.contains(&b.id())).collect();
            if new.is_empty() {
                continue;
            }
            let blobs = self.blobs()?;
            for blob in new {
                blobs.put(&blob).await?;
                self.saved_blobs.insert(blob.id());
            }
        }
        Ok(())
    }

    /// Makes sure of all blobs once more: the last time may be long ago.
    pub(super) async fn save_all_blobs(&mut self) -> Result<()> {
        self.saved_blobs.clear();
        let entries = self.entries().to_vec();
        self.save_blobs(&entries).await
    }

    /// Returns an entry with the content of blobs in the place of references, and what could not
    /// be put there.
    ///
    /// Those are references in image blocks of messages, in `image_url`, and of texts that were
    /// cut. The session stays as it is, and so does the line of the entry.
    pub fn resolved(
        &self,
        entry: &Entry,
    ) -> impl Future<Output = (Entry, Vec<Diagnostic>)> + Send + use<> {
        // The future holds no part of the session, whose writer may not be shared by threads.
        let (blobs, persist, entry) = (self.blobs(), self.persist, entry.clone());
        async move {
            let (bytes, mut found) = read_blobs(&blobs, blob_refs(&entry.json())).await;
            if let Some(id) = entry.id() {
                found = found.into_iter().map(|diagnostic| diagnostic.of_entry(&*id)).collect();
            }
            let whole = restored(&entry.json(), |id| bytes.get(&id).cloned());
            let entry =
                whole.map_or_else(|| entry.clone(), |json| entry.with_whole(json, &persist));
            (entry, found)
        }
    }

    /// Puts the content of blobs into the messages of a context; what is missing or damaged is
    /// among the context's diagnostics then, and the reference stays.
    pub fn resolve_images<'a>(
        &self,
        context: &'a mut SessionContext,
    ) -> impl Future<Output = ()> + Send + use<'a> {
        let blobs = self.blobs();
        async move {
            for at in 0..context.messages.len() {
                let Some(entry) = context.messages[at].as_entry() else { continue };
                let (bytes, found) = read_blobs(&blobs, blob_refs(&entry)).await;
                let id = context.messages[at].entry_id().map(str::to_owned);
                context.diagnostics.extend(found.into_iter().map(|found| match &id {
                    Some(id) => found.of_entry(id),
                    None => found,
                }));
                if let Some(whole) = restored(&entry, |id| bytes.get(&id).cloned()) {
                    context.messages[at].take_from_entry(&whole);
                }
            }
        }
    }

    /// Gives entries that were read again the whole values this session has of them.
    pub(super) fn keep_whole_values(&self, document: &mut SessionDocument) {
        let ours = self.entries().iter().filter(|entry| entry.is_shortened());
        let ours: HashMap<&Bytes, &Entry> = ours.map(|entry| (entry.line(), entry)).collect();
        if !ours.is_empty() {
            document.edit_entries(|_, entry| ours.get(entry.line()).map(|entry| (*entry).clone()));
        }
    }

    /// Resolves every entry in memory, once after opening.
    pub(super) async fn resolve_all_if(&mut self, wanted: bool) {
        if !wanted {
            return;
        }
        let entries = self.entries().to_vec();
        let mut resolved: HashMap<Bytes, Entry> = HashMap::new();
        for entry in entries.iter().filter(|entry| names_blobs(entry.line())) {
            let (whole, found) = self.resolved(entry).await;
            found.into_iter().for_each(|diagnostic| self.note(diagnostic));
            self.saved_blobs.extend(whole.blobs().iter().map(|blob| blob.id()));
            resolved.insert(entry.line().clone(), whole);
        }
        Arc::make_mut(&mut self.document)
            .edit_entries(|_, entry| resolved.get(entry.line()).cloned());
    }
}

async fn read_blobs(
    blobs: &Result<BlobStore>,
    ids: Vec<BlobRef>,
) -> (HashMap<BlobRef, Bytes>, Vec<Diagnostic>) {
    let (mut bytes, mut found) = (HashMap::new(), Vec::new());
    for id in ids {
        if bytes.contains_key(&id) {
            continue;
        }
        let got = match blobs {
            Ok(blobs) => blobs.get(id).await,
            Err(error) => {
                found.push(Diagnostic::new(DiagnosticCode::Unreadable, error.to_string()));
                continue;
            }
        };
        match got {
            Ok(content) => drop(bytes.insert(id, content)),
            Err(error) => found.push(error.diagnostic()),
        }
    }
    (bytes, found)
}
