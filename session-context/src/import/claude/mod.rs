//! Sessions of Claude Code: a tree of records that name their parents.

mod blocks;
mod nodes;
mod parallel;
mod turns;

use bytes::Bytes;
use session_model::json::{JsonKind, ObjectView};

use super::builder::{About, Builder};
use super::{
    Conversion, ConversionReport, Fate, ImportLimits, LeftOut, SourceTitle, Tool, records,
};
use nodes::{Nodes, Role};
use turns::Turns;

/// Records that are state of the tool.
const BOOKKEEPING: [&str; 25] = [
    "agent-color",
    "agent-name",
    "agent-setting",
    "atis-latch",
    "attribution-snapshot",
    "bridge-session",
    "content-replacement",
    "file-history-snapshot",
    "frame-link",
    "last-prompt",
    "marble-origami-commit",
    "marble-origami-snapshot",
    "mode",
    "permission-mode",
    "pr-link",
    "progress",
    "queue-operation",
    "relocated",
    "result",
    "speculation-accept",
    "started",
    "system",
    "tag",
    "task-summary",
    "worktree-state",
];

/// What can be a title, the better ones first.
#[derive(Default)]
struct Titles {
    custom: Vec<String>,
    made: Vec<String>,
    summaries: Vec<(String, String)>,
}

pub(super) fn convert(source: &Bytes, path: &str, limits: &ImportLimits) -> Conversion {
    let mut report = ConversionReport::default();
    let (mut nodes, mut titles) = (Nodes::default(), Titles::default());
    records::for_each(source, limits, &mut report, |record, report| {
        take(record, &mut nodes, &mut titles, report);
    });
    let about = About {
        source_id: nodes.source_id(path),
        cwd: nodes.cwd(),
        created_ms: nodes.first_time(),
        title: titles.best(&nodes),
    };
    let mut builder = Builder::new(Tool::Claude, report);
    let parents = nodes.parents(&mut builder.report);
    let parents = parallel::joined(&nodes, parents, &mut builder.report);
    let mut turns = Turns::new(builder, &nodes);
    for (at, parent) in parents.into_iter().enumerate() {
        turns.take(at, parent);
    }
    turns.finish().finish(about, path)
}

fn take(record: ObjectView, nodes: &mut Nodes, titles: &mut Titles, report: &mut ConversionReport) {
    let kind = record.text("type").unwrap_or_default().into_owned();
    let left_out = |report: &mut ConversionReport, kind: &str, why| {
        report.count(kind, Fate::LeftOut(why));
    };
    match &*kind {
        "user" | "assistant" => {
            let has_message =
                record.get("message").is_some_and(|message| message.kind() == JsonKind::Object);
            let is = |name| record.get(name).and_then(|value| value.as_bool()) == Some(true);
            let fate = if nodes.has_same(&record) {
                Fate::LeftOut(LeftOut::Duplicate)
            } else if !has_message {
                Fate::LeftOut(LeftOut::Incomplete)
            } else if is("isSidechain") {
                Fate::LeftOut(LeftOut::Sidechain)
            } else if is("isMeta") {
                Fate::LeftOut(LeftOut::Meta)
            } else {
                Fate::Converted
            };
            report.count(&kind, fate);
            let role = if kind == "user" { Role::User } else { Role::Assistant };
            if fate != Fate::LeftOut(LeftOut::Duplicate) {
                nodes.push(record, (fate == Fate::Converted).then_some(role));
            }
        }
        "attachment" => take_attachment(record, nodes, report),
        "custom-title" => titles.take(&record, "customTitle", &kind, report),
        "ai-title" => titles.take(&record, "aiTitle", &kind, report),
        "summary" => titles.take(&record, "summary", &kind, report),
        kind if BOOKKEEPING.contains(&kind) => {
            match record.text("subtype") {
                Some(subtype) => {
                    left_out(report, &format!("{kind}/{subtype}"), LeftOut::Bookkeeping);
                }
                None => left_out(report, kind, LeftOut::Bookkeeping),
            }
            nodes.push(record, None);
        }
        kind => {
            report.count(if kind.is_empty() { "(no type)" } else { kind }, Fate::Unknown);
            nodes.push(record, None);
        }
    }
}

/// Of what the tool attaches, words of a person that waited for a turn are conversation.
fn take_attachment(record: ObjectView, nodes: &mut Nodes, report: &mut ConversionReport) {
    let attachment = record.get("attachment").and_then(|attachment| attachment.as_object());
    let attachment = attachment.unwrap_or_default();
    let kind = attachment.text("type").unwrap_or_default();
    let is_true = |name, of: &ObjectView| of.get(name).and_then(|v| v.as_bool()) == Some(true);
    let is_prompt = kind == "queued_command"
        && attachment.text("commandMode").is_none_or(|mode| mode == "prompt")
        && attachment.get("prompt").is_some();
    let fate = match is_prompt {
        _ if is_true("isSidechain", &record) => Fate::LeftOut(LeftOut::Sidechain),
        true if is_true("isMeta", &attachment) => Fate::LeftOut(LeftOut::Meta),
        true => Fate::Converted,
        false => Fate::LeftOut(LeftOut::Bookkeeping),
    };
    report.count(&format!("attachment/{kind}"), fate);
    nodes.push(record, (fate == Fate::Converted).then_some(Role::Queued));
}

impl Titles {
    fn take(
        &mut self,
        record: &ObjectView,
        field: &str,
        kind: &str,
        report: &mut ConversionReport,
    ) {
        let title = record.text(field).map(|title| title.trim().to_owned()).unwrap_or_default();
        if title.is_empty() {
            report.count(kind, Fate::LeftOut(LeftOut::Incomplete));
            return;
        }
        report.count(kind, Fate::Converted);
        match kind {
            "custom-title" => self.custom.push(title),
            "ai-title" => self.made.push(title),
            _ => {
                let leaf = record.text("leafUuid").unwrap_or_default().into_owned();
                self.summaries.push((leaf, title));
            }
        }
    }

    /// A summary may be of another session, which the tool once mixed up; one of this is better.
    fn best(self, nodes: &Nodes) -> Option<SourceTitle> {
        let by_user = !self.custom.is_empty();
        let (own, others): (Vec<_>, Vec<_>) =
            self.summaries.into_iter().partition(|(leaf, _)| nodes.has(leaf));
        let titles = |list: Vec<(String, String)>| list.into_iter().map(|(_, title)| title);
        let command = nodes.first_command();
        let mut all: Vec<String> =
            command.into_iter().chain(titles(others)).chain(titles(own)).collect();
        all.extend(self.made);
        all.extend(self.custom);
        let text = all.pop()?;
        Some(SourceTitle { text, by_user, earlier: all })
    }
}
