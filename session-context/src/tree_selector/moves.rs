//! Moving through the rows, and folding them.

use std::collections::HashSet;

use session_model::tree::NodeId;
use session_model::tree_view::Speaker;

use super::TreeSelectorState;

impl TreeSelectorState {
    /// Goes one row up; from the first to the last.
    pub fn up(&mut self) {
        self.cursor = match self.cursor {
            0 => self.rows.len().saturating_sub(1),
            at => at - 1,
        };
    }

    /// Goes one row down; from the last to the first.
    pub fn down(&mut self) {
        self.cursor = if self.cursor + 1 < self.rows.len() { self.cursor + 1 } else { 0 };
    }

    /// Goes so many rows up, at most to the first.
    pub fn page_up(&mut self, rows: usize) {
        self.cursor = self.cursor.saturating_sub(rows);
    }

    /// Goes so many rows down, at most to the last.
    pub fn page_down(&mut self, rows: usize) {
        self.cursor = self.cursor.saturating_add(rows).min(self.rows.len().saturating_sub(1));
    }

    /// Goes to the first row.
    pub fn home(&mut self) {
        self.cursor = 0;
    }

    /// Goes to the last row.
    pub fn end(&mut self) {
        self.cursor = self.rows.len().saturating_sub(1);
    }

    /// Goes up to the nearest message of a person or a model; stays if there is none.
    pub fn previous_turn(&mut self) {
        let above = self.rows.iter().take(self.cursor);
        self.cursor = above
            .rev()
            .position(|row| self.is_turn(row.node))
            .map_or(self.cursor, |at| self.cursor - 1 - at);
    }

    /// Goes down to the nearest message of a person or a model; stays if there is none.
    pub fn next_turn(&mut self) {
        let below = self.rows.iter().skip(self.cursor + 1);
        let distance = below.map(|row| row.node).position(|node| self.is_turn(node));
        self.cursor += distance.map_or(0, |at| at + 1);
    }

    fn is_turn(&self, node: NodeId) -> bool {
        matches!(self.texts.facts(node).speaker, Speaker::User | Speaker::Assistant)
    }

    /// Folds away what hangs from the present row; from a row that nothing hangs from, or that is
    /// folded, goes to the row it hangs from.
    ///
    /// While words are searched for nothing is folded.
    pub fn fold(&mut self) {
        let Some(node) = self.selected() else { return };
        let parent = self.parent_row(self.cursor);
        let has_rows_below = self.parent_row(self.cursor + 1) == Some(self.cursor);
        if has_rows_below && self.search.is_empty() && self.folded.insert(node) {
            self.update(Some(node));
        } else if let Some(parent) = parent {
            self.cursor = parent;
        }
    }

    /// Shows again what is folded away below the present row.
    pub fn unfold(&mut self) {
        let Some(node) = self.selected() else { return };
        if self.folded.remove(&node) {
            self.update(Some(node));
        }
    }

    /// Folds every branch but the one in use: each row off the active path that begins a branch.
    pub fn fold_others(&mut self) {
        let depth_one = |at: usize| self.parent_row(at).is_none_or(|above| self.rows[above].active);
        let tops = (0..self.rows.len()).filter(|&at| !self.rows[at].active && depth_one(at));
        let folded: HashSet<NodeId> = tops.map(|at| self.rows[at].node).collect();
        self.folded.extend(folded);
        self.update(self.selected());
    }

    /// Shows again all that is folded away.
    pub fn unfold_all(&mut self) {
        self.folded.clear();
        self.update(self.selected());
    }
}
