//! What a message says, by role.

use super::one_line::{OneLine, decoded_pieces};
use super::raw::{Object, inside};

/// Writes a message and tells whether it is an assistant's with tool calls that says nothing to
/// people and did not fail.
pub(super) fn write(line: &mut OneLine, role: &str, message: &Object<'_>) -> bool {
    match role {
        "assistant" => return write_assistant(line, message),
        "toolResult" => {
            if message.get("isError") == Some("true") {
                line.tag("error");
            }
            write_text(line, message, "toolName");
            line.push(": ");
            write_content(line, message);
        }
        "bashExecution" => {
            line.push("$ ");
            write_text(line, message, "command");
        }
        "pythonExecution" => {
            line.push(">>> ");
            write_text(line, message, "code");
        }
        "fileMention" => {
            for file in message.objects("files") {
                line.space();
                line.push("@");
                write_text(line, &file, "path");
            }
        }
        "custom" | "hookMessage" => write_custom(line, message),
        "branchSummary" | "compactionSummary" => write_text(line, message, "summary"),
        _ => write_content(line, message),
    }
    false
}

/// Writes a message of an extension.
pub(super) fn write_custom(line: &mut OneLine, message: &Object<'_>) {
    let custom_type = message.text("customType").filter(|name| !name.is_empty());
    line.tag(custom_type.as_deref().unwrap_or("custom message"));
    write_content(line, message);
}

fn write_assistant(line: &mut OneLine, message: &Object<'_>) -> bool {
    let stop = message.text("stopReason").unwrap_or_default();
    let failed = matches!(&*stop, "error" | "aborted");
    if failed {
        line.tag(&stop);
        write_text(line, message, "errorMessage");
        line.space();
    }
    let blocks = message.objects("content");
    write_text(line, message, "content");
    write_blocks(line, &blocks);
    if line.is_empty() {
        blocks.iter().for_each(|block| write_text(line, block, "thinking"));
    }
    let is_call = |block: &&Object<'_>| block.text("type").is_some_and(|t| t == "toolCall");
    let calls = blocks.iter().filter(is_call).count();
    calls > 0 && !failed && !blocks.iter().any(speaks)
}

/// Tells whether people are shown a block of an assistant's by itself.
fn speaks(block: &Object<'_>) -> bool {
    match block.text("type").as_deref() {
        Some("toolCall" | "thinking" | "redactedThinking") => false,
        Some("text") => {
            let text = block.get("text").and_then(inside).unwrap_or_default();
            decoded_pieces(text).any(|piece| !piece.trim().is_empty())
        }
        _ => true,
    }
}

fn write_content(line: &mut OneLine, message: &Object<'_>) {
    write_text(line, message, "content");
    write_blocks(line, &message.objects("content"));
}

fn write_blocks(line: &mut OneLine, blocks: &[Object<'_>]) {
    for block in blocks {
        if line.is_full() {
            return;
        }
        line.space();
        match block.text("type").as_deref() {
            Some("text") => write_text(line, block, "text"),
            Some("image") => line.push("[image]"),
            Some("toolCall") => write_call(line, block),
            _ => {}
        }
    }
}

/// Writes a call as `[name argument=value …]`.
fn write_call(line: &mut OneLine, call: &Object<'_>) {
    line.push("[");
    write_text(line, call, "name");
    let arguments = Object::of(call.get("arguments").unwrap_or_default());
    for (name, value) in arguments.fields() {
        line.space();
        line.push(&name);
        line.push("=");
        line.value(value);
    }
    line.push("]");
}

fn write_text(line: &mut OneLine, fields: &Object<'_>, name: &str) {
    if let Some(text) = fields.get(name).filter(|value| inside(value).is_some()) {
        line.value(text);
    }
}
