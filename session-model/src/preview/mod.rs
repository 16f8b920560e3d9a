//! What an entry says, in one line: for lists, trees and search.

mod message;
mod one_line;
mod raw;
#[cfg(test)]
mod tests;

use std::fmt;

use crate::entry::{Entry, EntryKind};

use one_line::OneLine;
pub use one_line::{acts_on_terminal, one_line};
pub(crate) use one_line::{decoded_pieces, is_blank};
pub(crate) use raw::{Object, inside};

/// How long a preview is unless asked otherwise, in characters.
pub const DEFAULT_PREVIEW_CHARS: usize = 200;

/// An entry in one line.
///
/// ```
/// use session_model::{Entry, json::RawJson, preview::Preview};
///
/// let line = r#"{"type":"message","id":"a","message":{"role":"user","content":"hello\nworld"}}"#;
/// let entry = Entry::from_json(&RawJson::parse(line)?).unwrap();
/// assert_eq!(Preview::of(&entry, 200).to_string(), "user: hello world");
/// assert_eq!(Preview::of(&entry, 6).text, "hello…");
/// # Ok::<(), session_model::json::InvalidJson>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Preview {
    /// The entry's type.
    pub kind: EntryKind,
    /// Who speaks: the role of a message, the `type` of any other entry; on one line.
    pub role: String,
    /// What the entry says, free of control characters; may be empty.
    pub text: String,
    /// Whether this is an assistant's message with tool calls that says nothing to people and
    /// did not fail.
    pub only_tool_calls: bool,
}

impl Preview {
    /// Reads as much of an entry as a line of `max_chars` characters shows.
    pub fn of(entry: &Entry, max_chars: usize) -> Self {
        let mut line = OneLine::new(max_chars);
        let json = entry.json();
        let fields = Object::of(json.as_str());
        let message = match entry.kind() {
            EntryKind::Message => Object::of(fields.get("message").unwrap_or_default()),
            _ => Object::default(),
        };
        let (role, only_tool_calls) = if message.is_empty() {
            write_entry(&mut line, entry, &fields);
            (one_line(&entry.entry_type(), DEFAULT_PREVIEW_CHARS), false)
        } else {
            let role = message.text("role").unwrap_or_default();
            let only_tool_calls = message::write(&mut line, &role, &message);
            (one_line(&role, DEFAULT_PREVIEW_CHARS), only_tool_calls)
        };
        Self { kind: entry.kind(), role, text: line.finish(), only_tool_calls }
    }
}

impl fmt::Display for Preview {
    /// Messages as `role: text`, other entries as their text, which names its kind itself.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.kind {
            EntryKind::Message => write!(f, "{}: {}", self.role, self.text),
            _ => f.write_str(&self.text),
        }
    }
}

fn write_entry(line: &mut OneLine, entry: &Entry, fields: &Object<'_>) {
    let (tag, shown): (&str, &[&str]) = match entry.kind() {
        EntryKind::ThinkingLevelChange => ("thinking", &["thinkingLevel"]),
        EntryKind::ModelChange => ("model", &["role", "model", "provider", "modelId"]),
        EntryKind::ServiceTierChange => ("service tier", &["serviceTier"]),
        EntryKind::Compaction => ("compaction", summary_field(fields)),
        EntryKind::BranchSummary => ("branch summary", &["summary"]),
        EntryKind::ResetBoundary => ("reset", &[]),
        EntryKind::Custom => ("custom", &["customType"]),
        EntryKind::Label => ("label", &["label", "targetId"]),
        EntryKind::TitleChange => ("title", &["title"]),
        EntryKind::TtsrInjection => ("rules", &["injectedRules"]),
        EntryKind::CredentialPin => ("credential", &["provider"]),
        EntryKind::SessionInit => ("init", &["agent", "task"]),
        EntryKind::ModeChange => ("mode", &["mode"]),
        EntryKind::ModelUsage => ("model usage", &["purpose", "provider", "model"]),
        EntryKind::Archive => ("archive", &["targetId", "archived"]),
        EntryKind::McpToolSelection => ("tools", &["selectedToolNames"]),
        EntryKind::ContextChange => ("context", &["contextName", "tenant", "namespace"]),
        EntryKind::SessionInfo => ("title", &["name"]),
        EntryKind::CustomMessage => {
            return message::write_custom(line, fields);
        }
        EntryKind::Message => ("message without content", &[]),
        EntryKind::Unknown => {
            return line.tag(&entry.entry_type());
        }
    };
    line.tag(tag);
    for value in shown.iter().filter_map(|name| fields.get(name)).filter(|value| *value != "null") {
        line.space();
        line.value(value);
    }
}

fn summary_field(compaction: &Object<'_>) -> &'static [&'static str] {
    match compaction.text("shortSummary") {
        Some(short) if !short.is_empty() => &["shortSummary"],
        _ => &["summary"],
    }
}
