//! The order of rows: by time, with the branch in use before its siblings.

use std::ops::Range;

use super::guides::{Layout, lay_out};
use crate::tree::{NodeId, SessionTree, TreeOptions, TreeRow, TreeRows};

/// An entry in its place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct OutlineRow {
    /// The entry.
    pub node: NodeId,
    /// How many entries are above it.
    pub depth: u32,
    /// Whether it is on the path to the leaf.
    pub active: bool,
}

/// A tree in the order it is read in: each entry before those that hang from it, siblings by time,
/// the branch with the leaf before its siblings.
///
/// It knows the shape of the tree and nothing of what the entries say, so that a surface that
/// shows one part after the other pays for the shape only once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline(Vec<OutlineRow>);

impl Outline {
    /// Reads the shape of a tree with its present leaf, with or without archived branches.
    pub fn new(tree: &SessionTree, archived: bool) -> Self {
        Self(active_first(tree, archived))
    }

    /// Returns all entries from top to bottom.
    pub fn rows(&self) -> &[OutlineRow] {
        &self.0
    }

    /// Returns how to draw those of the rows that are `shown`, in their order.
    ///
    /// `shown` has one item for each of [`rows`](Self::rows). What is not shown leaves no gap.
    pub fn lay_out(&self, shown: &[bool]) -> Vec<Layout> {
        lay_out(&self.0, shown)
    }
}

/// Returns the sorted tree with the branch in use moved before its siblings.
fn active_first(tree: &SessionTree, archived: bool) -> Vec<OutlineRow> {
    let options = if archived { TreeOptions::with_archived() } else { TreeOptions::default() };
    let rows = tree.rows(options);
    let path = active_path(tree, &rows);
    let mut ordered = Vec::with_capacity(rows.len());
    let mut add = |rows: &[TreeRow], active: bool| {
        let row = |row: &TreeRow| OutlineRow { node: row.node, depth: row.depth, active };
        ordered.extend(rows.iter().map(row));
    };
    for span in &path {
        add(&rows[span.start..span.start + 1], true);
    }
    // Behind the path comes what hangs from its end, then the siblings of each step, upwards.
    let mut hole: Option<Range<usize>> = None;
    let steps = path.iter().rev().map(|span| (span.start + 1, span.clone()));
    for (start, span) in steps.chain([(0, 0..rows.len())]) {
        let inner = hole.replace(span.clone()).unwrap_or(start..start);
        add(&rows[start..inner.start], false);
        add(&rows[inner.end..span.end], false);
    }
    ordered
}

/// The rows of the path to the leaf, from the root, each with all that hangs from it.
fn active_path(tree: &SessionTree, rows: &TreeRows) -> Vec<Range<usize>> {
    let mut row_of = vec![usize::MAX; tree.len()];
    rows.iter().enumerate().for_each(|(at, row)| row_of[row.node.index()] = at);
    let place = |node: &NodeId| Some(row_of[node.index()]).filter(|&at| at != usize::MAX);
    // An archived leaf has no row; the path then ends where the archived branch begins.
    let last = tree.leaf().and_then(|leaf| tree.path_to(leaf).iter().rev().find_map(place));
    let Some(last) = last else { return Vec::new() };
    let mut path = Vec::new();
    let mut depth = rows[last].depth + 1;
    for at in (0..=last).rev() {
        if rows[at].depth + 1 == depth {
            depth -= 1;
            path.push(at..rows.len());
        }
    }
    path.reverse();
    let mut open = path.len();
    for (at, row) in rows.iter().enumerate().skip(last + 1) {
        let still_open = open.min(row.depth as usize);
        path[still_open..open].iter_mut().for_each(|span| span.end = at);
        open = still_open;
    }
    path
}
