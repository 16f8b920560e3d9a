//! Which sessions are shown, and in what order.

use std::cmp::Reverse;

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Matcher, Utf32Str};

use super::{PickerRow, PickerScope, PickerSort, SessionName, SessionPickerState};

impl SessionPickerState {
    /// Makes the rows anew; the cursor goes to `wanted` if that is shown, else to the first.
    pub(super) fn update(&mut self, wanted: Option<SessionName>) {
        self.rows = if self.query.trim().is_empty() { self.families() } else { self.ranked() };
        self.cursor = 0;
        if let Some(wanted) = wanted {
            self.select(&wanted);
        }
    }

    fn is_in_scope(&self, session: usize) -> bool {
        self.scope == PickerScope::All || self.known[session].is_here
    }

    /// The sessions the query finds, the best first, of equals the latest.
    fn ranked(&mut self) -> Vec<PickerRow> {
        let words: Vec<_> = self.query.split_whitespace().map(atom).collect();
        let mut found = Vec::new();
        for (at, known) in self.known.iter().enumerate() {
            if !self.is_in_scope(at) {
                continue;
            }
            let score = score_of(&words, &known.text, &mut self.matcher);
            found.extend(score.map(|score| (Reverse(score), self.age(at), at)));
        }
        found.sort_unstable();
        let row = |(_, _, session): (_, _, usize)| PickerRow {
            session,
            depth: 0,
            kinship: self.known[session].parent.map(|(_, kinship)| kinship),
        };
        found.into_iter().map(row).collect()
    }

    /// The sessions in scope, each before those that come from it. Families are in the order of
    /// their latest members.
    fn families(&self) -> Vec<PickerRow> {
        let above: Vec<_> = (0..self.sessions.len()).map(|at| self.parent_in_scope(at)).collect();
        let mut children: Vec<Vec<usize>> = vec![Vec::new(); self.sessions.len()];
        let mut in_scope: Vec<_> =
            (0..self.sessions.len()).filter(|&at| self.is_in_scope(at)).collect();
        in_scope.sort_by_key(|&at| self.age(at));
        let mut roots = Vec::new();
        for &at in &in_scope {
            match above[at] {
                Some(parent) => children[parent].push(at),
                None => roots.push(at),
            }
        }
        let mut families: Vec<Vec<PickerRow>> = Vec::new();
        let mut seen = vec![false; self.sessions.len()];
        // What is in a circle has no root; its latest member is taken for one.
        for root in roots.into_iter().chain(in_scope) {
            let mut family = Vec::new();
            let mut open = vec![(root, 0)];
            while let Some((session, depth)) = open.pop() {
                if std::mem::replace(&mut seen[session], true) {
                    continue;
                }
                let kinship = self.known[session].parent.map(|(_, kinship)| kinship);
                family.push(PickerRow { session, depth, kinship });
                open.extend(children[session].iter().rev().map(|&child| (child, depth + 1)));
            }
            if !family.is_empty() {
                families.push(family);
            }
        }
        families.sort_by_key(|family| family.iter().map(|row| self.age(row.session)).min());
        families.into_iter().flatten().collect()
    }

    /// The nearest session in scope that this one comes from.
    fn parent_in_scope(&self, session: usize) -> Option<usize> {
        let mut at = session;
        // A circle ends the walk.
        for _ in 0..self.sessions.len() {
            let (parent, _) = self.known[at].parent?;
            if parent == session {
                return None;
            }
            if self.is_in_scope(parent) {
                return Some(parent);
            }
            at = parent;
        }
        None
    }

    /// What sessions are sorted by: the latest first, then those that are none, in the order of
    /// the list.
    fn age(&self, session: usize) -> (bool, Reverse<Option<i64>>, usize) {
        let summary = self.sessions[session].summary.as_ref().ok();
        let time = summary.and_then(|summary| match self.sort {
            PickerSort::Activity => summary.activity.map(|activity| activity.at_ms),
            PickerSort::Created => summary.created_ms,
        });
        (summary.is_none(), Reverse(time), session)
    }
}

/// A word that is searched for: its letters in this order, in any case.
pub(super) fn atom(word: &str) -> Atom {
    let (case, form) = (CaseMatching::Ignore, Normalization::Smart);
    Atom::new(word, case, form, AtomKind::Fuzzy, false)
}

/// How well a text answers a search; `None` if it lacks a word.
pub(super) fn score_of(words: &[Atom], text: &str, matcher: &mut Matcher) -> Option<u32> {
    let mut chars = Vec::new();
    let text = Utf32Str::new(text, &mut chars);
    words.iter().try_fold(0, |sum, word| Some(sum + u32::from(word.score(text, matcher)?)))
}
