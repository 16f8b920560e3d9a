//! Which rows are shown, and where the cursor goes when they change.

use std::collections::HashSet;

use session_model::tree::NodeId;
use session_model::tree_view::{Guide, Layout, OutlineRow};

use super::TreeSelectorState;

/// An entry that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SelectorRow {
    /// The entry.
    pub node: NodeId,
    /// Whether the entry is on the path to the leaf.
    pub active: bool,
    /// Whether the entry is the leaf.
    pub leaf: bool,
    /// Whether the entry is the top of an archived branch.
    pub archived: bool,
    /// How many rows are folded away below this one; `None` if it is not folded.
    pub folded: Option<usize>,
    /// The number of the row this one hangs from.
    parent: Option<usize>,
    layout: Layout,
}

impl SelectorRow {
    /// Returns how far the row is indented; see [`Layout::indent`].
    pub fn indent(&self) -> usize {
        self.layout.indent()
    }

    /// Returns what to draw before the row; see [`Layout::guides`].
    pub fn guides(&self, max: usize) -> impl Iterator<Item = Guide> + use<> {
        self.layout.guides(max)
    }
}

impl TreeSelectorState {
    /// Makes the rows anew; the cursor stays at `wanted`, or goes near it.
    pub(super) fn update(&mut self, wanted: Option<NodeId>) {
        let outline = self.outline.rows();
        let mut shown = Vec::with_capacity(outline.len());
        self.rows.clear();
        // The depth of the folded row whose branch is being passed over.
        let mut fold: Option<u32> = None;
        // The rows above the present one with their depths, the nearest last.
        let mut above: Vec<(u32, usize)> = Vec::new();
        for row in outline {
            fold = fold.filter(|depth| row.depth > *depth);
            let admitted = self.admits(row.node);
            if let Some(folded) = self.rows.last_mut().and_then(|row| row.folded.as_mut())
                && fold.is_some()
            {
                *folded += usize::from(admitted);
                shown.push(false);
                continue;
            }
            shown.push(admitted);
            if admitted {
                while above.pop_if(|(depth, _)| *depth >= row.depth).is_some() {}
                let made = SelectorRow { parent: above.last().map(|(_, at)| *at), ..self.row(row) };
                above.push((row.depth, self.rows.len()));
                fold = made.folded.map(|_| row.depth);
                self.rows.push(made);
            }
        }
        // A fold that hides nothing of what is shown is none.
        self.rows.iter_mut().for_each(|row| row.folded = row.folded.filter(|rows| *rows > 0));
        let layouts = self.outline.lay_out(&shown);
        self.rows.iter_mut().zip(layouts).for_each(|(row, layout)| row.layout = layout);
        self.select(wanted);
    }

    /// Tells whether filter and search let an entry be seen.
    fn admits(&self, node: NodeId) -> bool {
        let (labeled, leaf) = (self.labels.contains_key(&node), self.leaf == Some(node));
        self.found.get(node.index()).copied().unwrap_or(true)
            && self.filter.admits(self.texts.facts(node), labeled, leaf)
    }

    fn row(&self, row: &OutlineRow) -> SelectorRow {
        // What is found must be seen, so a search opens all folds while it lasts.
        let folded = self.search.is_empty() && self.folded.contains(&row.node);
        SelectorRow {
            node: row.node,
            active: row.active,
            leaf: self.leaf == Some(row.node),
            archived: self.archived.contains(&row.node),
            folded: folded.then_some(0),
            parent: None,
            layout: Layout::default(),
        }
    }

    /// Goes to an entry, or to the nearest row above it if that is not shown, else to the nearest
    /// row above the leaf, else to the first.
    pub fn select(&mut self, wanted: Option<NodeId>) {
        let found = wanted.and_then(|wanted| self.row_above(wanted));
        let on_path = || self.rows.iter().rposition(|row| row.active);
        self.cursor = found.or_else(on_path).unwrap_or(0);
    }

    /// The row of an entry, or of the nearest entry above it that has one.
    fn row_above(&self, node: NodeId) -> Option<usize> {
        if let Some(at) = self.rows.iter().position(|row| row.node == node) {
            return Some(at);
        }
        let outline = self.outline.rows();
        let at = outline.iter().position(|row| row.node == node)?;
        let mut depth = outline[at].depth;
        let mut above = HashSet::new();
        for row in outline[..at].iter().rev() {
            if row.depth < depth {
                depth = row.depth;
                above.insert(row.node);
            }
        }
        // Each row stands below those it hangs from, so the last of them is the nearest.
        self.rows.iter().rposition(|row| above.contains(&row.node))
    }

    /// The row that another one hangs from.
    pub(super) fn parent_row(&self, at: usize) -> Option<usize> {
        self.rows.get(at)?.parent
    }
}
