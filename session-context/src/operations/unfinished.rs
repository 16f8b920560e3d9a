//! Finishing what was cut off while a session was taken to the trash or back.
//!
//! The session's file is at one of the two places, whole; what goes along with it may be at both.

use session_model::storage::{
    SessionStorage, SessionStorageExt, StorageError, StorageErrorKind, StorageKey,
};

use super::relocate::{Over, bring_rest, claim, companions, is_all};
use super::trash::{RECORD, Trashed, UNFINISHED, records, remove_record};
use crate::error::{Result, SessionError};

/// A deletion or restoration that was cut off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Unfinished {
    /// The note of it.
    pub(crate) note: StorageKey,
    /// The session, which is at one of both places.
    pub(crate) trashed: Trashed,
}

/// Finds what was cut off; also what another process is just doing.
pub(crate) async fn find_unfinished(storage: &dyn SessionStorage) -> Result<Vec<Unfinished>> {
    let found = records(storage, UNFINISHED).await?.into_iter();
    Ok(found.map(|(note, trashed)| Unfinished { note, trashed }).collect())
}

/// What came of finishing.
#[derive(Debug)]
pub(crate) enum Finish {
    /// All that could be taken is where the session is; this stays, and why.
    Done(Vec<StorageError>),
    /// The session is at neither place; nothing was done.
    Gone,
    /// Only a person can tell what is right, for this reason; nothing was done.
    Unclear(&'static str),
}

impl Unfinished {
    /// Takes what goes along with the session to where that is.
    ///
    /// Nothing is done while the session is in use: then it may not be cut off at all.
    pub(crate) async fn finish(&self, storage: &dyn SessionStorage) -> Result<Finish> {
        let Trashed { key, from, .. } = &self.trashed;
        let is_in_trash = storage.exists(key).await?;
        let (old, new) = match (is_in_trash, storage.exists(from).await?) {
            (true, false) => (from, key),
            (false, true) => (key, from),
            (true, true) => {
                let why = "the session is in the trash, and one of its name is where it was; move \
                           one of them elsewhere";
                return Ok(Finish::Unclear(why));
            }
            (false, false) => return Ok(Finish::Gone),
        };
        let held = claim(storage, new).await?;
        let left_behind = bring_rest(storage, old, new, Over::Unknown).await;
        if is_all(&left_behind) {
            if !is_in_trash {
                remove_record(storage, &self.note.with_file_name(RECORD)?).await;
            }
            remove_record(storage, &self.note).await;
        }
        held.close().await?;
        Ok(Finish::Done(left_behind))
    }

    /// Removes the note of a session that is gone; returns whether nothing of it is left anywhere,
    /// else nothing is done.
    pub(crate) async fn forget(&self, storage: &dyn SessionStorage) -> Result<bool> {
        for session in [&self.trashed.from, &self.trashed.key] {
            // It may just have been renamed from one place to the other.
            if storage.exists(session).await? {
                return Ok(false);
            }
            let (found, errors) = companions(storage, session).await;
            if !found.is_empty() || !errors.is_empty() {
                return Ok(false);
            }
        }
        remove_record(storage, &self.note.with_file_name(RECORD)?).await;
        remove_record(storage, &self.note).await;
        Ok(true)
    }
}

/// Finishes what others left, as far as that goes: it is no part of what was asked for.
pub(super) async fn finish_others(storage: &dyn SessionStorage) {
    let found = match find_unfinished(storage).await {
        Ok(found) => found,
        Err(error) => return tracing::warn!(%error, "the trash could not be looked through"),
    };
    for unfinished in found {
        match unfinished.finish(storage).await {
            Ok(_) => {}
            Err(SessionError::Storage(error)) if error.kind() == StorageErrorKind::Busy => {}
            Err(error) => {
                tracing::warn!(note = %unfinished.note, %error, "what was cut off is not finished");
            }
        }
    }
}
