//! The sessions of one or several agent directories.

use std::sync::Arc;

use session_model::layout::SESSIONS_DIR;
use session_model::storage::{SessionStorage, StorageKey};

use super::{CwdFilter, KnownSummaries, ListingOptions, Scope, SessionRow, find, list_places};
use crate::Result;

/// A storage, and which of its sessions are meant.
#[derive(Clone, Debug)]
pub struct Place {
    /// The storage.
    pub storage: Arc<dyn SessionStorage>,
    /// Which of its sessions.
    pub scope: Scope,
}

impl Place {
    /// All sessions of an agent directory, of whatever scheme its buckets are.
    ///
    /// # Errors
    ///
    /// None in ordinary use.
    pub fn agent_dir(storage: Arc<dyn SessionStorage>) -> Result<Self> {
        Ok(Self { storage, scope: Scope::All(StorageKey::new(SESSIONS_DIR)?) })
    }
}

/// The sessions of one or several places, as one list.
///
/// The files are the truth: each call asks for their sizes, times and versions. What it makes of
/// a file is kept, so that a later call looks only into those that have changed since. Clones share
/// what is kept.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # pollster::block_on(async {
/// use std::sync::Arc;
///
/// use session_context::listing::{Place, SessionCatalog};
/// use session_model::storage::{SessionStorageExt, StorageKey};
/// use session_store_memory::MemoryStorage;
///
/// let (ours, theirs) = (Arc::new(MemoryStorage::new()), Arc::new(MemoryStorage::new()));
/// let file = "{\"type\":\"session\",\"id\":\"s-1\",\"title\":\"Theirs\"}\n";
/// theirs.append_once(&StorageKey::new("sessions/-w/a.jsonl")?, file.into()).await?;
/// let catalog = SessionCatalog::new(vec![Place::agent_dir(ours)?, Place::agent_dir(theirs)?]);
/// let rows = catalog.recent(10).await?;
/// assert_eq!((rows.len(), rows[0].place), (1, 1));
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SessionCatalog {
    places: Vec<Place>,
    known: KnownSummaries,
}

impl SessionCatalog {
    /// The sessions of these places; [`SessionRow::place`] counts them in this order.
    pub fn new(places: Vec<Place>) -> Self {
        Self { places, known: KnownSummaries::default() }
    }

    /// Returns the places.
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Returns what was found of the indexes beside the sessions that the user should be told, once.
    #[cfg(feature = "indexed")]
    pub fn take_index_diagnostics(&self) -> Vec<session_store_indexed::DatabaseDiagnostic> {
        std::mem::take(&mut *self.known.indexes())
    }

    /// Lists sessions as [`list_sessions`](super::list_sessions) does.
    ///
    /// # Errors
    ///
    /// [`SessionError::Storage`](crate::SessionError::Storage) if one of the places cannot be
    /// listed as a whole.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe, as all of these: it only reads.
    pub async fn list_all(&self, options: ListingOptions<'_>) -> Result<Vec<SessionRow>> {
        let places: Vec<_> =
            self.places.iter().map(|place| (&*place.storage, &place.scope)).collect();
        list_places(&places, options, Some(&self.known)).await
    }

    /// Lists the sessions of a directory.
    ///
    /// # Errors
    ///
    /// As [`list_all`](Self::list_all).
    pub async fn list(&self, cwd: CwdFilter) -> Result<Vec<SessionRow>> {
        self.list_all(ListingOptions::default().cwd(cwd)).await
    }

    /// Lists so many sessions, the newest; what cannot be read does not count.
    ///
    /// # Errors
    ///
    /// As [`list_all`](Self::list_all).
    pub async fn recent(&self, limit: usize) -> Result<Vec<SessionRow>> {
        self.list_all(ListingOptions::default().limit(limit)).await
    }

    /// Returns the session of a directory that somebody last said something in.
    ///
    /// # Errors
    ///
    /// As [`list_all`](Self::list_all).
    pub async fn most_recent(&self, cwd: CwdFilter) -> Result<Option<SessionRow>> {
        let rows = self.list(cwd).await?;
        Ok(rows.into_iter().find(|row| row.cwd().is_some()))
    }

    /// Finds the session somebody means.
    ///
    /// `wanted` with a slash in it is the path of a file, or the key of one in its storage. In any
    /// case of letters, `wanted` is how the id begins, or the file's name, or what follows
    /// the last `_` in that; if there is no such session, how its title begins. What is meant whole
    /// goes before what only begins so, and a session of the directory before others. Sessions of
    /// child agents are looked at last. Of several files with the same id the largest is taken.
    ///
    /// # Errors
    ///
    /// [`SessionError::NoMatch`](crate::SessionError::NoMatch), and
    /// [`SessionError::Ambiguous`](crate::SessionError::Ambiguous) with those that may be meant;
    /// otherwise as [`list_all`](Self::list_all).
    pub async fn find(&self, wanted: &str, mut cwd: CwdFilter) -> Result<SessionRow> {
        for options in [ListingOptions::default(), ListingOptions::default().children()] {
            let rows = self.list_all(options).await?;
            if let Some(row) = find::choose(&rows, wanted, &mut cwd)? {
                return Ok(row.clone());
            }
        }
        Err(crate::SessionError::NoMatch { wanted: wanted.to_owned() })
    }
}
