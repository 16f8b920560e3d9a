//! Which session comes from which.

use std::collections::HashMap;

use super::SessionRow;

/// A session in the tree of sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LineageNode {
    /// The session's place in the list the tree was made of.
    pub row: usize,
    /// How many sessions lie between this one and the root of its tree, that one counted.
    pub depth: usize,
    /// The place of the session it comes from, and how; `None` at a root.
    pub parent: Option<(usize, Kinship)>,
}

/// How one session comes from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kinship {
    /// Its header names the other: it is a fork of that, or made of one of its branches.
    Fork,
    /// The agent of the other started it: the file lies among the other's artifacts.
    ChildAgent,
}

impl Kinship {
    /// Returns the kinship as it stands in machine-readable output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Fork => "fork",
            Self::ChildAgent => "childAgent",
        }
    }
}

/// Returns listed sessions as trees, each session before those that come from it; sessions of one
/// parent are in the order of the list.
///
/// Every row is there once. One whose parent is not listed is a root, and so is the first of
/// those that name each other in a circle.
pub fn lineage(rows: &[SessionRow]) -> Vec<LineageNode> {
    let parents = parents(rows);
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); rows.len()];
    for (row, parent) in parents.iter().enumerate() {
        if let Some((parent, _)) = parent {
            children[*parent].push(row);
        }
    }
    let mut nodes = Vec::with_capacity(rows.len());
    let mut seen = vec![false; rows.len()];
    let roots = (0..rows.len()).filter(|&row| parents[row].is_none());
    for root in roots.chain(0..rows.len()) {
        let mut open = vec![(root, 0, None)];
        while let Some((row, depth, parent)) = open.pop() {
            if std::mem::replace(&mut seen[row], true) {
                continue;
            }
            nodes.push(LineageNode { row, depth, parent });
            open.extend(
                children[row].iter().rev().map(|&child| (child, depth + 1, parents[child])),
            );
        }
    }
    nodes
}

/// The parent of each session.
fn parents(rows: &[SessionRow]) -> Vec<Option<(usize, Kinship)>> {
    let mut by_id: HashMap<&str, usize> = HashMap::new();
    let mut by_location: HashMap<String, usize> = HashMap::new();
    let mut by_key = HashMap::new();
    for (at, row) in rows.iter().enumerate() {
        if let Ok(summary) = &row.summary {
            by_id.entry(&summary.id).or_insert(at);
        }
        by_location.insert(row.location(), at);
        by_key.insert((row.place, &row.key), at);
    }
    let parent = |(at, row): (usize, &SessionRow)| {
        let agent = row.agent_of.as_ref().and_then(|key| by_key.get(&(row.place, key)));
        let named = row.summary.as_ref().ok().and_then(|summary| summary.parent_session.as_deref());
        let fork = || named.and_then(|name| by_id.get(name).or_else(|| by_location.get(name)));
        let agent = agent.map(|&parent| (parent, Kinship::ChildAgent));
        let found = agent.or_else(|| fork().map(|&parent| (parent, Kinship::Fork)));
        found.filter(|(parent, _)| *parent != at)
    };
    rows.iter().enumerate().map(parent).collect()
}
