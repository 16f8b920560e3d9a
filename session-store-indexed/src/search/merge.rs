//! Merging segments, so that a query has few to look at.

use std::ops::Range;

use rusqlite::{Connection, TransactionBehavior};

use super::batch::NO_TIME;
use super::beginnings::{MARK, TermWriter};
use super::error::run;
use super::write::NewSegment;
use crate::DatabaseError;
use crate::inverted::{Postings, ReadError, SegmentReader, SegmentWriter, read_postings};
use crate::sqlite::Database;

/// With more segments some are merged.
const MAX_SEGMENTS: usize = 48;

/// How many neighbours are merged at once.
const MERGED: usize = 16;

/// Fewer texts without a session are left where they are.
const MIN_DEAD: i64 = 10_000;

struct Segment {
    number: i64,
    first: i64,
    count: i64,
    texts: i64,
    size: i64,
}

/// Merges segments where there are too many, or where most texts are gone.
pub(super) fn tidy(database: &mut Database) -> Result<(), DatabaseError> {
    loop {
        let merged = run(database, |connection| {
            let segments = segments(connection)?;
            let Some(range) = to_merge(connection, &segments)? else { return Ok(false) };
            merge(connection, &segments[range])?;
            Ok(true)
        })?;
        if !merged {
            return Ok(());
        }
    }
}

fn segments(connection: &Connection) -> rusqlite::Result<Vec<Segment>> {
    connection
        .prepare_cached("SELECT segment, first, count, texts, size FROM segment ORDER BY first")?
        .query_map([], |row| {
            Ok(Segment {
                number: row.get(0)?,
                first: row.get(1)?,
                count: row.get(2)?,
                texts: row.get(3)?,
                size: row.get(4)?,
            })
        })?
        .collect()
}

/// Which segments are to be merged next.
fn to_merge(
    connection: &Connection,
    segments: &[Segment],
) -> rusqlite::Result<Option<Range<usize>>> {
    if segments.len() > MAX_SEGMENTS {
        let size = |at: usize| segments[at..at + MERGED].iter().map(|s| s.size).sum::<i64>();
        let cheapest = (0..=segments.len() - MERGED).min_by_key(|at| size(*at));
        return Ok(cheapest.map(|at| at..at + MERGED));
    }
    let live: i64 =
        connection.query_row("SELECT coalesce(sum(count), 0) FROM part", [], |row| row.get(0))?;
    let texts: i64 = segments.iter().map(|segment| segment.texts).sum();
    Ok((texts - live > live.max(MIN_DEAD)).then_some(0..segments.len()))
}

/// Puts one segment in the place of neighbours, without texts that have no session.
fn merge(connection: &mut Connection, segments: &[Segment]) -> Result<(), ReadError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let (Some(start), Some(last)) = (segments.first(), segments.last()) else { return Ok(()) };
    let count = last.first + last.count - start.first;
    let is_live = live(&transaction, start.first, count)?;
    let mut new = NewSegment { first: start.first, latest: NO_TIME, ..NewSegment::default() };
    for segment in segments {
        let (words, times): (Vec<u8>, Vec<u8>) = transaction
            .prepare_cached("SELECT words, times FROM segment WHERE segment = ?")?
            .query_row([segment.number], |row| Ok((row.get(0)?, row.get(1)?)))?;
        new.words.extend(words);
        new.times.extend(times);
    }
    if new.words.len() != 2 * is_live.len() || new.times.len() != 8 * is_live.len() {
        return Err(ReadError::Malformed);
    }
    let (words, times) = (new.words.as_chunks::<2>().0, new.times.as_chunks::<8>().0);
    for ((words, time), _) in words.iter().zip(times).zip(&is_live).filter(|(_, live)| **live) {
        new.texts += 1;
        new.all_words += u64::from(u16::from_le_bytes(*words));
        new.latest = new.latest.max(i64::from_le_bytes(*time));
    }
    let number = new.segment_number(&transaction)?;
    let mut blocks = TermWriter::new(SegmentWriter::new(&transaction, "block", number)?);
    let mut sources = Vec::with_capacity(segments.len());
    for segment in segments {
        // What is added to the numbers of its texts.
        let offset =
            u32::try_from(segment.first - start.first).map_err(|_| ReadError::Malformed)?;
        sources.push((offset, SegmentReader::open(&transaction, "block", segment.number)?));
    }
    let mut merged = Postings::default();
    while let Some(term) = sources.iter().filter_map(|(_, source)| source.term()).min() {
        let term = term.to_vec();
        merged.clear();
        for (offset, source) in &mut sources {
            if source.term() != Some(&term) {
                continue;
            }
            // Lists of beginnings are made anew.
            if !term.starts_with(MARK.as_bytes()) {
                read_postings(source.postings(), |text, times| {
                    let text = text.saturating_add(*offset);
                    if is_live.get(text as usize) == Some(&true) {
                        merged.add(text, times);
                    }
                })?;
            }
            source.step(&transaction)?;
        }
        if !merged.is_empty() {
            merged.finish();
            blocks.add(&term, merged.bytes())?;
        }
    }
    let size = blocks.finish()?;
    for segment in segments {
        transaction
            .prepare_cached("DELETE FROM block WHERE segment = ?")?
            .execute([segment.number])?;
        transaction
            .prepare_cached("DELETE FROM segment WHERE segment = ?")?
            .execute([segment.number])?;
    }
    new.insert(&transaction, number, size)?;
    Ok(transaction.commit()?)
}

/// Tells of each text whether it has a session.
fn live(connection: &Connection, first: i64, count: i64) -> Result<Vec<bool>, ReadError> {
    let mut is_live = vec![false; usize::try_from(count).map_err(|_| ReadError::Malformed)?];
    let mut statement = connection
        .prepare_cached("SELECT first, count FROM part WHERE first + count > ? AND first < ?")?;
    let mut rows = statement.query((first, first + count))?;
    while let Some(row) = rows.next()? {
        let (from, len): (i64, i64) = (row.get(0)?, row.get(1)?);
        let (from, to) = ((from - first).max(0), (from - first).saturating_add(len).min(count));
        is_live[from as usize..to.max(from) as usize].fill(true);
    }
    Ok(is_live)
}
