//! The whole loop: a screen, a picker, and sessions that are renamed, deleted and forked.

use std::io::{self, Write};
use std::path::Path;

use session_model::SessionDocument;
use session_model::document::LoadOptions;
use session_model::storage::SessionStorageExt;

use super::{PickerAction, SessionPicker};
use crate::blobs::BlobStore;
use crate::env::SystemClock;
use crate::error::with_sources;
use crate::export::{Export, ExportOptions, Format};
use crate::import::{ImportOptions, ImportOutcome, Importer, Tool};
use crate::listing::{CwdFilter, Place, SessionCatalog};
use crate::navigation::HostError;
use crate::operations::{Trashed, delete_session, list_trash, restore_session};
use crate::session_picker::{
    ForeignFound, ForeignLoader, Loaded, Loader, Reader, SessionName, name_of,
};
use crate::tui::{Screen, ScreenEvent, Theme};
use crate::{ForkFrom, NameSource, Result, SessionError, SessionManager, SessionOptions};

/// How [`pick_session`] goes about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionPickerOptions {
    /// Where the sessions are.
    pub catalog: SessionCatalog,
    /// The directory whose sessions are shown first; default: none, and all are shown.
    pub here: Option<CwdFilter>,
    /// What others see who find a session in use while it is renamed; default: `session picker`.
    pub owner: String,
    /// The colours; default: what the environment allows.
    pub theme: Option<Theme>,
}

impl SessionPickerOptions {
    /// The sessions of these places.
    pub fn new(catalog: SessionCatalog) -> Self {
        Self { catalog, here: None, owner: "session picker".to_owned(), theme: None }
    }

    /// These options with a directory whose sessions are shown first.
    pub fn here(self, here: CwdFilter) -> Self {
        Self { here: Some(here), ..self }
    }
}

/// How somebody left [`pick_session`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PickerOutcome {
    /// This session was chosen: the place it lies in, and its key there.
    Chosen(SessionName),
    /// None was.
    Closed,
    /// The program is to end: this signal came, or (with `None`) the terminal is gone.
    End(Option<i32>),
}

/// Lets somebody choose a session, and rename, delete and fork sessions on the way.
///
/// The first rows are there before all files have been looked at. Deleted sessions go to the trash.
/// What fails is told on the screen.
///
/// # Errors
///
/// The terminal cannot be drawn on.
///
/// # Cancel safety
///
/// Not cancel safe while a session is being changed.
pub async fn pick_session(
    screen: &mut Screen,
    options: SessionPickerOptions,
) -> io::Result<PickerOutcome> {
    let mut picker = SessionPicker::new(options.here.clone());
    if let Some(theme) = options.theme {
        picker = picker.theme(theme);
    }
    let mut loader = Loader::start(options.catalog.clone());
    let mut reader = Reader::start(options.catalog.places().to_vec());
    let mut tools: Option<ForeignLoader> = None;
    let mut desk = Desk { options: &options, deleted: Vec::new() };
    let mut asked = Vec::new();
    // A session to go to once it is listed.
    let mut new = None;
    loop {
        screen.draw(|frame| picker.render(frame.area(), frame.buffer_mut()))?;
        let wants = picker.wants();
        let names: Vec<_> = wants.iter().map(name_of).collect();
        if names != asked {
            reader.ask(wants);
            asked = names;
        }
        let event = tokio::select! {
            biased;
            event = screen.next() => event,
            Some(loaded) = loader.next() => {
                let is_all = matches!(loaded, Loaded::All(_));
                take(&mut picker, loaded);
                if let Some(session) = new.take_if(|_| is_all) {
                    picker.select(&session);
                }
                continue;
            }
            found = next_foreign(&mut tools) => {
                match found {
                    Some(found) => picker.set_foreign(found),
                    None => tools = None,
                }
                continue;
            }
            Some((session, detail)) = reader.next() => {
                picker.set_detail(session, detail);
                continue;
            }
        };
        let mut next = match event {
            ScreenEvent::Terminal(event) => Some(event),
            ScreenEvent::End(signal) => return Ok(PickerOutcome::End(signal)),
        };
        // Keys that wait already are taken together, so that a held key never lags.
        while let Some(event) = next {
            match picker.handle_event(&event) {
                PickerAction::Nothing => {}
                PickerAction::Close => return Ok(PickerOutcome::Closed),
                PickerAction::Choose(session) => return Ok(PickerOutcome::Chosen(session)),
                PickerAction::List { children } => loader.again(children),
                PickerAction::Look(tool) => tools = Some(ForeignLoader::start(tool)),
                action => {
                    match desk.carry_out(action).await {
                        Ok(done) => {
                            picker.tell(&done.text);
                            new = done.new;
                        }
                        Err(error) => picker.complain(&with_sources(&*error)),
                    }
                    loader.again(picker.shows_children());
                }
            }
            next = screen.ready();
        }
    }
}

