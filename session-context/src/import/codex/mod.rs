//! Sessions of Codex: a line of records, one behind the other.

mod events;
mod items;
mod record;
mod turns;

use bytes::Bytes;
use session_model::json::RawJson;

use super::builder::{About, Builder, stem_of};
use super::{Conversion, ConversionReport, ImportLimits, SourceTitle, Tool, records};
use events::Said;
use record::Record;
use turns::Turns;

/// The field that tells the type of an item where that is no ordinary one.
pub(crate) const ITEM_TYPE: &str = "codexType";

/// The type of what only an event told. An item that comes later may take its place.
pub(crate) const EVENT: &str = "event_msg";

/// Characters of a title that is made of what a person said first.
const MAX_TITLE_CHARS: usize = 80;

pub(super) fn convert(source: &Bytes, path: &str, limits: &ImportLimits) -> Conversion {
    let mut report = ConversionReport::default();
    let mut list = Vec::new();
    records::for_each(source, limits, &mut report, |fields, _| list.push(Record::read(fields)));
    let meta = list.iter().find(|record| record.is_meta()).map(|record| record.payload.clone());
    let meta = meta.unwrap_or_default();
    let text = |name| meta.text(name).filter(|text| !text.is_empty()).map(|text| text.into_owned());
    let mut turns = Turns::new(
        Builder::new(Tool::Codex, report),
        Said::of(&list),
        text("model_provider").unwrap_or_else(|| "openai".to_owned()),
        list.iter().rposition(Record::is_compacted),
    );
    let created_ms = list.iter().find_map(|record| record.time_ms);
    turns.now_ms = created_ms.unwrap_or_default();
    list.iter().enumerate().for_each(|(at, record)| turns.take(at, record));
    let cwd = text("cwd").or_else(|| list.iter().find_map(Record::cwd));
    let title = title(&mut turns);
    let source_id = text("id").or_else(|| id_in(stem_of(path)));
    turns.finish().finish(About { source_id, cwd, created_ms, title }, path)
}

/// The name a person gave, else how the conversation begins.
fn title(turns: &mut Turns) -> Option<SourceTitle> {
    let words = turns.first_words.take().unwrap_or_default();
    let line = words.trim_start().lines().next().unwrap_or_default();
    let opening: String = line.trim().chars().take(MAX_TITLE_CHARS).collect();
    let mut all: Vec<String> = Some(opening).filter(|text| !text.is_empty()).into_iter().collect();
    let by_user = !turns.names.is_empty();
    all.append(&mut turns.names);
    let text = all.pop()?;
    Some(SourceTitle { text, by_user, earlier: all })
}

/// The id at the end of a name such as `rollout-2026-03-01T09-00-00-<id>`.
fn id_in(stem: &str) -> Option<String> {
    let id = stem.get(stem.len().checked_sub(36)?..)?;
    uuid::Uuid::try_parse(id).is_ok().then(|| id.to_owned())
}

/// Tells whether an entry was made of an event alone, as an import that came too early does.
pub(super) fn is_of_event(entry: &RawJson) -> bool {
    let told = entry.field("message").and_then(|message| message.field(ITEM_TYPE));
    told.is_some_and(|told| told.as_text().is_some_and(|told| told == EVENT))
}
