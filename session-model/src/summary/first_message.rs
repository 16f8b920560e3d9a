//! What a person said first.

use super::Records;
use crate::entry::Entry;
use crate::message::Content;

/// The longest first message that is kept whole, in characters.
const MAX_CHARS: usize = 1000;

pub(super) fn find(records: &Records) -> Option<String> {
    // What the end of a file holds is not its beginning.
    records.head.iter().chain(&records.cut).find_map(user_text)
}

fn user_text(entry: &Entry) -> Option<String> {
    let [role, content] = entry.message()?.some_fields(["role", "content"]);
    role?.as_text().filter(|role| role == "user")?;
    let content = Content::from_json(&content?);
    let text = content.text();
    if text.trim().is_empty() {
        return None;
    }
    Some(match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.into_owned(),
    })
}
