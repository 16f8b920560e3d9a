//! Moving about the tree.

use session_model::body::BranchSummary;
use session_model::json::RawJson;
use session_model::tree::NodeId;

use super::SessionManager;
use crate::error::{Result, SessionError};

/// What `fromId` says of a branch from above all entries.
const ROOT: &str = "root";

impl SessionManager {
    /// Makes an entry the leaf, so that the next one becomes its child.
    ///
    /// The move is in memory only: after opening the file again the leaf is its last entry. See
    /// [`branch_durably`](Self::branch_durably).
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownEntry`].
    pub fn branch(&mut self, id: &str) -> Result<()> {
        let node = self.find(id)?;
        self.go_to(Some(node));
        Ok(())
    }

    pub(crate) fn go_to(&mut self, leaf: Option<NodeId>) {
        self.document_mut().set_leaf(leaf);
    }

    /// Moves above all entries, so that the next one becomes a root of its own.
    pub fn reset_leaf(&mut self) {
        self.document_mut().set_leaf(None);
    }

    /// Moves to an entry, or above all with `None`, and appends a summary of what was left.
    ///
    /// # Errors
    ///
    /// [`SessionError::UnknownEntry`]: nothing has moved. Else
    /// as [`append`](Self::append).
    pub async fn branch_with_summary(
        &mut self,
        target: Option<&str>,
        summary: &str,
        details: Option<RawJson>,
        from_extension: Option<bool>,
    ) -> Result<String> {
        let node = target.map(|id| self.find(id)).transpose()?;
        let before = self.tree().leaf();
        self.document_mut().set_leaf(node);
        let summary = BranchSummary {
            from_id: target.unwrap_or(ROOT).to_owned(),
            summary: summary.to_owned(),
            details,
            from_extension,
            ..Default::default()
        };
        let appended = self.append_branch_summary(summary).await;
        if !matches!(appended, Ok(_) | Err(SessionError::NotSaved { .. })) {
            self.document_mut().set_leaf(before);
        }
        appended
    }

    /// Moves to an entry, or above all with `None`, so that the move outlasts this process: an
    /// empty summary marks it in the file.
    ///
    /// # Errors
    ///
    /// As [`branch_with_summary`](Self::branch_with_summary).
    pub async fn branch_durably(&mut self, target: Option<&str>) -> Result<String> {
        self.branch_with_summary(target, "", None, None).await
    }
}
