//! Answering a query.

use rusqlite::{Connection, Row};
use session_model::search::{Corpus, EntryPlace, Query, TextFilter, TextKind, score};
use session_model::storage::StorageKey;

use super::SearchedSession;
use super::batch::{NO_TIME, THINKING};
use super::error::ReadError;
use super::lookup::{Wanted, weights};

/// A text that has the words of a query.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FoundText {
    /// Its session, as a place in [`FoundTexts::sessions`].
    pub session: usize,
    /// Where its entry stands; of no length if it is the title in the session's header.
    pub place: EntryPlace,
    /// Which text of the entry it is.
    pub kind: TextKind,
    /// When it was written, in milliseconds since the epoch.
    pub written_ms: Option<i64>,
    /// How well it answers.
    pub score: f64,
}

/// The texts that have the words of a query.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct FoundTexts {
    /// The sessions that were looked at.
    pub sessions: Vec<SearchedSession>,
    /// The best, in no order.
    pub texts: Vec<FoundText>,
    /// How many texts have the words.
    pub total: u64,
    /// Whether each of them is known to answer the query; else they are to be read.
    pub is_exact: bool,
}

struct Segment {
    number: i64,
    first: i64,
    count: usize,
}

/// A run of texts of one session.
struct Part {
    first: i64,
    count: i64,
    session: usize,
}

/// A text that has the words, before their rarity is known.
struct Candidate {
    text: i64,
    session: usize,
    words: u32,
    written_ms: i64,
    /// Where its weights begin, one for each clause.
    weights: usize,
    score: f64,
}

/// All candidates, with what is needed to rate them.
#[derive(Default)]
struct Candidates {
    found: Vec<Candidate>,
    weights: Vec<u16>,
    having: Vec<u64>,
}

pub(super) fn find(
    connection: &mut Connection,
    query: &Query,
    filter: &TextFilter,
    limit: usize,
    admits: &mut impl FnMut(&SearchedSession) -> bool,
) -> Result<FoundTexts, ReadError> {
    // One state of the database for all questions.
    let transaction = connection.transaction()?;
    let (sessions, parts) = sessions_and_parts(&transaction, admits)?;
    let has_joined = |clauses: &[session_model::search::Clause]| {
        clauses.iter().any(|clause| clause.pieces.len() > 1)
    };
    let is_exact = !has_joined(query.wanted()) && !has_joined(query.excluded());
    let mut candidates = Candidates { having: vec![0; query.wanted().len()], ..Default::default() };
    let (segments, corpus) = segments(&transaction)?;
    for segment in &segments {
        candidates.add(&transaction, segment, &parts, query, filter)?;
    }
    candidates.rate(&corpus);
    let total = candidates.found.len() as u64;
    let best = candidates.best(limit);
    let mut place = transaction
        .prepare_cached("SELECT offset, length, line, is_thought FROM text WHERE text = ?")?;
    let texts = best
        .iter()
        .map(|candidate| place.query_row([candidate.text], |row| found_text(row, candidate)));
    let texts = texts.collect::<rusqlite::Result<_>>()?;
    Ok(FoundTexts { sessions, texts, total, is_exact })
}

fn found_text(row: &Row<'_>, candidate: &Candidate) -> rusqlite::Result<FoundText> {
    let number = |at| row.get::<_, i64>(at).map(|number| number as u64);
    Ok(FoundText {
        session: candidate.session,
        place: EntryPlace { offset: number(0)?, length: number(1)?, line: number(2)? },
        kind: if row.get(3)? { TextKind::Thinking } else { TextKind::Said },
        written_ms: Some(candidate.written_ms).filter(|written| *written != NO_TIME),
        score: candidate.score,
    })
}

/// The sessions that are looked at, and which texts are theirs, in order.
fn sessions_and_parts(
    connection: &Connection,
    admits: &mut impl FnMut(&SearchedSession) -> bool,
) -> Result<(Vec<SearchedSession>, Vec<Part>), ReadError> {
    let mut numbers = std::collections::HashMap::new();
    let mut sessions = Vec::new();
    let mut statement = connection
        .prepare_cached("SELECT session, key, id, cwd, title FROM session WHERE problem IS NULL")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let key = row.get_ref(1)?.as_str().map_err(rusqlite::Error::from)?;
        let Ok(key) = StorageKey::new(key) else { continue };
        let session =
            SearchedSession { key, id: row.get(2)?, cwd: row.get(3)?, title: row.get(4)? };
        if admits(&session) {
            numbers.insert(row.get::<_, i64>(0)?, sessions.len());
            sessions.push(session);
        }
    }
    let mut parts = Vec::new();
    let mut statement =
        connection.prepare_cached("SELECT first, count, session FROM part ORDER BY first")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(session) = numbers.get(&row.get::<_, i64>(2)?) {
            parts.push(Part { first: row.get(0)?, count: row.get(1)?, session: *session });
        }
    }
    Ok((sessions, parts))
}

