//! Searching with the full-text index beside the sessions.

use std::path::PathBuf;
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use session_model::layout::SESSIONS_DIR;
use session_model::storage::{SessionStorage, StorageKey};
use session_store_indexed::DatabaseError;
use session_store_indexed::index::{IndexError, IndexOptions};
use session_store_indexed::search::{self as index, SEARCH_FILE, SearchIndex};
use tokio::sync::mpsc;

use super::answer::{SearchedSession, UnreadableSession};
use super::candidate::{Candidate, Found};
use super::present::most_candidates;
use super::request::{SearchProgress, SearchRequest};
use crate::error::with_sources;
use crate::listing::{Place, Scope, SessionCatalog};

/// How long a lock held by another program is waited for; reading the sessions takes over then.
const BUSY_TIMEOUT: Duration = Duration::from_secs(2);

/// What the thread of an index tells.
enum Told {
    Progress(SearchProgress),
    Done(Result<Found, String>),
}

/// Asks the indexes of all places; the error says why one cannot be used.
pub(super) async fn find(
    catalog: &SessionCatalog,
    request: &SearchRequest,
    progress: &mut (impl FnMut(SearchProgress) + Send),
) -> Result<Found, String> {
    let start = Instant::now();
    let mut all = Found { is_exact: true, ..Found::default() };
    for (number, place) in catalog.places().iter().enumerate() {
        let database = database_of(place).ok_or("these sessions lie in no agent directory")?;
        let (sender, mut told) = mpsc::unbounded_channel();
        let (storage, request) = (Arc::clone(&place.storage), request.clone());
        thread::Builder::new()
            .name("session-search".to_owned())
            .spawn(move || {
                let mut go_on = |progress| {
                    let is_time = request.time_limit.is_none_or(|limit| start.elapsed() < limit);
                    is_time && sender.send(Told::Progress(progress)).is_ok()
                };
                let found = find_in(number, &database, &storage, &request, &mut go_on);
                // It fails if nobody waits for the answer any more.
                let _ = sender.send(Told::Done(found));
            })
            .map_err(|error| error.to_string())?;
        let found = loop {
            match told.recv().await {
                Some(Told::Progress(at)) => progress(at),
                Some(Told::Done(found)) => break found?,
                None => return Err("its thread ended early".to_owned()),
            }
        };
        all.add(found);
    }
    Ok(all)
}

/// Where the index of a place is: in its agent directory.
fn database_of(place: &Place) -> Option<PathBuf> {
    let sessions = StorageKey::new(SESSIONS_DIR).ok()?;
    let path = place.storage.local_path(&sessions)?;
    let is_agent_dir = matches!(&place.scope, Scope::All(below) if *below == sessions);
    (is_agent_dir && path.is_dir()).then(|| path.with_file_name(SEARCH_FILE))
}

/// Brings an index up to date and asks it.
fn find_in(
    place: usize,
    database: &std::path::Path,
    storage: &Arc<dyn SessionStorage>,
    request: &SearchRequest,
    go_on: &mut dyn FnMut(SearchProgress) -> bool,
) -> Result<Found, String> {
    let options = IndexOptions::default().busy_timeout(BUSY_TIMEOUT);
    let mut index = SearchIndex::open(database, options).map_err(|error| with_sources(&error))?;
    let mut is_second = false;
    loop {
        match ask(place, &mut index, storage, request, go_on) {
            // The next call moves it aside and makes it again.
            Err(IndexError::Database(DatabaseError::Damaged { .. })) if !is_second => {
                is_second = true;
            }
            asked => {
                let mut found = asked.map_err(|error| with_sources(&error))?;
                let told = index.diagnostics().into_iter().map(|found| found.to_string());
                found.coverage.index_notes = told.collect();
                return Ok(found);
            }
        }
    }
}

fn ask(
    place: usize,
    index: &mut SearchIndex,
    storage: &Arc<dyn SessionStorage>,
    request: &SearchRequest,
    go_on: &mut dyn FnMut(SearchProgress) -> bool,
) -> Result<Found, IndexError> {
    let update =
        index.update(&**storage, |at| go_on(SearchProgress { done: at.done, total: at.total }))?;
    let mut cwd = request.cwd.clone();
    let texts =
        index.find(&request.query, &request.filter, most_candidates(request), |session| {
            let is_meant = request.session.as_ref().is_none_or(|key| *key == session.key);
            let is_at = |cwd: &mut crate::listing::CwdFilter| {
                session.cwd.as_deref().is_none_or(|of| cwd.admits(of))
            };
            is_meant && cwd.as_mut().is_none_or(is_at)
        })?;
    let searched = |session: index::SearchedSession| SearchedSession {
        place,
        path: storage.local_path(&session.key),
        key: session.key,
        id: session.id,
        title: session.title,
        cwd: session.cwd,
    };
    let mut found = Found {
        more: texts.total.saturating_sub(texts.texts.len() as u64),
        is_exact: texts.is_exact,
        sessions: texts.sessions.into_iter().map(searched).collect(),
        ..Found::default()
    };
    found.candidates = texts
        .texts
        .into_iter()
        .map(|text| Candidate {
            session: text.session,
            place: text.place,
            kind: text.kind,
            written_ms: text.written_ms,
            score: text.score,
        })
        .collect();
    let coverage = &mut found.coverage;
    (coverage.sessions, coverage.not_reached) = (found.sessions.len() as u64, update.left);
    coverage.cut_entries = texts.cut_entries;
    let skipped = update
        .skipped
        .into_iter()
        .filter(|skipped| request.session.as_ref().is_none_or(|key| *key == skipped.key));
    let location = |key: &StorageKey| {
        storage.local_path(key).map_or_else(|| key.to_string(), |path| path.display().to_string())
    };
    coverage.unreadable = skipped
        .map(|skipped| UnreadableSession {
            location: location(&skipped.key),
            reason: skipped.problem,
        })
        .collect();
    Ok(found)
}

impl Found {
    /// Adds what another place has.
    fn add(&mut self, other: Self) {
        let first = self.sessions.len();
        self.sessions.extend(other.sessions);
        self.candidates.extend(
            other
                .candidates
                .into_iter()
                .map(|candidate| Candidate { session: first + candidate.session, ..candidate }),
        );
        self.more += other.more;
        self.is_exact &= other.is_exact;
        let (all, added) = (&mut self.coverage, other.coverage);
        all.sessions += added.sessions;
        all.unreadable.extend(added.unreadable);
        all.not_reached += added.not_reached;
        all.cut_entries += added.cut_entries;
        all.index_notes.extend(added.index_notes);
    }
}
