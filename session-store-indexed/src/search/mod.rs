//! A full-text index of the entries of all sessions, in a database of its own.
//!
//! The database holds terms, and where the texts that have them stand in the session files; the
//! texts themselves are read from there. It is brought up to date when somebody searches: what was
//! appended is read, and what was rewritten or removed is forgotten. Nothing is written when a
//! session is.
//!
//! Terms lie in *segments*: each has the terms of some texts, in their order, in blocks of a few
//! kilobytes. New texts make new segments; many small ones are merged into a larger one.

mod batch;
mod beginnings;
mod error;
mod find;
mod lookup;
mod merge;
mod read;
mod schema;
mod state;
mod update;
mod write;

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use session_model::search::{Query, TextFilter};
use session_model::storage::SessionStorage;

use crate::index::{IndexError, IndexOptions};
use crate::sqlite::{Database, Settings};
use crate::{DatabaseDiagnostic, DatabaseError};

pub use find::{FoundText, FoundTexts};
pub use state::{SearchedSession, SkippedSession};
pub use update::{SearchUpdate, UpdateProgress};

/// The name of the database in the root of a storage of files.
///
/// As that of the [index](crate::storage::INDEX_FILE), it is reserved, so that it is no object of
/// the storage.
pub const SEARCH_FILE: &str = ".~search.db";

/// A full-text index of sessions.
///
/// Several processes may have the same one open. All calls block on the disk; from async code run
/// them on a thread made for that.
///
/// ```
/// use session_model::search::{Query, TextFilter};
/// use session_model::storage::{SessionStorageExt, StorageKey};
/// use session_store_indexed::index::IndexOptions;
/// use session_store_indexed::search::SearchIndex;
/// use session_store_memory::MemoryStorage;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let directory = tempfile::tempdir()?;
/// let sessions = MemoryStorage::new();
/// let file = "{\"type\":\"session\",\"id\":\"s\"}\n\
///             {\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"fix the login\"}}\n";
/// pollster::block_on(sessions.append_once(&StorageKey::new("sessions/b/s.jsonl")?, file.into()))?;
///
/// let mut index = SearchIndex::open(directory.path().join("search.db"), IndexOptions::default())?;
/// index.update(&sessions, |_| true)?;
/// let found = index.find(&Query::parse("log"), &TextFilter::default(), 10, |_| true)?;
/// assert_eq!((found.total, found.texts[0].place.line), (1, 2));
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct SearchIndex {
    database: Database,
    diagnostics: Arc<Mutex<Vec<DatabaseDiagnostic>>>,
}

impl SearchIndex {
    /// Opens the database at `path`, or makes it there, directories included.
    ///
    /// A database that is damaged or foreign is moved aside whole, and one of an older version
    /// emptied; see [`diagnostics`](Self::diagnostics). One of a newer version is left alone.
    ///
    /// Where nothing can be written, an index that is there is read. It can be used as long as no
    /// session changes: then [`update`](Self::update) fails.
    ///
    /// # Errors
    ///
    /// Any [`DatabaseError`]; in particular `Denied` where no index can be made, and `Newer`.
    pub fn open(path: impl AsRef<Path>, options: IndexOptions) -> Result<Self, DatabaseError> {
        let IndexOptions { busy_timeout, clock, .. } = options;
        let settings = Settings { busy_timeout, clock };
        let database = Database::open_as_possible(path.as_ref(), settings, schema::prepare)?;
        let diagnostics = database.diagnostics();
        Ok(Self { database, diagnostics })
    }

    /// Returns what was found since opening that the user should be told.
    pub fn diagnostics(&self) -> Vec<DatabaseDiagnostic> {
        self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Brings the index up to date with the session files.
    ///
    /// Reads the sessions that changed since, on several threads, which drive the storage's futures:
    /// it must not need a runtime. `progress` is told now and then, and answers whether to go on;
    /// what was indexed by then stays.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`], and [`IndexError::Storage`] if the sessions cannot be listed. A
    /// session that cannot be read is told in the answer.
    pub fn update(
        &mut self,
        storage: &dyn SessionStorage,
        progress: impl FnMut(UpdateProgress) -> bool,
    ) -> Result<SearchUpdate, IndexError> {
        update::update(&mut self.database, storage, progress)
    }

    /// Finds the texts that answer a query, the best first, at most `limit`.
    ///
    /// Only sessions that `admits` are looked at. Phrases, and words joined by punctuation, are found
    /// by their words alone: whoever shows a text reads it, and asks [`Query::find`].
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`], never because of what the query is. After
    /// [`DatabaseError::Damaged`] the next [`update`](Self::update) makes the index again.
    pub fn find(
        &mut self,
        query: &Query,
        filter: &TextFilter,
        limit: usize,
        mut admits: impl FnMut(&SearchedSession) -> bool,
    ) -> Result<FoundTexts, IndexError> {
        if query.is_empty() {
            return Ok(FoundTexts::default());
        }
        let found = error::run(&mut self.database, |connection| {
            find::find(connection, query, filter, limit, &mut admits)
        });
        Ok(found?)
    }
}
