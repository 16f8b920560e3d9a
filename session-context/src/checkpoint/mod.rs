//! Checkpoints: trying something out, then keeping only a report of it.
//!
//! A good result of the tool `checkpoint` opens one, and a hidden message of the type
//! `rewind-report` closes it. Nothing else is stored, so the state is always what the way to the
//! leaf says.

mod read;
mod rewind;

use session_model::Entry;

pub use read::{checkpoint_started_at, completed_rewind, is_successful_checkpoint};
pub use rewind::Rewound;

use read::goal;

/// The tool whose results open a checkpoint.
pub const CHECKPOINT_TOOL: &str = "checkpoint";

/// The type of the messages that close a checkpoint.
pub const REWIND_REPORT: &str = "rewind-report";

/// How it stands with checkpoints at one place of a session.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct CheckpointState {
    /// The checkpoint that is open.
    pub open: Option<OpenCheckpoint>,
    /// The last one that was closed since a checkpoint was opened.
    pub last_rewind: Option<CompletedRewind>,
}

/// A checkpoint that is open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenCheckpoint {
    /// The entry it begins with, to which a rewind goes back; empty if that has no id.
    pub entry_id: String,
    /// What is to be found out; empty if it was not said.
    pub goal: String,
    /// When it was opened, in ISO 8601; empty if that is not known.
    pub started_at: String,
}

/// A checkpoint that was closed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CompletedRewind {
    /// What was found out.
    pub report: String,
    /// When the checkpoint was opened, in ISO 8601.
    pub started_at: String,
    /// When it was closed, in ISO 8601.
    pub rewound_at: String,
}

impl CheckpointState {
    /// Reads the state from the entries of a path, root first.
    pub fn along<'a>(path: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut state = Self::default();
        for entry in path {
            if is_successful_checkpoint(entry) {
                let open = OpenCheckpoint {
                    entry_id: entry.id().unwrap_or_default().into_owned(),
                    goal: goal(entry),
                    started_at: checkpoint_started_at(entry).unwrap_or_default(),
                };
                state = Self { open: Some(open), last_rewind: None };
            } else if let Some(rewind) = completed_rewind(entry) {
                state = Self { open: None, last_rewind: Some(rewind) };
            }
        }
        state
    }
}
