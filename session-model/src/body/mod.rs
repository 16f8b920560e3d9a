//! What entries say, by type.

mod conversation;
mod custom;
mod init;
mod label;
mod state;
mod summary;
#[cfg(test)]
mod tests;
mod tier;
mod title;

use crate::entry::Span;
use crate::json::{ObjectBuilder, ObjectEdit, RawJson, push_known, push_string};
use crate::message::{Message, Usage};
use crate::record::{Unknown, from_records, tagged};

pub use conversation::{MessageEntry, ModelUsage};
pub use custom::{CustomEntry, CustomMessageEntry};
pub use init::{SessionInit, SystemPrompt};
pub use label::{Archive, Label};
pub use state::{
    ContextChange, CredentialPin, McpToolSelection, ModeChange, ModelChange, ThinkingLevelChange,
    TtsrInjection,
};
pub use summary::{BranchSummary, Compaction, ResetBoundary};
pub use tier::{ServiceTierChange, ServiceTierSetting, ServiceTiers};
pub use title::{SessionInfo, TitleChange, TitleSource};

/// The fields of an entry that are not its body's.
const OUTSIDE: &[&str] = &["type", "id", "parentId", "timestamp"];

tagged! {
    /// The body of an entry: all but `type`, `id`, `parentId` and `timestamp`.
    ///
    /// ```
    /// use session_model::body::EntryBody;
    /// use session_model::json::RawJson;
    ///
    /// let time = "2026-03-01T09:00:00.000Z";
    /// let line = r#"{"type":"model_change","id":"a1","parentId":null,"timestamp":"2026-03-01T09:00:00.000Z","model":"acme/big"}"#;
    /// let body = EntryBody::from_json(&RawJson::parse(line)?);
    /// let EntryBody::ModelChange(change) = &body else { panic!("wrong type") };
    /// assert_eq!(change.model_ref().as_deref(), Some("acme/big"));
    /// assert_eq!(change.role_or_default(), "default");
    /// assert_eq!(body.to_entry_json("a1", None, time).as_str(), line);
    /// # Ok::<(), session_model::json::InvalidJson>(())
    /// ```
    pub enum EntryBody by "type" {
        /// A message of the conversation.
        Message(MessageEntry) = "message",
        /// Another thinking level.
        ThinkingLevelChange(ThinkingLevelChange) = "thinking_level_change",
        /// Another model.
        ModelChange(ModelChange) = "model_change",
        /// Another service tier.
        ServiceTierChange(ServiceTierChange) = "service_tier_change",
        /// A summary in place of what came before.
        Compaction(Compaction) = "compaction",
        /// A summary of a branch that was left.
        BranchSummary(BranchSummary) = "branch_summary",
        /// A fresh start of the context.
        ResetBoundary(ResetBoundary) = "reset_boundary",
        /// Data of an extension.
        Custom(CustomEntry) = "custom",
        /// A message of an extension.
        CustomMessage(CustomMessageEntry) = "custom_message",
        /// A label on an entry.
        Label(Label) = "label",
        /// Another title.
        TitleChange(TitleChange) = "title_change",
        /// Rules injected into the conversation.
        TtsrInjection(TtsrInjection) = "ttsr_injection",
        /// The credential a provider is used with.
        CredentialPin(CredentialPin) = "credential_pin",
        /// What an agent was started with.
        SessionInit(SessionInit) = "session_init",
        /// Another mode.
        ModeChange(ModeChange) = "mode_change",
        /// A request beside the conversation.
        ModelUsage(ModelUsage) = "model_usage",
        /// A subtree hidden, or shown again.
        Archive(Archive) = "archive",
        /// Another choice of tools.
        McpToolSelection(McpToolSelection) = "mcp_tool_selection",
        /// Another context to work in.
        ContextChange(ContextChange) = "context_change",
        /// A title, as pi writes it.
        SessionInfo(SessionInfo) = "session_info",
    }
}

from_records! {
    EntryBody {
        Message(MessageEntry),
        ThinkingLevelChange(ThinkingLevelChange),
        ModelChange(ModelChange),
        ServiceTierChange(ServiceTierChange),
        Compaction(Compaction),
        BranchSummary(BranchSummary),
        ResetBoundary(ResetBoundary),
        Custom(CustomEntry),
        CustomMessage(CustomMessageEntry),
        Label(Label),
        TitleChange(TitleChange),
        TtsrInjection(TtsrInjection),
        CredentialPin(CredentialPin),
        SessionInit(SessionInit),
        ModeChange(ModeChange),
        ModelUsage(ModelUsage),
        Archive(Archive),
        McpToolSelection(McpToolSelection),
        ContextChange(ContextChange),
        SessionInfo(SessionInfo),
    }
}

