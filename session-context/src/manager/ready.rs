//! Entries that come ready-made, with ids and parents of their own.

use std::sync::Arc;

use session_model::json::RawJson;
use session_model::storage::{Precondition, PutOptions, SessionStorage, StorageKey};
use session_model::{Entry, SessionDocument, SessionHeader};

use super::append::Prepared;
use super::{FileState, SessionManager, SessionOptions};
use crate::error::{Result, SessionError};

impl SessionManager {
    /// Writes a new session of ready entries; its file is there whole or not at all.
    pub(crate) async fn write_ready(
        storage: Arc<dyn SessionStorage>,
        key: StorageKey,
        header: SessionHeader,
        entries: &[RawJson],
        options: SessionOptions,
    ) -> Result<()> {
        let file = FileState::ReadOnly("it is being written".to_owned());
        let mut manager = Self::assemble(storage, key, SessionDocument::new(header), file, options);
        let entries = manager.ready(entries)?;
        manager.document_mut().replace_entries(entries);
        manager.save_all_blobs().await?;
        let new = PutOptions::when(Precondition::Absent);
        manager.storage.put(&manager.key, manager.document.to_payload(), new).await?;
        Ok(())
    }

    /// Appends ready entries, all with one write; the last one becomes the leaf.
    pub(crate) async fn append_ready(&mut self, entries: &[RawJson]) -> Result<()> {
        self.check_writable()?;
        let entries = self.ready(entries)?;
        self.usage = None;
        self.save_new(Prepared::of(entries)).await.map(drop)
    }

    fn ready(&self, entries: &[RawJson]) -> Result<Vec<Entry>> {
        let entry = |json| {
            let invalid = |reason: String| SessionError::InvalidEntry { reason };
            let entry = Entry::with_persisted_form(json, &self.persist)
                .ok_or_else(|| invalid("its type is no string".to_owned()))?;
            self.check_line(&entry)?;
            Ok(entry)
        };
        entries.iter().map(entry).collect()
    }
}
