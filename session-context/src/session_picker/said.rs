//! Searching what was said in sessions.

use std::time::{Duration, Instant};

use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

use super::{SessionName, moved};
use crate::Result;
use crate::error::with_sources;
use crate::search::{SearchHit, SearchProgress, SearchRequest, SearchResults, SessionSearch};

/// How long somebody may pause between two letters without a search being begun.
const PAUSE: Duration = Duration::from_millis(60);

/// How long sessions are read until what was found so far is shown, each time from the beginning.
/// After the last, what was not reached is left out.
const LIMITS: [Duration; 3] =
    [Duration::from_millis(200), Duration::from_secs(2), Duration::from_secs(60)];

/// How often progress is told.
const STEP: Duration = Duration::from_millis(50);

/// What became of a search.
#[derive(Debug)]
#[non_exhaustive]
pub enum SaidFound {
    /// How far it has come.
    Progress(SearchProgress),
    /// What it found so far; more may come.
    Part(SearchResults),
    /// All that it finds, or why it cannot be made.
    All(Result<SearchResults>),
}

/// A thread that searches what was said; it ends soon after this is dropped.
///
/// What was found in a short time is told before the rest is searched, the latest sessions first.
#[derive(Debug)]
pub struct SaidSearcher(UnboundedReceiver<SaidFound>);

impl SaidSearcher {
    /// Begins to search, after a pause in which this may be dropped without cost.
    ///
    /// The request's [time limit](SearchRequest::time_limit) is not looked at.
    pub fn start(search: SessionSearch, request: SearchRequest) -> Self {
        let (sender, found) = unbounded_channel();
        std::thread::spawn(move || {
            // Whoever listens sees that nobody is there.
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            let Ok(runtime) = runtime else { return };
            runtime.block_on(serve(&search, &request, &LIMITS, &sender));
        });
        Self(found)
    }

    /// Waits for what comes next; `None` if all has come.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: nothing that came is lost.
    pub async fn next(&mut self) -> Option<SaidFound> {
        self.0.recv().await
    }
}

/// Searches until all is found or nobody waits for it any more.
pub(super) async fn serve(
    search: &SessionSearch,
    request: &SearchRequest,
    limits: &[Duration],
    sender: &UnboundedSender<SaidFound>,
) {
    tokio::select! {
        biased;
        () = sender.closed() => {}
        () = look(search, request, limits, sender) => {}
    }
}

async fn look(
    search: &SessionSearch,
    request: &SearchRequest,
    limits: &[Duration],
    sender: &UnboundedSender<SaidFound>,
) {
    tokio::time::sleep(PAUSE).await;
    let mut told = Instant::now();
    let mut progress = |progress| {
        if told.elapsed() >= STEP {
            told = Instant::now();
            // Nobody is left to tell if sending fails; here and below.
            drop(sender.send(SaidFound::Progress(progress)));
        }
    };
    for (at, limit) in limits.iter().enumerate() {
        let request = request.clone().time_limit(*limit);
        let found = search.search(request, &mut progress).await;
        match found {
            Ok(found) if found.coverage.not_reached > 0 && at + 1 < limits.len() => {
                drop(sender.send(SaidFound::Part(found)));
            }
            found => {
                drop(sender.send(SaidFound::All(found)));
                return;
            }
        }
    }
}

/// Entries that were found by what was said, and the place among them.
#[derive(Debug, Default)]
pub struct SaidState {
    query: String,
    results: SearchResults,
    /// Whether they are those of earlier words.
    is_stale: bool,
    /// How far the search has come; `None` while none is under way.
    progress: Option<Option<SearchProgress>>,
    cursor: usize,
}

impl SaidState {
    /// Returns the words that are searched for.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Takes other words, or the same for another search. What was found before is shown until
    /// something is found.
    pub fn set_query(&mut self, query: &str) {
        query.clone_into(&mut self.query);
        self.cursor = 0;
        (self.progress, self.is_stale) = (Some(None), true);
        if query.is_empty() {
            (self.progress, self.results) = (None, SearchResults::default());
        }
    }

    /// Takes what became of the search; an error is returned as text.
    ///
    /// The cursor stays at its entry, unless it is at the first.
    ///
    /// # Errors
    ///
    /// Why the search could not be made.
    pub fn set_found(&mut self, found: SaidFound) -> Result<(), String> {
        let results = match found {
            SaidFound::Progress(progress) => {
                self.progress = Some(Some(progress));
                return Ok(());
            }
            SaidFound::Part(results) => results,
            SaidFound::All(found) => {
                self.progress = None;
                found.map_err(|error| with_sources(&error))?
            }
        };
        self.is_stale = false;
        let before = self.selected().map(place_of).filter(|_| self.cursor > 0);
        let at =
            before.and_then(|before| results.hits.iter().position(|hit| place_of(hit) == before));
        self.cursor = at.unwrap_or(0);
        self.results = results;
        Ok(())
    }

    /// Returns what was found.
    pub fn results(&self) -> &SearchResults {
        &self.results
    }

    /// Tells whether what was found is of earlier words, since nothing came of the present ones yet.
    pub fn is_stale(&self) -> bool {
        self.is_stale
    }

    /// Returns how far the search has come, if one is under way and if that is known.
    pub fn progress(&self) -> Option<Option<SearchProgress>> {
        self.progress
    }

    /// Returns the number of the entry somebody is at; `None` if nothing was found.
    pub fn cursor(&self) -> Option<usize> {
        (!self.results.hits.is_empty()).then_some(self.cursor)
    }

    /// Returns the entry somebody is at.
    pub fn selected(&self) -> Option<&SearchHit> {
        self.results.hits.get(self.cursor)
    }

    /// Moves as [`SessionPickerState::move_by`](super::SessionPickerState::move_by) does.
    pub fn move_by(&mut self, rows: isize) {
        self.cursor = moved(self.cursor, self.results.hits.len(), rows);
    }
}

/// The session something was found in, and where in it.
fn place_of(hit: &SearchHit) -> (SessionName, u64) {
    ((hit.session.place, hit.session.key.clone()), hit.offset)
}
