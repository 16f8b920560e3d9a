//! Taking an open session to another directory.

use std::sync::Arc;

use session_model::json::{ObjectEdit, RawJson};
use session_model::layout::artifacts_key;
use session_model::storage::{
    ListOptions, Precondition, PutOptions, SessionStorage, SessionStorageExt, StorageError,
    StorageKey,
};
use session_model::{Diagnostic, DiagnosticCode, SessionHeader};

use super::fork::path_or_key;
use super::growth::Growth;
use super::open::{bucket_of, claim_existing};
use super::{FileState, SessionManager};
use crate::error::{Result, SessionError};
use crate::operations::relocate::{Over, bring_rest, relocate};

/// The header's list of the places a session's file was at.
const PREVIOUS: &str = "previousSessionFiles";

impl SessionManager {
    /// Takes the session to another directory: its file and artifacts move to that directory's
    /// bucket below `sessions/`, the header's `cwd` changes, and the file's old path is added to
    /// `previousSessionFiles`. The id stays.
    ///
    /// At every moment the session is whole at one of the two places. A session nothing was
    /// written of stays unwritten.
    ///
    /// # Errors
    ///
    /// [`SessionError::ReadOnly`], [`SessionError::Unsaved`], and [`SessionError::Storage`]: of
    /// kind `AlreadyExists` if there is a file of this name, `Busy` while the session of a child
    /// agent is in use. The session is where it was. Only if the storage then fails once more, it
    /// counts as not saved, and [`save_again`](Self::save_again) takes it up where its file is.
    ///
    /// # Cancel safety
    ///
    /// Not cancel safe: the file is whole, but this session may have lost its claim on it.
    pub async fn move_to(&mut self, cwd: &str) -> Result<()> {
        self.move_to_bucket(cwd, bucket_of(cwd)?).await
    }

    /// As [`move_to`](Self::move_to), with the bucket given.
    ///
    /// # Errors
    ///
    /// As [`move_to`](Self::move_to).
    ///
    /// # Cancel safety
    ///
    /// As [`move_to`](Self::move_to).
    pub async fn move_to_bucket(&mut self, cwd: &str, bucket: StorageKey) -> Result<()> {
        self.check_writable()?;
        self.check_saved()?;
        let to = bucket.join(self.key.file_name())?;
        let cwd = ObjectEdit::new().set("cwd", &RawJson::string(cwd));
        if to == self.key {
            return self.rewrite(|document| document.header_mut().edit(&cwd)).await;
        }
        if matches!(self.file, FileState::Pending(None)) && !self.has_artifacts().await? {
            Arc::make_mut(&mut self.document).header_mut().edit(&cwd);
            self.key = to;
            return Ok(());
        }
        self.ensure_on_disk().await?;
        if self.storage.exists(&to).await? {
            return Err(StorageError::AlreadyExists { key: to }.into());
        }
        let before = self.header().clone();
        let from = path_or_key(&*self.storage, &self.key);
        let edit = cwd.set(PREVIOUS, &with_place(&before, &from));
        // The header goes first: from here on the file says where it belongs.
        if let Err(error) = self.rewrite(|document| document.header_mut().edit(&edit)).await {
            self.take_back_header(&edit).await;
            return Err(error);
        }
        match self.move_file(&to).await {
            Ok(()) => Ok(()),
            Err(error) => {
                self.undo_move(before, &error).await;
                Err(error)
            }
        }
    }

    /// Makes the file what memory is again, if the edited header got into it all the same.
    async fn take_back_header(&mut self, edit: &ObjectEdit) {
        let (Some(_), FileState::Open(writer)) = (&self.failure, &mut self.file) else { return };
        let mut edited = (*self.document).clone();
        edited.header_mut().edit(edit);
        edited.drop_byte_order_mark();
        let edited = Precondition::Length(edited.to_payload().len());
        let whole = self.document.to_payload();
        match writer.replace(whole, PutOptions::when(edited)).await {
            Ok(_) => self.made_good(),
            // The failure stays, and is reported with every entry.
            Err(error) => tracing::error!(session = %self.key, error = %error, "not undone"),
        }
    }

