//! Carrying out what somebody asks for in the picker.

use std::path::Path;

use session_model::SessionDocument;
use session_model::document::LoadOptions;
use session_model::storage::SessionStorageExt;

use super::{PickerAction, SessionPickerOptions};
use crate::blobs::BlobStore;
use crate::env::SystemClock;
use crate::export::{Export, ExportOptions, Format, write_file};
use crate::import::{ImportOptions, ImportOutcome, Importer, Tool};
use crate::listing::Place;
use crate::navigation::HostError;
use crate::operations::{Trashed, delete_session, list_trash, restore_session};
use crate::session_picker::SessionName;
use crate::{ForkFrom, NameSource, Result, SessionError, SessionManager, SessionOptions};

/// What came of an action.
pub(super) struct Done {
    pub(super) text: String,
    /// The session it made.
    pub(super) new: Option<SessionName>,
}

impl From<&str> for Done {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), new: None }
    }
}

/// Who carries out what somebody asks for.
pub(super) struct Desk<'a> {
    pub(super) options: &'a SessionPickerOptions,
}

impl Desk<'_> {
    /// Carries an action out and tells what came of it.
    pub(super) async fn carry_out(
        &self,
        action: PickerAction,
        deleted: &mut Vec<(usize, Trashed)>,
    ) -> Result<Done, HostError> {
        Ok(match action {
            PickerAction::Rename { session, title } => self.rename(session, &title).await?.into(),
            PickerAction::Delete(session) => self.delete(session, deleted).await?.into(),
            PickerAction::Undo => self.undo(deleted).await?.into(),
            PickerAction::Fork { session, cwd } => self.fork(session, cwd).await?,
            PickerAction::Export { session, path } => self.export(session, &path).await?,
            PickerAction::Import { tool, path } => self.import(tool, &path).await?,
            PickerAction::Nothing
            | PickerAction::List { .. }
            | PickerAction::Look(_)
            | PickerAction::Search { .. }
            | PickerAction::Close
            | PickerAction::Choose(_)
            | PickerAction::ChooseEntry { .. } => "".into(),
        })
    }

    fn place(&self, session: &SessionName) -> Result<&Place> {
        let gone = || SessionError::NotFound { key: session.1.clone() };
        self.options.catalog.places().get(session.0).ok_or_else(gone)
    }

    fn session_options(&self, place: &Place) -> Result<SessionOptions> {
        let blobs = BlobStore::new(place.storage.clone())?;
        Ok(SessionOptions::default().owner(&*self.options.owner).blobs(blobs).eager())
    }

    /// Reads a session; fails if it is gone meanwhile, or is none.
    async fn load(&self, session: &SessionName) -> Result<SessionDocument> {
        let (_, bytes) = self.place(session)?.storage.read_all(&session.1).await?;
        let loaded = SessionDocument::load(bytes, &LoadOptions::default());
        let none = |source| SessionError::NotASession { key: session.1.clone(), source };
        Ok(loaded.map_err(none)?.document)
    }

    async fn rename(&self, session: SessionName, title: &str) -> Result<&'static str> {
        // Opened for writing, it would be made anew.
        self.load(&session).await?;
        let place = self.place(&session)?;
        let options = self.session_options(place)?;
        let mut manager =
            SessionManager::open(place.storage.clone(), session.1, "", options).await?;
        let named = manager.set_session_name(title, NameSource::User).await;
        manager.close().await?;
        Ok(if named? { "the title is kept" } else { "the title has no text; the old one stays" })
    }

    async fn delete(
        &self,
        session: SessionName,
        before: &mut Vec<(usize, Trashed)>,
    ) -> Result<&'static str> {
        let storage = self.place(&session)?.storage.clone();
        let deleted = delete_session(&storage, &session.1, &SystemClock).await?;
        let trash = list_trash(&*storage).await?;
        let found = trash.into_iter().find(|trashed| trashed.key == deleted.key);
        before.extend(found.map(|trashed| (session.0, trashed)));
        Ok("it is in the trash; alt+z brings it back")
    }

    async fn undo(&self, deleted: &mut Vec<(usize, Trashed)>) -> Result<&'static str> {
        let Some((place, trashed)) = deleted.pop() else {
            return Ok("nothing was deleted here; `sessionctl restore` lists the trash");
        };
        let storage = self.place(&(place, trashed.key.clone()))?.storage.clone();
        match restore_session(&storage, &trashed).await {
            Ok(_) => Ok("it is back"),
            Err(error) => {
                deleted.push((place, trashed));
                Err(error)
            }
        }
    }

    async fn fork(&self, session: SessionName, cwd: String) -> Result<Done> {
        let place = self.place(&session)?;
        let mut fork = ForkFrom::new(session.1.clone(), cwd);
        if let Some(bucket) = session.1.parent() {
            fork = fork.bucket(bucket);
        }
        let options = self.session_options(place)?;
        let manager = SessionManager::fork_from(place.storage.clone(), fork, options).await?;
        let new = Some((session.0, manager.key().clone()));
        manager.close().await?;
        Ok(Done { text: "this is the copy".to_owned(), new })
    }

    async fn export(&self, session: SessionName, path: &Path) -> Result<Done, HostError> {
        let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
        let format = Format::ALL.into_iter().find(|format| format.extension() == ending);
        let format = format.ok_or("the name has to end in .md, .html, .json or .txt")?;
        let export = Export::new(&self.load(&session).await?, &ExportOptions::default())?;
        write_file(path, export.render(format).as_bytes(), false)?;
        Ok(Done { text: format!("written to {}, without secrets", path.display()), new: None })
    }

    async fn import(&self, tool: Tool, path: &Path) -> Result<Done, HostError> {
        let place = self.options.catalog.places().first().ok_or("there is no place for it")?;
        let mut options = ImportOptions::default();
        options.owner.clone_from(&self.options.owner);
        let imported = Importer::new(place.storage.clone(), options).import(tool, path).await?;
        let text = match imported.outcome {
            ImportOutcome::Created => "this is the imported session",
            ImportOutcome::Updated { .. } => "it was here, and has what is new",
            ImportOutcome::Unchanged => "it is here already, and nothing is new",
            ImportOutcome::Empty => "there is no conversation in it",
        };
        Ok(Done { text: text.to_owned(), new: imported.key.map(|key| (0, key)) })
    }
}
