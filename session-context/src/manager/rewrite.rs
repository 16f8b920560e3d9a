//! Changing what is already written: titles and entries.

use std::collections::HashMap;
use std::sync::Arc;

use bytes::Bytes;
use session_model::body::{EntryBody, TitleChange, TitleSource};
use session_model::env::fresh_entry_id;
use session_model::storage::{Precondition, PutOptions, StorageError, StorageErrorKind};
use session_model::time::to_iso;
use session_model::{Entry, SessionDocument};

use super::append::parent_for_new;
use super::growth::Growth;
use super::persist::{ATTEMPTS, keeps_changing, read_if_there};
use super::{FileState, SessionManager};
use crate::error::{Result, SessionError};

/// Who gives a session its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NameSource {
    /// A program made it up; it never replaces a name a person gave.
    Auto,
    /// A person gave it.
    User,
}

impl SessionManager {
    /// Names the session and tells whether the name was taken.
    ///
    /// Control characters become spaces, runs of spaces one, and the ends are trimmed. A name that
    /// is empty then is not taken, nor one of [`NameSource::Auto`] where a person gave one.
    ///
    /// # Errors
    ///
    /// [`SessionError::ReadOnly`], or why the file could not be written: the old name stays then.
    pub async fn set_session_name(&mut self, name: &str, source: NameSource) -> Result<bool> {
        let name = clean_name(name);
        let name = match &self.filter {
            Some(filter) => filter.name(&name).into_owned(),
            None => name,
        };
        let users = self.header().title_source().as_deref() == Some("user");
        if name.is_empty() || (source == NameSource::Auto && users && self.session_name().is_some())
        {
            return Ok(false);
        }
        let now = to_iso(self.clock.now_ms());
        let tree = self.document.tree();
        let id = fresh_entry_id(&mut *self.ids, |id| tree.find(id).is_some());
        let (text, typed) = match source {
            NameSource::Auto => ("auto", TitleSource::Auto),
            NameSource::User => ("user", TitleSource::User),
        };
        let change = EntryBody::from(TitleChange {
            title: name.clone(),
            previous_title: self.session_name(),
            source: Some(typed),
            ..Default::default()
        });
        let entry = Entry::from_json(&change.to_entry_json(
            &id,
            parent_for_new(self.tree()).as_deref(),
            &now,
        ))
        .ok_or_else(|| SessionError::InvalidEntry { reason: "no title entry".into() })?;
        let entry = self.filtered(entry);
        self.rewrite(|document| {
            document.header_mut().set_title(&name, text, &now);
            document.push(entry.clone());
        })
        .await?;
        Ok(true)
    }

    /// Changes entries in place; `change` answers `None` for those that stay.
    ///
    /// The file is replaced atomically, every untouched line byte for byte as it was. Returns how
    /// many entries were changed.
    ///
    /// # Errors
    ///
    /// [`SessionError::ReadOnly`], or why the file could not be written: nothing is changed then,
    /// in memory or on disk.
    pub async fn rewrite_entries(
        &mut self,
        mut change: impl FnMut(&Entry) -> Option<Entry>,
    ) -> Result<usize> {
        let edit = |entry: &Entry| Some((entry.line().clone(), self.filtered(change(entry)?)));
        let edits: HashMap<Bytes, Entry> = self.entries().iter().filter_map(edit).collect();
        if edits.is_empty() {
            return Ok(0);
        }
        let mut changed = 0;
        self.rewrite(|document| {
            changed = 0;
            document.edit_entries(|_, entry| {
                let new = edits.get(entry.line()).cloned();
                changed += usize::from(new.is_some());
                new
            });
        })
        .await?;
        Ok(changed)
    }

    /// Puts a changed document in the place of the session's, on disk first.
    ///
    /// If another program changed the file, what it wrote is taken over and the change is made
    /// again on both together.
    pub(super) async fn rewrite(
        &mut self,
        mut change: impl FnMut(&mut SessionDocument),
    ) -> Result<()> {
        self.check_writable()?;
        for _ in 0..ATTEMPTS {
            let mut document = (*self.document).clone();
            change(&mut document);
            document.drop_byte_order_mark();
            if matches!(self.file, FileState::Open(_)) {
                self.save_blobs(document.tree().entries()).await?;
            }
            let done = match &self.file {
                FileState::Open(_) if self.failure.is_some() => {
                    return self.save_changed(document).await;
                }
                FileState::Open(_) => self.replace_file(&document).await?,
                FileState::Pending(_) | FileState::ReadOnly(_) => {
                    self.check_saved()?;
                    true
                }
            };
            if done {
                self.document = Arc::new(document);
                self.usage = None;
                return Ok(());
            }
        }
        Err(keeps_changing(&self.key))
    }

    /// Makes a failure good with a whole new file that carries a change along.
    async fn save_changed(&mut self, document: SessionDocument) -> Result<()> {
        let before = std::mem::replace(&mut self.document, Arc::new(document));
        let saved = self.save_again().await;
        match saved {
            Ok(()) => self.usage = None,
            Err(_) => self.document = before,
        }
        saved
    }

    /// Replaces the file; `false` if another program had changed it, which is taken over now.
    async fn replace_file(&mut self, document: &SessionDocument) -> Result<bool> {
        // The content is compared, for an edit in place and for what memory was rolled back from.
        let known = self.document.to_payload().to_bytes();
        let there = match read_if_there(&*self.storage, &self.key).await? {
            Some(there) if there.1 == known => there.0,
            _ => return self.take_over_and_look().await,
        };
        let FileState::Open(writer) = &mut self.file else { return Ok(true) };
        let unchanged = PutOptions::when(Precondition::Version(there.version));
        match writer.replace(document.to_payload(), unchanged).await {
            Ok(_) => Ok(true),
            Err(error) if is_foreign_change(&error) => self.take_over_and_look().await,
            Err(error) => {
                let after = read_if_there(&*self.storage, &self.key).await;
                let error = SessionError::from(error);
                if !after.is_ok_and(|after| after.is_some_and(|(_, bytes)| bytes == known)) {
                    self.latch(error.clone());
                }
                Err(error)
            }
        }
    }
}

impl SessionManager {
    /// Takes over what another program wrote, and refuses to replace a file it is still writing:
    /// what it wrote next would go into the old one, which is gone.
    async fn take_over_and_look(&mut self) -> Result<bool> {
        let mut growth = Growth::default();
        self.try_to_take_over(&mut growth).await?;
        self.note_growth(growth);
        if !self.is_being_written().await? {
            return Ok(false);
        }
        let detail = "another program is writing it, and what that writes next would be lost with \
                      the file that is replaced: wait until it is done"
            .to_owned();
        Err(StorageError::Conflict { key: self.key.clone(), detail }.into())
    }
}

fn is_foreign_change(error: &StorageError) -> bool {
    matches!(error.kind(), StorageErrorKind::Conflict | StorageErrorKind::NotFound)
}

fn clean_name(name: &str) -> String {
    let spaced: String = name.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    spaced.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_one_line_of_printable_text() {
        assert_eq!(clean_name("  Auto\u{7} title\nline2  "), "Auto title line2");
        assert_eq!(clean_name("\u{1b}[31mUser\u{1b}[0m name"), "[31mUser [0m name");
        assert_eq!(clean_name(" \n\t "), "");
    }
}
