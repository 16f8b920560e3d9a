//! What an entry says in full, as lines to be drawn.

use ratatui::text::{Line, Span};
use session_model::Entry;
use session_model::body::EntryBody;
use session_model::message::{Content, ContentBlock, Message};
use session_model::preview::{Preview, acts_on_terminal, one_line};

use super::Theme;
use super::look::Look;

/// How much of an entry is shown, in characters; a screen has fewer.
const MAX_CHARS: usize = 16_000;

/// How much of a value beside a text is shown, in characters.
const VALUE_CHARS: usize = 200;

/// Returns what an entry says, the beginning of it if it is long.
pub(super) fn detail(entry: &Entry, theme: Theme) -> Vec<Line<'static>> {
    let mut detail = Detail { theme, lines: Vec::new(), left: MAX_CHARS };
    match entry.body() {
        EntryBody::Message(message) => detail.message(&message.message),
        EntryBody::CustomMessage(message) => detail.content(&message.content),
        EntryBody::BranchSummary(summary) => detail.text(Look::Plain, &summary.summary),
        EntryBody::Compaction(compaction) => detail.text(Look::Plain, &compaction.summary),
        _ => {}
    }
    if detail.lines.is_empty() {
        detail.text(Look::Plain, &Preview::of(entry, MAX_CHARS).text);
    }
    detail.lines
}

/// Lines that take text until there is enough.
struct Detail {
    theme: Theme,
    lines: Vec<Line<'static>>,
    left: usize,
}

impl Detail {
    fn message(&mut self, message: &Message) {
        match message {
            Message::Assistant(answer) => {
                self.content(&answer.content);
                if answer.failed() {
                    let why = answer.error_message.as_deref().unwrap_or_default();
                    let reason = answer.stop_reason.as_ref().map(ToString::to_string);
                    self.text(Look::Bad, &format!("{}: {why}", reason.unwrap_or_default()));
                }
            }
            Message::BashExecution(run) => {
                self.text(Look::Strong, &format!("$ {}", run.command));
                self.text(Look::Plain, &run.output);
            }
            Message::PythonExecution(run) => {
                self.text(Look::Strong, &format!(">>> {}", run.code));
                self.text(Look::Plain, &run.output);
            }
            Message::FileMention(mention) => {
                for file in &mention.files {
                    self.text(Look::Strong, &format!("@{}", file.path));
                    self.text(Look::Plain, &file.content);
                }
            }
            _ => message.content().into_iter().for_each(|content| self.content(content)),
        }
    }

    fn content(&mut self, content: &Content) {
        match content {
            Content::Text(text) => self.text(Look::Plain, text),
            Content::Blocks(blocks) => blocks.iter().for_each(|block| self.block(block)),
            Content::Other(raw) => self.text(Look::Plain, raw.as_str()),
        }
    }

    fn block(&mut self, block: &ContentBlock) {
        match block {
            ContentBlock::Text(text) => self.text(Look::Plain, &text.text),
            ContentBlock::Thinking(thought) => self.text(Look::Dim, &thought.thinking),
            ContentBlock::ToolCall(call) => {
                let arguments = one_line(call.arguments.as_str(), VALUE_CHARS);
                self.text(Look::Key, &format!("→ {} {arguments}", call.name));
            }
            ContentBlock::Image(image) => {
                let kind = one_line(&image.mime_type, VALUE_CHARS);
                self.text(Look::Dim, &format!("[image {kind}]"));
            }
            ContentBlock::RedactedThinking(_) => self.text(Look::Dim, "[sealed thinking]"),
            ContentBlock::Unknown(unknown) => {
                self.text(Look::Dim, &one_line(unknown.raw.as_str(), VALUE_CHARS));
            }
        }
    }

    /// Adds a text of many lines.
    fn text(&mut self, look: Look, text: &str) {
        for line in text.lines() {
            if self.left == 0 {
                return;
            }
            let clean = clean_line(line, self.left);
            self.left = self.left.saturating_sub(clean.chars().count() + 1);
            self.lines.push(Line::from(Span::styled(clean, self.theme.style(look))));
        }
    }
}

/// Returns the beginning of a line without what a terminal acts on; a tab is four spaces.
fn clean_line(line: &str, max_chars: usize) -> String {
    let mut clean = String::new();
    for c in line.chars().take(max_chars) {
        match c {
            '\t' => clean.push_str("    "),
            c if acts_on_terminal(c) => {}
            c => clean.push(c),
        }
    }
    clean
}