    async fn move_file(&mut self, to: &StorageKey) -> Result<()> {
        let from = self.key.clone();
        let claim = match std::mem::replace(&mut self.file, FileState::Pending(None)) {
            FileState::Open(writer) => Some(writer),
            FileState::Pending(_) | FileState::ReadOnly(_) => None,
        };
        let left_behind = relocate(&self.storage, &from, to, claim).await?;
        self.key = to.clone();
        if let Err(error) = self.claim_again().await {
            // Whoever has it now keeps it; else it goes back.
            self.file = FileState::Pending(None);
            if relocate(&self.storage, to, &from, None).await.is_ok() {
                self.key = from;
            }
            return Err(error);
        }
        self.note_left_behind(&left_behind);
        Ok(())
    }

    /// Claims the file once more, with what others may have added meanwhile.
    async fn claim_again(&mut self) -> Result<()> {
        let known = self.document.to_payload().len();
        let writer = claim_existing(&*self.storage, &self.key, &self.owner).await?;
        let changed = writer.len() != known;
        self.file = FileState::Open(writer);
        if changed {
            let mut growth = Growth::default();
            self.try_to_take_over(&mut growth).await?;
            self.note_growth(growth);
        }
        Ok(())
    }

    /// Makes the session what it was before a move that failed.
    async fn undo_move(&mut self, before: SessionHeader, why: &SessionError) {
        let undone = match &self.file {
            FileState::Open(_) => Ok(()),
            _ => self.claim_again().await,
        };
        let undone = match undone {
            Ok(()) => self.rewrite(|document| *document.header_mut() = before.clone()).await,
            Err(error) => Err(error),
        };
        if let Err(error) = undone {
            tracing::error!(session = %self.key, error = %error, "the move could not be undone");
            self.latch(why.clone());
        }
    }

    /// Brings along what a move left behind when it was cut off.
    pub(super) async fn finish_move(&mut self) {
        let Some(old) = last_place(self.header())
            .and_then(|place| key_of(&*self.storage, &self.key, &place))
            .filter(|old| old != &self.key)
        else {
            return;
        };
        match self.storage.exists(&old).await {
            Ok(true) => {}
            Ok(false) => {
                let left_behind = bring_rest(&*self.storage, &old, &self.key, Over::Unknown).await;
                self.note_left_behind(&left_behind);
            }
            Err(error) => self.note_left_behind(&[error]),
        }
    }

    async fn has_artifacts(&mut self) -> Result<bool> {
        let Some(prefix) = artifacts_key(&self.key) else { return Ok(false) };
        let (found, errors) = self.storage.list_all(Some(&prefix), ListOptions::default()).await;
        match errors.into_iter().find(|error| !error.is_no_object()) {
            Some(error) => Err(error.into()),
            None => Ok(!found.is_empty()),
        }
    }

    fn note_left_behind(&mut self, errors: &[StorageError]) {
        for error in errors {
            let detail = match error.is_no_object() {
                true => format!("it stays where it was: {error}"),
                false => format!("a copy moved with the session, the old one stays: {error}"),
            };
            self.note(Diagnostic::new(DiagnosticCode::ArtifactLeftBehind, detail));
        }
    }
}

/// The list of places with one more at its end, unless it is there already.
fn with_place(header: &SessionHeader, place: &str) -> RawJson {
    let place = RawJson::string(place);
    let mut places = places(header);
    if places.last() != Some(&place) {
        places.push(place);
    }
    RawJson::array(&places)
}

fn places(header: &SessionHeader) -> Vec<RawJson> {
    let list = header.json().field(PREVIOUS);
    let list = list.as_ref().and_then(RawJson::as_array);
    list.map(|list| list.items().to_vec()).unwrap_or_default()
}

fn last_place(header: &SessionHeader) -> Option<String> {
    Some(places(header).last()?.as_text()?.into_owned())
}

/// The key of a place in this storage, in which `known` is a key.
fn key_of(storage: &dyn SessionStorage, known: &StorageKey, place: &str) -> Option<StorageKey> {
    let path = path_or_key(storage, known);
    let root = path.strip_suffix(known.as_str())?;
    StorageKey::new(place.strip_prefix(root)?).ok()
}
