//! Where in a text a secret was found.

use std::ops::Range;

/// A secret in a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) range: Range<usize>,
    pub(super) kind: &'static str,
    /// Of hits that overlap, the one with the lowest names the kind.
    rank: usize,
}

impl Hit {
    pub(super) fn new(range: Range<usize>, kind: &'static str, rank: usize) -> Self {
        Self { range, kind, rank }
    }

    /// This hit at another place.
    pub(super) fn at(&self, range: Range<usize>) -> Self {
        Self { range, ..self.clone() }
    }
}

/// Sorts hits and joins those that overlap.
pub(super) fn joined(mut hits: Vec<Hit>) -> Vec<Hit> {
    hits.retain(|hit| !hit.range.is_empty());
    hits.sort_by_key(|hit| (hit.range.start, hit.rank));
    let mut all: Vec<Hit> = Vec::with_capacity(hits.len());
    for hit in hits {
        match all.last_mut().filter(|last| hit.range.start < last.range.end) {
            Some(last) => {
                last.range.end = last.range.end.max(hit.range.end);
                if hit.rank < last.rank {
                    (last.kind, last.rank) = (hit.kind, hit.rank);
                }
            }
            None => all.push(hit),
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overlapping_hits_are_one_of_the_surest_kind() {
        let hits = vec![
            Hit::new(8..9, "d", 1),
            Hit::new(2..6, "b", 5),
            Hit::new(0..3, "a", 9),
            Hit::new(6..7, "c", 1),
            Hit::new(4..4, "empty", 0),
        ];
        let want = [Hit::new(0..6, "b", 5), Hit::new(6..7, "c", 1), Hit::new(8..9, "d", 1)];
        assert_eq!(joined(hits), want);
    }
}
