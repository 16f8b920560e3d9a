//! Where sessions are, and which one is meant.

use std::borrow::Cow;
use std::env;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use session_context::blobs::BlobStore;
use session_context::listing::{CwdFilter, Place, SessionCatalog};
use session_context::{OpenStorageError, SessionError, open_existing_storage, open_storage};
use session_model::layout::{AgentProfile, SESSIONS_DIR};
use session_model::storage::{SessionStorage, SessionStorageExt, StorageKey};

use crate::failure::Failure;
use crate::output::say;
use crate::target::Target;
use crate::wait::patient;

/// Where sessions are.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// Take sessions from this agent directory, or storage such as file:///path; default:
    /// $SESSION_AGENT_DIR, else ~/.xcsh/agent
    #[arg(long, visible_alias = "agent-dir", global = true, value_name = "URL")]
    store: Option<String>,

    /// How long to wait for what another writer has.
    #[arg(skip)]
    pub(crate) wait: Option<Duration>,

    /// The storages that were opened.
    #[arg(skip)]
    opened: Opened,
}

/// The storages that a command opened, to be asked at its end what it should tell of them.
type Opened = Arc<Mutex<Vec<Arc<dyn SessionStorage>>>>;

impl StoreArgs {
    /// Returns the URL of the storage, if one was given.
    pub(crate) fn url(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// Opens the storage that was given, or the user's agent directory.
    pub(crate) fn storage(&self) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
        self.open(&self.place())
    }

