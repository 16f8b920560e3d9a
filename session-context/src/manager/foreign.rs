//! What to do when another program changed the file all the same.
//!
//! Claims are advisory: an older tool, an editor or a sync service knows nothing of them. What it
//! wrote is taken over, and what only this session has is written behind it, so that neither side
//! loses an entry.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use bytes::Bytes;
use session_model::document::Loaded;
use session_model::storage::{
    AppendOptions, Precondition, PutOptions, SessionStorageExt, StorageError, StorageErrorKind,
    StorageKey,
};
use session_model::{Diagnostic, DiagnosticCode, Entry, SessionDocument};

use super::aside::{self, Aside};
use super::growth::Growth;
use super::persist::read_if_there;
use super::{FileState, SessionManager};
use crate::error::{Result, SessionError};

/// Two states of one session, joined.
struct Joined {
    document: SessionDocument,
    /// What only this session had, now at the end.
    ours: Vec<Entry>,
    /// What the file has under the same ids and in other words.
    changed: Vec<Entry>,
    /// What only the file had.
    theirs: Vec<Entry>,
}

impl SessionManager {
    /// Makes memory and file agree after somebody else changed the file.
    ///
    /// The whole file is read and compared once in a write; what was appended to it since is all that
    /// is read after that.
    pub(super) async fn take_over_foreign_changes(&mut self, growth: &mut Growth) -> Result<()> {
        let FileState::Open(writer) = &mut self.file else { return Ok(()) };
        let there = match writer.adopt().await {
            Ok(_) if self.take_over_growth(growth).await? => return Ok(()),
            Ok(_) => read_if_there(&*self.storage, &self.key).await?,
            Err(error) if error.kind() == StorageErrorKind::NotFound => None,
            Err(error) => return Err(error.into()),
        };
        let ours = self.document.to_payload().to_bytes();
        let theirs = match there {
            Some((_, bytes)) if growth.known.is_none() && bytes.starts_with(&ours) => {
                growth.begin(&ours);
                // Somebody touched the file and changed nothing, or only added to it.
                if bytes == ours || self.take_over_growth(growth).await? {
                    return Ok(());
                }
                self.read_theirs(bytes).await?
            }
            Some((_, bytes)) => self.read_theirs(bytes).await?,
            None => None,
        };
        growth.known = None;
        let Some(theirs) = theirs else { return self.restore_file().await };
        let mut joined = join(&self.document, theirs.document);
        self.put_torn_tail_aside(&mut joined.document, true).await?;
        self.put_changed_aside(&joined.changed).await?;
        // Memory changes last: what a failure leaves in the file is taken over the next time.
        for entry in &joined.ours {
            let line = joined.document.push(entry.clone());
            if let FileState::Open(writer) = &mut self.file {
                writer.append(line).await?;
            }
        }
        let is_told = growth.entries > 0 && joined.theirs.is_empty();
        self.adopt_joined(joined, theirs.diagnostics, is_told);
        Ok(())
    }

    /// Writes the whole session through a fresh claim, whatever state the file is in.
    pub(super) async fn write_whole_again(&mut self) -> Result<()> {
        self.save_all_blobs().await?;
        self.file = FileState::Pending(None);
        let claim = AppendOptions::exclusive(&self.owner);
        let mut writer = self.storage.open_append(&self.key, claim).await?;
        let (meta, there) = self.storage.read_all(&self.key).await?;
        let known = self.document.to_payload().to_bytes();
        // What this session wrote itself, whole or in part, has nothing to add.
        let ours = known.starts_with(&there) || there.iter().all(u8::is_ascii_whitespace);
        let unchanged = PutOptions::when(Precondition::Version(meta.version));
        if !ours && let Some(theirs) = self.read_theirs(there).await? {
            let mut joined = join(&self.document, theirs.document);
            self.put_torn_tail_aside(&mut joined.document, false).await?;
            self.put_changed_aside(&joined.changed).await?;
            for entry in &joined.ours {
                joined.document.push(entry.clone());
            }
            self.adopt_joined(joined, theirs.diagnostics, false);
        }
        self.document_mut().drop_byte_order_mark();
        let written = writer.replace(self.document.to_payload(), unchanged).await;
        self.file = FileState::Open(writer);
        Ok(written.map(|_| ())?)
    }

    /// Reads what is in the file; what is no session is moved aside and counts as nothing.
    async fn read_theirs(&mut self, bytes: Bytes) -> Result<Option<Loaded>> {
        match SessionDocument::load(bytes.clone(), &self.load) {
            Ok(loaded) if loaded.document.header().id() != self.session_id() => {
                Err(StorageError::Conflict {
                    key: self.key.clone(),
                    detail: format!(
                        "it now holds another session, {}",
                        loaded.document.header().id()
                    ),
                }
                .into())
            }
            Ok(loaded) if loaded.document.header().is_newer() => Err(SessionError::ReadOnly {
                key: self.key.clone(),
                reason: "another program brought it to a newer format".to_owned(),
            }),
            Ok(loaded) => Ok(Some(loaded)),
            Err(_) => {
                let time = self.clock.now_ms();
                let moved =
                    aside::save(&*self.storage, &self.key, Aside::Damaged, time, bytes).await?;
                let detail =
                    format!("the session's file held something else, which is now {moved}");
                self.note(Diagnostic::new(DiagnosticCode::FileMovedAside, detail));
                Ok(None)
            }
        }
    }

