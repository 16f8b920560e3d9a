//! An export as one JSON document.

use session_model::json::{ObjectBuilder, RawJson};

use super::Export;

/// The version of the document's form.
const VERSION: i64 = 1;

pub(super) fn render(export: &Export) -> String {
    let text = |text: &str| RawJson::string(text);
    let leaf = export.tree.leaf().and_then(|leaf| export.tree.entry(leaf).id().map(|id| text(&id)));
    let labels = export
        .labels
        .iter()
        .fold(ObjectBuilder::new(), |labels, (id, label)| labels.string(id, label));
    let hidden = export.hidden().map(|hidden| hidden.to_json());
    let head = ObjectBuilder::new()
        .string("format", "session-export")
        .raw("version", &VERSION.into())
        .raw("header", &export.header)
        .raw("title", &export.title().map(text).unwrap_or_default())
        .string("scope", export.scope.as_str())
        .raw("leafId", &leaf.unwrap_or_default())
        .raw("labels", &labels.build())
        .raw("redacted", &hidden.unwrap_or_default())
        .build();
    let mut out = head.as_str().strip_suffix('}').unwrap_or_default().to_owned();
    out.push_str(",\"entries\":[");
    for (at, entry) in export.tree.entries().iter().enumerate() {
        out.push_str(if at > 0 { ",\n" } else { "\n" });
        out.push_str(entry.json().compact().as_str());
    }
    out.push_str("\n]}\n");
    out
}
