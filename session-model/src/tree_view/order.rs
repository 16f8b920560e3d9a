//! The order of rows: by time, with the branch in use before its siblings.

use std::ops::Range;

use crate::tree::{NodeId, SessionTree, TreeOptions, TreeRow, TreeRows};

/// An entry in its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ordered {
    pub(super) node: NodeId,
    /// How many entries are above it.
    pub(super) depth: u32,
    /// Whether it is on the path to the leaf.
    pub(super) active: bool,
}

/// Returns the sorted tree with the branch in use moved before its siblings.
pub(super) fn active_first(tree: &SessionTree, archived: bool) -> Vec<Ordered> {
    let options = if archived { TreeOptions::with_archived() } else { TreeOptions::default() };
    let rows = tree.rows(options);
    let path = active_path(tree, &rows);
    let mut ordered = Vec::with_capacity(rows.len());
    let mut add = |rows: &[TreeRow], active: bool| {
        ordered.extend(rows.iter().map(|row| Ordered { node: row.node, depth: row.depth, active }));
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