fn segments(connection: &Connection) -> Result<(Vec<Segment>, Corpus), ReadError> {
    let mut corpus = Corpus { latest_ms: NO_TIME, ..Corpus::default() };
    let mut segments = Vec::new();
    let mut statement = connection.prepare_cached(
        "SELECT segment, first, count, texts, all_words, latest FROM segment ORDER BY first",
    )?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        let count = row.get::<_, i64>(2)?.max(0);
        segments.push(Segment { number: row.get(0)?, first: row.get(1)?, count: count as usize });
        corpus.texts += row.get::<_, i64>(3)?.max(0) as u64;
        corpus.words += row.get::<_, i64>(4)?.max(0) as u64;
        corpus.latest_ms = corpus.latest_ms.max(row.get(5)?);
    }
    Ok((segments, corpus))
}

impl Candidates {
    /// Adds the texts of a segment that have all words, are of `parts`, and pass the filter.
    fn add(
        &mut self,
        connection: &Connection,
        segment: &Segment,
        parts: &[Part],
        query: &Query,
        filter: &TextFilter,
    ) -> Result<(), ReadError> {
        let look = |term: &str, is_beginning: bool| {
            weights(connection, segment.number, segment.count, &Wanted { term, is_beginning })
        };
        // What is asked for whole: any of these that is missing leaves nothing.
        let mut wanted: Vec<Option<Vec<u16>>> = Vec::with_capacity(query.wanted().len());
        for (clause, having) in query.wanted().iter().zip(&mut self.having) {
            let mut least: Option<Vec<u16>> = None;
            for piece in &clause.pieces {
                let Some(found) = look(&piece.term, piece.is_beginning)? else {
                    least = None;
                    break;
                };
                least = Some(match least {
                    None => found,
                    Some(mut least) => {
                        least.iter_mut().zip(found).for_each(|(l, f)| *l = (*l).min(f));
                        least
                    }
                });
            }
            *having += least.iter().flatten().filter(|weight| **weight > 0).count() as u64;
            wanted.push(least);
        }
        let Some(wanted) = wanted.into_iter().collect::<Option<Vec<_>>>() else { return Ok(()) };
        let mut tags = Vec::new();
        for tag in filter.tags() {
            let Some(found) = look(&tag.term, tag.is_beginning)? else { return Ok(()) };
            tags.push(found);
        }
        let mut excluded = Vec::new();
        // Whether joined words stand in a row only the text itself can tell.
        for clause in query.excluded().iter().filter(|clause| clause.pieces.len() == 1) {
            excluded.extend(look(&clause.pieces[0].term, clause.pieces[0].is_beginning)?);
        }
        if !filter.thinking {
            excluded.extend(look(THINKING, false)?);
        }
        let (words, times): (Vec<u8>, Vec<u8>) = connection
            .prepare_cached("SELECT words, times FROM segment WHERE segment = ?")?
            .query_row([segment.number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        if words.len() != 2 * segment.count || times.len() != 8 * segment.count {
            return Err(ReadError::Malformed);
        }
        let end = segment.first + segment.count as i64;
        let from =
            parts.partition_point(|part| part.first.saturating_add(part.count) <= segment.first);
        for part in parts[from..].iter().take_while(|part| part.first < end) {
            let first = part.first.max(segment.first);
            let last = part.first.saturating_add(part.count).min(end);
            for at in (first - segment.first) as usize..(last - segment.first).max(0) as usize {
                let is_answer = wanted.iter().chain(&tags).all(|weights| weights[at] > 0)
                    && !excluded.iter().any(|weights| weights[at] > 0);
                if !is_answer {
                    continue;
                }
                let written_ms = number::<8>(&times, at).map_or(NO_TIME, i64::from_le_bytes);
                let written = Some(written_ms).filter(|written| *written != NO_TIME);
                if !filter.admits_time(written) {
                    continue;
                }
                self.found.push(Candidate {
                    text: segment.first + at as i64,
                    session: part.session,
                    words: number::<2>(&words, at).map_or(0, u16::from_le_bytes).into(),
                    written_ms,
                    weights: self.weights.len(),
                    score: 0.0,
                });
                self.weights.extend(wanted.iter().map(|weights| weights[at]));
            }
        }
        Ok(())
    }

    fn rate(&mut self, corpus: &Corpus) {
        let clauses = self.having.len();
        for candidate in &mut self.found {
            let weights = &self.weights[candidate.weights..candidate.weights + clauses];
            let weights = weights.iter().map(|weight| u32::from(*weight));
            let rated = weights.zip(self.having.iter().copied());
            candidate.score = score(corpus, rated, candidate.words, candidate.written_ms);
        }
    }

    /// The best candidates; of those rated alike the latest, then the first.
    fn best(mut self, limit: usize) -> Vec<Candidate> {
        if limit == 0 {
            return Vec::new();
        }
        if limit < self.found.len() {
            self.found.select_nth_unstable_by(limit - 1, |a, b| {
                b.score
                    .total_cmp(&a.score)
                    .then_with(|| b.written_ms.cmp(&a.written_ms))
                    .then_with(|| a.text.cmp(&b.text))
            });
            self.found.truncate(limit);
        }
        self.found
    }
}

/// The bytes of a number in a row of numbers.
fn number<const SIZE: usize>(bytes: &[u8], at: usize) -> Option<[u8; SIZE]> {
    bytes.get(at * SIZE..)?.first_chunk().copied()
}
