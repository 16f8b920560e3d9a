//! Opening a checkpoint, and going back to it.

use session_model::body::{BranchSummary, CustomMessageEntry, EntryBody};
use session_model::json::ObjectBuilder;
use session_model::message::ToolResultMessage;
use session_model::time::to_iso;

use super::{CHECKPOINT_TOOL, CheckpointState, CompletedRewind, OpenCheckpoint, REWIND_REPORT};
use crate::manager::NewEntry;
use crate::{Result, SessionError, SessionManager};

/// A rewind that was carried out.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Rewound {
    /// The checkpoint that was open.
    pub checkpoint: OpenCheckpoint,
    /// What closed it.
    pub rewind: CompletedRewind,
    /// The id of the summary behind the checkpoint.
    pub summary_entry: String,
    /// The id of the hidden report, the leaf now.
    pub report_entry: String,
}

impl SessionManager {
    /// Returns how it stands with checkpoints at the leaf.
    ///
    /// It is read from the way to the leaf with each call, so it is right after every move.
    pub fn checkpoint_state(&self) -> CheckpointState {
        CheckpointState::along(self.branch_entries())
    }

    /// Opens a checkpoint with the result of a call of the tool `checkpoint`, and returns its id.
    ///
    /// # Errors
    ///
    /// [`SessionError::CheckpointOpen`] if one is open: checkpoints do not nest. Else as
    /// [`append`](Self::append).
    pub async fn open_checkpoint(&mut self, tool_call_id: &str, goal: &str) -> Result<String> {
        if let Some(open) = self.checkpoint_state().open {
            return Err(SessionError::CheckpointOpen { id: open.entry_id });
        }
        let now = self.now_ms();
        let details =
            ObjectBuilder::new().string("goal", goal).string("startedAt", &to_iso(now)).build();
        let text = format!("A checkpoint is open. Goal: {goal}");
        let mut result = ToolResultMessage::text(tool_call_id, CHECKPOINT_TOOL, text, now);
        result.details = Some(details);
        self.append_message(result).await
    }

    /// Goes back to the open checkpoint and keeps a report of what was done since.
    ///
    /// What was done stays in the file as a branch. Summary and report are written as one: the
    /// file has both or neither.
    ///
    /// # Errors
    ///
    /// [`SessionError::NoOpenCheckpoint`], [`SessionError::EmptyReport`], and
    /// [`SessionError::ReadOnly`]: nothing has moved. [`SessionError::NotSaved`]: both entries are
    /// in memory, and the file has neither.
    pub async fn rewind(&mut self, report: &str) -> Result<Rewound> {
        let report = report.trim();
        if report.is_empty() {
            return Err(SessionError::EmptyReport);
        }
        let checkpoint = self.checkpoint_state().open.ok_or(SessionError::NoOpenCheckpoint)?;
        let rewound_at = to_iso(self.now_ms());
        // A report that does not say since when would close nothing.
        let started_at = match &*checkpoint.started_at {
            "" => rewound_at.clone(),
            started_at => started_at.to_owned(),
        };
        let rewind = CompletedRewind { report: report.to_owned(), started_at, rewound_at };
        let details = ObjectBuilder::new()
            .string("startedAt", &rewind.started_at)
            .string("rewoundAt", &rewind.rewound_at)
            .string("report", report)
            .build();
        let text = "The session is back at its checkpoint. The summary above is all that is kept \
                    of what was done since.";
        let message = CustomMessageEntry::new(REWIND_REPORT, text, false, Some(details));
        let summary = BranchSummary {
            from_id: checkpoint.entry_id.clone(),
            summary: report.to_owned(),
            ..Default::default()
        };
        let entries = [EntryBody::from(summary), EntryBody::from(message)].map(NewEntry::from);
        let before = self.tree().leaf();
        self.branch(&checkpoint.entry_id)?;
        let appended = self.append_batch(entries).await;
        if !matches!(appended, Ok(_) | Err(SessionError::NotSaved { .. })) {
            self.go_to(before);
        }
        let mut ids = appended?.into_iter();
        let (summary_entry, report_entry) =
            (ids.next().unwrap_or_default(), ids.next().unwrap_or_default());
        Ok(Rewound { checkpoint, rewind, summary_entry, report_entry })
    }
}
