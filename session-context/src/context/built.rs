//! Messages that are not stored as such: made of summaries and of extensions' entries.
//!
//! Values are taken over as they are spelled. The time is the entry's, `null` if it has none.

use session_model::Entry;
use session_model::json::{JsonKind, ObjectBuilder, ObjectView, RawJson};

/// The message a compaction leaves in the place of what it sums up.
pub(super) fn compaction_summary(
    entry: &Entry,
    fields: &ObjectView,
    history: Option<&RawJson>,
) -> RawJson {
    ObjectBuilder::new()
        .string("role", "compactionSummary")
        .raw("summary", &text_or_empty(fields, "summary"))
        .optional("shortSummary", fields.get("shortSummary"))
        .raw("tokensBefore", fields.get("tokensBefore").unwrap_or(&0.into()))
        .optional("tokensAfter", fields.get("tokensAfter"))
        .optional("providerPayload", history)
        .raw("timestamp", &time_of(entry))
        .build()
}

/// The provider's own history that a compaction keeps, as the provider's payload.
pub(super) fn provider_history(compaction: &ObjectView) -> Option<RawJson> {
    let remote = compaction.get("preserveData")?.field("openaiRemoteCompaction")?.as_object()?;
    let provider =
        remote.get("provider").filter(|raw| raw.as_text().is_some_and(|p| !p.is_empty()));
    let items = remote.get("replacementHistory").filter(|raw| raw.kind() == JsonKind::Array);
    let payload = ObjectBuilder::new()
        .string("type", "openaiResponsesHistory")
        .raw("provider", provider?)
        .raw("items", items?);
    Some(payload.build())
}

/// The message a branch summary leaves; none if it only marks a move.
pub(super) fn branch_summary(entry: &Entry) -> Option<RawJson> {
    let fields = entry.fields();
    let summary =
        fields.get("summary").filter(|raw| raw.as_text().is_some_and(|s| !s.is_empty()))?;
    let message = ObjectBuilder::new()
        .string("role", "branchSummary")
        .raw("summary", summary)
        .raw("fromId", &text_or_empty(&fields, "fromId"))
        .raw("timestamp", &time_of(entry));
    Some(message.build())
}

/// The message of an extension's entry.
pub(super) fn custom(entry: &Entry) -> RawJson {
    let fields = entry.fields();
    ObjectBuilder::new()
        .string("role", "custom")
        .raw("customType", &text_or_empty(&fields, "customType"))
        .raw("content", fields.get("content").unwrap_or(&RawJson::string("")))
        .raw("display", fields.get("display").unwrap_or(&false.into()))
        .optional("details", fields.get("details"))
        .optional("attribution", fields.get("attribution"))
        .raw("timestamp", &time_of(entry))
        .build()
}

fn text_or_empty(fields: &ObjectView, name: &str) -> RawJson {
    let text = fields.get(name).filter(|raw| raw.kind() == JsonKind::String);
    text.cloned().unwrap_or_else(|| RawJson::string(""))
}

fn time_of(entry: &Entry) -> RawJson {
    entry.timestamp_ms().map_or_else(RawJson::null, RawJson::from)
}
