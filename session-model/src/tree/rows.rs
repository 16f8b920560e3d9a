//! The tree as rows in reading order.

use super::{NodeId, SessionTree};

/// What [`SessionTree::rows`] shows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct TreeOptions {
    /// Whether archived branches are shown; default: no.
    pub archived: bool,
}

impl TreeOptions {
    /// Shows archived branches too.
    pub fn with_archived() -> Self {
        Self { archived: true }
    }
}

/// One entry in its place in the sorted tree.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TreeRow {
    /// The entry.
    pub node: NodeId,
    /// How many entries are above it; 0 for a root.
    pub depth: u32,
}

/// The whole tree, each entry before its children, as rows.
///
/// Roots come in file order, children by their timestamps, ties in file order. A child without a
/// usable timestamp counts as dated like the latest sibling written before it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TreeRows(Vec<TreeRow>);

impl SessionTree {
    /// Returns the sorted tree.
    pub fn rows(&self, options: TreeOptions) -> TreeRows {
        let mut rows = Vec::with_capacity(self.len());
        let mut listed = vec![false; if self.links.has_cycles() { self.len() } else { 0 }];
        let mut open: Vec<TreeRow> = self.roots().map(|node| TreeRow { node, depth: 0 }).collect();
        open.reverse();
        let mut children: Vec<(i64, NodeId)> = Vec::new();
        while let Some(row) = open.pop() {
            if let Some(listed) = listed.get_mut(row.node.index())
                && std::mem::replace(listed, true)
            {
                continue;
            }
            if !options.archived
                && self.entry(row.node).id().is_some_and(|id| self.is_archived(&id))
            {
                continue;
            }
            rows.push(row);
            self.sorted_children(row.node, &mut children);
            let below = children.iter().rev();
            open.extend(below.map(|&(_, node)| TreeRow { node, depth: row.depth + 1 }));
        }
        TreeRows(rows)
    }

    fn sorted_children(&self, node: NodeId, into: &mut Vec<(i64, NodeId)>) {
        into.clear();
        let mut latest = i64::MIN;
        for child in self.children_of(node) {
            let dated = self.entry(child).timestamp_ms().unwrap_or(latest);
            latest = latest.max(dated);
            into.push((dated, child));
        }
        into.sort_by_key(|&(dated, _)| dated);
    }

    /// Returns the sorted tree as JSON: an array of `entry`, `depth` and, where there is one,
    /// `label`.
    ///
    /// It is flat, because many readers of JSON refuse what is nested as deep as a session is long.
    pub fn rows_json(&self, rows: &TreeRows) -> String {
        let mut out = String::from("[");
        for (at, row) in rows.0.iter().enumerate() {
            let entry = self.entry(row.node);
            out.push_str(if at == 0 { "{\"entry\":" } else { ",{\"entry\":" });
            out.push_str(entry.json().as_str());
            out.push_str(",\"depth\":");
            out.push_str(&row.depth.to_string());
            if let Some(label) = entry.id().and_then(|id| self.label_for(&id)) {
                out.push_str(",\"label\":");
                out.push_str(crate::json::RawJson::string(label).as_str());
            }
            out.push('}');
        }
        out.push(']');
        out
    }
}

impl std::ops::Deref for TreeRows {
    type Target = [TreeRow];

    fn deref(&self) -> &[TreeRow] {
        &self.0
    }
}
