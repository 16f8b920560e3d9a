//! Keeping the file in step with memory.

use std::sync::Arc;

use bytes::Bytes;
use session_model::Entry;
use session_model::storage::{
    AppendOptions, AppendWriter, Durability, ObjectMeta, Payload, Precondition, PutOptions,
    SessionStorage, StorageError, StorageErrorKind, StorageKey,
};

use super::append::{Prepared, is_answer};
use super::growth::{CATCH_UPS, Growth};
use super::{FileState, SessionManager, add_usage};
use crate::error::{Result, SessionError};

/// How often another program's changes are taken over before a write is given up.
pub(super) const ATTEMPTS: usize = 3;

/// How often a write was tried.
#[derive(Debug, Default)]
struct Attempts {
    all: usize,
    whole: usize,
}

impl Attempts {
    /// Counts another attempt, unless there were enough: few after a change of any kind, and many
    /// while the file only grows.
    fn again(&mut self, growth: &Growth) -> bool {
        self.all += 1;
        self.whole += usize::from(growth.known.is_none());
        self.whole <= ATTEMPTS && self.all <= CATCH_UPS
    }
}

impl SessionManager {
    /// Adds entries to memory and, if it is time, to the file; returns their ids.
    pub(super) async fn save_new(&mut self, prepared: Prepared) -> Result<Vec<String>> {
        let Prepared { ids, lines, entries } = prepared;
        let Some(first) = ids.first() else { return Ok(ids) };
        let saved = match &self.file {
            _ if self.failure.is_some() => Ok(()),
            FileState::Open(_) => self.write_lines(&entries, lines).await,
            FileState::Pending(_) if self.eager || entries.iter().any(is_answer) => {
                self.add_to_memory(entries);
                // In boxes goes what is rare: otherwise every future would have room for it.
                let written = Box::pin(self.write_first()).await;
                self.outcome(written, first)?;
                return Ok(ids);
            }
            FileState::Pending(_) | FileState::ReadOnly(_) => Ok(()),
        };
        self.add_to_memory(entries);
        self.outcome(saved, first)?;
        Ok(ids)
    }

    fn add_to_memory(&mut self, entries: Vec<Entry>) {
        if let Some(totals) = &mut self.usage {
            entries.iter().for_each(|entry| add_usage(totals, entry));
        }
        let document = self.document_mut();
        for entry in entries {
            document.push(entry);
        }
    }

    /// Waits for the disk if every append is to; `id` is the first entry's that waits.
    pub(super) async fn settle_durability(&mut self, id: &str) -> Result<()> {
        let synced = match self.durability {
            Durability::Accepted => Ok(()),
            _ if self.failure.is_some() => Ok(()),
            level => Box::pin(self.sync_file(level)).await,
        };
        self.outcome(synced, id)
    }

    /// Latches a first failure, and reports the latched one.
    fn outcome(&mut self, saved: Result<()>, id: &str) -> Result<()> {
        if let Err(error) = saved {
            self.latch(error);
        }
        match &self.failure {
            None => Ok(()),
            Some(source) => {
                Err(SessionError::NotSaved { entry: id.to_owned(), source: source.clone() })
            }
        }
    }

    pub(super) fn latch(&mut self, error: SessionError) {
        if self.failure.is_none() {
            tracing::error!(session = %self.key, error = %error, "the session is no longer saved");
            self.tell_observers(|observer| observer.save_failed(&self.key, &error));
            self.failure = Some(Arc::new(error));
        }
    }

    async fn write_lines(&mut self, entries: &[Entry], lines: Bytes) -> Result<()> {
        if entries.iter().any(Entry::is_shortened) {
            Box::pin(self.save_blobs(entries)).await?;
        }
        let (mut growth, mut attempts) = (Growth::default(), Attempts::default());
        while attempts.again(&growth) {
            let FileState::Open(writer) = &mut self.file else { return Ok(()) };
            let lines = match self.document.ends_line() {
                true => lines.clone(),
                false => [b"\n", &lines[..]].concat().into(),
            };
            match writer.append(lines).await {
                Ok(_) => {
                    self.note_growth(growth);
                    return Ok(());
                }
                Err(error) if error.kind() == StorageErrorKind::Conflict => {
                    Box::pin(self.try_to_take_over(&mut growth)).await?;
                }
                Err(error) => return Err(error.into()),
            }
        }
        Err(keeps_changing(&self.key))
    }

    /// Makes the file with everything so far.
    async fn write_first(&mut self) -> Result<()> {
        self.save_all_blobs().await?;
        let FileState::Pending(waiting) = &mut self.file else { return Ok(()) };
        let mut writer = match waiting.take() {
            Some(writer) => writer,
            None => {
                let options = AppendOptions::exclusive(&self.owner).when(Precondition::Absent);
                self.storage.open_append(&self.key, options).await?
            }
        };
        let payload = self.document.to_payload();
        let written = write_whole(&mut *writer, payload).await;
        self.file = FileState::Open(writer);
        written
    }

    /// Writes the file now if it does not exist yet.
    ///
    /// A program that tells others the session's path calls this first.
    ///
    /// # Errors
    ///
    /// Why the file could not be written, or the first failure to save before.
    pub async fn ensure_on_disk(&mut self) -> Result<()> {
        self.check_saved()?;
        if matches!(self.file, FileState::Pending(_))
            && let Err(error) = self.write_first().await
        {
            self.latch(error.clone());
            return Err(error);
        }
        Ok(())
    }

