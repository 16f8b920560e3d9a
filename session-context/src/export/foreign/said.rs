//! What an entry says, as far as other tools know it.

use session_model::json::{ObjectView, RawJson};
use session_model::message::{BranchSummaryMessage, CustomMessage, Message};
use session_model::{Entry, EntryKind};

use super::loss::{Loss, LossReport};
use crate::context::{ContextMessage, to_llm};

/// What an entry says.
pub(super) enum Said {
    /// A person's or program's words: content, and whether they are instructions of a program.
    Words(RawJson, bool),
    Answer(ObjectView),
    Result(ObjectView),
    Compaction(ObjectView),
    /// The context begins anew.
    Reset,
    /// The model of a choice of model.
    Model(String),
    Level(String),
    /// Tokens used outside of messages.
    Usage(RawJson),
    Nothing,
}

impl Said {
    pub(super) fn by(entry: &Entry, loss: &mut LossReport) -> Self {
        let fields = entry.fields();
        let text = |name: &str| fields.text(name).map(|text| text.into_owned());
        let told = match entry.kind() {
            EntryKind::Message => return Self::in_message(entry, loss),
            EntryKind::Compaction => return Self::Compaction(fields),
            EntryKind::ResetBoundary => return Self::Reset,
            EntryKind::CustomMessage => {
                let content = fields.get("content").map(session_model::message::Content::from_json);
                Message::Custom(CustomMessage {
                    content: content.unwrap_or_default(),
                    ..Default::default()
                })
            }
            EntryKind::BranchSummary if fields.text("summary").is_some_and(|s| !s.is_empty()) => {
                let summary = text("summary").unwrap_or_default();
                Message::BranchSummary(BranchSummaryMessage { summary, ..Default::default() })
            }
            EntryKind::ModelChange => match (text("model"), text("provider"), text("modelId")) {
                (Some(model), ..) => return Self::Model(model),
                (None, Some(provider), Some(id)) => return Self::Model(format!("{provider}/{id}")),
                _ => return Self::lost(loss),
            },
            EntryKind::ThinkingLevelChange => {
                return text("thinkingLevel").map_or_else(|| Self::lost(loss), Self::Level);
            }
            EntryKind::ModelUsage => match fields.get("usage") {
                Some(usage) => return Self::Usage(usage.clone()),
                None => return Self::lost(loss),
            },
            _ => return Self::lost(loss),
        };
        Self::in_words(ContextMessage::from(told), loss)
    }

    fn lost(loss: &mut LossReport) -> Self {
        loss.add(Loss::State);
        Self::Nothing
    }

    fn in_message(entry: &Entry, loss: &mut LossReport) -> Self {
        let Some(message) = entry.message() else { return Self::lost(loss) };
        let Some(fields) = message.as_object() else { return Self::lost(loss) };
        match &*fields.text("role").unwrap_or_default() {
            role @ ("user" | "developer") => {
                let content = fields.get("content").cloned().unwrap_or_default();
                Self::Words(content, role == "developer")
            }
            "assistant" => Self::Answer(fields),
            "toolResult" => Self::Result(fields),
            _ => Self::in_words(ContextMessage::new(message), loss),
        }
    }

    /// What models are told of a message of another role.
    fn in_words(message: ContextMessage, loss: &mut LossReport) -> Self {
        let told = to_llm(&[message]).into_iter().next();
        match told.and_then(|told| told.json().field("content")) {
            Some(content) => {
                loss.add(Loss::Role);
                Self::Words(content, false)
            }
            None => Self::lost(loss),
        }
    }
}
