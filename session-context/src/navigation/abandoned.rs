//! What a session leaves behind when it goes elsewhere.

use std::collections::HashSet;

use session_model::Entry;
use session_model::tree::{NodeId, SessionTree};

/// Returns what lies on the way to the leaf and not on the way to `target`, oldest first.
///
/// The cost grows with the length of both ways, whatever the size of the session.
pub fn abandoned_entries(tree: &SessionTree, target: Option<NodeId>) -> Vec<Entry> {
    let Some(leaf) = tree.leaf() else { return Vec::new() };
    let kept: HashSet<NodeId> =
        target.map(|target| tree.path_to(target)).unwrap_or_default().into_iter().collect();
    let path = tree.path_to(leaf);
    let common = path.iter().rposition(|node| kept.contains(node)).map_or(0, |at| at + 1);
    path.into_iter().skip(common).map(|node| tree.entry(node).clone()).collect()
}
