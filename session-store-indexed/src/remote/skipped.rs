//! What a remote lists and cannot be used: left out, named, and counted.

use std::fmt;

use session_model::preview::one_line;

/// The most characters shown of a name or a reason that comes from a remote.
const SHOWN: usize = 120;

/// How many of those left out are named.
const NAMED: usize = 100;

/// Something a remote named that was left out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Skipped {
    /// Its name, cut and without control characters.
    pub name: String,
    /// Why it cannot be used.
    pub reason: String,
}

impl Skipped {
    /// Names something that is left out.
    pub(crate) fn new(name: &str, reason: impl fmt::Display) -> Self {
        Self { name: shown(name), reason: shown(&reason.to_string()) }
    }
}

impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the remote names {:?}, which is left out: {}", self.name, self.reason)
    }
}

/// All that was left out of a listing: the first 100 by name, and how many there are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SkippedRows {
    /// The first of them.
    pub first: Vec<Skipped>,
    /// How many there are.
    pub count: u64,
}

impl SkippedRows {
    /// Adds those of another list.
    pub(crate) fn add_all(&mut self, other: Self) {
        let unnamed = other.count.saturating_sub(other.first.len() as u64);
        self.add(other.first);
        self.count = self.count.saturating_add(unnamed);
    }

    /// Adds some.
    pub(crate) fn add(&mut self, skipped: Vec<Skipped>) {
        self.count = self.count.saturating_add(skipped.len() as u64);
        let room = NAMED.saturating_sub(self.first.len());
        self.first.extend(skipped.into_iter().take(room));
    }
}

/// Makes text of a remote fit for a line of a message.
pub(crate) fn shown(text: &str) -> String {
    one_line(text, SHOWN)
}
