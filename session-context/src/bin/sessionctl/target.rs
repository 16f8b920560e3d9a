//! The session that is meant, and how it is opened.

use std::env;
use std::sync::Arc;

use session_context::blobs::BlobStore;
use session_context::{PersistenceObserver, SessionError, SessionManager, SessionOptions};
use session_model::document::{LoadError, LoadOptions, Loaded};
use session_model::env::IdSource;
use session_model::persisted::{OversizePolicy, PersistOptions};
use session_model::storage::{SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey};
use session_model::{Diagnostic, DiagnosticCode, SessionDocument};

use crate::failure::{Failure, causes};
use crate::findings::report;
use crate::output::say;
use crate::store::StoreArgs;

/// What others see who find a session in use.
pub(crate) const OWNER: &str = "sessionctl";

/// The session that is meant.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) storage: Arc<dyn SessionStorage>,
    pub(crate) key: StorageKey,
    /// How the user named it.
    pub(crate) name: String,
    /// Where its blobs are.
    pub(crate) blobs: BlobStore,
    /// Whether it was named by an id that other files have, too.
    pub(crate) shares_id: bool,
}

/// What is shown of a session that is opened for reading.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Shown {
    /// References to blobs as they are.
    References,
    /// What blobs hold in their place.
    Whole,
}

impl StoreArgs {
    /// Opens a session for reading and tells what was found.
    pub(crate) async fn read(
        &self,
        session: &str,
        shown: Shown,
    ) -> Result<SessionManager, Failure> {
        self.read_target(self.existing(session).await?, shown).await
    }

    /// As [`read`](Self::read), of a session that was found already.
    pub(crate) async fn read_target(
        &self,
        target: Target,
        shown: Shown,
    ) -> Result<SessionManager, Failure> {
        let Target { storage, key, name, blobs, .. } = target;
        let mut options = SessionOptions::default().ids(NumberedIds::default()).blobs(blobs);
        options.resolve = shown == Shown::Whole;
        let manager = SessionManager::open_read_only(storage, key, options).await?;
        let (migrated, others): (Vec<_>, Vec<_>) =
            manager.diagnostics().iter().cloned().partition(is_migrated);
        report(&others);
        if !migrated.is_empty() {
            let text = "the file is of an old format and is shown in the present one; ids it lacks \
                        are made up until";
            say("note", &format!("{text} `sessionctl migrate {name}` gives it lasting ones"));
        }
        Ok(manager)
    }

    /// Opens a session for writing and tells what was found.
    ///
    /// What is no session is left alone, and so is a session without the entry `needed`.
    pub(crate) async fn write(
        &self,
        session: &str,
        needed: Option<&str>,
    ) -> Result<SessionManager, Failure> {
        let target = self.existing(session).await?;
        target.check(needed).await?;
        target.write().await
    }
}

impl Target {
    pub(crate) fn new(
        storage: Arc<dyn SessionStorage>,
        key: StorageKey,
        name: &str,
        blobs: BlobStore,
    ) -> Self {
        Self { storage, key, name: name.to_owned(), blobs, shares_id: false }
    }

    /// Reads the session as the file has it.
    pub(crate) async fn load(&self) -> Result<Loaded, Failure> {
        let (_, bytes) = match self.storage.read_all(&self.key).await {
            Err(error) if error.kind() == StorageErrorKind::NotFound => {
                return Err(Failure::Missing { session: self.name.clone() });
            }
            read => read.map_err(SessionError::from)?,
        };
        Ok(SessionDocument::load(bytes, &LoadOptions::default())
            .map_err(|source| SessionError::NotASession { key: self.key.clone(), source })?)
    }

    /// Makes sure that this is a session, and that it has the entry `needed`.
    pub(crate) async fn check(&self, needed: Option<&str>) -> Result<(), Failure> {
        let Loaded { document, .. } = self.load().await?;
        match needed {
            Some(id) if document.tree().find(id).is_some() => Ok(()),
            Some(_) if document.header().version() < 2.0 => Err(Failure::Refused(format!(
                "the entries of {name} have no ids yet; run `sessionctl migrate {name}` first",
                name = self.name
            ))),
            Some(id) => Err(SessionError::UnknownEntry { id: id.to_owned() }.into()),
            None => Ok(()),
        }
    }

