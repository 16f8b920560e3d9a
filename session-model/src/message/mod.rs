//! Messages of a conversation, by role.

mod assistant;
mod content;
mod custom;
mod execution;
mod file_mention;
mod summary;
#[cfg(test)]
mod tests;
mod tool;
mod usage;
mod user;

use crate::json::{RawJson, push_known};
use crate::record::{Unknown, from_records, tagged, total_value};

pub use assistant::{AssistantMessage, StopReason};
pub use content::{
    Content, ContentBlock, ImageBlock, RedactedThinkingBlock, TextBlock, ThinkingBlock, ToolCall,
};
pub use custom::CustomMessage;
pub use execution::{BashExecutionMessage, PythonExecutionMessage};
pub use file_mention::{FileMentionMessage, MentionedFile};
pub use summary::{BranchSummaryMessage, CompactionSummaryMessage};
pub use tool::ToolResultMessage;
pub use usage::{Cost, Usage, UsageTotals};
pub use user::{Attribution, UserMessage};

/// The field [`Message`] writes itself.
const OUTSIDE: &[&str] = &["role"];

tagged! {
    /// A message; its role is matched verbatim.
    ///
    /// ```
    /// use session_model::json::RawJson;
    /// use session_model::message::Message;
    ///
    /// let line = r#"{"role":"user","content":"hello","timestamp":1767225600000,"mood":"good"}"#;
    /// let message = Message::from_json(&RawJson::parse(line)?);
    /// assert_eq!(message.role(), "user");
    /// assert_eq!(message.content().unwrap().text(), "hello");
    /// assert_eq!(message.to_json().as_str(), line);
    /// # Ok::<(), session_model::json::InvalidJson>(())
    /// ```
    #[allow(clippy::large_enum_variant, reason = "about every second message is an assistant's")]
    pub enum Message by "role" {
        /// What a person wrote.
        User(UserMessage) = "user",
        /// An instruction of the program around the agent.
        Developer(UserMessage) = "developer",
        /// What a model answered.
        Assistant(AssistantMessage) = "assistant",
        /// What a tool call gave.
        ToolResult(ToolResultMessage) = "toolResult",
        /// A shell command a person ran.
        BashExecution(BashExecutionMessage) = "bashExecution",
        /// Python code a person ran.
        PythonExecution(PythonExecutionMessage) = "pythonExecution",
        /// Files a person mentioned.
        FileMention(FileMentionMessage) = "fileMention",
        /// A message of an extension.
        Custom(CustomMessage) = "custom",
        /// The same under the name it had before version 3.
        HookMessage(CustomMessage) = "hookMessage",
        /// A summary of an abandoned branch; built for a context, never stored.
        BranchSummary(BranchSummaryMessage) = "branchSummary",
        /// A summary of what was compacted; built for a context, never stored.
        CompactionSummary(CompactionSummaryMessage) = "compactionSummary",
    }
}

from_records! {
    Message {
        User(UserMessage),
        Assistant(AssistantMessage),
        ToolResult(ToolResultMessage),
        BashExecution(BashExecutionMessage),
        PythonExecution(PythonExecutionMessage),
        FileMention(FileMentionMessage),
        Custom(CustomMessage),
        BranchSummary(BranchSummaryMessage),
        CompactionSummary(CompactionSummaryMessage),
    }
}

impl Message {
    /// A user's text; `timestamp` in milliseconds since the epoch.
    pub fn user(text: impl Into<String>, timestamp: i64) -> Self {
        Self::User(UserMessage::new(text.into(), timestamp))
    }

    /// A developer's text; `timestamp` in milliseconds since the epoch.
    pub fn developer(text: impl Into<String>, timestamp: i64) -> Self {
        Self::Developer(UserMessage::new(text.into(), timestamp))
    }

    /// Reads a message; what is no object or has an unknown role is [`Message::Unknown`].
    pub fn from_json(raw: &RawJson) -> Self {
        Self::read_tagged(raw, OUTSIDE)
    }

    /// Returns the message as it is stored: the role, declared fields in order, extra ones.
    pub fn to_json(&self) -> RawJson {
        match self {
            Self::Unknown(unknown) => unknown.raw.clone(),
            _ => RawJson::written(|out| self.push_json(out)),
        }
    }

    fn push_json(&self, out: &mut String) {
        match self {
            Self::Unknown(unknown) => unknown.raw.push_compact(out),
            _ => {
                out.push('{');
                push_known(out, Self::TAG, self.role());
                self.push_fields(out, OUTSIDE);
                out.push('}');
            }
        }
    }

    /// Returns the role; empty if there is none.
    pub fn role(&self) -> &str {
        self.tag()
    }

    /// Returns the time in milliseconds since the epoch, if the message has a readable one.
    pub fn timestamp(&self) -> Option<i64> {
        match self {
            Self::User(m) | Self::Developer(m) => m.timestamp,
            Self::Assistant(m) => m.timestamp,
            Self::ToolResult(m) => m.timestamp,
            Self::BashExecution(m) => m.timestamp,
            Self::PythonExecution(m) => m.timestamp,
            Self::FileMention(m) => m.timestamp,
            Self::Custom(m) | Self::HookMessage(m) => m.timestamp,
            Self::BranchSummary(m) => m.timestamp,
            Self::CompactionSummary(m) => m.timestamp,
            Self::Unknown(unknown) => unknown.raw.as_object()?.get("timestamp")?.as_i64(),
        }
    }

    /// Returns the content, for the roles that have one.
    pub fn content(&self) -> Option<&Content> {
        match self {
            Self::User(m) | Self::Developer(m) => Some(&m.content),
            Self::Assistant(m) => Some(&m.content),
            Self::ToolResult(m) => Some(&m.content),
            Self::Custom(m) | Self::HookMessage(m) => Some(&m.content),
            _ => None,
        }
    }
}

impl Default for Message {
    /// A message that is not there.
    fn default() -> Self {
        Self::Unknown(Unknown::default())
    }
}

total_value!(Message);
