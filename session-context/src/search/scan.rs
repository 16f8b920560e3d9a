//! Searching sessions by reading them, on several threads.

use std::num::NonZero;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Instant;

use bytes::Bytes;
use memchr::{memchr_iter, memrchr};
use session_model::document::{LoadError, LoadOptions, Scan};
use session_model::search::{
    Corpus, EntryPlace, EntryText, Query, Ranking, TextFilter, places, texts_of, written_ms,
};
use session_model::storage::{ReadRange, SessionStorage, StorageError, StorageErrorKind};
use tokio::sync::mpsc;

use super::answer::{SearchedSession, UnreadableSession};
use super::candidate::{Candidate, Found};
use super::request::{SearchProgress, SearchRequest};
use crate::error::with_sources;
use crate::listing::{ListingOptions, SessionCatalog, SessionRow};
use crate::{Result, SessionError};

/// How much of a file is read at once; more if a line is longer.
const PART: u64 = 4 << 20;

const MAX_THREADS: usize = 8;

/// A part of a session file: whole lines, or all that is left.
struct Part {
    session: usize,
    offset: u64,
    first_line: u64,
    bytes: Bytes,
}

/// What a part holds of what is searched for.
#[derive(Default)]
struct Looked {
    session: usize,
    answers: Vec<Answer>,
    texts: u64,
    words: u64,
    latest_ms: Option<i64>,
    /// How many texts have each clause.
    having: Vec<u64>,
    cut: u64,
    error: Option<LoadError>,
}

/// A text that answers the request, before the rarity of words is known.
struct Answer {
    candidate: Candidate,
    weights: Vec<u32>,
    words: u32,
}

/// Reads all sessions that may hold an answer.
pub(super) async fn scan(
    catalog: &SessionCatalog,
    request: &SearchRequest,
    progress: &mut (impl FnMut(SearchProgress) + Send),
) -> Result<Found> {
    let start = Instant::now();
    let mut found = Found { is_exact: true, ..Found::default() };
    let sessions = sessions(catalog, request, &mut found).await?;
    let total = sessions.len() as u64;
    let mut threads = Threads::start(&request.query, &request.filter)?;
    let mut all = Looked::default();
    for (session, row) in sessions.into_iter().enumerate() {
        if request.time_limit.is_some_and(|limit| start.elapsed() >= limit) {
            found.coverage.not_reached = total - session as u64;
            break;
        }
        progress(SearchProgress { done: session as u64, total });
        let storage = Arc::clone(&catalog.places()[row.place].storage);
        match read(&*storage, &row, session, &mut threads).await {
            Ok(()) => found.coverage.sessions += 1,
            // It was removed meanwhile.
            Err(error) if error.kind() == StorageErrorKind::NotFound => {}
            Err(error) => found.coverage.unreadable.push(unreadable(row.location(), &error)),
        }
        found.sessions.push(searched(&row));
        threads.looked(&mut all, &mut found);
    }
    threads.finish(&mut all, &mut found).await;
    progress(SearchProgress { done: total, total });
    let latest_ms = all.latest_ms.unwrap_or_default();
    let corpus = Corpus { texts: all.texts, words: all.words, latest_ms };
    let ranking = Ranking::new(&corpus, &all.having);
    let rated = |Answer { candidate, weights, words }: Answer| {
        let written = candidate.written_ms.unwrap_or(i64::MIN);
        Candidate { score: ranking.score(weights.into_iter(), words, written), ..candidate }
    };
    found.candidates = all.answers.into_iter().map(rated).collect();
    found.coverage.cut_entries = all.cut;
    Ok(found)
}

/// The sessions to be read; what cannot be read is told.
async fn sessions(
    catalog: &SessionCatalog,
    request: &SearchRequest,
    found: &mut Found,
) -> Result<Vec<SessionRow>> {
    let mut options = ListingOptions::default().children();
    options.cwd.clone_from(&request.cwd);
    let mut rows = catalog.list_all(options).await?;
    if let Some(session) = &request.session {
        rows.retain(|row| row.key == *session);
    }
    rows.retain(|row| match &row.summary {
        Ok(_) => true,
        // Artifacts may have any name.
        Err(SessionError::NotASession { .. }) if row.agent_of.is_some() => false,
        Err(error) => {
            found.coverage.unreadable.push(unreadable(row.location(), error));
            false
        }
    });
    Ok(rows)
}

fn unreadable(location: String, error: &dyn std::error::Error) -> UnreadableSession {
    UnreadableSession { location, reason: with_sources(error) }
}

fn searched(row: &SessionRow) -> SearchedSession {
    let summary = row.summary.as_ref().ok();
    SearchedSession {
        place: row.place,
        key: row.key.clone(),
        path: row.path.clone(),
        id: summary.map(|summary| summary.id.clone()),
        title: summary.and_then(|summary| Some(summary.title.as_ref()?.text.clone())),
        cwd: summary.and_then(|summary| summary.cwd.clone()),
    }
}

