//! An entry as every format for people shows it.

use session_model::body::EntryBody;
use session_model::message::{AssistantMessage, FileMentionMessage, Message};
use session_model::preview::{DEFAULT_PREVIEW_CHARS, Preview};
use session_model::tree::NodeId;

use super::Export;
use super::part::{Part, part_of, parts_of};

/// Who or what an entry is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Voice {
    User,
    Assistant,
    Tool,
    Summary,
    Extension,
    /// Settings and bookkeeping.
    Record,
}

/// An entry to be shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) node: NodeId,
    pub(super) voice: Voice,
    pub(super) heading: String,
    /// More about the entry: its model, a failure.
    pub(super) remarks: Vec<String>,
    pub(super) id: Option<String>,
    pub(super) time: Option<String>,
    pub(super) label: Option<String>,
    pub(super) failed: bool,
    pub(super) parts: Vec<Part>,
}

impl Item {
    /// Reads an entry of an export.
    pub(super) fn of(export: &Export, node: NodeId) -> Self {
        let entry = export.tree.entry(node);
        let mut item = Self {
            node,
            voice: Voice::Record,
            heading: String::new(),
            remarks: Vec::new(),
            id: entry.id().map(Into::into),
            time: entry.timestamp().map(Into::into),
            label: export.label(entry).map(str::to_owned),
            failed: false,
            parts: Vec::new(),
        };
        match entry.body() {
            EntryBody::Message(body) if entry.message().is_some() => item.message(&body.message),
            EntryBody::CustomMessage(m) => {
                item.says(Voice::Extension, m.custom_type, parts_of(&m.content, Part::Prose));
            }
            EntryBody::Compaction(m) => {
                item.says(Voice::Summary, "Compaction", vec![Part::Prose(m.summary)]);
                item.remarks.push(format!("{} tokens before", m.tokens_before));
            }
            EntryBody::BranchSummary(m) if !m.summary.is_empty() => {
                item.says(Voice::Summary, "Branch summary", vec![Part::Prose(m.summary)]);
            }
            body => {
                item.heading = Preview::of(entry, DEFAULT_PREVIEW_CHARS).to_string();
                item.parts = record_parts(&body);
            }
        }
        item
    }

    fn says(&mut self, voice: Voice, heading: impl Into<String>, parts: Vec<Part>) {
        (self.voice, self.heading, self.parts) = (voice, heading.into(), parts);
    }

    fn message(&mut self, message: &Message) {
        let content = |text| message.content().map(|c| parts_of(c, text)).unwrap_or_default();
        match message {
            Message::User(_) => self.says(Voice::User, "User", content(Part::Prose)),
            Message::Developer(_) => self.says(Voice::User, "Developer", content(Part::Prose)),
            Message::Assistant(m) => {
                self.says(Voice::Assistant, "Assistant", content(Part::Prose));
                self.answer(m);
            }
            Message::ToolResult(m) => {
                self.says(Voice::Tool, m.tool_name.clone(), content(Part::verbatim));
                self.failed = m.is_error;
            }
            Message::BashExecution(m) => {
                self.run("Shell", "sh", &m.command, &m.output, m.exit_code, m.cancelled);
            }
            Message::PythonExecution(m) => {
                self.run("Python", "python", &m.code, &m.output, m.exit_code, m.cancelled);
            }
            Message::FileMention(m) => self.says(Voice::User, "Files", files(m)),
            Message::Custom(m) | Message::HookMessage(m) => {
                self.says(Voice::Extension, m.custom_type.clone(), content(Part::Prose));
            }
            Message::BranchSummary(m) => {
                self.says(Voice::Summary, "Branch summary", vec![Part::Prose(m.summary.clone())]);
            }
            Message::CompactionSummary(m) => {
                self.says(Voice::Summary, "Compaction", vec![Part::Prose(m.summary.clone())]);
            }
            Message::Unknown(m) => {
                self.says(Voice::Extension, m.tag.clone(), vec![Part::json(&m.raw)]);
            }
        }
    }

    fn answer(&mut self, message: &AssistantMessage) {
        self.remarks.extend(message.model_ref());
        if message.failed() {
            self.failed = true;
            let reason = message.stop_reason.as_ref().map(ToString::to_string);
            let why = [reason, message.error_message.clone()];
            self.parts.push(Part::Note(why.into_iter().flatten().collect::<Vec<_>>().join(": ")));
        }
    }

    fn run(
        &mut self,
        heading: &str,
        language: &'static str,
        command: &str,
        output: &str,
        exit_code: Option<i64>,
        cancelled: bool,
    ) {
        let mut parts = vec![Part::Verbatim { language, text: command.to_owned() }];
        if !output.is_empty() {
            parts.push(Part::verbatim(output.to_owned()));
        }
        self.says(Voice::User, heading, parts);
        match exit_code {
            _ if cancelled => self.remarks.push("cancelled".to_owned()),
            Some(code) if code != 0 => self.remarks.push(format!("exit code {code}")),
            _ => return,
        }
        self.failed = true;
    }
}

fn files(message: &FileMentionMessage) -> Vec<Part> {
    let mut parts = Vec::new();
    for file in &message.files {
        let skipped = file.skipped_reason.as_ref().map(|reason| format!(" ({reason})"));
        parts.push(Part::Note(format!("{}{}", file.path, skipped.unwrap_or_default())));
        if !file.content.is_empty() {
            parts.push(Part::verbatim(file.content.clone()));
        }
        parts.extend(file.image.as_ref().map(|image| part_of(image, Part::verbatim)));
    }
    parts
}

/// What there is to say of an entry that is no message, beside its heading.
fn record_parts(body: &EntryBody) -> Vec<Part> {
    match body {
        EntryBody::SessionInit(init) => {
            let prompts = init.system_prompts().iter().cloned().map(Part::verbatim);
            prompts.chain([Part::Prose(init.task.clone())]).collect()
        }
        EntryBody::Custom(custom) => custom.data.iter().map(Part::json).collect(),
        EntryBody::Unknown(unknown) => vec![Part::json(&unknown.raw)],
        _ => Vec::new(),
    }
}
