//! Which entries an export holds.

use session_model::tree::{NodeId, SessionTree};

use crate::error::{Result, SessionError};

/// A part of a session's tree.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Scope {
    /// From the root to the entry of this id, or to the leaf.
    Path(Option<String>),
    /// From the root to the entry of this id, and everything that hangs from it.
    Branch(String),
    /// Every entry of every branch, archived ones too.
    All,
}

impl Default for Scope {
    /// The path to the leaf.
    fn default() -> Self {
        Self::Path(None)
    }
}

impl Scope {
    /// Returns the scope's name: `path`, `branch`, `all`.
    pub fn as_str(&self) -> &'static str {
        match self {
            Self::Path(_) => "path",
            Self::Branch(_) => "branch",
            Self::All => "all",
        }
    }

    /// The entries of a tree that are meant, and which of them is the leaf.
    pub(super) fn nodes(&self, tree: &SessionTree) -> Result<(Vec<NodeId>, Option<NodeId>)> {
        let find = |id: &str| {
            tree.find(id).ok_or_else(|| SessionError::UnknownEntry { id: id.to_owned() })
        };
        match self {
            Self::All => Ok((tree.nodes().collect(), tree.leaf())),
            Self::Path(None) => {
                let path = tree.leaf().map(|leaf| tree.path_to(leaf)).unwrap_or_default();
                Ok((path, tree.leaf()))
            }
            Self::Path(Some(id)) => find(id).map(|leaf| (tree.path_to(leaf), Some(leaf))),
            Self::Branch(id) => {
                let nodes = with_descendants(tree, find(id)?);
                let leaf = tree.leaf().filter(|leaf| nodes.contains(leaf));
                let last = nodes.last().copied();
                Ok((nodes, leaf.or(last)))
            }
        }
    }
}

/// The path to an entry and all that hangs from it, in file order.
fn with_descendants(tree: &SessionTree, top: NodeId) -> Vec<NodeId> {
    let mut taken = vec![false; tree.len()];
    let path = tree.path_to(top);
    path.iter().for_each(|node| taken[node.index()] = true);
    let mut open = vec![top];
    while let Some(node) = open.pop() {
        for child in tree.children_of(node) {
            // A cycle leads back to what was taken already.
            if !std::mem::replace(&mut taken[child.index()], true) {
                open.push(child);
            }
        }
    }
    tree.nodes().filter(|node| taken[node.index()]).collect()
}