    /// Makes sure that this is a session, or nothing but perhaps an empty file.
    pub(crate) async fn check_or_empty(&self) -> Result<(), Failure> {
        use SessionError::NotASession;
        match self.check(None).await {
            Err(Failure::Missing { .. })
            | Err(Failure::Session(NotASession { source: LoadError::Empty, .. })) => Ok(()),
            checked => checked,
        }
    }

    /// Opens the session for writing and tells what was found.
    pub(crate) async fn write(self) -> Result<SessionManager, Failure> {
        self.write_with(options()).await
    }

    /// As [`write`](Self::write), or makes it.
    pub(crate) async fn write_or_make(self) -> Result<SessionManager, Failure> {
        let Self { storage, key, blobs, .. } = self;
        let options = options().blobs(blobs).eager();
        let manager = SessionManager::open(storage, key, &present_dir(), options).await?;
        report(manager.diagnostics());
        Ok(manager)
    }

    /// As [`write`](Self::write), with other options.
    pub(crate) async fn write_with(
        self,
        options: SessionOptions,
    ) -> Result<SessionManager, Failure> {
        let Self { storage, key, name, blobs, .. } = self;
        let options = options.blobs(blobs).eager();
        let opened = SessionManager::open_existing(storage, key, &present_dir(), options).await;
        let manager = match opened {
            // It was there when it was looked for.
            Err(SessionError::NotFound { .. }) => return Err(Failure::Gone { session: name }),
            opened => opened?,
        };
        report(manager.diagnostics());
        Ok(manager)
    }
}

/// The directory that a session made now works in.
fn present_dir() -> String {
    env::current_dir().map(|dir| dir.display().to_string()).unwrap_or_default()
}

/// How a session is opened or made to be written.
pub(crate) fn options() -> SessionOptions {
    options_for_screen().observer(Arc::new(Saving))
}

/// As [`options`], while a screen is shown that tells itself how saving goes.
pub(crate) fn options_for_screen() -> SessionOptions {
    // Nobody holds the whole text once the command has ended.
    let persist = PersistOptions::default().oversize(OversizePolicy::Blob);
    SessionOptions::default().owner(OWNER).persist(persist)
}

/// Says at once how saving goes.
#[derive(Debug)]
struct Saving;

impl PersistenceObserver for Saving {
    fn save_failed(&self, session: &StorageKey, error: &SessionError) {
        say("warning", &format!("{session} is not saved: {}", causes(error).join(": ")));
    }

    fn saved_again(&self, session: &StorageKey) {
        say("note", &format!("{session} is saved now, at a second attempt"));
    }
}

/// Ends a session that was written to; the first thing that went wrong is reported.
pub(crate) async fn close<T>(
    manager: SessionManager,
    done: Result<T, SessionError>,
) -> Result<T, Failure> {
    let closed = manager.close().await;
    match (done, closed) {
        (Err(SessionError::NotSaved { entry, .. }), Ok(())) => Err(Failure::SavedLate { entry }),
        (Err(SessionError::NotSaved { entry, source }), Err(_)) => {
            Err(Failure::NotSaved { entry, source })
        }
        (done, closed) => {
            let done = done?;
            closed?;
            Ok(done)
        }
    }
}

fn is_migrated(diagnostic: &Diagnostic) -> bool {
    diagnostic.code == DiagnosticCode::Migrated
}

/// Ids `00000001`, `00000002`, … for sessions that are only shown, so that the same file looks the
/// same each time.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NumberedIds(u32);

impl IdSource for NumberedIds {
    fn entry_id(&mut self) -> String {
        self.0 += 1;
        format!("{:08x}", self.0)
    }

    fn session_id(&mut self) -> String {
        self.entry_id()
    }
}
