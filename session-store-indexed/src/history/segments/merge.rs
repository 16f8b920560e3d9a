//! Merging segments, so that a search has few to look at.

use std::collections::HashMap;

use rusqlite::Transaction;

use super::catch_up::write;
use super::{BLOCKS, from_bytes, list_of};
use crate::inverted::{Postings, ReadError, SegmentReader, SegmentWriter, read_postings};

/// So many segments of one level become one of the next.
const MERGED: usize = if cfg!(test) { 3 } else { 16 };

/// A segment that is merged: its terms, and which prompts of the new one its prompts are.
struct Source {
    terms: SegmentReader,
    places: Vec<Option<u32>>,
}

/// Merges segments where there are too many.
pub(super) fn merge(transaction: &Transaction<'_>) -> Result<(), ReadError> {
    for level in 0.. {
        let segments: Vec<(i64, Vec<u8>)> = transaction
            .prepare_cached("SELECT segment, ids FROM history_search_segment WHERE level = ?")?
            .query_map([level], |row| Ok((row.get(0)?, row.get(1)?)))?
            .collect::<rusqlite::Result<_>>()?;
        if segments.len() < MERGED {
            break;
        }
        let old: Vec<(i64, Vec<i64>)> = segments
            .into_iter()
            .map(|(segment, ids)| Ok((segment, from_bytes(&ids)?)))
            .collect::<Result<_, ReadError>>()?;
        merge_all(transaction, &old, level + 1)?;
    }
    Ok(())
}

fn merge_all(
    transaction: &Transaction<'_>,
    old: &[(i64, Vec<i64>)],
    level: i64,
) -> Result<(), ReadError> {
    let all: Vec<i64> = old.iter().flat_map(|(_, ids)| ids).copied().collect();
    let ids: Vec<i64> = transaction
        .prepare_cached(
            "SELECT h.id FROM json_each(?) AS list CROSS JOIN history AS h ON h.id = list.value
             ORDER BY h.created_at, h.id",
        )?
        .query_map([list_of(&all)], |row| row.get(0))?
        .collect::<rusqlite::Result<_>>()?;
    let places: HashMap<i64, u32> = ids.iter().copied().zip(0..).collect();
    let mut sources = Vec::with_capacity(old.len());
    for (segment, ids) in old {
        sources.push(Source {
            terms: SegmentReader::open(transaction, BLOCKS, *segment)?,
            places: ids.iter().map(|id| places.get(id).copied()).collect(),
        });
    }
    write(transaction, level, &ids, |writer| merge_terms(transaction, &mut sources, writer))?;
    for (segment, _) in old {
        for table in [BLOCKS, "history_search_segment"] {
            transaction
                .prepare_cached(&format!("DELETE FROM {table} WHERE segment = ?"))?
                .execute([segment])?;
        }
    }
    Ok(())
}

fn merge_terms(
    transaction: &Transaction<'_>,
    sources: &mut [Source],
    writer: &mut SegmentWriter<'_>,
) -> Result<(), ReadError> {
    let mut texts: Vec<u32> = Vec::new();
    let mut postings = Postings::default();
    while let Some(term) = sources.iter().filter_map(|source| source.terms.term()).min() {
        let term = term.to_vec();
        texts.clear();
        for source in sources.iter_mut().filter(|source| source.terms.term() == Some(&term)) {
            let mut is_outside = false;
            read_postings(source.terms.postings(), |text, _| {
                match source.places.get(text as usize) {
                    Some(place) => texts.extend(place),
                    None => is_outside = true,
                }
            })?;
            if is_outside {
                return Err(ReadError::Malformed);
            }
            source.terms.step(transaction)?;
        }
        if texts.is_empty() {
            continue;
        }
        texts.sort_unstable();
        postings.clear();
        texts.iter().for_each(|text| postings.add(*text, 1));
        postings.finish();
        writer.add(&term, postings.bytes())?;
    }
    Ok(())
}