impl From<Message> for EntryBody {
    fn from(message: Message) -> Self {
        Self::Message(message.into())
    }
}

impl EntryBody {
    /// Reads the body of an entry, given whole.
    ///
    /// What is no object or has an unknown type is [`EntryBody::Unknown`].
    pub fn from_json(entry: &RawJson) -> Self {
        Self::read_tagged(entry, OUTSIDE)
    }

    /// Returns the entry's type; empty if it has none.
    pub fn entry_type(&self) -> &str {
        self.tag()
    }

    /// Returns the whole entry as it is stored; `timestamp` in ISO 8601.
    ///
    /// The fields of `custom` and `custom_message` stand before the id, those of all others behind
    /// the timestamp. An unknown entry keeps its fields where they are.
    pub fn to_entry_json(&self, id: &str, parent: Option<&str>, timestamp: &str) -> RawJson {
        let Self::Unknown(unknown) = self else {
            return RawJson::written(|out| {
                self.push_entry(out, id, parent, timestamp);
            });
        };
        let parent = parent.map_or_else(RawJson::null, RawJson::string);
        let mut edit = ObjectEdit::new();
        if Unknown::of(Self::TAG, &unknown.raw).tag != unknown.tag {
            edit = edit.set(Self::TAG, &RawJson::string(&unknown.tag));
        }
        let edit = edit
            .set("id", &RawJson::string(id))
            .set("parentId", &parent)
            .set("timestamp", &RawJson::string(timestamp));
        edit.apply(&unknown.raw).map_or_else(
            || {
                ObjectBuilder::new()
                    .string(Self::TAG, &unknown.tag)
                    .string("id", id)
                    .raw("parentId", &parent)
                    .string("timestamp", timestamp)
                    .build()
            },
            |raw| raw.compact(),
        )
    }

    /// Appends the whole entry as it is stored, and tells where in it the values of `type`, `id`,
    /// `parentId` and `timestamp` lie; appends nothing for an unknown entry.
    pub(crate) fn push_entry(
        &self,
        out: &mut String,
        id: &str,
        parent: Option<&str>,
        timestamp: &str,
    ) -> Option<[Span; 4]> {
        if matches!(self, Self::Unknown(_)) {
            return None;
        }
        let start = out.len();
        let push = |out: &mut String, key, value: Option<&str>| {
            out.push_str(key);
            let value_start = out.len();
            match value {
                Some(text) => push_string(out, text),
                None => out.push_str("null"),
            }
            Span::behind(value_start, out, start)
        };
        let envelope = |out: &mut String| {
            let id = push(out, ",\"id\":", Some(id));
            let parent = push(out, ",\"parentId\":", parent);
            [id, parent, push(out, ",\"timestamp\":", Some(timestamp))]
        };
        out.push('{');
        push_known(out, Self::TAG, self.entry_type());
        let entry_type = Span::behind(out.len() - self.entry_type().len() - 2, out, start);
        let [id, parent, timestamp] = match self {
            Self::Custom(_) | Self::CustomMessage(_) => {
                self.push_fields(out, OUTSIDE);
                envelope(out)
            }
            _ => {
                let envelope = envelope(out);
                self.push_fields(out, OUTSIDE);
                envelope
            }
        };
        out.push('}');
        Some([entry_type, id, parent, timestamp])
    }

    /// Tells that no part of the entry can have another [persisted form](crate::persisted), as long
    /// as all of it is not too long for one string.
    pub(crate) fn is_plain(&self) -> bool {
        self.has_plain_fields()
    }

    /// Returns the message of a `message` entry.
    pub fn message(&self) -> Option<&Message> {
        match self {
            Self::Message(entry) => Some(&entry.message),
            _ => None,
        }
    }

    /// Returns the usage that counts in a session's totals.
    ///
    /// That is the usage of an assistant, of a request beside the conversation, and of the work
    /// a result of the tool `task` reports in its details.
    pub fn counted_usage(&self) -> Option<Usage> {
        match self {
            Self::ModelUsage(entry) => entry.usage.clone(),
            Self::Message(entry) => match &entry.message {
                Message::Assistant(message) => message.usage.clone(),
                Message::ToolResult(result) if result.tool_name == "task" => {
                    Usage::from_json(result.details.as_ref()?.as_object()?.get("usage")?)
                }
                _ => None,
            },
            _ => None,
        }
    }
}
