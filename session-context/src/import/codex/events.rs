//! What is said both in an item and in an event.
//!
//! Codex writes what a person and the model say twice: as an item, which models are sent, and as an
//! event, which its screen shows. Some versions write only the event.

use std::collections::HashMap;

use super::items;
use super::record::{Envelope, Record};

/// Whose words.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Speaker {
    User,
    Model,
    /// The model, thinking.
    Thought,
}

/// How often each text is in an item and not yet in an event.
#[derive(Default)]
pub(super) struct Said(HashMap<(Speaker, String), u64>);

impl Said {
    pub(super) fn of(records: &[Record]) -> Self {
        let mut said = Self::default();
        for record in records.iter().filter(|record| record.envelope == Envelope::Item) {
            let (speaker, texts) = match record.item() {
                "message" => {
                    let texts = items::texts(record.payload.get("content"));
                    match record.payload.text("role").as_deref() {
                        Some("user") => (Speaker::User, texts),
                        Some("assistant") => (Speaker::Model, texts),
                        _ => continue,
                    }
                }
                "reasoning" => {
                    let mut texts = items::texts(record.payload.get("summary"));
                    texts.extend(items::texts(record.payload.get("content")));
                    (Speaker::Thought, texts)
                }
                _ => continue,
            };
            if texts.len() > 1 {
                said.add(speaker, &texts.concat());
            }
            texts.iter().for_each(|text| said.add(speaker, text));
        }
        said
    }

    fn add(&mut self, speaker: Speaker, text: &str) {
        *self.0.entry((speaker, text.trim().to_owned())).or_default() += 1;
    }

    /// Tells whether an event says what an item says, each item once.
    pub(super) fn take(&mut self, speaker: Speaker, text: &str) -> bool {
        match self.0.get_mut(&(speaker, text.trim().to_owned())) {
            Some(count) if *count > 0 => {
                *count -= 1;
                true
            }
            _ => false,
        }
    }
}

/// Events that are state of the tool, or tell of items in other words.
const BOOKKEEPING: [&str; 43] = [
    "background_event",
    "context_compacted",
    "deprecation_notice",
    "dynamic_tool_call_request",
    "dynamic_tool_call_response",
    "elicitation_request",
    "entered_review_mode",
    "error",
    "exec_approval_request",
    "exec_command_begin",
    "exec_command_end",
    "exec_command_output_delta",
    "exited_review_mode",
    "guardian_assessment",
    "hook_completed",
    "hook_started",
    "image_generation_begin",
    "image_generation_end",
    "item_completed",
    "item_started",
    "mcp_startup_complete",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "model_reroute",
    "patch_apply_begin",
    "patch_apply_end",
    "plan_update",
    "request_user_input",
    "session_configured",
    "shutdown_complete",
    "stream_error",
    "sub_agent_activity",
    "task_complete",
    "task_started",
    "thread_goal_updated",
    "thread_settings_applied",
    "turn_aborted",
    "turn_diff",
    "undo_completed",
    "undo_started",
    "view_image_tool_call",
    "warning",
    "web_search_begin",
];

pub(super) fn is_bookkeeping(event: &str) -> bool {
    BOOKKEEPING.contains(&event) || event.starts_with("collab_")
}
