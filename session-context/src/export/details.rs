//! What is said of a session as a whole.

use super::Export;

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

/// What the export is called.
pub(super) fn title(export: &Export) -> &str {
    export.title().filter(|title| !title.trim().is_empty()).unwrap_or("Session without a title")
}
