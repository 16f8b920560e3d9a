//! What is searched for, and where.

use std::time::Duration;

use session_model::search::{Query, TextFilter};
use session_model::storage::StorageKey;

use crate::listing::CwdFilter;

/// What is searched for, and where.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SearchRequest {
    /// What the text of an entry must have.
    pub query: Query,
    /// Which entries are searched; default: all, without what models thought.
    pub filter: TextFilter,
    /// Whose sessions are searched; default: everybody's. A session whose directory is not known
    /// passes.
    pub cwd: Option<CwdFilter>,
    /// The one session that is searched; default: all.
    pub session: Option<StorageKey>,
    /// How many entries are returned at most; default: 20.
    pub limit: usize,
    /// How long a snippet is, in characters; default: 160.
    pub snippet_chars: usize,
    /// After how long no further session is begun; default: never.
    pub time_limit: Option<Duration>,
}

impl SearchRequest {
    /// A search for a text, which is read as [`Query::parse`] says.
    pub fn new(text: &str) -> Self {
        Self {
            query: Query::parse(text),
            filter: TextFilter::default(),
            cwd: None,
            session: None,
            limit: 20,
            snippet_chars: 160,
            time_limit: None,
        }
    }

    /// This search among these entries only.
    #[must_use]
    pub fn filter(self, filter: TextFilter) -> Self {
        Self { filter, ..self }
    }

    /// This search in the sessions of a directory only.
    #[must_use]
    pub fn cwd(self, cwd: CwdFilter) -> Self {
        Self { cwd: Some(cwd), ..self }
    }

    /// This search in one session only.
    #[must_use]
    pub fn session(self, session: StorageKey) -> Self {
        Self { session: Some(session), ..self }
    }

    /// This search with so many entries at most.
    #[must_use]
    pub fn limit(self, limit: usize) -> Self {
        Self { limit, ..self }
    }

    /// This search with so much time to read sessions.
    #[must_use]
    pub fn time_limit(self, time_limit: Duration) -> Self {
        Self { time_limit: Some(time_limit), ..self }
    }
}

/// How far a search has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchProgress {
    /// How many sessions were read.
    pub done: u64,
    /// How many there are to read.
    pub total: u64,
}
