//! What a message says: text, or a list of blocks.

use std::borrow::Cow;

use crate::json::{RawJson, push_known};
use crate::record::{FieldValue, record, tagged, total_value};

/// The field [`ContentBlock`] writes itself.
const OUTSIDE: &[&str] = &["type"];

/// The content of a message.
#[derive(Clone, Debug, PartialEq)]
pub enum Content {
    /// Plain text.
    Text(String),
    /// Blocks in order.
    Blocks(Vec<ContentBlock>),
    /// Anything else, kept as it is.
    Other(RawJson),
}

impl Content {
    /// Reads content of any form.
    pub fn from_json(raw: &RawJson) -> Self {
        String::read(raw)
            .map(Self::Text)
            .or_else(|| Vec::read(raw).map(Self::Blocks))
            .unwrap_or_else(|| Self::Other(raw.clone()))
    }

    /// Returns the content as it is stored.
    pub fn to_json(&self) -> RawJson {
        match self {
            Self::Other(raw) => raw.clone(),
            Self::Text(_) | Self::Blocks(_) => RawJson::written(|out| self.push_json(out)),
        }
    }

    fn push_json(&self, out: &mut String) {
        match self {
            Self::Text(text) => text.push_to(out),
            Self::Blocks(blocks) => blocks.push_to(out),
            Self::Other(raw) => raw.push_to(out),
        }
    }

    fn has_plain_fields(&self) -> bool {
        match self {
            Self::Text(_) => true,
            // An image may become a blob.
            Self::Blocks(blocks) => blocks
                .iter()
                .all(|block| !matches!(block, ContentBlock::Image(_)) && block.is_plain()),
            Self::Other(raw) => raw.is_plain(),
        }
    }

    /// Returns the blocks; none for plain text.
    pub fn blocks(&self) -> &[ContentBlock] {
        match self {
            Self::Blocks(blocks) => blocks,
            Self::Text(_) | Self::Other(_) => &[],
        }
    }

    /// Returns the text of all text parts, joined by spaces: for previews and search.
    pub fn text(&self) -> Cow<'_, str> {
        if let Self::Text(text) = self {
            return Cow::Borrowed(text);
        }
        let mut texts = self.blocks().iter().filter_map(ContentBlock::as_text);
        match (texts.next(), texts.next()) {
            (None, _) => Cow::Borrowed(""),
            (Some(only), None) => Cow::Borrowed(only),
            (Some(first), Some(second)) => {
                let all: Vec<_> = [first, second].into_iter().chain(texts).collect();
                Cow::Owned(all.join(" "))
            }
        }
    }

    /// Returns the tool calls in order.
    pub fn tool_calls(&self) -> impl Iterator<Item = &ToolCall> {
        self.blocks().iter().filter_map(|block| match block {
            ContentBlock::ToolCall(call) => Some(call),
            _ => None,
        })
    }
}

impl Default for Content {
    /// No text.
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl From<&str> for Content {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Content {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<ContentBlock>> for Content {
    fn from(blocks: Vec<ContentBlock>) -> Self {
        Self::Blocks(blocks)
    }
}

total_value!(Content);

tagged! {
    /// One block of a message's content.
    pub enum ContentBlock by "type" {
        /// Text.
        Text(TextBlock) = "text",
        /// An image.
        Image(ImageBlock) = "image",
        /// What a model thought.
        Thinking(ThinkingBlock) = "thinking",
        /// What a model thought, sealed by its provider.
        RedactedThinking(RedactedThinkingBlock) = "redactedThinking",
        /// A call of a tool.
        ToolCall(ToolCall) = "toolCall",
    }
}

record! {
    /// Text.
    pub struct TextBlock {
        /// The text.
        text: String = "text",
        /// The provider's signature; never changed or cut.
        text_signature: Option<String> = "textSignature",
    }
}

record! {
    /// An image.
    pub struct ImageBlock {
        /// Base64, or a blob reference `blob:sha256:<hex>`.
        data: String = "data",
        /// The media type, as `image/png`.
        mime_type: String = "mimeType",
    }
}

record! {
    /// What a model thought.
    pub struct ThinkingBlock {
        /// The text.
        thinking: String = "thinking",
        /// The provider's signature; never changed or cut.
        thinking_signature: Option<String> = "thinkingSignature",
    }
}

record! {
    /// What a model thought, sealed by its provider.
    pub struct RedactedThinkingBlock {
        /// The sealed text; never changed or cut.
        data: String = "data",
    }
}

record! {
    /// A call of a tool.
    pub struct ToolCall {
        /// The id its result names.
        id: String = "id",
        /// The tool's name.
        name: String = "name",
        /// The arguments, an object.
        arguments: RawJson = "arguments",
        /// The provider's signature; never changed or cut.
        thought_signature: Option<String> = "thoughtSignature",
    }
}

impl ContentBlock {
    /// A text block.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text(TextBlock { text: text.into(), ..Default::default() })
    }

    /// An image block; `data` is base64 or a blob reference.
    pub fn image(data: impl Into<String>, mime_type: impl Into<String>) -> Self {
        Self::Image(ImageBlock {
            data: data.into(),
            mime_type: mime_type.into(),
            ..Default::default()
        })
    }

    /// A block with a call of a tool; `arguments` is an object.
    pub fn tool_call(id: impl Into<String>, name: impl Into<String>, arguments: RawJson) -> Self {
        Self::ToolCall(ToolCall {
            id: id.into(),
            name: name.into(),
            arguments,
            ..Default::default()
        })
    }

    /// Reads a block; what is no object or has an unknown type is [`ContentBlock::Unknown`].
    pub fn from_json(raw: &RawJson) -> Self {
        Self::read_tagged(raw, OUTSIDE)
    }

    /// Returns the block as it is stored: the type, declared fields in order, extra ones.
    pub fn to_json(&self) -> RawJson {
        match self {
            Self::Unknown(unknown) => unknown.raw.clone(),
            _ => RawJson::written(|out| self.push_json(out)),
        }
    }

    fn push_json(&self, out: &mut String) {
        match self {
            Self::Unknown(unknown) => unknown.raw.push_compact(out),
            _ => {
                out.push('{');
                push_known(out, Self::TAG, self.block_type());
                self.push_fields(out, OUTSIDE);
                out.push('}');
            }
        }
    }

    /// Returns the block's type; empty if it has none.
    pub fn block_type(&self) -> &str {
        self.tag()
    }

    /// Returns the text of a text block.
    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(block) => Some(&block.text),
            _ => None,
        }
    }
}

total_value!(ContentBlock);
