//! Answering a search from segments, and from the prompts that are in none.

use std::collections::HashSet;

use rusqlite::{Connection, params};

use super::super::cutter::Cutter;
use super::super::words::Words;
use super::super::{HistoryEntry, HistoryScope};
use super::catch_up::Pending;
use super::terms::Query;
use super::{BLOCKS, MOST, from_bytes, list_of, runs};
use crate::inverted::{ReadError, Wanted, each_posting};

/// So many prompts are read at once, to see whether they are answers.
const AT_ONCE: usize = 256;

/// With more prompts that are not indexed the plain way is faster.
const MOST_PENDING: usize = 8192;

/// Tells answers from other prompts.
struct Asked<'a> {
    words: &'a Words,
    scope: HistoryScope<'a>,
    cutter: Cutter,
}

/// Returns the newest prompts of `scope` that hold all `words`; `None` if too few are indexed.
pub(super) fn find(
    connection: &mut Connection,
    words: &Words,
    limit: usize,
    scope: HistoryScope<'_>,
) -> Result<Option<Vec<HistoryEntry>>, ReadError> {
    // One state of the database for all questions.
    let transaction = connection.transaction()?;
    if !super::is_complete(&transaction)? {
        return Ok(None);
    }
    let asked = Asked { words, scope, cutter: Cutter::new()? };
    let Some(query) = Query::new(words, scope, &asked.cutter)? else {
        return Ok(Some(Vec::new()));
    };
    let Pending { mut changed, new } = Pending::read(&transaction, MOST_PENDING)?;
    if changed.len().max(new.len()) == MOST_PENDING {
        return Ok(None);
    }
    let is_changed: HashSet<i64> = changed.iter().copied().collect();
    changed.extend(new.iter().filter(|id| !is_changed.contains(id)));
    let mut found = asked.answers(&transaction, &changed)?;
    let segments: Vec<i64> = transaction
        .prepare_cached(
            "SELECT segment FROM history_search_segment
             WHERE EXISTS (SELECT 1 FROM history WHERE id BETWEEN first AND last)
             ORDER BY newest DESC",
        )?
        .query_map([], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    for segment in segments {
        if is_enough(&transaction, &mut found, limit, segment)? {
            break;
        }
        let mut ids = candidates(&transaction, segment, &query)?;
        ids.retain(|id| !is_changed.contains(id));
        let mut here = Vec::new();
        for ids in ids.chunks(AT_ONCE.min(limit.max(1))) {
            here.extend(match query.is_loose {
                true => asked.answers(&transaction, ids)?,
                false => existing(&transaction, ids)?,
            });
            if here.len() >= limit {
                break;
            }
        }
        found.extend(here);
    }
    let newest = transaction
        .prepare_cached(&newest_of(HistoryEntry::COLUMNS))?
        .query_map(params![list_of(&found), limit as i64], HistoryEntry::from_row)?
        .collect::<rusqlite::Result<_>>()?;
    Ok(Some(newest))
}

/// Tells whether all there is to find is newer than a segment; keeps only the newest.
fn is_enough(
    connection: &Connection,
    found: &mut Vec<i64>,
    limit: usize,
    segment: i64,
) -> rusqlite::Result<bool> {
    if found.len() < limit {
        return Ok(false);
    }
    *found = connection
        .prepare_cached(&newest_of("h.id"))?
        .query_map(params![list_of(found), limit as i64], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let is_newer: Option<bool> = connection
        .prepare_cached(
            "SELECT (SELECT created_at FROM history WHERE id = ?)
                  > (SELECT newest FROM history_search_segment WHERE segment = ?)",
        )?
        .query_row(params![found.last(), segment], |row| row.get(0))?;
    Ok(is_newer == Some(true))
}

fn newest_of(columns: &str) -> String {
    format!(
        "SELECT {columns} FROM json_each(?) AS list CROSS JOIN history AS h ON h.id = list.value
         ORDER BY h.created_at DESC, h.id DESC LIMIT ?"
    )
}

/// Returns those of some prompts that are still there, in order.
fn existing(connection: &Connection, ids: &[i64]) -> rusqlite::Result<Vec<i64>> {
    connection
        .prepare_cached(
            "SELECT h.id FROM json_each(?) AS list CROSS JOIN history AS h ON h.id = list.value",
        )?
        .query_map([list_of(ids)], |row| row.get(0))?
        .collect()
}

/// Returns the prompts of a segment that have all terms, the newest first.
fn candidates(connection: &Connection, segment: i64, query: &Query) -> Result<Vec<i64>, ReadError> {
    let mut having: Option<Bits> = None;
    for wanted in query.wanted() {
        let mut bits = Bits::of(connection, segment, &wanted)?;
        if let Some(having) = &having {
            bits.keep(having);
        }
        if bits.is_empty() {
            return Ok(Vec::new());
        }
        having = Some(bits);
    }
    let ids: Vec<u8> = connection
        .prepare_cached("SELECT ids FROM history_search_segment WHERE segment = ?")?
        .query_row([segment], |row| row.get(0))?;
    let Some(having) = having else { return Ok(from_bytes(&ids)?.into_iter().rev().collect()) };
    // Where each run ends, and what is added to a place in it.
    let mut end = 0;
    let runs: Vec<(i64, i64)> = runs(&ids)?
        .map(|(first, len)| {
            end += len;
            (end, first.wrapping_sub(end - len))
        })
        .collect();
    let id = |place: usize| {
        let place = place as i64;
        let run = runs.partition_point(|(end, _)| *end <= place);
        runs.get(run).map(|(_, added)| place.wrapping_add(*added)).ok_or(ReadError::Malformed)
    };
    having.places().rev().map(id).collect()
}

/// Some of the prompts of a segment.
#[derive(Debug, Default)]
struct Bits(Vec<u64>);

impl Bits {
    fn of(connection: &Connection, segment: i64, wanted: &Wanted<'_>) -> Result<Self, ReadError> {
        let mut bits = Self::default();
        let mut is_outside = false;
        each_posting(connection, BLOCKS, segment, wanted, |text, _, _| {
            let word = text as usize / 64;
            if word >= bits.0.len() {
                is_outside |= word >= MOST_WORDS;
                bits.0.resize((word + 1).min(MOST_WORDS), 0);
            }
            if let Some(word) = bits.0.get_mut(word) {
                *word |= 1 << (text % 64);
            }
        })?;
        if is_outside { Err(ReadError::Malformed) } else { Ok(bits) }
    }

    fn keep(&mut self, other: &Self) {
        self.0.truncate(other.0.len());
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word &= other);
    }

    fn is_empty(&self) -> bool {
        self.0.iter().all(|word| *word == 0)
    }

    fn places(&self) -> impl DoubleEndedIterator<Item = usize> {
        self.0.iter().enumerate().flat_map(|(at, word)| {
            (0..64).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 64 + bit)
        })
    }
}

