//! What searches and filters look at, read once of every entry.

use super::fuzzy::lowercase;
use super::{EntryFacts, Search};
use crate::preview::{DEFAULT_PREVIEW_CHARS, Preview};
use crate::tree::{NodeId, SessionTree};

/// What searches and filters look at, of every entry of a tree.
///
/// Reading it costs about as much as viewing the tree once, and every search after that only a walk
/// over one piece of memory, which holds at most the preview of each entry.
#[derive(Clone, Debug, Default)]
pub struct EntryTexts {
    /// Roles and previews in lower case, one behind the other.
    texts: String,
    /// Where the role of each entry ends, and its preview.
    ends: Vec<(usize, usize)>,
    facts: Vec<EntryFacts>,
}

impl EntryTexts {
    /// Reads all entries of a tree.
    pub fn new(tree: &SessionTree) -> Self {
        let mut texts = Self::default();
        texts.read_on(tree);
        texts
    }

    /// Reads what was added to the tree since; the entries before must be the same.
    pub fn read_on(&mut self, tree: &SessionTree) {
        for entry in tree.entries().iter().skip(self.facts.len()) {
            let preview = Preview::of(entry, DEFAULT_PREVIEW_CHARS);
            self.facts.push(EntryFacts::of(&preview));
            self.texts.push_str(&lowercase(&preview.role));
            let role_end = self.texts.len();
            self.texts.push_str(&lowercase(&preview.text));
            self.ends.push((role_end, self.texts.len()));
        }
    }

    /// Returns what filters go by.
    ///
    /// # Panics
    ///
    /// If the entry was not read.
    pub fn facts(&self, node: NodeId) -> EntryFacts {
        self.facts[node.index()]
    }

    /// Tells whether a search finds an entry by its role, its preview, or its label in lower case.
    ///
    /// # Panics
    ///
    /// If the entry was not read.
    pub fn finds(&self, node: NodeId, search: &Search, label: Option<&str>) -> bool {
        let (role_end, end) = self.ends[node.index()];
        let start = node.index().checked_sub(1).map_or(0, |before| self.ends[before].1);
        let (role, text) = (&self.texts[start..role_end], &self.texts[role_end..end]);
        search.finds_lowercase(&[label.unwrap_or_default(), role, text])
    }
}