fn take(picker: &mut SessionPicker, loaded: Loaded) {
    match loaded {
        Loaded::First(rows) => picker.set_first(rows),
        Loaded::Progress(progress) => picker.set_progress(progress),
        Loaded::All(Ok(rows)) => picker.set_sessions(rows),
        Loaded::All(Err(error)) => picker.complain(&with_sources(&error)),
    }
}

/// What was found of another tool's sessions; `None` if all was. Waits forever while nobody looks.
async fn next_foreign(tools: &mut Option<ForeignLoader>) -> Option<ForeignFound> {
    match tools {
        Some(tools) => tools.next().await,
        None => std::future::pending().await,
    }
}

/// What came of an action.
struct Done {
    text: String,
    /// The session it made.
    new: Option<SessionName>,
}

impl From<&str> for Done {
    fn from(text: &str) -> Self {
        Self { text: text.to_owned(), new: None }
    }
}

/// Who carries out what somebody asks for.
struct Desk<'a> {
    options: &'a SessionPickerOptions,
    /// What was deleted, the latest last.
    deleted: Vec<(usize, Trashed)>,
}

impl Desk<'_> {
    /// Carries an action out and tells what came of it.
    async fn carry_out(&mut self, action: PickerAction) -> Result<Done, HostError> {
        Ok(match action {
            PickerAction::Rename { session, title } => self.rename(session, &title).await?.into(),
            PickerAction::Delete(session) => self.delete(session).await?.into(),
            PickerAction::Undo => self.undo().await?.into(),
            PickerAction::Fork { session, cwd } => self.fork(session, cwd).await?,
            PickerAction::Export { session, path } => self.export(session, &path).await?,
            PickerAction::Import { tool, path } => self.import(tool, &path).await?,
            PickerAction::Nothing
            | PickerAction::List { .. }
            | PickerAction::Look(_)
            | PickerAction::Close
            | PickerAction::Choose(_) => "".into(),
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

    async fn rename(&self, session: SessionName, title: &str) -> Result<&'static str> {
        let place = self.place(&session)?;
        let options = self.session_options(place)?;
        let mut manager =
            SessionManager::open(place.storage.clone(), session.1, "", options).await?;
        let named = manager.set_session_name(title, NameSource::User).await;
        manager.close().await?;
        Ok(if named? { "the title is kept" } else { "the title has no text; the old one stays" })
    }

    async fn delete(&mut self, session: SessionName) -> Result<&'static str> {
        let storage = self.place(&session)?.storage.clone();
        let deleted = delete_session(&storage, &session.1, &SystemClock).await?;
        let trash = list_trash(&*storage).await?;
        let found = trash.into_iter().find(|trashed| trashed.key == deleted.key);
        self.deleted.extend(found.map(|trashed| (session.0, trashed)));
        Ok("it is in the trash; alt+z brings it back")
    }

    async fn undo(&mut self) -> Result<&'static str> {
        let Some((place, trashed)) = self.deleted.pop() else {
            return Ok("nothing was deleted here; `sessionctl restore` lists the trash");
        };
        let storage = self.place(&(place, trashed.key.clone()))?.storage.clone();
        match restore_session(&storage, &trashed).await {
            Ok(_) => Ok("it is back"),
            Err(error) => {
                self.deleted.push((place, trashed));
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
        let (_, bytes) = self.place(&session)?.storage.read_all(&session.1).await?;
        let loaded = SessionDocument::load(bytes, &LoadOptions::default())?;
        let export = Export::new(&loaded.document, &ExportOptions::default())?;
        let mut options = std::fs::OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let mut file = options.open(path)?;
        file.write_all(export.render(format).as_bytes())?;
        file.sync_all()?;
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
