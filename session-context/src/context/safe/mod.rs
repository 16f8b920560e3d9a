//! Messages mended so that a model's provider takes them; what is stored stays as it is.

mod attachments;
mod calls;
mod foreign;

use session_model::Diagnostic;

use super::{ContextMessage, SafetyOptions};

/// The type of the hidden messages that remind an agent of its open checkpoint.
///
/// They are for the program around the agent and never reach a model.
pub const CHECKPOINT_REMINDER: &str = "checkpoint-active-reminder";

/// Mended messages, and what was mended.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Repaired {
    /// The messages.
    pub messages: Vec<ContextMessage>,
    /// Tool calls without a result and results without a call.
    pub diagnostics: Vec<Diagnostic>,
}

/// Mends messages so that a model's provider takes them.
///
/// - Every tool call of an assistant has exactly one result, and the results follow the assistant
///   at once, in the order of its calls. A result belongs to the nearest call before it that has
///   its id; of several results of a call the first counts. A call without one gets a result that
///   says it was interrupted. A call no result can be given to (it has no id, or that of another
///   call of the same message) is removed, and with it every signature of its message.
/// - Results without a call are left out, and so are assistants that ended in an error or were
///   aborted, together with their results.
/// - Reminders of an open checkpoint are left out.
/// - Reasoning, signatures and payloads of other providers than the one named are left out.
/// - Attachments over the limit are replaced by a note.
/// - A lone surrogate becomes U+FFFD.
///
/// Everything else keeps its bytes. Mending twice is mending once.
pub fn model_safe(messages: &[ContextMessage], options: &SafetyOptions) -> Repaired {
    let mut diagnostics = Vec::new();
    let meant = messages.iter().filter(|message| !is_checkpoint_reminder(message));
    let paired = calls::paired(meant, options.pending_calls, &mut diagnostics);
    let messages = paired.into_iter().filter_map(|message| sendable(message, options)).collect();
    Repaired { messages, diagnostics }
}

/// Mends what is inside a message; none if nothing of it is left.
fn sendable(message: ContextMessage, options: &SafetyOptions) -> Option<ContextMessage> {
    let mut message = match &options.provider {
        Some(provider) => foreign::for_provider(message, provider)?,
        None => message,
    };
    let limit = options.max_attachment_bytes;
    if let Some(smaller) = limit.and_then(|limit| attachments::without_large(&message, limit)) {
        message = message.replaced(smaller);
    }
    if options.note_missing_images
        && let Some(noted) = attachments::without_references(&message)
    {
        message = message.replaced(noted);
    }
    let whole = message.json().without_lone_surrogates();
    if whole != *message.json() {
        message = message.replaced(whole);
    }
    Some(message)
}

/// Tells whether a message reminds an agent of its open checkpoint.
pub(super) fn is_checkpoint_reminder(message: &ContextMessage) -> bool {
    matches!(message.role(), "custom" | "hookMessage")
        && message.json().field("customType").is_some_and(|raw| {
            raw.as_text().is_some_and(|custom_type| custom_type == CHECKPOINT_REMINDER)
        })
}
