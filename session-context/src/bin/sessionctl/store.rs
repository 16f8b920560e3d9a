//! Where sessions are, and which one is meant.

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_context::blobs::BlobStore;
use session_context::listing::{CwdFilter, Place, SessionCatalog};
use session_context::{OpenStorageError, SessionError, open_existing_storage, open_storage};
use session_model::layout::{AgentProfile, SESSIONS_DIR};
use session_model::storage::{SessionStorage, SessionStorageExt, StorageKey};

use crate::failure::Failure;
use crate::output::say;
use crate::target::Target;

/// Where sessions are.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct StoreArgs {
    /// Take sessions from this agent directory, or storage such as file:///path; default:
    /// $SESSION_AGENT_DIR, else ~/.xcsh/agent
    #[arg(long, visible_alias = "agent-dir", global = true, value_name = "URL")]
    store: Option<String>,
}

impl StoreArgs {
    /// Returns the URL of the storage, if one was given.
    pub(crate) fn url(&self) -> Option<&str> {
        self.store.as_deref()
    }

    /// Opens the storage that was given, or the user's agent directory.
    pub(crate) fn storage(&self) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
        match &self.store {
            Some(url) => open_existing_storage(url),
            None => open_existing_storage(&agent_dir().to_string_lossy()),
        }
    }

    /// As [`storage`](Self::storage), or one that is to be made.
    pub(crate) fn storage_or_new(&self) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
        match &self.store {
            Some(url) => open_storage(url),
            None => open_storage(&agent_dir().to_string_lossy()),
        }
    }

    /// Opens the user's agent directory and those of all known agents, as far as there are any.
    pub(crate) fn storages_of_all_agents() -> Result<Vec<Arc<dyn SessionStorage>>, Failure> {
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
        let open = |path: &PathBuf| Ok(open_existing_storage(text_of(path)?)?);
        directories.iter().map(open).collect()
    }

    /// Opens the directory that was given, or the user's agent directory, with its index.
    #[cfg(feature = "indexed")]
    pub(crate) fn indexed(
        &self,
    ) -> Result<session_store_indexed::storage::IndexedStorage, OpenStorageError> {
        match &self.store {
            Some(url) => session_context::open_indexed_storage(url),
            None => session_context::open_indexed_storage(&agent_dir().to_string_lossy()),
        }
    }

    /// Opens the storage that was given, which names a remote, to compare the two.
    #[cfg(feature = "redis")]
    pub(crate) fn replica(
        &self,
    ) -> Result<session_store_indexed::replica::Replica, OpenStorageError> {
        let replica = session_context::open_replica(self.store.as_deref().unwrap_or_default())?;
        for diagnostic in replica.local().diagnostics() {
            say("warning", &diagnostic.to_string());
        }
        Ok(replica)
    }

    /// Finds a session that exists: a path, a key of the storage, or the beginning of an id.
    pub(crate) async fn existing(&self, session: &str) -> Result<Target, Failure> {
        if self.store.is_none() && is_path(session) {
            return at_path(session);
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
        if let Some(url) = &self.store {
            let storage = open_storage(url)?;
            let blobs = BlobStore::new(storage.clone()).map_err(SessionError::from)?;
            return Ok(Target::new(storage, session.parse()?, session, blobs));
        }
        if Path::new(session).symlink_metadata().is_ok() {
            return at_path(session);
        }
        let path = std::path::absolute(session)
            .map_err(|source| Failure::Input { what: session.to_owned(), source })?;
        let (directory, key) = split(&path)?;
        let storage = open_storage(directory)?;
        let blobs = blobs_of(&path, &storage)?;
        Ok(Target::new(storage, key, session, blobs))
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

/// Tells whether a path is meant, and no id.
fn is_path(session: &str) -> bool {
    let path = Path::new(session);
    path.components().count() != 1 || path.extension().is_some() || path.symlink_metadata().is_ok()
}

fn at_path(session: &str) -> Result<Target, Failure> {
    // Whoever names a link means what it leads to; a storage follows none.
    let path = Path::new(session).canonicalize().map_err(|source| match source.kind() {
        std::io::ErrorKind::NotFound => Failure::Missing { session: session.to_owned() },
        _ => Failure::Input { what: session.to_owned(), source },
    })?;
    if path.is_dir() {
        return Err(Failure::Refused(format!("{session} is a directory; name a file in it")));
    }
    if !path.is_file() {
        return Err(Failure::Refused(format!("{session} is no regular file")));
    }
    let (directory, key) = split(&path)?;
    let storage = open_existing_storage(directory)?;
    let blobs = blobs_of(&path, &storage)?;
    Ok(Target::new(storage, key, session, blobs))
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
