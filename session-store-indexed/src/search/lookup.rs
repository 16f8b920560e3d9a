//! Which texts of a segment have a term, or terms that begin with one.

use rusqlite::Connection;

use super::block::BlockReader;
use super::error::ReadError;
use super::postings::read_postings;

/// What a whole term counts for, and what one that only begins so does; as in
/// [`Match`](session_model::search::Match).
const WHOLE: u32 = 2;
const BEGINNING: u32 = 1;

/// What is looked for.
#[derive(Clone, Debug)]
pub(super) struct Wanted<'a> {
    pub(super) term: &'a str,
    pub(super) is_beginning: bool,
}

/// Returns what the term counts for in each of `count` texts of a segment; `None` if it is in none.
pub(super) fn weights(
    connection: &Connection,
    segment: i64,
    count: usize,
    wanted: &Wanted<'_>,
) -> Result<Option<Vec<u16>>, ReadError> {
    let term = wanted.term.as_bytes();
    let mut end = term.to_vec();
    // No term holds these bytes.
    end.push(if wanted.is_beginning { 0xff } else { 0 });
    let mut statement = connection.prepare_cached(
        "SELECT data FROM block WHERE segment = ?1 AND term < ?3 AND term >= coalesce(
             (SELECT max(term) FROM block WHERE segment = ?1 AND term <= ?2), x'')
         ORDER BY term",
    )?;
    let mut blocks = statement.query((segment, term, end))?;
    let mut weights: Option<Vec<u16>> = None;
    while let Some(row) = blocks.next()? {
        let block = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        let mut reader = BlockReader::default();
        while let Some(postings) = reader.next(block)? {
            let weight = match reader.term().strip_prefix(term) {
                Some([]) => WHOLE,
                Some(_) if wanted.is_beginning => BEGINNING,
                None if reader.term() < term => continue,
                _ => break,
            };
            let weights = weights.get_or_insert_with(|| vec![0; count]);
            let mut is_outside = false;
            read_postings(&block[postings], |text, times| match weights.get_mut(text as usize) {
                Some(sum) => *sum = sum.saturating_add((times * weight) as u16),
                None => is_outside = true,
            })?;
            if is_outside {
                return Err(ReadError::Malformed);
            }
        }
    }
    Ok(weights)
}
