//! Where somebody is in a session's tree, and what they see of it: filters, search, folds.
//!
//! [`TreeSelectorState`] is the part of a tree selector that no screen is needed for. It keeps what
//! filters and searches look at, so that a key costs a walk over memory and no entry is read again;
//! what a row says is read by whoever draws it, for the rows that are drawn.

mod moves;
mod rows;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use session_model::tree::{NodeId, SessionTree};
use session_model::tree_view::{EntryTexts, Outline, Search, TreeFilter, lowercase};

pub use rows::SelectorRow;

/// A tree that is looked at, and the place in it.
///
/// ```
/// use session_context::tree_selector::TreeSelectorState;
/// use session_model::{Entry, json::RawJson, tree::SessionTree};
///
/// let said = |id: &str, parent: &str, text: &str| {
///     let line = format!(
///         r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"user","content":"{text}"}}}}"#
///     );
///     Entry::from_json(&RawJson::parse(line).unwrap()).unwrap()
/// };
/// let tree = SessionTree::from_entries(vec![
///     said("a", "", "start"),
///     said("b", "a", "one way"),
///     said("c", "a", "the other"),
/// ]);
/// let mut state = TreeSelectorState::new(&tree);
/// assert_eq!(state.selected(), tree.find("c"));
/// state.set_search("one");
/// assert_eq!(state.rows().len(), 1);
/// assert_eq!(state.selected(), tree.find("b"));
/// ```
#[derive(Clone, Debug)]
pub struct TreeSelectorState {
    outline: Outline,
    texts: EntryTexts,
    /// In lower case.
    labels: HashMap<NodeId, String>,
    /// The tops of archived branches.
    archived: HashSet<NodeId>,
    leaf: Option<NodeId>,

    filter: TreeFilter,
    search_text: String,
    search: Search,
    /// Which entries the search finds; empty while nothing is searched.
    found: Vec<bool>,
    shows_archived: bool,
    folded: HashSet<NodeId>,

    rows: Vec<SelectorRow>,
    /// The row somebody is at; 0 if there is none.
    cursor: usize,
}

impl TreeSelectorState {
    /// Begins at the leaf of a tree, or at the nearest entry above it that is shown.
    pub fn new(tree: &SessionTree) -> Self {
        let mut state = Self {
            outline: Outline::default(),
            texts: EntryTexts::default(),
            labels: HashMap::new(),
            archived: HashSet::new(),
            leaf: None,
            filter: TreeFilter::Default,
            search_text: String::new(),
            search: Search::default(),
            found: Vec::new(),
            shows_archived: false,
            folded: HashSet::new(),
            rows: Vec::new(),
            cursor: 0,
        };
        state.refresh(tree);
        state.select(state.leaf);
        state
    }

    /// Takes over what became of the tree: entries that were added, labels, the leaf.
    ///
    /// The entries from before must be the same, unless there are fewer now.
    pub fn refresh(&mut self, tree: &SessionTree) {
        if tree.len() < self.texts.len() {
            self.texts = EntryTexts::default();
        }
        self.texts.read_on(tree);
        self.leaf = tree.leaf();
        self.read_marks(tree);
        self.outline = Outline::new(tree, self.shows_archived);
        self.found = self.find_among(None);
        self.update(self.in_sight(tree));
    }

    /// The entry somebody is at or, if it is in a branch that was archived, the one above that.
    fn in_sight(&self, tree: &SessionTree) -> Option<NodeId> {
        let is_shown = |node: &NodeId| self.shows_archived || !self.archived.contains(node);
        tree.path_to(self.selected()?).into_iter().take_while(is_shown).last()
    }

    fn read_marks(&mut self, tree: &SessionTree) {
        self.labels.clear();
        self.archived.clear();
        for (node, entry) in tree.nodes().zip(tree.entries()) {
            let Some(id) = entry.id() else { continue };
            if let Some(label) = tree.label_for(&id) {
                self.labels.insert(node, lowercase(label));
            }
            if tree.is_archived(&id) {
                self.archived.insert(node);
            }
        }
    }

    /// Returns the filter in force.
    pub fn filter(&self) -> TreeFilter {
        self.filter
    }

    /// Shows what another filter shows.
    pub fn set_filter(&mut self, filter: TreeFilter) {
        self.filter = filter;
        self.update(self.selected());
    }

    /// Returns the words that are searched for, as they were typed.
    pub fn search(&self) -> &str {
        &self.search_text
    }

    /// Shows only entries with all these words; see [`Search`].
    ///
    /// When letters were added, only what was found before is looked at.
    pub fn set_search(&mut self, text: &str) {
        let search = Search::new(text);
        text.clone_into(&mut self.search_text);
        if search == self.search {
            return;
        }
        let earlier = std::mem::replace(&mut self.search, search);
        let narrowed = !earlier.is_empty() && self.search.narrows(&earlier);
        let among = narrowed.then(|| std::mem::take(&mut self.found));
        self.found = self.find_among(among.as_deref());
        self.update(self.selected());
    }

    /// Looks for the search's words, in all entries or those of an earlier search.
    fn find_among(&self, among: Option<&[bool]>) -> Vec<bool> {
        if self.search.is_empty() {
            return Vec::new();
        }
        let finds = |node: NodeId| {
            among.is_none_or(|among| among[node.index()])
                && self.texts.finds(node, &self.search, self.labels.get(&node).map(String::as_str))
        };
        self.texts.nodes().map(finds).collect()
    }

    /// Tells whether archived branches are shown.
    pub fn shows_archived(&self) -> bool {
        self.shows_archived
    }

    /// Shows archived branches of the tree, or hides them.
    pub fn show_archived(&mut self, tree: &SessionTree, show: bool) {
        self.shows_archived = show;
        self.outline = Outline::new(tree, show);
        self.update(self.in_sight(tree));
    }

    /// Returns how many entries the tree has.
    pub fn entries(&self) -> usize {
        self.texts.len()
    }

    /// Returns the rows that are shown, from top to bottom.
    pub fn rows(&self) -> &[SelectorRow] {
        &self.rows
    }

    /// Returns the number of the row somebody is at; `None` if no row is shown.
    pub fn cursor(&self) -> Option<usize> {
        (!self.rows.is_empty()).then_some(self.cursor)
    }

    /// Returns the entry somebody is at.
    pub fn selected(&self) -> Option<NodeId> {
        self.rows.get(self.cursor).map(|row| row.node)
    }
}