    /// Tells whether the file holds another session, which is never written over.
    pub(super) async fn is_another_session(&mut self) -> Result<bool> {
        let Some((_, there)) = read_if_there(&*self.storage, &self.key).await? else {
            return Ok(false);
        };
        let loaded = SessionDocument::load(there, &self.load);
        Ok(loaded.is_ok_and(|loaded| loaded.document.header().id() != self.session_id()))
    }

    async fn restore_file(&mut self) -> Result<()> {
        self.document_mut().drop_byte_order_mark();
        let FileState::Open(writer) = &mut self.file else { return Ok(()) };
        writer.replace(self.document.to_payload(), PutOptions::default()).await?;
        let detail = "another program removed or replaced the session's file; it was written again";
        self.note(Diagnostic::new(DiagnosticCode::FileRestored, detail));
        Ok(())
    }

    /// Moves a torn end into a file of its own; with `cut`, off the session's file too.
    async fn put_torn_tail_aside(
        &mut self,
        document: &mut SessionDocument,
        cut: bool,
    ) -> Result<()> {
        let tail = document.torn_tail().clone();
        if tail.is_empty() {
            return Ok(());
        }
        let time = self.clock.now_ms();
        let moved = match &mut self.file {
            FileState::Open(writer) if cut => {
                aside::cut_tail(&*self.storage, &self.key, &mut **writer, time, &tail).await?
            }
            _ => aside::save(&*self.storage, &self.key, Aside::Torn, time, tail.clone()).await?,
        };
        document.forget_torn_tail();
        self.note(aside::torn_diagnostic(&moved, tail.len()));
        Ok(())
    }

    /// Keeps this session's wording of entries that another program changed.
    async fn put_changed_aside(&mut self, changed: &[Entry]) -> Result<()> {
        let Some(id) = changed.first().and_then(Entry::id) else { return Ok(()) };
        let kept = self.put_lines_aside(changed).await?;
        let detail = format!(
            "another program changed {} entries, {id} the first; they are as it left them, and as \
             they were in {kept}",
            changed.len()
        );
        self.note(Diagnostic::new(DiagnosticCode::EntryChanged, detail).of_entry(id));
        Ok(())
    }

    /// Writes the lines of entries to an object beside the session.
    pub(super) async fn put_lines_aside(&mut self, entries: &[Entry]) -> Result<StorageKey> {
        let lines: Vec<u8> =
            entries.iter().flat_map(|entry| [text(entry), b"\n"]).flatten().copied().collect();
        let time = self.clock.now_ms();
        aside::save(&*self.storage, &self.key, Aside::Changed, time, lines.into()).await
    }

    fn adopt_joined(&mut self, joined: Joined, found: Vec<Diagnostic>, is_told: bool) {
        let Joined { mut document, ours, theirs, .. } = joined;
        let rival = self.rival(&theirs);
        self.keep_whole_values(&mut document);
        let leaf = self.leaf_entry().map(|leaf| leaf.id().map(Cow::into_owned));
        let node = match leaf {
            None => None,
            Some(id) => id.and_then(|id| document.tree().find(&id)).or(document.tree().leaf()),
        };
        document.set_leaf(node);
        self.document = Arc::new(document);
        self.usage = None;
        let detail = format!(
            "another program changed the session's file: {} of its entries were taken over, \
             and {} of this session's stand behind them",
            theirs.len(),
            ours.len()
        );
        if !is_told {
            self.note(Diagnostic::new(DiagnosticCode::ForeignChange, detail));
        }
        self.note_rival(rival);
        for diagnostic in found {
            if !self.diagnostics.contains(&diagnostic) {
                self.note(diagnostic);
            }
        }
    }
}

/// Finds what each side lacks; the file's state is the base, and `ours` is yet to be added to it.
fn join(ours: &SessionDocument, theirs: SessionDocument) -> Joined {
    Joined {
        ours: missing_from(&theirs, ours.tree().entries()),
        changed: reworded(ours, &theirs),
        theirs: missing_from(ours, theirs.tree().entries()),
        document: theirs,
    }
}

/// The entries that a document lacks, by id, or text if they have none.
pub(super) fn missing_from(document: &SessionDocument, entries: &[Entry]) -> Vec<Entry> {
    let lines: HashSet<&[u8]> = document.tree().entries().iter().map(text).collect();
    let is_there = |entry: &Entry| match entry.id() {
        Some(id) => document.tree().find(&id).is_some(),
        None => lines.contains(text(entry)),
    };
    entries.iter().filter(|entry| !is_there(entry)).cloned().collect()
}

/// One document's wording of entries that another has in other words.
pub(super) fn reworded(of: &SessionDocument, other: &SessionDocument) -> Vec<Entry> {
    let lines: HashSet<&[u8]> = other.tree().entries().iter().map(text).collect();
    let is_changed = |entry: &&Entry| {
        let id = entry.id();
        id.is_some_and(|id| other.tree().find(&id).is_some()) && !lines.contains(text(entry))
    };
    of.tree().entries().iter().filter(is_changed).cloned().collect()
}

/// An entry's line without its end.
fn text(entry: &Entry) -> &[u8] {
    entry.line().trim_ascii()
}
