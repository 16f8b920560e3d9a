//! Which texts of a segment have a term, or terms that begin with one.

use rusqlite::Connection;

use crate::inverted::{ReadError, Wanted, each_posting};

/// What a whole term counts for, and what one that only begins so does; as in
/// [`Match`](session_model::search::Match).
const WHOLE: u32 = 2;
const BEGINNING: u32 = 1;

/// Returns what the term counts for in each of `count` texts of a segment; `None` if it is in none.
pub(super) fn weights(
    connection: &Connection,
    segment: i64,
    count: usize,
    wanted: &Wanted<'_>,
) -> Result<Option<Vec<u16>>, ReadError> {
    let mut weights: Vec<u16> = Vec::new();
    let mut is_outside = false;
    each_posting(connection, "block", segment, wanted, |text, times, is_whole| {
        if weights.is_empty() {
            weights = vec![0; count];
        }
        let weight = if is_whole { WHOLE } else { BEGINNING };
        match weights.get_mut(text as usize) {
            Some(sum) => *sum = sum.saturating_add((times * weight) as u16),
            None => is_outside = true,
        }
    })?;
    if is_outside {
        Err(ReadError::Malformed)
    } else {
        Ok((!weights.is_empty()).then_some(weights))
    }
}
