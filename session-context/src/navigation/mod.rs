//! Going to another place of a session's tree.

mod abandoned;
mod destination;
mod details;
mod hooks;
mod navigate;
mod options;

use session_model::Entry;
use session_model::message::ImageBlock;

use crate::checkpoint::CheckpointState;
use crate::context::SessionContext;

pub use abandoned::abandoned_entries;
pub use destination::SKILL_PROMPT;
pub use details::BranchSummaryDetails;
pub use hooks::{
    BeforeNavigate, BeforeSwitch, BranchSummarizer, BranchSummaryRequest, HostError, MissingCwd,
    NavigationPlan, SessionHooks, Summarized, SuppliedSummary,
};
pub use options::{AskAnswer, NavigateOptions, SummarySource};

/// What came of a navigation.
#[derive(Clone, Debug)]
pub enum NavigateOutcome {
    /// The session is at its new place.
    Done(Box<Navigation>),
    /// A hook said no; nothing has moved.
    Cancelled,
    /// The summariser gave up; nothing has moved.
    Aborted,
}

/// A navigation that was carried out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Navigation {
    /// The leaf before; `None` if it was above all entries.
    pub old_leaf: Option<String>,
    /// The leaf now; `None` if it is above all entries.
    pub new_leaf: Option<String>,
    /// What the editor is to begin with.
    pub editor: Option<EditorPrefill>,
    /// What was left, oldest first.
    pub abandoned: Vec<Entry>,
    /// The id of the new answer to a question that was asked again.
    pub answer_entry: Option<String>,
    /// The id of the summary of what was left, or of the mark of a durable move.
    pub summary_entry: Option<String>,
    /// What holds at the new leaf.
    pub context: SessionContext,
    /// The checkpoint on the way to the new leaf.
    pub checkpoint: CheckpointState,
}

/// What an editor begins with, to say something again in other words.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EditorPrefill {
    /// The text; empty if there is none.
    pub text: String,
    /// The images in order, as the session has them.
    pub images: Vec<ImageBlock>,
}
