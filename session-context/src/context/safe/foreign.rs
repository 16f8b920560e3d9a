//! What one provider sealed or signed, and another refuses.

use session_model::json::{ObjectEdit, RawJson};
use session_model::message::{AssistantMessage, Content, ContentBlock, Message};

use crate::context::ContextMessage;

/// Leaves out what is for another provider; none if nothing of the message is left.
pub(super) fn for_provider(message: ContextMessage, provider: &str) -> Option<ContextMessage> {
    let message = without_foreign_payload(message, provider);
    if message.role() != "assistant" {
        return Some(message);
    }
    let Message::Assistant(mut assistant) = message.message() else { return Some(message) };
    if assistant.provider == provider || !remove_reasoning(&mut assistant) {
        return Some(message);
    }
    let is_empty = assistant.content == Content::Blocks(Vec::new());
    (!is_empty).then(|| message.replaced(Message::Assistant(assistant).to_json()))
}

/// A provider's history names the provider it is of.
fn without_foreign_payload(message: ContextMessage, provider: &str) -> ContextMessage {
    let of = message.json().field("providerPayload").and_then(|payload| payload.field("provider"));
    match of.as_ref().and_then(RawJson::as_text) {
        Some(of) if of != provider => {
            let edited = ObjectEdit::new().remove("providerPayload").apply(message.json());
            edited.map(|json| message.replaced(json)).unwrap_or(message)
        }
        _ => message,
    }
}

/// Removes reasoning, signatures and the payload; tells whether there were any.
fn remove_reasoning(assistant: &mut AssistantMessage) -> bool {
    let mut changed = assistant.provider_payload.take().is_some();
    let Content::Blocks(blocks) = &mut assistant.content else { return changed };
    blocks.retain_mut(|block| {
        let (is_reasoning, signature) = match block {
            ContentBlock::Thinking(_) | ContentBlock::RedactedThinking(_) => (true, None),
            ContentBlock::Text(text) => (false, text.text_signature.take()),
            ContentBlock::ToolCall(call) => (false, call.thought_signature.take()),
            _ => (false, None),
        };
        changed |= is_reasoning || signature.is_some();
        !is_reasoning
    });
    changed
}