    /// The URL or path of the storage that was given, or of the user's agent directory.
    fn place(&self) -> Cow<'_, str> {
        match &self.store {
            Some(url) => expand_home(url),
            None => agent_dir().to_string_lossy().into_owned().into(),
        }
    }

    /// Opens a storage that is there, which waits as long as the command is to.
    pub(crate) fn open(&self, url: &str) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
        open_existing_storage(url).map(|storage| self.kept(storage))
    }

    /// As [`open`](Self::open), or one that is to be made.
    pub(crate) fn open_or_make(
        &self,
        url: &str,
    ) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
        open_storage(url).map(|storage| self.kept(storage))
    }

    fn kept(&self, storage: Arc<dyn SessionStorage>) -> Arc<dyn SessionStorage> {
        let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
        opened.push(Arc::clone(&storage));
        patient(storage, self.wait)
    }

    /// Tells people what was found of the storages themselves, and lets go of them.
    pub(crate) fn tell_of_storages(&self) {
        let opened = self.opened.lock().map(|mut opened| std::mem::take(&mut *opened));
        let mut told = Vec::new();
        for found in opened.unwrap_or_default().iter().flat_map(|opened| opened.diagnostics()) {
            if !told.contains(&found) {
                say("warning", &found.detail);
                told.push(found);
            }
        }
    }

    /// As [`storage`](Self::storage), or one that is to be made.
    pub(crate) fn storage_or_new(&self) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
        self.open_or_make(&self.place())
    }

    /// Opens the user's agent directory and those of all known agents, as far as there are any.
    pub(crate) fn storages_of_all_agents(&self) -> Result<Vec<Arc<dyn SessionStorage>>, Failure> {
        let home = env::home_dir().unwrap_or_default();
        let known = AgentProfile::KNOWN.map(|profile| home.join(profile.agent_dir));
        let mut directories = Vec::new();
        for directory in [agent_dir()].into_iter().chain(known) {
            match directory.canonicalize() {
                Ok(directory) if !directories.contains(&directory) => directories.push(directory),
                Ok(_) => {}
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
                Err(source) => {
                    return Err(Failure::Input { what: directory.display().to_string(), source });
                }
            }
        }
        let open = |path: &PathBuf| Ok(self.open(text_of(path)?)?);
        directories.iter().map(open).collect()
    }

    /// Opens the directory that was given, or the user's agent directory, with its index.
    #[cfg(feature = "indexed")]
    pub(crate) fn indexed(
        &self,
    ) -> Result<session_store_indexed::storage::IndexedStorage, OpenStorageError> {
        session_context::open_indexed_storage(&self.place())
    }

    /// Opens the storage that was given, which names a remote, to compare the two.
    #[cfg(feature = "redis")]
    pub(crate) fn replica(
        &self,
    ) -> Result<session_store_indexed::replica::Replica, OpenStorageError> {
        let replica = session_context::open_replica(&self.place())?;
        for diagnostic in replica.local().diagnostics() {
            say("warning", &diagnostic.to_string());
        }
        Ok(replica)
    }

    /// Finds a session that exists: a path, a key of the storage, or the beginning of an id.
    pub(crate) async fn existing(&self, session: &str) -> Result<Target, Failure> {
        let path = expand_home(session);
        if names_path(&path) || (self.store.is_none() && looks_like_path(session)) {
            return self.at_path(session, &path);
        }
        let missing = || {
            let list = "`sessionctl list --all` shows those there are";
            Failure::Refused(format!("there is no session of the id {session}; {list}"))
        };
        let storage = match self.storage() {
            Err(OpenStorageError::Missing { .. }) if self.store.is_none() => return Err(missing()),
            opened => opened?,
        };
        let (key, shares_id) = match StorageKey::new(session) {
            Ok(key) if storage.exists(&key).await.map_err(SessionError::from)? => (key, false),
            _ if self.store.is_some() && Path::new(session).is_file() => {
                return self.at_path(session, &path);
            }
            _ => match by_id(&storage, session).await {
                Err(SessionError::NoMatch { .. }) => return Err(missing()),
                found => found?,
            },
        };
        let blobs = BlobStore::new(storage.clone()).map_err(SessionError::from)?;
        Ok(Target { shares_id, ..Target::new(storage, key, session, blobs) })
    }

    /// Finds a session, or the place of one that is to be made.
    pub(crate) async fn existing_or_new(&self, session: &str) -> Result<Target, Failure> {
        let path = expand_home(session);
        let is_path = names_path(&path) || self.store.is_none();
        if is_path && Path::new(&*path).symlink_metadata().is_ok() {
            return self.at_path(session, &path);
        }
        if !is_path {
            let storage = self.storage_or_new()?;
            let key = session.parse()?;
            let blobs = BlobStore::new(storage.clone()).map_err(SessionError::from)?;
            return Ok(Target::new(storage, key, session, blobs));
        }
        let path = std::path::absolute(&*path)
            .map_err(|source| Failure::Input { what: session.to_owned(), source })?;
        if let Some(target) = self.in_store(session, &path)? {
            return Ok(target);
        }
        let (directory, key) = split(&path)?;
        let storage = self.open_or_make(directory)?;
        let blobs = blobs_of(&path, &storage)?;
        Ok(Target::new(storage, key, session, blobs))
    }

    /// The session of a file, which the user named so.
    fn at_path(&self, session: &str, path: &str) -> Result<Target, Failure> {
        // Whoever names a link means what it leads to; a storage follows none.
        let path = Path::new(path).canonicalize().map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Failure::Missing { session: session.to_owned() },
            _ => Failure::Input { what: session.to_owned(), source },
        })?;
        if path.is_dir() {
            return Err(Failure::Refused(format!("{session} is a directory; name a file in it")));
        }
        if !path.is_file() {
            return Err(Failure::Refused(format!("{session} is no regular file")));
        }
        if let Some(target) = self.in_store(session, &path)? {
            return Ok(target);
        }
        let (directory, key) = split(&path)?;
        let storage = self.open(directory)?;
        let blobs = blobs_of(&path, &storage)?;
        Ok(Target::new(storage, key, session, blobs))
    }

    /// The session at a path as a key of the storage that was given, so that its index and its
    /// remote hear of what is written; `None` for a path outside of that.
    fn in_store(&self, session: &str, path: &Path) -> Result<Option<Target>, Failure> {
        if self.store.is_none() {
            return Ok(None);
        }
        let storage = self.storage()?;
        let root = storage.local_path(&sessions_key()?);
        let root = root.as_deref().and_then(Path::parent).and_then(|root| root.canonicalize().ok());
        let below = root.as_deref().and_then(|root| path.strip_prefix(root).ok());
        let Some(Ok(key)) = below.and_then(Path::to_str).map(StorageKey::new) else {
            return Ok(None);
        };
        let blobs = BlobStore::new(storage.clone()).map_err(SessionError::from)?;
        Ok(Some(Target::new(storage, key, session, blobs)))
    }
}

