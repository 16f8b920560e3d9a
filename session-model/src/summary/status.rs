//! How a conversation stands.

use super::Records;
use crate::entry::{Entry, EntryKind};
use crate::json::RawJson;
use crate::message::Content;

/// How a conversation stands, judged by its last messages in file order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum SessionStatus {
    /// The last answer is whole, or as long as it was allowed to be.
    Complete,
    /// Tools were called, and their results or the answer to them are missing.
    Interrupted,
    /// A person's last message has no answer.
    Pending,
    /// The last answer ended in an error.
    Error,
    /// The last answer was aborted.
    Aborted,
    /// Nobody has said anything yet, or the last message was not read.
    #[default]
    Unknown,
}

impl SessionStatus {
    /// Returns the status as it stands in machine-readable output: one word in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Interrupted => "interrupted",
            Self::Pending => "pending",
            Self::Error => "error",
            Self::Aborted => "aborted",
            Self::Unknown => "unknown",
        }
    }
}

impl std::fmt::Display for SessionStatus {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.as_str())
    }
}

pub(super) fn find(records: &Records) -> SessionStatus {
    // Between beginning and end there may be later messages than those of the beginning.
    let last = if records.is_whole { &records.head } else { &records.tail };
    let messages = last.iter().rev().filter(|entry| entry.kind() == EntryKind::Message);
    messages.into_iter().find_map(after).unwrap_or_default()
}

/// The status after a message; `None` if it is no turn of the conversation.
fn after(entry: &Entry) -> Option<SessionStatus> {
    let names = ["role", "stopReason", "content"];
    let [role, stop_reason, content] = entry.message()?.some_fields(names);
    let stop_reason = stop_reason.as_ref().and_then(RawJson::as_text);
    match &*role?.as_text()? {
        "user" => Some(SessionStatus::Pending),
        "toolResult" => Some(SessionStatus::Interrupted),
        "assistant" => Some(match stop_reason.as_deref() {
            Some("error") => SessionStatus::Error,
            Some("aborted") => SessionStatus::Aborted,
            Some("toolUse") => SessionStatus::Interrupted,
            Some("stop" | "length") => SessionStatus::Complete,
            _ => {
                let content = content.as_ref().map(Content::from_json).unwrap_or_default();
                match content.tool_calls().next() {
                    Some(_) => SessionStatus::Interrupted,
                    None => SessionStatus::Complete,
                }
            }
        }),
        _ => None,
    }
}
