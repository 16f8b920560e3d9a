//! Full-text search over the entries of all sessions.

mod answer;
mod candidate;
#[cfg(feature = "indexed")]
mod indexed;
mod present;
mod request;
mod scan;
#[cfg(test)]
mod tests;

use crate::Result;
use crate::listing::SessionCatalog;

pub use answer::{SearchCoverage, SearchHit, SearchResults, SearchedSession, UnreadableSession};
pub use request::{SearchProgress, SearchRequest};

/// Searches the sessions of one or several places.
///
/// Sessions of child agents, which lie among the artifacts of others, are searched too.
///
/// ```
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # pollster::block_on(async {
/// use std::sync::Arc;
///
/// use session_context::listing::{Place, SessionCatalog};
/// use session_context::search::{SearchRequest, SessionSearch};
/// use session_model::storage::{SessionStorageExt, StorageKey};
/// use session_store_memory::MemoryStorage;
///
/// let storage = Arc::new(MemoryStorage::new());
/// let file = "{\"type\":\"session\",\"id\":\"s\"}\n\
///             {\"type\":\"message\",\"id\":\"a\",\"message\":{\"role\":\"user\",\"content\":\"fix the login\"}}\n";
/// storage.append_once(&StorageKey::new("sessions/-w/a.jsonl")?, file.into()).await?;
///
/// let search = SessionSearch::new(SessionCatalog::new(vec![Place::agent_dir(storage)?]));
/// let found = search.search(SearchRequest::new("log fix"), |_| {}).await?;
/// assert_eq!((found.total, found.hits[0].entry.as_deref()), (1, Some("a")));
/// assert_eq!(found.hits[0].snippet.text, "fix the login");
/// # Ok(())
/// # })
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct SessionSearch {
    catalog: SessionCatalog,
    #[cfg(feature = "indexed")]
    uses_index: bool,
}

impl SessionSearch {
    /// Searches the sessions of these places by reading them.
    pub fn new(catalog: SessionCatalog) -> Self {
        Self {
            catalog,
            #[cfg(feature = "indexed")]
            uses_index: false,
        }
    }

    /// Searches with an index beside the sessions, a database in each agent directory.
    ///
    /// It is made by the first search, which reads all sessions, and brought up to date by each; the
    /// progress told is that of this. Where there can be none, sessions are read, and the coverage
    /// [says why](SearchCoverage::index_unusable).
    #[cfg(feature = "indexed")]
    #[must_use]
    pub fn with_index(self) -> Self {
        Self { uses_index: true, ..self }
    }

    /// Finds the entries that answer a request, the best first.
    ///
    /// Entries rated alike are in the order of their time, the latest first, then of their place. What
    /// could not be searched is told in the [coverage](SearchResults::coverage).
    ///
    /// # Errors
    ///
    /// [`SessionError::Storage`](crate::SessionError::Storage) if a place cannot be listed at all.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: it only reads, and its threads end soon after it is dropped.
    pub async fn search(
        &self,
        request: SearchRequest,
        mut progress: impl FnMut(SearchProgress) + Send,
    ) -> Result<SearchResults> {
        if request.query.is_empty() {
            return Ok(SearchResults::default());
        }
        #[cfg(feature = "indexed")]
        if self.uses_index {
            match indexed::find(&self.catalog, &request, &mut progress).await {
                Ok(found) => return Ok(present::present(&self.catalog, &request, found).await),
                Err(reason) => {
                    tracing::warn!(%reason, "the full-text index is not used");
                    let found = scan::scan(&self.catalog, &request, &mut progress).await?;
                    let mut results = present::present(&self.catalog, &request, found).await;
                    results.coverage.index_unusable = Some(reason);
                    return Ok(results);
                }
            }
        }
        let found = scan::scan(&self.catalog, &request, &mut progress).await?;
        Ok(present::present(&self.catalog, &request, found).await)
    }
}
