//! What one entry says of checkpoints.

use session_model::body::EntryBody;
use session_model::json::RawJson;
use session_model::message::{ContentBlock, Message, ToolResultMessage};
use session_model::{Entry, EntryKind};

use super::{CHECKPOINT_TOOL, CompletedRewind, REWIND_REPORT};

/// What stands before the report where the details of an older message lack it.
const REPORT_MARK: &str = "\nReport:\n";

/// Tells whether an entry opens a checkpoint.
pub fn is_successful_checkpoint(entry: &Entry) -> bool {
    checkpoint(entry).is_some()
}

/// Returns when a checkpoint was opened, in ISO 8601, if the entry opens one.
pub fn checkpoint_started_at(entry: &Entry) -> Option<String> {
    let result = checkpoint(entry)?;
    let started = result.details.as_ref().and_then(|details| text(details, "startedAt"));
    started.or_else(|| entry.timestamp().map(|time| time.into_owned()))
}

/// Returns the rewind an entry completes, if it does.
pub fn completed_rewind(entry: &Entry) -> Option<CompletedRewind> {
    if entry.kind() != EntryKind::CustomMessage {
        return None;
    }
    let EntryBody::CustomMessage(message) = entry.body() else { return None };
    if message.custom_type != REWIND_REPORT {
        return None;
    }
    let details = message.details?;
    let report = text(&details, "report").map(|report| report.trim().to_owned());
    let report = report.filter(|report| !report.is_empty()).unwrap_or_else(|| {
        let blocks = message.content.blocks().iter().filter_map(ContentBlock::as_text);
        let all = match &message.content {
            session_model::message::Content::Text(text) => text.clone(),
            _ => blocks.collect::<Vec<_>>().join("\n"),
        };
        all.rsplit_once(REPORT_MARK).map_or(&*all, |(_, report)| report).trim().to_owned()
    });
    let (started_at, rewound_at) = (text(&details, "startedAt")?, text(&details, "rewoundAt")?);
    (!report.is_empty()).then_some(CompletedRewind { report, started_at, rewound_at })
}

pub(super) fn goal(entry: &Entry) -> String {
    let details = checkpoint(entry).and_then(|result| result.details);
    details.and_then(|details| text(&details, "goal")).unwrap_or_default()
}

fn checkpoint(entry: &Entry) -> Option<ToolResultMessage> {
    if entry.kind() != EntryKind::Message {
        return None;
    }
    match Message::from_json(&entry.message()?) {
        Message::ToolResult(result) if result.tool_name == CHECKPOINT_TOOL && !result.is_error => {
            Some(result)
        }
        _ => None,
    }
}

/// A text that is not empty.
fn text(object: &RawJson, name: &str) -> Option<String> {
    let text = object.field(name)?.as_text()?.into_owned();
    (!text.is_empty()).then_some(text)
}
