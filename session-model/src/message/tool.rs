//! What tool calls give.

use crate::json::RawJson;
use crate::record::record;

use super::{Content, ContentBlock};

record! {
    /// A message of role `toolResult`.
    pub struct ToolResultMessage {
        /// The id of the call.
        tool_call_id: String = "toolCallId",
        /// The tool's name.
        tool_name: String = "toolName",
        /// Text and image blocks.
        content: Content = "content",
        /// What the tool keeps for people and programs, not for the model.
        details: Option<RawJson> = "details",
        /// Whether the call failed.
        is_error: bool = "isError",
        /// When the content was pruned, in milliseconds since the epoch.
        pruned_at: Option<i64> = "prunedAt",
        /// Milliseconds since the epoch.
        timestamp: Option<i64> = "timestamp",
    }
}

impl ToolResultMessage {
    /// A good result of text; `timestamp` in milliseconds since the epoch.
    pub fn text(
        tool_call_id: impl Into<String>,
        tool_name: impl Into<String>,
        text: impl Into<String>,
        timestamp: i64,
    ) -> Self {
        Self {
            tool_call_id: tool_call_id.into(),
            tool_name: tool_name.into(),
            content: vec![ContentBlock::text(text)].into(),
            timestamp: Some(timestamp),
            ..Default::default()
        }
    }
}
