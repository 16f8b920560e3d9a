//! Answering a query.

use rusqlite::{Connection, Row};
use session_model::search::{Corpus, EntryPlace, Query, Ranking, TextFilter, TextKind};
use session_model::storage::StorageKey;

use super::SearchedSession;
use super::batch::{NO_TIME, THINKING};
use super::lookup::weights;
use crate::inverted::{ReadError, Wanted};

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
    /// Of how many entries of these sessions only a part of the text is in the index.
    pub cut_entries: u64,
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
    cut: u64,
}

/// A text that answers.
#[derive(Clone, Copy)]
struct Candidate {
    text: i64,
    session: usize,
    written_ms: i64,
    score: f64,
}

/// What a segment has of what is looked for: for each of its texts what that counts for.
struct Looked<'a> {
    segment: &'a Segment,
    /// One for each clause.
    wanted: Vec<Vec<u16>>,
    /// What must be there and does not count.
    tags: Vec<Vec<u16>>,
    excluded: Vec<Vec<u16>>,
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
    let cut_entries = parts.iter().map(|part| part.cut).sum();
    let (segments, corpus) = segments(&transaction)?;
    let mut having = vec![0; query.wanted().len()];
    let mut looked = Vec::with_capacity(segments.len());
    for segment in &segments {
        looked.extend(Looked::new(&transaction, segment, query, filter, &mut having)?);
    }
    let ranking = Ranking::new(&corpus, &having);
    let mut best = Best::new(limit);
    for looked in &looked {
        looked.rate(&transaction, &parts, filter, &ranking, &mut best)?;
    }
    let total = best.total;
    let mut place = transaction
        .prepare_cached("SELECT offset, length, line, is_thought FROM text WHERE text = ?")?;
    let best = best.finish();
    let texts = best
        .iter()
        .map(|candidate| place.query_row([candidate.text], |row| found_text(row, candidate)));
    let texts = texts.collect::<rusqlite::Result<_>>()?;
    Ok(FoundTexts { sessions, texts, total, is_exact: !query.has_joined(), cut_entries })
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
        connection.prepare_cached("SELECT first, count, session, cut FROM part ORDER BY first")?;
    let mut rows = statement.query([])?;
    while let Some(row) = rows.next()? {
        if let Some(session) = numbers.get(&row.get::<_, i64>(2)?) {
            let (first, count, cut) = (row.get(0)?, row.get(1)?, row.get::<_, i64>(3)?);
            parts.push(Part { first, count, session: *session, cut: cut.max(0) as u64 });
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

impl<'a> Looked<'a> {
    /// Looks a segment through; `None` if it has no answer.
    fn new(
        connection: &Connection,
        segment: &'a Segment,
        query: &Query,
        filter: &TextFilter,
        having: &mut [u64],
    ) -> Result<Option<Self>, ReadError> {
        let look = |term: &str, is_beginning: bool| {
            weights(connection, segment.number, segment.count, &Wanted { term, is_beginning })
        };
        let mut clauses: Vec<Option<Vec<u16>>> = Vec::with_capacity(having.len());
        for (clause, having) in query.wanted().iter().zip(having) {
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
            clauses.push(least);
        }
        let Some(wanted) = clauses.into_iter().collect::<Option<Vec<_>>>() else {
            return Ok(None);
        };
        let mut tags = Vec::new();
        for tag in filter.tags() {
            let Some(found) = look(&tag.term, tag.is_beginning)? else { return Ok(None) };
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
        Ok(Some(Self { segment, wanted, tags, excluded }))
    }

    /// Rates the texts that have all words, are of `parts`, and pass the filter.
    fn rate(
        &self,
        connection: &Connection,
        parts: &[Part],
        filter: &TextFilter,
        ranking: &Ranking,
        best: &mut Best,
    ) -> Result<(), ReadError> {
        let Segment { number, first, count } = *self.segment;
        let (words, times): (Vec<u8>, Vec<u8>) = connection
            .prepare_cached("SELECT words, times FROM segment WHERE segment = ?")?
            .query_row([number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let (words, times) = (words.as_chunks::<2>().0, times.as_chunks::<8>().0);
        if words.len() != count || times.len() != count {
            return Err(ReadError::Malformed);
        }
        let end = first + count as i64;
        let from = parts.partition_point(|part| part.first.saturating_add(part.count) <= first);
        for part in parts[from..].iter().take_while(|part| part.first < end) {
            let start = part.first.max(first) - first;
            let stop = (part.first.saturating_add(part.count).min(end) - first).max(start);
            for at in start as usize..stop as usize {
                let is_answer = self.wanted.iter().chain(&self.tags).all(|weights| weights[at] > 0)
                    && !self.excluded.iter().any(|weights| weights[at] > 0);
                if !is_answer {
                    continue;
                }
                let written_ms = i64::from_le_bytes(times[at]);
                if !filter.admits_time(Some(written_ms).filter(|written| *written != NO_TIME)) {
                    continue;
                }
                let weights = self.wanted.iter().map(|weights| u32::from(weights[at]));
                let words = u16::from_le_bytes(words[at]).into();
                best.push(Candidate {
                    text: first + at as i64,
                    session: part.session,
                    written_ms,
                    score: ranking.score(weights, words, written_ms),
                });
            }
        }
        Ok(())
    }
}

/// The best candidates so far.
struct Best {
    limit: usize,
    kept: Vec<Candidate>,
    /// What is rated lower is not among the best.
    least: f64,
    total: u64,
}

impl Best {
    fn new(limit: usize) -> Self {
        Self { limit, kept: Vec::new(), least: f64::NEG_INFINITY, total: 0 }
    }

    fn push(&mut self, candidate: Candidate) {
        self.total += 1;
        if candidate.score < self.least || self.limit == 0 {
            return;
        }
        self.kept.push(candidate);
        if self.kept.len() >= self.limit.saturating_mul(2).max(1024) {
            self.cut();
        }
    }

    /// Drops all but the best; of those rated alike the latest stay, then the first.
    fn cut(&mut self) {
        if self.limit == 0 || self.kept.len() <= self.limit {
            return;
        }
        let (_, last, _) = self.kept.select_nth_unstable_by(self.limit - 1, |a, b| {
            b.score
                .total_cmp(&a.score)
                .then_with(|| b.written_ms.cmp(&a.written_ms))
                .then_with(|| a.text.cmp(&b.text))
        });
        self.least = last.score;
        self.kept.truncate(self.limit);
    }

    fn finish(mut self) -> Vec<Candidate> {
        self.cut();
        self.kept
    }
}
