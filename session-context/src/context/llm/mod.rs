//! Messages in the roles and words that models know.

mod wording;

use session_model::json::{ObjectBuilder, RawJson};
use session_model::message::{Content, ContentBlock, FileMentionMessage, Message};

use super::ContextMessage;
use super::safe::is_checkpoint_reminder;

pub(super) use wording::{INTERRUPTED, missing, too_large};

/// Puts messages into the roles and words that models know.
///
/// The result holds messages of the roles `user`, `developer`, `assistant` and `toolResult` only.
/// Those stay as they are, byte for byte, but for results that were pruned: they lose their
/// images. Executions, mentioned files, summaries and messages of extensions become messages of
/// role `user`, in a wording that does not change between versions, because providers cache by
/// it: `docs/context.md` has it. Left out are executions marked `excludeFromContext`, messages of
/// extensions that say nothing, reminders of an open checkpoint, and unknown roles.
///
/// Nothing is mended here: give it messages in the model-safe form.
pub fn to_llm(messages: &[ContextMessage]) -> Vec<ContextMessage> {
    messages.iter().filter_map(for_model).collect()
}

fn for_model(message: &ContextMessage) -> Option<ContextMessage> {
    let (who, blocks) = match message.role() {
        "user" | "developer" | "assistant" => return Some(message.clone()),
        "toolResult" => return Some(without_pruned_images(message)),
        _ => said(message)?,
    };
    let json = message.json();
    let attribution = who.map(RawJson::string).or_else(|| json.field("attribution"));
    let blocks: Vec<RawJson> = blocks.iter().map(ContentBlock::to_json).collect();
    let raw = ObjectBuilder::new()
        .string("role", "user")
        .raw("content", &RawJson::array(&blocks))
        .optional("attribution", attribution.as_ref())
        .optional("providerPayload", json.field("providerPayload").as_ref())
        .optional("timestamp", json.field("timestamp").as_ref())
        .build();
    Some(message.replaced(raw))
}

/// What a message says to a model, and who says it where the role tells; none if it says nothing.
fn said(message: &ContextMessage) -> Option<(Option<&'static str>, Vec<ContentBlock>)> {
    let by = |who, text| Some((Some(who), vec![ContentBlock::text(text)]));
    match message.message() {
        Message::BashExecution(m) if m.exclude_from_context != Some(true) => {
            by("user", wording::bash(&m))
        }
        Message::PythonExecution(m) if m.exclude_from_context != Some(true) => {
            by("user", wording::python(&m))
        }
        Message::FileMention(m) if !m.files.is_empty() => Some((Some("user"), mentioned(m))),
        Message::BranchSummary(m) => by("agent", wording::branch_summary(&m.summary)),
        Message::CompactionSummary(m) => by("agent", wording::compaction_summary(&m.summary)),
        Message::Custom(m) | Message::HookMessage(m) => {
            let blocks = match m.content {
                Content::Text(text) if !text.is_empty() => vec![ContentBlock::text(text)],
                Content::Blocks(blocks) if !blocks.is_empty() => blocks,
                _ => return None,
            };
            (!is_checkpoint_reminder(message)).then_some((None, blocks))
        }
        _ => None,
    }
}

fn mentioned(message: FileMentionMessage) -> Vec<ContentBlock> {
    let mut blocks = vec![ContentBlock::text(wording::files(&message.files))];
    blocks.extend(message.files.into_iter().filter_map(|file| file.image));
    blocks
}

/// A pruned result keeps its text alone.
fn without_pruned_images(message: &ContextMessage) -> ContextMessage {
    if message.json().field("prunedAt").is_none_or(|at| at.is_null()) {
        return message.clone();
    }
    let Message::ToolResult(mut result) = message.message() else { return message.clone() };
    let Content::Blocks(blocks) = &mut result.content else { return message.clone() };
    let before = blocks.len();
    blocks.retain(|block| !matches!(block, ContentBlock::Image(_)));
    if blocks.len() == before {
        return message.clone();
    }
    if blocks.is_empty() {
        blocks.push(ContentBlock::text(wording::PRUNED));
    }
    message.replaced(Message::ToolResult(result).to_json())
}
