//! What an entry says, piece by piece.

use session_model::json::{JsonKind, RawJson};
use session_model::message::{Content, ContentBlock, ToolCall};

/// A piece of what an entry says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    /// Markdown, as people and models write it.
    Prose(String),
    /// Text as it is, and the language it is in if that is known.
    Verbatim { language: &'static str, text: String },
    /// What a model thought.
    Thinking(String),
    /// A call of a tool.
    Call { name: String, arguments: Vec<Argument> },
    /// An image in base64.
    Image { mime_type: String, data: String },
    /// A remark of this program.
    Note(String),
}

/// An argument of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Argument {
    pub(super) name: String,
    /// A string as it is, anything else as JSON.
    pub(super) value: String,
}

impl Part {
    pub(super) fn verbatim(text: String) -> Self {
        Self::Verbatim { language: "", text }
    }

    /// JSON on many lines.
    pub(super) fn json(value: &RawJson) -> Self {
        Self::Verbatim { language: "json", text: value.pretty() }
    }
}

/// The pieces of a message's content; `text` makes those of its texts.
pub(super) fn parts_of(content: &Content, text: fn(String) -> Part) -> Vec<Part> {
    match content {
        Content::Text(said) if said.is_empty() => Vec::new(),
        Content::Text(said) => vec![text(said.clone())],
        Content::Blocks(blocks) => blocks.iter().map(|block| part_of(block, text)).collect(),
        Content::Other(raw) if raw.is_null() => Vec::new(),
        Content::Other(raw) => vec![Part::json(raw)],
    }
}

pub(super) fn part_of(block: &ContentBlock, text: fn(String) -> Part) -> Part {
    match block {
        ContentBlock::Text(block) => text(block.text.clone()),
        ContentBlock::Thinking(block) => Part::Thinking(block.thinking.clone()),
        ContentBlock::RedactedThinking(_) => Part::Note("thinking sealed by its provider".into()),
        ContentBlock::ToolCall(call) => call_of(call),
        ContentBlock::Image(image) => {
            Part::Image { mime_type: image.mime_type.clone(), data: image.data.clone() }
        }
        ContentBlock::Unknown(unknown) => Part::json(&unknown.raw),
    }
}

fn call_of(call: &ToolCall) -> Part {
    let arguments = match call.arguments.as_object() {
        Some(object) => object
            .fields()
            .iter()
            .map(|field| Argument { name: field.name().into_owned(), value: shown(field.value()) })
            .collect(),
        None if call.arguments.is_null() => Vec::new(),
        None => vec![Argument { name: "arguments".into(), value: shown(&call.arguments) }],
    };
    Part::Call { name: call.name.clone(), arguments }
}

fn shown(value: &RawJson) -> String {
    match value.kind() {
        JsonKind::String => value.as_text().unwrap_or_default().into_owned(),
        JsonKind::Object | JsonKind::Array => value.pretty(),
        _ => value.to_string(),
    }
}
