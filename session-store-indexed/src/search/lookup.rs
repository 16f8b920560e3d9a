//! Which texts of a segment have a term, or terms that begin with one.

use rusqlite::Connection;

use super::beginnings::MARK;
use crate::inverted::{ReadError, Wanted, each_posting};

/// What a whole term counts for, and what one that only begins so does; as in
/// [`Match`](session_model::search::Match).
const WHOLE: u32 = 2;
const BEGINNING: u32 = 1;

/// Tells whether a term stands for what a text is, and not for a word of it.
pub(super) fn is_tag(term: &[u8]) -> bool {
    term.starts_with(b"\x01")
}

/// Returns what the term counts for in each of `count` texts of a segment; `None` if it is in none.
pub(super) fn weights(
    connection: &Connection,
    segment: i64,
    count: usize,
    wanted: &Wanted<'_>,
) -> Result<Option<Vec<u16>>, ReadError> {
    let mut weights: Vec<u16> = Vec::new();
    let mut add = |wanted: &Wanted<'_>, whole: u32, beginning: u32| {
        let (mut is_there, mut is_outside) = (false, false);
        each_posting(connection, "block", segment, wanted, |text, times, is_whole| {
            if weights.is_empty() {
                weights = vec![0; count];
            }
            let weight = if is_whole { whole } else { beginning };
            match weights.get_mut(text as usize) {
                Some(sum) => *sum = sum.saturating_add((times * weight) as u16),
                None => is_outside = true,
            }
            is_there = true;
        })?;
        if is_outside { Err(ReadError::Malformed) } else { Ok(is_there) }
    };
    let term = wanted.term;
    if wanted.is_beginning && !is_tag(term.as_bytes()) {
        let list = format!("{MARK}{term}");
        if add(&Wanted { term: &list, is_beginning: false }, BEGINNING, 0)? {
            add(&Wanted { term, is_beginning: false }, WHOLE - BEGINNING, 0)?;
            return Ok(Some(weights));
        }
    }
    add(wanted, WHOLE, BEGINNING)?;
    Ok((!weights.is_empty()).then_some(weights))
}
