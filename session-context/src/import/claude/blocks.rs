//! Blocks of content, as Claude Code writes them, as blocks of ours.

use session_model::json::{JsonKind, ObjectBuilder, ObjectEdit, ObjectView, RawJson};

use crate::import::{ConversionReport, Note};

/// A block of an answer, or of what a person said.
pub(super) fn converted(block: &RawJson, report: &mut ConversionReport) -> RawJson {
    let Some(fields) = block.as_object() else {
        return kept(block, report);
    };
    let null = RawJson::null();
    let field = |name| fields.get(name).unwrap_or(&null);
    match &*fields.text("type").unwrap_or_default() {
        "text" => block.clone(),
        "thinking" => {
            let signature = fields.get("signature").filter(|s| s.as_str() != "\"\"");
            ObjectBuilder::new()
                .string("type", "thinking")
                .raw("thinking", &text_or_empty(field("thinking")))
                .optional("thinkingSignature", signature)
                .build()
        }
        "redacted_thinking" => ObjectBuilder::new()
            .string("type", "redactedThinking")
            .raw("data", &text_or_empty(field("data")))
            .build(),
        "image" => image(&fields, report),
        _ => kept(block, report),
    }
}

fn kept(block: &RawJson, report: &mut ConversionReport) -> RawJson {
    report.note(Note::BlockKept);
    block.clone()
}

/// A tool call; one without an id gets this one.
pub(super) fn call(fields: &ObjectView, id: &RawJson) -> RawJson {
    let empty = RawJson::string("");
    let none = ObjectBuilder::new().build();
    let input = fields.get("input").filter(|input| input.kind() == JsonKind::Object);
    ObjectBuilder::new()
        .string("type", "toolCall")
        .raw("id", id)
        .raw("name", fields.get("name").unwrap_or(&empty))
        .raw("arguments", input.unwrap_or(&none))
        .build()
}

/// What a tool gave, as a list of blocks.
pub(super) fn result_content(content: Option<&RawJson>, report: &mut ConversionReport) -> RawJson {
    let Some(content) = content else { return RawJson::array(&[]) };
    match content.as_array() {
        Some(blocks) => {
            let blocks: Vec<_> = blocks.items().iter().map(|b| converted(b, report)).collect();
            RawJson::array(&blocks)
        }
        None if content.is_null() => RawJson::array(&[]),
        None if content.kind() == JsonKind::String => RawJson::array(&[text_block(content)]),
        None => RawJson::array(&[kept(content, report)]),
    }
}

/// A block of this text, which is a string as JSON.
pub(super) fn text_block(text: &RawJson) -> RawJson {
    ObjectBuilder::new().string("type", "text").raw("text", text).build()
}

/// What the tool keeps of a result for itself, without the image that the result holds already.
pub(super) fn details(kept: &RawJson, report: &mut ConversionReport) -> RawJson {
    let file = kept.field("file").filter(|file| file.kind() == JsonKind::Object);
    let Some(file) = file.filter(|file| file.field("base64").is_some()) else {
        return kept.clone();
    };
    report.note(Note::ImageCopyDropped);
    let file = ObjectEdit::new().remove("base64").apply(&file).unwrap_or(file);
    ObjectEdit::new().set("file", &file).apply(kept).unwrap_or_else(|| kept.clone())
}

fn image(fields: &ObjectView, report: &mut ConversionReport) -> RawJson {
    let source = fields.get("source").and_then(RawJson::as_object).unwrap_or_default();
    if let (Some(data), Some(mime)) = (source.get("data"), source.get("media_type"))
        && data.kind() == JsonKind::String
    {
        return ObjectBuilder::new()
            .string("type", "image")
            .raw("data", data)
            .raw("mimeType", mime)
            .build();
    }
    report.note(Note::ImageNamed);
    let name = source.text("url").or_else(|| source.text("file_id")).unwrap_or("unknown".into());
    text_block(&RawJson::string(&format!("[image: {name}]")))
}

fn text_or_empty(value: &RawJson) -> RawJson {
    if value.kind() == JsonKind::String { value.clone() } else { RawJson::string("") }
}
