//! Attachments that are too large for a provider.

use session_model::json::RawJson;
use session_model::message::{Content, ContentBlock, MentionedFile, Message};

use crate::context::ContextMessage;
use crate::context::llm::too_large;

/// Returns the message with a note in the place of each attachment over the limit; `None` if
/// there is none.
pub(super) fn without_large(message: &ContextMessage, limit: usize) -> Option<RawJson> {
    if message.json().as_bytes().len() <= limit {
        return None;
    }
    let mut typed = message.message();
    let changed = match &mut typed {
        Message::User(m) | Message::Developer(m) => in_content(&mut m.content, limit),
        Message::ToolResult(m) => in_content(&mut m.content, limit),
        Message::Assistant(m) => in_content(&mut m.content, limit),
        Message::Custom(m) | Message::HookMessage(m) => in_content(&mut m.content, limit),
        Message::FileMention(m) => {
            m.files.iter_mut().fold(false, |changed, file| in_file(file, limit) | changed)
        }
        _ => false,
    };
    changed.then(|| typed.to_json())
}

fn in_content(content: &mut Content, limit: usize) -> bool {
    let Content::Blocks(blocks) = content else { return false };
    let mut changed = false;
    for block in blocks {
        if let ContentBlock::Image(image) = block
            && image.data.len() > limit
        {
            let note = too_large(&image.mime_type, image.data.len(), limit);
            *block = ContentBlock::text(note);
            changed = true;
        }
    }
    changed
}

fn in_file(file: &mut MentionedFile, limit: usize) -> bool {
    let image = match &file.image {
        Some(ContentBlock::Image(image)) => image.data.len(),
        _ => 0,
    };
    let size = image.max(file.content.len());
    if size <= limit {
        return false;
    }
    file.image = None;
    file.content.clear();
    file.skipped_reason = Some(format!("{size} bytes, more than the limit of {limit}"));
    true
}
