//! Messages in full, for people.

use std::io;

use anstyle::Style;
use session_model::message::{
    AssistantMessage, Content, ContentBlock, FileMentionMessage, Message,
};

use crate::output::{Output, count, look};

/// Prints a message: a line that says who speaks, then what is said.
pub(crate) fn print_message(
    out: &mut Output,
    message: &Message,
    id: Option<&str>,
) -> io::Result<()> {
    out.text(style_of(message.role()), message.role())?;
    for part in [with(message).as_deref(), id].into_iter().flatten().filter(|part| !part.is_empty())
    {
        out.text(look::PLAIN, " ")?.text(look::DIM, part)?;
    }
    out.end()?;
    match message {
        Message::Assistant(m) => print_answer(out, m),
        Message::BashExecution(m) => {
            print_execution(out, &format!("$ {}", m.command), &m.output, m.exit_code, m.cancelled)
        }
        Message::PythonExecution(m) => {
            print_execution(out, &format!(">>> {}", m.code), &m.output, m.exit_code, m.cancelled)
        }
        Message::FileMention(m) => print_files(out, m),
        Message::BranchSummary(m) => out.block(&m.summary),
        Message::CompactionSummary(m) => out.block(&m.summary),
        Message::Unknown(m) => out.block(&m.raw.pretty()),
        _ => message.content().map_or(Ok(()), |content| print_content(out, content)),
    }
}

/// Returns the colours of a role.
pub(crate) fn style_of(role: &str) -> Style {
    match role {
        "user" => look::USER,
        "assistant" => look::ASSISTANT,
        _ => look::STRONG,
    }
}

/// What a message's first line says beside its role.
fn with(message: &Message) -> Option<String> {
    match message {
        Message::Assistant(m) => m.model_ref(),
        Message::ToolResult(m) if m.is_error => Some(format!("{} failed", m.tool_name)),
        Message::ToolResult(m) => Some(m.tool_name.clone()),
        Message::Custom(m) | Message::HookMessage(m) => Some(m.custom_type.clone()),
        _ => None,
    }
}

fn print_answer(out: &mut Output, message: &AssistantMessage) -> io::Result<()> {
    print_content(out, &message.content)?;
    if let Some(reason) = message.stop_reason.as_ref().filter(|_| message.failed()) {
        let why = message.error_message.as_deref().unwrap_or_default();
        out.text(look::BAD, &format!("  {reason}"))?.line(&format!(" {why}"))?;
    }
    Ok(())
}

fn print_content(out: &mut Output, content: &Content) -> io::Result<()> {
    match content {
        Content::Text(text) => out.block(text),
        Content::Blocks(blocks) => blocks.iter().try_for_each(|block| print_block(out, block)),
        Content::Other(raw) => out.block(&raw.pretty()),
    }
}

fn print_block(out: &mut Output, block: &ContentBlock) -> io::Result<()> {
    match block {
        ContentBlock::Text(text) => out.block(&text.text),
        ContentBlock::Thinking(thought) => {
            out.styled_block(look::DIM, &format!("[thinking] {}", thought.thinking))
        }
        ContentBlock::ToolCall(call) => {
            out.text(look::STRONG, &format!("  → {}", call.name))?;
            out.line(&format!(" {}", call.arguments.compact()))
        }
        ContentBlock::Image(image) if image.data.starts_with("blob:") => {
            out.line(&format!("  [image {}, {}]", image.mime_type, image.data))
        }
        ContentBlock::Image(image) => {
            let size = count(image.data.len(), "character", "characters");
            out.line(&format!("  [image {}, {size} of base64]", image.mime_type))
        }
        ContentBlock::RedactedThinking(_) => out.line("  [thinking sealed by its provider]"),
        ContentBlock::Unknown(unknown) => out.block(&unknown.raw.pretty()),
    }
}

fn print_execution(
    out: &mut Output,
    command: &str,
    output: &str,
    exit_code: Option<i64>,
    cancelled: bool,
) -> io::Result<()> {
    out.block(command)?;
    out.block(output)?;
    match exit_code {
        _ if cancelled => out.line("  [cancelled]"),
        Some(code) if code != 0 => out.line(&format!("  [exit code {code}]")),
        _ => Ok(()),
    }
}

fn print_files(out: &mut Output, message: &FileMentionMessage) -> io::Result<()> {
    for file in &message.files {
        let note = file.skipped_reason.as_ref().map(|reason| format!(" [{reason}]"));
        out.line(&format!("  {}{}", file.path, note.unwrap_or_default()))?;
        out.block(&file.content)?;
        file.image.as_ref().map_or(Ok(()), |image| print_block(out, image))?;
    }
    Ok(())
}