/// The user's agent directory.
pub(crate) fn agent_dir() -> PathBuf {
    match env::var_os("SESSION_AGENT_DIR").filter(|dir| !dir.is_empty()) {
        Some(dir) => dir.into(),
        None => env::home_dir().unwrap_or_default().join(AgentProfile::default().agent_dir),
    }
}

/// The key of the folder of all sessions in an agent directory.
pub(crate) fn sessions_key() -> Result<StorageKey, Failure> {
    Ok(SESSIONS_DIR.parse()?)
}

/// Tells whether a path is meant, whatever there is: it begins as paths do.
fn names_path(session: &str) -> bool {
    session.starts_with('/') || ["./", "../"].iter().any(|start| session.starts_with(start))
}

/// Tells whether a path is meant, and no id, where no storage was named that has keys.
fn looks_like_path(session: &str) -> bool {
    let path = Path::new(session);
    path.components().count() != 1 || path.extension().is_some() || path.symlink_metadata().is_ok()
}

/// Puts the home directory in the place of a `~` that a shell has left.
pub(crate) fn expand_home(path: &str) -> Cow<'_, str> {
    match path.strip_prefix('~').zip(env::home_dir()) {
        Some((rest, home)) if rest.is_empty() || rest.starts_with('/') => {
            format!("{}{rest}", home.display()).into()
        }
        _ => path.into(),
    }
}

/// Where the blobs of a session file are: in the agent directory whose `sessions` it lies in, else
/// beside it.
pub(crate) fn blobs_of(
    session: &Path,
    beside: &Arc<dyn SessionStorage>,
) -> Result<BlobStore, Failure> {
    let mut folders = session.ancestors();
    let sessions = folders.find(|folder| folder.file_name().is_some_and(|n| n == SESSIONS_DIR));
    let agent = sessions.and_then(Path::parent).and_then(Path::to_str);
    let storage = match agent {
        Some(agent) => open_existing_storage(agent)?,
        None => beside.clone(),
    };
    Ok(BlobStore::new(storage).map_err(SessionError::from)?)
}

/// Splits a path into the directory that is the storage, and the key in it.
fn split(path: &Path) -> Result<(&str, StorageKey), Failure> {
    let directory = text_of(path.parent().unwrap_or(Path::new("/")))?;
    let name = text_of(Path::new(path.file_name().unwrap_or_default()))?;
    Ok((directory, name.parse()?))
}

/// A path as text.
pub(crate) fn text_of(path: &Path) -> Result<&str, Failure> {
    let no_text = || Failure::Refused(format!("the path {} is no UTF-8", path.display()));
    path.to_str().ok_or_else(no_text)
}

/// Finds the session of an id or the beginning of one: of the present directory if there is one,
/// else of any; and tells whether other files have its id, too.
async fn by_id(
    storage: &Arc<dyn SessionStorage>,
    wanted: &str,
) -> Result<(StorageKey, bool), SessionError> {
    let here = env::current_dir().unwrap_or_default();
    let catalog = SessionCatalog::new(vec![Place::agent_dir(Arc::clone(storage))?]);
    let found = catalog.find(wanted, CwdFilter::local(&here.to_string_lossy())).await;
    tell_of_index(&catalog);
    let row = found?;
    if row.id_is_shared {
        let text = "several files have this id; the largest is taken:";
        say("note", &format!("{text} {}", row.location()));
    }
    Ok((row.key, row.id_is_shared))
}

/// Tells what became of an index that could not be used.
pub(crate) fn tell_of_index(catalog: &SessionCatalog) {
    #[cfg(feature = "indexed")]
    for diagnostic in catalog.take_index_diagnostics() {
        say("warning", &diagnostic.to_string());
    }
    #[cfg(not(feature = "indexed"))]
    let _ = catalog;
}
