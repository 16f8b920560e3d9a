//! The entries from a root to a leaf, and which of them matter for more than themselves.

use std::collections::HashSet;

use session_model::entry::EntryKind;
use session_model::tree::{NodeId, SessionTree};
use session_model::{Diagnostic, DiagnosticCode, Entry, Parent};

use super::about;

/// A path through a tree. Entries are named by their place on the path, from 0 at the root.
pub(super) struct Path<'a> {
    tree: &'a SessionTree,
    nodes: Vec<NodeId>,
    pub(super) marks: Marks,
}

/// Places of entries that hold for what follows them; of most kinds only the last counts.
#[derive(Default)]
pub(super) struct Marks {
    pub(super) compaction: Option<usize>,
    pub(super) reset: Option<usize>,
    pub(super) thinking: Option<usize>,
    pub(super) tier: Option<usize>,
    pub(super) mode: Option<usize>,
    pub(super) tools: Option<usize>,
    pub(super) context: Option<usize>,
    pub(super) models: Vec<usize>,
    pub(super) rules: Vec<usize>,
}

impl<'a> Path<'a> {
    /// Walks up from a leaf; says where a parent is missing.
    ///
    /// Such a gap ends the path, or the path goes on at the entry before the gap in the file.
    pub(super) fn to(
        tree: &'a SessionTree,
        leaf: NodeId,
        bridge_gaps: bool,
    ) -> (Self, Vec<Diagnostic>) {
        let (mut nodes, mut gaps) = (tree.path_to(leaf), Vec::new());
        if let Some(gap) = gap_before(tree, nodes[0]) {
            gaps.push(gap);
            if bridge_gaps {
                nodes = bridged(tree, nodes, &mut gaps);
            }
        }
        let marks = Marks::of(tree, &nodes);
        (Self { tree, nodes, marks }, gaps)
    }

    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(super) fn node(&self, at: usize) -> NodeId {
        self.nodes[at]
    }

    pub(super) fn entry(&self, at: usize) -> &'a Entry {
        self.tree.entry(self.nodes[at])
    }

    /// Finds an entry by id before a place; of entries that share it, the nearest.
    pub(super) fn find_before(&self, end: usize, id: &str) -> Option<usize> {
        let known = self.tree.find(id)?;
        let before = &self.nodes[..end];
        before.iter().rposition(|&node| node == known).or_else(|| {
            // The tree answers with the last of those that share an id, which may be elsewhere.
            before.iter().rposition(|&node| self.tree.entry(node).id().is_some_and(|of| of == id))
        })
    }
}

impl Marks {
    fn of(tree: &SessionTree, nodes: &[NodeId]) -> Self {
        let mut marks = Self::default();
        for (at, &node) in nodes.iter().enumerate() {
            let last = match tree.entry(node).kind() {
                EntryKind::Compaction => &mut marks.compaction,
                EntryKind::ResetBoundary => &mut marks.reset,
                EntryKind::ThinkingLevelChange => &mut marks.thinking,
                EntryKind::ServiceTierChange => &mut marks.tier,
                EntryKind::ModeChange => &mut marks.mode,
                EntryKind::McpToolSelection => &mut marks.tools,
                EntryKind::ContextChange => &mut marks.context,
                EntryKind::ModelChange => {
                    marks.models.push(at);
                    continue;
                }
                EntryKind::TtsrInjection => {
                    marks.rules.push(at);
                    continue;
                }
                _ => continue,
            };
            *last = Some(at);
        }
        marks
    }
}

/// Says that what came before the root of a path is missing, if it is.
fn gap_before(tree: &SessionTree, root: NodeId) -> Option<Diagnostic> {
    let entry = tree.entry(root);
    let Parent::Id(parent) = entry.parent() else { return None };
    let is_self = entry.id().is_some_and(|id| id == parent);
    if is_self || tree.parent_of(root).is_some() {
        return None;
    }
    let detail = format!("its parent {parent:?} is nowhere in the file; the path has a gap there");
    Some(about(entry.id().as_deref(), DiagnosticCode::UnknownParent, detail))
}

/// Goes on at the entry before each gap in the file, until a real root or a known entry.
fn bridged(tree: &SessionTree, nodes: Vec<NodeId>, gaps: &mut Vec<Diagnostic>) -> Vec<NodeId> {
    let all: Vec<NodeId> = tree.nodes().collect();
    let mut seen: HashSet<NodeId> = nodes.iter().copied().collect();
    let mut root = nodes[0];
    let mut parts = vec![nodes];
    while let Some(before) = root.index().checked_sub(1).map(|at| all[at]) {
        let mut part = tree.path_to(before);
        let known = part.iter().rposition(|node| seen.contains(node)).map_or(0, |at| at + 1);
        part.drain(..known);
        let Some(&first) = part.first() else { break };
        seen.extend(&part);
        parts.push(part);
        root = first;
        match gap_before(tree, root) {
            Some(gap) => gaps.push(gap),
            None => break,
        }
    }
    parts.into_iter().rev().flatten().collect()
}
