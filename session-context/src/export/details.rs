//! What is said of a session as a whole.

use session_model::Entry;
use session_model::message::Message;
use session_model::preview::one_line;

use super::Export;

/// Characters of what stands for a title.
const TITLE_CHARS: usize = 60;

/// How an export tells what was hidden in it.
pub(super) fn redaction_note(export: &Export) -> Option<String> {
    match export.hidden() {
        None => Some("Secrets were not looked for: this may hold some.".to_owned()),
        Some(hidden) if hidden.total() == 1 => Some("1 secret is hidden.".to_owned()),
        Some(hidden) if hidden.total() > 1 => {
            Some(format!("{} secrets are hidden.", hidden.total()))
        }
        Some(_) => None,
    }
}

/// Names and values that tell about the session.
pub(super) fn facts(export: &Export) -> Vec<(&'static str, String)> {
    let entries = match export.tree.len() {
        1 => "1 entry".to_owned(),
        count => format!("{count} entries"),
    };
    [
        ("Session", export.header_text("id")),
        ("Directory", export.header_text("cwd")),
        ("Created", export.header_text("timestamp")),
        ("Parent", export.header_text("parentSession")),
        ("Holds", Some(entries)),
    ]
    .into_iter()
    .filter_map(|(name, value)| Some((name, value?)))
    .collect()
}

/// What the export is called: the session's title, else what a person says first in it.
pub(super) fn title(export: &Export) -> String {
    let given = export.title().filter(|title| !title.trim().is_empty()).map(str::to_owned);
    given.or_else(|| first_words(export)).unwrap_or_else(|| "Session without a title".to_owned())
}

fn first_words(export: &Export) -> Option<String> {
    let words = |entry: &Entry| match entry.body().message()? {
        Message::User(message) => Some(one_line(&message.content.text(), TITLE_CHARS)),
        _ => None,
    };
    export.tree.entries().iter().filter_map(words).find(|words| !words.is_empty())
}
