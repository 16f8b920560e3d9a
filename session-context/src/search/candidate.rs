//! Entries that may answer a request.

use std::cmp::Ordering;

use session_model::search::{EntryPlace, TextKind};

use super::{SearchCoverage, SearchedSession};

/// An entry that may answer a request.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    /// Its session, as a place in [`Found::sessions`].
    pub(super) session: usize,
    /// Where it stands in its file; of no length if it is the title in the header.
    pub(super) place: EntryPlace,
    pub(super) kind: TextKind,
    pub(super) written_ms: Option<i64>,
    pub(super) score: f64,
}

/// What a search came upon.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) sessions: Vec<SearchedSession>,
    pub(super) candidates: Vec<Candidate>,
    /// How many further candidates there are, all rated lower.
    pub(super) more: u64,
    /// Whether each candidate is known to be an answer.
    pub(super) is_exact: bool,
    pub(super) coverage: SearchCoverage,
}

impl Found {
    /// Puts the best candidates first, in an order that is the same each time.
    pub(super) fn sort(&mut self) {
        let Self { sessions, candidates, .. } = self;
        candidates.sort_unstable_by(|a, b| {
            let session = |candidate: &Candidate| {
                let session = &sessions[candidate.session];
                (session.place, &session.key)
            };
            b.score
                .partial_cmp(&a.score)
                .unwrap_or(Ordering::Equal)
                .then_with(|| b.written_ms.cmp(&a.written_ms))
                .then_with(|| session(a).cmp(&session(b)))
                .then_with(|| a.place.offset.cmp(&b.place.offset))
                .then_with(|| (a.kind == TextKind::Thinking).cmp(&(b.kind == TextKind::Thinking)))
        });
    }
}
