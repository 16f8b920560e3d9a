//! Items of a conversation, as Codex writes them, as blocks of ours.

use session_model::json::{JsonKind, ObjectBuilder, ObjectView, RawJson};

use super::ITEM_TYPE;
use crate::import::{ConversionReport, Note};

/// The texts of a list of blocks.
pub(super) fn texts(blocks: Option<&RawJson>) -> Vec<String> {
    let blocks = blocks.and_then(RawJson::as_array).unwrap_or_default();
    let text = |block: &RawJson| block.field("text")?.as_text().map(|text| text.into_owned());
    blocks.items().iter().filter_map(text).collect()
}

/// A list of blocks of a message or of what a tool gave.
pub(super) fn content(content: Option<&RawJson>, report: &mut ConversionReport) -> RawJson {
    let Some(content) = content else { return RawJson::array(&[]) };
    let blocks = match content.kind() {
        JsonKind::Null => Vec::new(),
        JsonKind::String => vec![text_block(content)],
        JsonKind::Array => {
            let blocks = content.as_array().unwrap_or_default();
            blocks.items().iter().filter_map(|block| converted(block, report)).collect()
        }
        _ => converted(content, report).into_iter().collect(),
    };
    RawJson::array(&blocks)
}

/// What a tool gave: older versions put it into an object beside whether it went well.
pub(super) fn output(output: Option<&RawJson>, report: &mut ConversionReport) -> (RawJson, bool) {
    let fields = output.and_then(RawJson::as_object).unwrap_or_default();
    let failed = fields.get("success").and_then(RawJson::as_bool) == Some(false)
        || output.and_then(exit_code).is_some_and(|code| code != 0);
    let inner = fields.get("content").filter(|_| fields.get("type").is_none());
    (content(inner.or(output), report), failed)
}

/// The exit code in an output such as `{"output":"…","metadata":{"exit_code":0}}`.
fn exit_code(output: &RawJson) -> Option<i64> {
    if !output.as_str().starts_with("\"{") {
        return None;
    }
    let json = RawJson::parse(output.as_text()?.into_owned()).ok()?;
    json.field("metadata")?.field("exit_code")?.as_i64()
}

fn converted(block: &RawJson, report: &mut ConversionReport) -> Option<RawJson> {
    let fields = block.as_object().unwrap_or_default();
    match &*fields.text("type").unwrap_or_default() {
        "input_text" | "output_text" | "text" if fields.get("text").is_some() => {
            Some(text_block(fields.get("text")?))
        }
        "input_image" => image(&fields, report),
        _ => {
            report.note(Note::BlockKept);
            Some(block.clone())
        }
    }
}

fn image(fields: &ObjectView, report: &mut ConversionReport) -> Option<RawJson> {
    let url = fields.text("image_url");
    if let Some(block) = url.as_deref().and_then(image_of_url) {
        return Some(block);
    }
    report.note(Note::ImageNamed);
    let url = url.filter(|url| !url.is_empty())?;
    Some(text_block(&RawJson::string(&format!("[image: {url}]"))))
}

pub(super) fn image_of_url(url: &str) -> Option<RawJson> {
    let (mime, data) = url.strip_prefix("data:")?.split_once(";base64,")?;
    Some(image_block(data, mime))
}

pub(super) fn image_block(data: &str, mime: &str) -> RawJson {
    ObjectBuilder::new()
        .string("type", "image")
        .string("data", data)
        .string("mimeType", mime)
        .build()
}

/// A block of this text, which is a string as JSON.
pub(super) fn text_block(text: &RawJson) -> RawJson {
    ObjectBuilder::new().string("type", "text").raw("text", text).build()
}

/// What a model thought, as far as it is told.
pub(super) fn thought(fields: &ObjectView) -> String {
    let mut parts = texts(fields.get("summary"));
    parts.extend(texts(fields.get("content")));
    parts.join("\n\n")
}

/// A block of thinking; the item itself is its signature, for only whole does its provider take
/// it back.
pub(super) fn thinking(item: &RawJson, words: &str) -> RawJson {
    let is_sealed = item.field("encrypted_content").is_some_and(|secret| !secret.is_null());
    let signature = is_sealed.then(|| RawJson::string(item.as_str()));
    ObjectBuilder::new()
        .string("type", "thinking")
        .string("thinking", words)
        .optional("thinkingSignature", signature.as_ref())
        .build()
}

/// A call as a block. `item` is the type of the item where that is no ordinary function call.
pub(super) fn call(id: &str, name: &str, arguments: &RawJson, item: Option<&str>) -> RawJson {
    let out = ObjectBuilder::new()
        .string("type", "toolCall")
        .string("id", id)
        .string("name", name)
        .raw("arguments", arguments);
    let out = match item {
        Some(item) => out.string(ITEM_TYPE, item),
        None => out,
    };
    out.build()
}

/// What a function is called with: an object, whatever the model wrote.
pub(super) fn arguments(written: Option<&RawJson>) -> RawJson {
    let object = |json: RawJson| (json.kind() == JsonKind::Object).then_some(json);
    let Some(written) = written.filter(|written| !written.is_null()) else {
        return ObjectBuilder::new().build();
    };
    let parsed = match written.as_text() {
        Some(text) if text.trim().is_empty() => return ObjectBuilder::new().build(),
        Some(text) => RawJson::parse(text.into_owned()).ok().and_then(object),
        None => object(written.clone()),
    };
    parsed.unwrap_or_else(|| ObjectBuilder::new().raw("input", written).build())
}
