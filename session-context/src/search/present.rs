//! Reading the best candidates again, to show them.

use bytes::Bytes;
use session_model::document::{LoadOptions, Scan};
use session_model::search::{EntryText, Snippet, texts_of};
use session_model::storage::{ReadRange, SessionStorage, StorageErrorKind};

use super::answer::{SearchHit, SearchResults, UnreadableSession};
use super::candidate::{Candidate, Found};
use super::request::SearchRequest;
use crate::error::with_sources;
use crate::listing::SessionCatalog;

/// So many candidates are looked at for each that is to be returned, and so many at least, where
/// not all need be answers.
const CANDIDATES_PER_HIT: usize = 20;
const MIN_CANDIDATES: usize = 2000;

/// So many more are looked at where all should be, for those whose files changed meanwhile.
const SPARE_CANDIDATES: usize = 100;

/// How many candidates are looked at for a request.
pub(super) fn most_candidates(request: &SearchRequest) -> usize {
    match request.query.has_joined() {
        true => request.limit.saturating_mul(CANDIDATES_PER_HIT).max(MIN_CANDIDATES),
        false => request.limit.saturating_add(SPARE_CANDIDATES),
    }
}

/// How much of a file is read to find its header; more if need be.
const HEAD: u64 = 64 << 10;

/// Makes hits of the best candidates.
///
/// What is no answer any more, as the file was changed, or never was one, as words do not follow
/// each other, is passed over.
pub(super) async fn present(
    catalog: &SessionCatalog,
    request: &SearchRequest,
    mut found: Found,
) -> SearchResults {
    found.sort();
    let Found { sessions, candidates, more, is_exact, mut coverage } = found;
    let mut results = SearchResults {
        total: candidates.len() as u64 + more,
        total_is_exact: is_exact,
        ..SearchResults::default()
    };
    let most = most_candidates(request);
    for (looked, candidate) in candidates.iter().enumerate() {
        if results.hits.len() >= request.limit {
            break;
        }
        if looked >= most {
            coverage.candidates_left = true;
            break;
        }
        let session = &sessions[candidate.session];
        let storage = &*catalog.places()[session.place].storage;
        let entry = match read(storage, session, candidate).await {
            Ok(entry) => entry,
            Err(error) if error.kind() == StorageErrorKind::NotFound => None,
            Err(error) => {
                let (location, reason) = (session.location(), with_sources(&error));
                coverage.unreadable.push(UnreadableSession { location, reason });
                None
            }
        };
        let matched = entry.and_then(|(id, text)| {
            let matched = request.query.find(&text.text)?;
            request.filter.admits(&text, candidate.written_ms).then_some((id, text, matched))
        });
        let Some((entry, text, matched)) = matched else {
            results.total -= 1;
            continue;
        };
        results.hits.push(SearchHit {
            session: session.clone(),
            entry,
            snippet: Snippet::new(&text.text, &matched.ranges, request.snippet_chars),
            role: text.role,
            kind: text.kind,
            tools: text.tools,
            model: text.model,
            written_ms: candidate.written_ms,
            line: candidate.place.line,
            offset: candidate.place.offset,
            score: candidate.score,
        });
    }
    coverage.candidates_left |= more > 0 && results.hits.len() < request.limit;
    // All that was no answer was met.
    results.total_is_exact |= results.hits.len() as u64 == results.total;
    coverage.query_is_cut = request.query.is_cut();
    SearchResults { coverage, ..results }
}

/// Reads the id and the text of a candidate; `None` if there is no such text any more.
async fn read(
    storage: &dyn SessionStorage,
    session: &super::SearchedSession,
    candidate: &Candidate,
) -> Result<Option<(Option<String>, EntryText)>, session_model::storage::StorageError> {
    let key = &session.key;
    let place = candidate.place;
    if place.length == 0 {
        let mut len = HEAD;
        loop {
            let head = read_range(storage, key, 0, len).await?;
            let whole = match head.len() as u64 == len {
                true => head.iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1),
                // The last line of a file may lack its end.
                false => head.len(),
            };
            let scan = Scan::beginning(&head.slice(..whole), &LoadOptions::default());
            match scan.ok().and_then(|scan| scan.header?.title()) {
                Some(title) => return Ok(Some((None, EntryText::title(title)))),
                None if (head.len() as u64) < len => return Ok(None),
                None => len = len.saturating_mul(4),
            }
        }
    }
    let line = read_range(storage, key, place.offset, place.length).await?;
    let mut scan = Scan::lines(&line, &LoadOptions::default());
    let Some((_, entry)) = scan.entries.pop().filter(|_| scan.entries.is_empty()) else {
        return Ok(None);
    };
    let text = texts_of(&entry).into_iter().find(|text| text.kind == candidate.kind);
    Ok(text.map(|text| (entry.id().map(String::from), text)))
}

async fn read_range(
    storage: &dyn SessionStorage,
    key: &session_model::storage::StorageKey,
    offset: u64,
    len: u64,
) -> Result<Bytes, session_model::storage::StorageError> {
    let (_, parts) = storage.read(key, &[ReadRange::Range { offset, len }]).await?;
    Ok(parts.into_iter().next().unwrap_or_default())
}
