//! What to do when another program changed the file all the same.
//!
//! Claims are advisory: an older tool, an editor or a sync service knows nothing of them. What it
//! wrote is taken over, and what only this session has is written behind it, so that neither side
//! loses an entry.

use std::borrow::Cow;
use std::collections::HashSet;

use bytes::Bytes;
use session_model::storage::{PutOptions, StorageErrorKind};
use session_model::{Diagnostic, DiagnosticCode, Entry, SessionDocument};

use super::aside::{self, Aside};
use super::persist::read_if_there;
use super::{FileState, SessionManager};
use crate::error::Result;

impl SessionManager {
    /// Makes memory and file agree after somebody else changed the file.
    pub(super) async fn take_over_foreign_changes(&mut self) -> Result<()> {
        let FileState::Open(writer) = &mut self.file else { return Ok(()) };
        let there = match writer.adopt().await {
            Ok(_) => read_if_there(&*self.storage, &self.key).await?,
            Err(error) if error.kind() == StorageErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let Some(bytes) = there else { return self.restore_file().await };
        match SessionDocument::load(bytes.clone(), &self.load) {
            Ok(loaded) => self.merge(loaded.document, loaded.diagnostics).await,
            Err(_) => {
                let (key, time) = (&self.key, self.clock.now_ms());
                let moved = aside::save(&*self.storage, key, Aside::Damaged, time, bytes).await?;
                let detail = format!(
                    "another program replaced the session by something else, kept as {moved}"
                );
                self.note(Diagnostic::new(DiagnosticCode::FileMovedAside, detail));
                self.restore_file().await
            }
        }
    }

    async fn restore_file(&mut self) -> Result<()> {
        let FileState::Open(writer) = &mut self.file else { return Ok(()) };
        writer.replace(self.document.to_payload(), PutOptions::default()).await?;
        let detail = "another program removed or replaced the session's file; it was written again";
        self.note(Diagnostic::new(DiagnosticCode::FileRestored, detail));
        Ok(())
    }

    /// Takes the file's state for the session and adds what only this session has.
    async fn merge(&mut self, mut theirs: SessionDocument, found: Vec<Diagnostic>) -> Result<()> {
        let lines: HashSet<&Bytes> = theirs.tree().entries().iter().map(Entry::line).collect();
        let missing: Vec<Entry> = self
            .entries()
            .iter()
            .filter(|entry| match entry.id() {
                Some(id) => theirs.tree().find(&id).is_none(),
                None => !lines.contains(entry.line()),
            })
            .cloned()
            .collect();
        let new = theirs.tree().len() + missing.len()
            - self.entries().len().min(theirs.tree().len() + missing.len());
        if !theirs.torn_tail().is_empty() {
            let (tail, time) = (theirs.torn_tail().clone(), self.clock.now_ms());
            let moved =
                aside::save(&*self.storage, &self.key, Aside::Torn, time, tail.clone()).await?;
            if let FileState::Open(writer) = &mut self.file {
                writer.truncate(writer.len() - tail.len() as u64).await?;
            }
            theirs.forget_torn_tail();
            self.note(aside::torn_diagnostic(&moved, tail.len()));
        }
        for entry in &missing {
            let line = theirs.push(entry.clone());
            if let FileState::Open(writer) = &mut self.file {
                writer.append(line).await?;
            }
        }
        let leaf = self.leaf_entry().and_then(|leaf| leaf.id().map(Cow::into_owned));
        let leaf = leaf.map(|id| theirs.tree().find(&id)).unwrap_or_else(|| self.tree().leaf());
        theirs.set_leaf(leaf.filter(|_| self.tree().leaf().is_some()));
        self.document = theirs;
        self.usage = None;
        let detail = format!(
            "another program changed the session's file; {new} of its entries were taken over and {} \
             of this session's written behind them",
            missing.len()
        );
        self.note(Diagnostic::new(DiagnosticCode::ForeignChange, detail));
        found
            .into_iter()
            .filter(|d| d.code == DiagnosticCode::InterleavedBranches)
            .for_each(|d| self.note(d));
        Ok(())
    }
}