/// Reads a session part by part, and gives the parts to the threads.
async fn read(
    storage: &dyn SessionStorage,
    row: &SessionRow,
    session: usize,
    threads: &mut Threads,
) -> std::result::Result<(), StorageError> {
    let (mut offset, mut first_line, mut len) = (0, 1, PART);
    loop {
        let (meta, parts) = storage.read(&row.key, &[ReadRange::Range { offset, len }]).await?;
        let read = parts.into_iter().next().unwrap_or_default();
        let is_end = offset + read.len() as u64 >= meta.size;
        let whole = memrchr(b'\n', &read).map_or(0, |last| last + 1);
        if whole == 0 && !is_end {
            len = len.saturating_mul(2);
            continue;
        }
        // A last record without a line end is one all the same.
        let bytes = if is_end { read } else { read.slice(..whole) };
        let (size, lines) = (bytes.len() as u64, memchr_iter(b'\n', &bytes).count() as u64);
        threads.give(Part { session, offset, first_line, bytes }).await;
        if is_end {
            return Ok(());
        }
        (offset, first_line, len) = (offset + size, first_line + lines, PART);
    }
}

/// Looks through a part.
fn look(part: &Part, query: &Query, filter: &TextFilter) -> Looked {
    let having = vec![0; query.wanted().len()];
    let mut looked = Looked { session: part.session, having, ..Looked::default() };
    let options = LoadOptions::default();
    let scan = match part.offset {
        0 => Scan::beginning(&part.bytes, &options),
        _ => Ok(Scan::lines(&part.bytes, &options)),
    };
    let scan = match scan {
        Ok(scan) => scan,
        Err(error) => return Looked { error: Some(error), ..looked },
    };
    if let Some(title) = scan.header.as_ref().and_then(|header| header.title()) {
        let place = EntryPlace { offset: 0, length: 0, line: 1 };
        let written = scan.header.as_ref().and_then(|header| header.timestamp());
        let written = written.and_then(|time| session_model::time::from_iso(&time));
        looked.text(&EntryText::title(title), place, written, query, filter);
    }
    for (place, entry) in places(&scan, &part.bytes, part.offset, part.first_line) {
        let texts = texts_of(entry);
        looked.cut += u64::from(texts.iter().any(|text| text.is_cut));
        for text in texts {
            looked.text(&text, place, written_ms(entry), query, filter);
        }
    }
    looked
}

impl Looked {
    fn text(
        &mut self,
        text: &EntryText,
        place: EntryPlace,
        written_ms: Option<i64>,
        query: &Query,
        filter: &TextFilter,
    ) {
        if !filter.admits(text, written_ms) {
            return;
        }
        let examined = query.examine(&text.text);
        let (words, weights) = (examined.found.words, examined.found.weights);
        self.texts += 1;
        self.words += u64::from(words);
        self.latest_ms = self.latest_ms.max(written_ms);
        for (having, weight) in self.having.iter_mut().zip(&weights) {
            *having += u64::from(*weight > 0);
        }
        if examined.is_match {
            let (session, kind) = (self.session, text.kind);
            let candidate = Candidate { session, place, kind, written_ms, score: 0.0 };
            self.answers.push(Answer { candidate, weights, words });
        }
    }

    fn add(&mut self, other: Self, found: &mut Found) {
        self.answers.extend(other.answers);
        self.texts += other.texts;
        self.words += other.words;
        self.latest_ms = self.latest_ms.max(other.latest_ms);
        self.having.resize(other.having.len(), 0);
        self.having.iter_mut().zip(other.having).for_each(|(sum, having)| *sum += having);
        self.cut += other.cut;
        if let Some(error) = other.error {
            let location = found.sessions[other.session].location();
            found.coverage.unreadable.push(unreadable(location, &error));
            found.coverage.sessions = found.coverage.sessions.saturating_sub(1);
        }
    }
}

/// The threads that look through parts, while the caller reads them.
///
/// They end when this is dropped, each with the part it has.
struct Threads {
    parts: mpsc::Sender<Part>,
    looked: mpsc::UnboundedReceiver<Looked>,
    /// How many parts are not looked through yet.
    open: u64,
}

impl Threads {
    fn start(query: &Query, filter: &TextFilter) -> Result<Self> {
        let count = thread::available_parallelism().map_or(1, NonZero::get).min(MAX_THREADS);
        let (parts, given) = mpsc::channel::<Part>(count);
        let (done, looked) = mpsc::unbounded_channel();
        let given = Arc::new(Mutex::new(given));
        for started in 0..count {
            let (given, done) = (Arc::clone(&given), done.clone());
            let (query, filter) = (query.clone(), filter.clone());
            let next = move || given.lock().unwrap_or_else(PoisonError::into_inner).blocking_recv();
            let work = move || {
                while let Some(part) = next() {
                    if done.send(look(&part, &query, &filter)).is_err() {
                        break;
                    }
                }
            };
            match thread::Builder::new().name("session-search".to_owned()).spawn(work) {
                Err(source) if started == 0 => {
                    let source = Arc::new(source);
                    return Err(SessionError::Host { what: "starting a thread", source });
                }
                // Fewer will do.
                _ => {}
            }
        }
        Ok(Self { parts, looked, open: 0 })
    }

    async fn give(&mut self, part: Part) {
        self.open += 1;
        // It fails if all threads are gone; then the part stays open.
        let _ = self.parts.send(part).await;
    }

    /// Takes what is done so far.
    fn looked(&mut self, all: &mut Looked, found: &mut Found) {
        while let Ok(looked) = self.looked.try_recv() {
            self.open -= 1;
            all.add(looked, found);
        }
    }

    /// Waits for all that was given.
    async fn finish(self, all: &mut Looked, found: &mut Found) {
        let Self { parts, mut looked, mut open } = self;
        drop(parts);
        while let Some(looked) = looked.recv().await {
            open -= 1;
            all.add(looked, found);
        }
        found.coverage.candidates_left |= open > 0;
    }
}