/// So many words have a bit for each prompt.
const MOST_WORDS: usize = MOST as usize / 64;

impl Asked<'_> {
    /// Returns those of some prompts that are answers, in order.
    fn answers(&self, connection: &Connection, ids: &[i64]) -> rusqlite::Result<Vec<i64>> {
        let (cwd, session) = match self.scope {
            HistoryScope::Global => (None, None),
            HistoryScope::Cwd(cwd) => (Some(cwd), None),
            HistoryScope::Session(session) => (None, Some(session)),
        };
        let mut entries: Vec<HistoryEntry> = connection
            .prepare_cached(&format!(
                "SELECT {} FROM json_each(?1) AS list CROSS JOIN history AS h ON h.id = list.value
                 WHERE (?2 IS NULL OR h.cwd = ?2) AND (?3 IS NULL OR h.session_id = ?3)",
                HistoryEntry::COLUMNS
            ))?
            .query_map((list_of(ids), cwd, session), HistoryEntry::from_row)?
            .collect::<rusqlite::Result<_>>()?;
        entries.retain(|entry| self.words.occur_in(&entry.prompt));
        if !self.words.expression.is_empty() {
            let prompts = entries.iter().map(|entry| &*entry.prompt);
            let mut answers = self.cutter.answers(&self.words.expression, prompts)?.into_iter();
            entries.retain(|_| answers.next() == Some(true));
        }
        Ok(entries.into_iter().map(|entry| entry.id).collect())
    }
}
