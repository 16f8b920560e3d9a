//! Parts of content that both formats have in other words.

use session_model::json::{JsonKind, ObjectBuilder, ObjectView, RawJson};

use super::loss::{Loss, LossReport};

/// A block, as far as other tools know it.
pub(super) enum Block {
    Text(RawJson),
    /// The type and the bytes in base64.
    Image(RawJson, RawJson),
    Thinking(ObjectView),
    Redacted(RawJson),
    Call(ObjectView),
    Other(RawJson),
}

/// The blocks of a content, of whatever form it is.
pub(super) fn blocks(content: Option<&RawJson>) -> Vec<Block> {
    let Some(content) = content else { return Vec::new() };
    match content.kind() {
        JsonKind::String => vec![Block::Text(content.clone())],
        JsonKind::Array => {
            content.as_array().unwrap_or_default().items().iter().map(block).collect()
        }
        JsonKind::Null => Vec::new(),
        _ => vec![block(content)],
    }
}

fn block(block: &RawJson) -> Block {
    let fields = block.as_object().unwrap_or_default();
    let field = |name| fields.get(name).cloned().unwrap_or_default();
    let is_text = |name| fields.get(name).is_some_and(|value| value.kind() == JsonKind::String);
    match &*fields.text("type").unwrap_or_default() {
        "text" if is_text("text") => Block::Text(field("text")),
        "image" if is_text("data") => Block::Image(field("mimeType"), field("data")),
        "thinking" => Block::Thinking(fields),
        "redactedThinking" => Block::Redacted(field("data")),
        "toolCall" => Block::Call(fields),
        _ => Block::Other(block.clone()),
    }
}

/// A block with a field `text`, of a type.
pub(super) fn text(kind: &str, text: &RawJson) -> RawJson {
    ObjectBuilder::new().string("type", kind).raw("text", text).build()
}

/// The bytes of an image in base64, unless only a reference to them is there.
pub(super) fn image_data(data: &RawJson, loss: &mut LossReport) -> Option<String> {
    let data = data.as_text()?;
    if data.is_empty() || data.starts_with("blob:") {
        loss.add(Loss::Image);
        return None;
    }
    Some(data.into_owned())
}

/// What a count of tokens is.
pub(super) fn tokens(usage: Option<&RawJson>, name: &str) -> RawJson {
    let count = usage.and_then(|usage| usage.field(name)).filter(|n| n.as_i64().is_some());
    count.unwrap_or_else(|| RawJson::from(0))
}