    /// Waits until everything in the file has reached the disk.
    ///
    /// A session nothing was written of yet stays unwritten.
    ///
    /// # Errors
    ///
    /// The first failure to save, if it has not been made good.
    pub async fn flush(&mut self) -> Result<()> {
        if let Err(error) = self.sync_file(Durability::Durable).await {
            self.latch(error);
        }
        self.check_saved()
    }

    /// Makes what is in the file durable, and makes sure that it is in the file: somebody may
    /// have removed or replaced it since the last append.
    async fn sync_file(&mut self, level: Durability) -> Result<()> {
        let mut growth = Growth::default();
        for attempt in 1..=2 * ATTEMPTS {
            let FileState::Open(writer) = &mut self.file else { return Ok(()) };
            match writer.sync(level).await {
                Ok(()) => {}
                Err(error) if error.kind() != StorageErrorKind::Conflict => {
                    return Err(error.into());
                }
                // A failure was latched before: the file is short of what memory holds.
                Err(_) if self.failure.is_some() => return Ok(()),
                Err(_) => {
                    self.try_to_take_over(&mut growth).await?;
                    // What this session wrote was made durable before the look that found more
                    // behind it, several times over.
                    if growth.known.is_none() || attempt < ATTEMPTS {
                        continue;
                    }
                }
            }
            self.note_growth(growth);
            if self.failure.is_none() {
                let entries = self.entries().len();
                self.tell_observers(|observer| observer.durable(&self.key, entries));
            }
            return Ok(());
        }
        Err(keeps_changing(&self.key))
    }

    /// Takes over foreign changes; one more of them meanwhile is no failure.
    pub(super) async fn try_to_take_over(&mut self, growth: &mut Growth) -> Result<()> {
        match self.take_over_foreign_changes(growth).await {
            Err(SessionError::Storage(error)) if error.kind() == StorageErrorKind::Conflict => {
                let other_session = self.is_another_session().await?;
                if other_session { Err(error.into()) } else { Ok(()) }
            }
            result => result,
        }
    }

    pub(super) fn check_saved(&self) -> Result<()> {
        match &self.failure {
            None => Ok(()),
            Some(source) => Err(SessionError::Unsaved { source: source.clone() }),
        }
    }

    /// Writes the whole session again after a failure to save, and forgets the failure.
    ///
    /// The file is replaced atomically: until that has worked, it stays as it is. Entries that
    /// another program added meanwhile are kept.
    ///
    /// # Errors
    ///
    /// Why it could not be written; the failure stays.
    pub async fn save_again(&mut self) -> Result<()> {
        if matches!(self.file, FileState::ReadOnly(_)) {
            return Ok(());
        }
        self.write_whole_again().await?;
        self.made_good();
        Ok(())
    }

    /// Forgets a failure to save, now that a file holds everything.
    pub(super) fn made_good(&mut self) {
        if self.failure.take().is_some() {
            tracing::info!(session = %self.key, "the session is saved again");
            self.tell_observers(|observer| observer.saved_again(&self.key));
        }
    }

    /// Saves what can be saved, gives up the claim on the file, and ends the session.
    ///
    /// After a failure to save, the whole session is written once more, as
    /// [`save_again`](Self::save_again) does: no later chance is left.
    ///
    /// # Errors
    ///
    /// The first failure to save, else the first thing that went wrong now. The claim is given up
    /// in any case.
    pub async fn close(mut self) -> Result<()> {
        let mut flushed = self.flush().await;
        if flushed.is_err() {
            match self.save_again().await {
                Ok(()) => flushed = self.flush().await,
                Err(error) => {
                    tracing::error!(session = %self.key, error = %error, "the session ends unsaved");
                }
            }
        }
        let file = std::mem::replace(&mut self.file, FileState::Pending(None));
        let closed = match file {
            FileState::Open(writer) | FileState::Pending(Some(writer)) => writer.close().await,
            FileState::Pending(None) | FileState::ReadOnly(_) => return flushed,
        };
        match closed {
            // Another program added something since; what this session wrote is on the disk.
            Err(error)
                if error.kind() == StorageErrorKind::Conflict
                    && flushed.is_ok()
                    && self.is_all_in_file().await =>
            {
                Ok(())
            }
            closed => flushed.and(closed.map(|_| ()).map_err(Into::into)),
        }
    }
}

/// What is left to say when taking over another program's changes does not end.
pub(super) fn keeps_changing(key: &StorageKey) -> SessionError {
    let detail = "another program keeps changing it".to_owned();
    StorageError::Conflict { key: key.clone(), detail }.into()
}

/// Writes a whole session through a writer that may hold an empty file.
pub(super) async fn write_whole(writer: &mut dyn AppendWriter, payload: Payload) -> Result<()> {
    if writer.is_empty() {
        writer.append(payload.to_bytes()).await?;
    } else {
        writer.replace(payload, PutOptions::default()).await?;
    }
    Ok(())
}

/// Reads a whole object, or `None` if there is none.
pub(super) async fn read_if_there(
    storage: &dyn SessionStorage,
    key: &StorageKey,
) -> Result<Option<(ObjectMeta, Bytes)>> {
    use session_model::storage::SessionStorageExt;
    match storage.read_all(key).await {
        Ok(read) => Ok(Some(read)),
        Err(error) if error.kind() == StorageErrorKind::NotFound => Ok(None),
        Err(error) => Err(error.into()),
    }
}
