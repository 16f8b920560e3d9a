//! Attachments that are too large for a provider.

use session_model::BlobRef;
use session_model::json::RawJson;
use session_model::message::{Content, ContentBlock, ImageBlock, MentionedFile, Message};
use session_model::persisted::names_blobs;

use crate::context::ContextMessage;
use crate::context::llm::{missing, too_large};

/// Returns the message with a note in the place of each image that is a reference to a blob;
/// `None` if there is none.
pub(super) fn without_references(message: &ContextMessage) -> Option<RawJson> {
    if !names_blobs(message.json().as_bytes()) {
        return None;
    }
    replaced(message, |image| image.data.parse::<BlobRef>().ok().map(|_| missing(&image.mime_type)))
}

fn replaced(
    message: &ContextMessage,
    note: impl Fn(&ImageBlock) -> Option<String>,
) -> Option<RawJson> {
    let mut typed = message.message();
    let content = match &mut typed {
        Message::User(m) | Message::Developer(m) => &mut m.content,
        Message::ToolResult(m) => &mut m.content,
        Message::Assistant(m) => &mut m.content,
        Message::Custom(m) | Message::HookMessage(m) => &mut m.content,
        _ => return None,
    };
    let Content::Blocks(blocks) = content else { return None };
    let mut changed = false;
    for block in blocks {
        if let ContentBlock::Image(image) = block
            && let Some(note) = note(image)
        {
            *block = ContentBlock::text(note);
            changed = true;
        }
    }
    changed.then(|| typed.to_json())
}

/// Returns the message with a note in the place of each attachment over the limit; `None` if
/// there is none.
pub(super) fn without_large(message: &ContextMessage, limit: usize) -> Option<RawJson> {
    if message.json().as_bytes().len() <= limit {
        return None;
    }
    if let Message::FileMention(mut m) = message.message() {
        let changed =
            m.files.iter_mut().fold(false, |changed, file| in_file(file, limit) | changed);
        return changed.then(|| Message::FileMention(m).to_json());
    }
    replaced(message, |image| {
        let size = image.data.len();
        (size > limit).then(|| too_large(&image.mime_type, size, limit))
    })
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
