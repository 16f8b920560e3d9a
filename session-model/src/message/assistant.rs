//! What models answer.

use crate::json::RawJson;
use crate::record::{record, string_enum};

use super::{Content, ContentBlock, ToolCall, Usage};

string_enum! {
    /// Why a model stopped.
    pub enum StopReason {
        /// It was done.
        Stop = "stop",
        /// The output limit was reached.
        Length = "length",
        /// It waits for the result of a tool.
        ToolUse = "toolUse",
        /// The request failed.
        Error = "error",
        /// The request was aborted.
        Aborted = "aborted",
    }
}

record! {
    /// A message of role `assistant`.
    pub struct AssistantMessage {
        /// Text, thinking and tool call blocks.
        content: Content = "content",
        /// The provider's interface, as `anthropic-messages`.
        api: Option<String> = "api",
        /// The provider.
        provider: String = "provider",
        /// The provider's name of the model.
        model: String = "model",
        /// Tokens and cost; counts as zero if missing.
        usage: Option<Usage> = "usage",
        /// Why the model stopped.
        stop_reason: Option<StopReason> = "stopReason",
        /// Milliseconds since the epoch.
        timestamp: Option<i64> = "timestamp",
        /// What went wrong, where something did.
        error_message: Option<String> = "errorMessage",
        /// What the provider wants to see again with the next request.
        provider_payload: Option<RawJson> = "providerPayload",
    }
}

impl AssistantMessage {
    /// A finished answer; `timestamp` in milliseconds since the epoch.
    ///
    /// Its usage is zero throughout rather than missing: other tools cannot open a session with
    /// an answer that has none.
    pub fn new(
        provider: impl Into<String>,
        model: impl Into<String>,
        blocks: Vec<ContentBlock>,
        timestamp: i64,
    ) -> Self {
        Self {
            content: blocks.into(),
            provider: provider.into(),
            model: model.into(),
            usage: Some(Usage::default()),
            stop_reason: Some(StopReason::Stop),
            timestamp: Some(timestamp),
            ..Default::default()
        }
    }

    /// Returns the tool calls in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.content.tool_calls()
    }

    /// Returns `provider/model`, unless either is missing or empty.
    pub fn model_ref(&self) -> Option<String> {
        let known = !self.provider.is_empty() && !self.model.is_empty();
        known.then(|| format!("{}/{}", self.provider, self.model))
    }

    /// Tells whether the answer ended in an error or was aborted.
    pub fn failed(&self) -> bool {
        matches!(self.stop_reason, Some(StopReason::Error | StopReason::Aborted))
    }
}
