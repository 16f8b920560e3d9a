//! What is odd in a tree.

use super::links::NONE;
use super::{NodeId, SessionTree};
use crate::DiagnosticCode;
use crate::entry::Parent;

/// One odd thing about one entry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Problem {
    pub(crate) node: NodeId,
    pub(crate) code: DiagnosticCode,
    pub(crate) detail: String,
}

impl SessionTree {
    /// Returns what is odd, in file order.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let mut problems = Vec::new();
        for node in self.nodes() {
            self.parent_problem(node, &mut problems);
        }
        for &node in &self.nameless {
            self.nameless_problem(NodeId(node), &mut problems);
        }
        for &node in &self.shadowed {
            self.shadowed_id_problem(NodeId(node), &mut problems);
        }
        self.interleaving(&mut problems);
        problems.sort_by_key(|problem| problem.node);
        problems
    }

    fn nameless_problem(&self, node: NodeId, problems: &mut Vec<Problem>) {
        let detail = "the entry has no id; it is shown, and nothing can refer to it".to_owned();
        problems.push(Problem { node, code: DiagnosticCode::MissingId, detail });
    }

    fn shadowed_id_problem(&self, node: NodeId, problems: &mut Vec<Problem>) {
        let id = self.entry(node).id().unwrap_or_default();
        let detail = format!("a later entry has the id {id:?} too; look-ups find that one");
        problems.push(Problem { node, code: DiagnosticCode::DuplicateId, detail });
    }

    fn parent_problem(&self, node: NodeId, problems: &mut Vec<Problem>) {
        let entry = self.entry(node);
        let mut add = |code, detail| problems.push(Problem { node, code, detail });
        if self.links.parent(node.0) == NONE {
            let Parent::Id(parent) = entry.parent() else { return };
            if entry.id().is_some_and(|id| id == parent) {
                add(DiagnosticCode::SelfParent, "the entry names itself as its parent".to_owned());
            } else {
                let detail = format!(
                    "its parent {parent:?} is nowhere in the file; what came before is not on its path"
                );
                add(DiagnosticCode::UnknownParent, detail);
            }
        } else if self.links.cycle_roots().binary_search(&node.0).is_ok() {
            let length = self.links.ancestors(node.0).count();
            let detail = format!("the entry is its own ancestor, in a cycle of {length} entries");
            add(DiagnosticCode::ParentCycle, detail);
        }
    }

    /// One writer goes back to a branch's tip now and then; two writers at once do it in turn.
    fn interleaving(&self, problems: &mut Vec<Problem>) {
        let mut continued = vec![false; self.len()];
        let (mut returns, mut last) = (0, None);
        for node in self.nodes() {
            let Some(parent) = self.parent_of(node) else { continue };
            let first = !std::mem::replace(&mut continued[parent.index()], true);
            if first && parent.0 + 1 != node.0 && parent < node {
                returns += 1;
                last = Some(node);
            }
        }
        if let Some(node) = last.filter(|_| returns >= 2) {
            let detail = format!(
                "branches were continued in turn {returns} times, as when two programs write at \
                 once; all of them are loaded"
            );
            problems.push(Problem { node, code: DiagnosticCode::InterleavedBranches, detail });
        }
    }
}
