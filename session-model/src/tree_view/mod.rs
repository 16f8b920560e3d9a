//! A session's tree as a person looks at it: filtered, searched, with the branch in use on top.
//!
//! [`TreeView`] is pure data for any surface: a terminal selector, a page, or plain text by
//! [`render_text`]. Nothing here recurses.

mod filter;
mod fuzzy;
mod guides;
mod outline;
#[cfg(test)]
mod tests;
mod text;
mod texts;

use crate::preview::{DEFAULT_PREVIEW_CHARS, Preview, one_line};
use crate::tree::{NodeId, SessionTree};

pub use filter::{EntryFacts, Speaker, TreeFilter, UnknownFilter};
pub use fuzzy::{Search, lowercase};
pub use guides::{Guide, Layout, MAX_GUIDES};
pub use outline::{Outline, OutlineRow};
pub use text::{TextOptions, render_text};
pub use texts::EntryTexts;

/// What a [`TreeView`] shows.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeViewOptions {
    /// Which entries are shown; default: [`TreeFilter::Default`].
    pub filter: TreeFilter,
    /// Words that must all be found in an entry, in any order; default: none.
    ///
    /// A word is found if its letters come in this order, whatever their case and whatever is
    /// between them, in the entry's label, role or preview.
    pub search: String,
    /// Whether archived branches are shown; default: no.
    pub archived: bool,
    /// How long a preview is, in characters; default: 200. Search sees no more than that.
    pub preview_chars: usize,
}

impl Default for TreeViewOptions {
    fn default() -> Self {
        Self {
            filter: TreeFilter::Default,
            search: String::new(),
            archived: false,
            preview_chars: DEFAULT_PREVIEW_CHARS,
        }
    }
}

impl TreeViewOptions {
    /// These options with another filter.
    pub fn filter(self, filter: TreeFilter) -> Self {
        Self { filter, ..self }
    }

    /// These options with words to search for.
    pub fn search(self, words: impl Into<String>) -> Self {
        Self { search: words.into(), ..self }
    }

    /// These options, showing archived branches too.
    pub fn with_archived(self) -> Self {
        Self { archived: true, ..self }
    }
}

/// One entry that is shown.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ViewRow {
    /// The entry.
    pub node: NodeId,
    /// Whether the entry is on the path to the leaf.
    pub active: bool,
    /// Whether the entry is the leaf.
    pub leaf: bool,
    /// Whether the entry is the top of an archived branch.
    pub archived: bool,
    /// The entry's label, on one line.
    pub label: Option<String>,
    /// Who speaks, and what.
    pub preview: Preview,
    layout: Layout,
}

impl ViewRow {
    /// Returns how far the row is indented; see [`Layout::indent`].
    pub fn indent(&self) -> usize {
        self.layout.indent()
    }

    /// Returns what to draw before the row; see [`Layout::guides`].
    pub fn guides(&self, max: usize) -> impl Iterator<Item = Guide> + use<> {
        self.layout.guides(max)
    }
}

/// The rows of a tree, each entry before those that hang from it.
///
/// Entries that are not shown leave no gap: what hangs from them hangs from the nearest entry
/// above that is shown. Branches are sorted by time, but the one with the leaf comes first.
///
/// ```
/// use session_model::{Entry, json::RawJson, tree::SessionTree};
/// use session_model::tree_view::{TextOptions, TreeView, TreeViewOptions, render_text};
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
/// let view = TreeView::new(&tree, &TreeViewOptions::default());
/// let text = render_text(view.rows(), &TextOptions::default());
/// assert_eq!(text, "• user: start\n├─ • user: the other\n└─ user: one way\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeView {
    rows: Vec<ViewRow>,
    cursor: Option<usize>,
}

impl TreeView {
    /// Looks at a tree with its present leaf.
    pub fn new(tree: &SessionTree, options: &TreeViewOptions) -> Self {
        let outline = Outline::new(tree, options.archived);
        let search = Search::new(&options.search);
        let mut view = Self::default();
        let mut shown = vec![false; outline.rows().len()];
        for (at, row) in outline.rows().iter().enumerate() {
            let Some(row) = look(tree, row, options, &search) else { continue };
            shown[at] = true;
            // The deepest shown entry of the path in use is the last one met on it.
            if row.active {
                view.cursor = Some(view.rows.len());
            }
            view.rows.push(row);
        }
        let layouts = outline.lay_out(&shown);
        view.rows.iter_mut().zip(layouts).for_each(|(row, layout)| row.layout = layout);
        view
    }

    /// Returns the rows from top to bottom.
    pub fn rows(&self) -> &[ViewRow] {
        &self.rows
    }

    /// Returns the row of the leaf or, if that is not shown, of the nearest entry above it that
    /// is: where a selector begins.
    pub fn cursor(&self) -> Option<usize> {
        self.cursor
    }
}

/// Makes the row of an entry if it is to be shown.
fn look(
    tree: &SessionTree,
    row: &OutlineRow,
    options: &TreeViewOptions,
    search: &Search,
) -> Option<ViewRow> {
    let entry = tree.entry(row.node);
    let id = entry.id();
    let label = id.as_ref().and_then(|id| tree.label_for(id));
    if !options.filter.admits_kind(entry.kind(), label.is_some()) {
        return None;
    }
    let preview = Preview::of(entry, options.preview_chars);
    let leaf = tree.leaf() == Some(row.node);
    if !options.filter.admits(EntryFacts::of(&preview), label.is_some(), leaf) {
        return None;
    }
    let label = label.map(|label| one_line(label, options.preview_chars));
    if !search.finds(&[label.as_deref().unwrap_or_default(), &preview.role, &preview.text]) {
        return None;
    }
    let archived = id.is_some_and(|id| tree.is_archived(&id));
    let (node, active) = (row.node, row.active);
    Some(ViewRow { node, active, leaf, archived, label, preview, layout: Layout::default() })
}
