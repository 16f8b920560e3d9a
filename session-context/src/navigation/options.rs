//! How a session is navigated.

use session_model::json::RawJson;
use session_model::message::{Content, ToolResultMessage};

use super::{BranchSummarizer, SessionHooks};

/// How [`navigate_tree`](crate::SessionManager::navigate_tree) goes about it.
#[derive(Default)]
#[non_exhaustive]
pub struct NavigateOptions<'a> {
    /// What the model is told of what was left; default: nothing.
    pub summary: SummarySource<'a>,
    /// A new answer to the question that is the target; default: none.
    pub answer: Option<AskAnswer>,
    /// Whether an empty summary marks a move that leaves no other trace, so that it outlasts this
    /// process; default: no.
    pub durable: bool,
    /// Who is told and may object; default: nobody.
    pub hooks: Option<&'a dyn SessionHooks>,
}

impl std::fmt::Debug for NavigateOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NavigateOptions")
            .field("summary", &self.summary)
            .field("answer", &self.answer)
            .field("durable", &self.durable)
            .field("hooks", &self.hooks.is_some())
            .finish()
    }
}

impl<'a> NavigateOptions<'a> {
    /// These options with a summary of what is left.
    pub fn summary(self, summary: SummarySource<'a>) -> Self {
        Self { summary, ..self }
    }

    /// These options with a new answer to the question that is the target.
    pub fn answer(self, answer: AskAnswer) -> Self {
        Self { answer: Some(answer), ..self }
    }

    /// These options, marking the move in the file.
    pub fn durable(self) -> Self {
        Self { durable: true, ..self }
    }

    /// These options with somebody who is told and may object.
    pub fn hooks(self, hooks: &'a dyn SessionHooks) -> Self {
        Self { hooks: Some(hooks), ..self }
    }
}

/// Where the summary of what is left comes from.
#[derive(Clone, Default)]
pub enum SummarySource<'a> {
    /// There is none.
    #[default]
    None,
    /// It is this text.
    Given(String),
    /// Somebody writes it, unless a hook supplies it or nothing is left behind.
    Written {
        /// Who writes it.
        by: &'a dyn BranchSummarizer,
        /// What to pay attention to.
        instructions: Option<String>,
    },
}

impl std::fmt::Debug for SummarySource<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::None => f.write_str("None"),
            Self::Given(text) => f.debug_tuple("Given").field(text).finish(),
            Self::Written { instructions, .. } => f
                .debug_struct("Written")
                .field("instructions", instructions)
                .finish_non_exhaustive(),
        }
    }
}

/// A new answer to a question of the tool `ask`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AskAnswer {
    /// What the model is told.
    pub content: Content,
    /// What the tool keeps beside it.
    pub details: Option<RawJson>,
    /// The time in milliseconds since the epoch.
    pub timestamp: Option<i64>,
}

impl AskAnswer {
    /// The result that stands beside the old one.
    pub(super) fn in_place_of(self, old: &ToolResultMessage) -> ToolResultMessage {
        ToolResultMessage {
            tool_call_id: old.tool_call_id.clone(),
            tool_name: old.tool_name.clone(),
            content: self.content,
            details: self.details,
            timestamp: self.timestamp,
            ..Default::default()
        }
    }
}
