//! One record of a rollout.

use session_model::json::{JsonKind, ObjectView, RawJson};
use session_model::time;

/// What kind of envelope a record came in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Envelope {
    Meta,
    TurnContext,
    Item,
    Event,
    Compacted,
    Other,
}

/// A record without its envelope.
pub(super) struct Record {
    pub(super) envelope: Envelope,
    /// What it is counted under.
    pub(super) kind: String,
    pub(super) payload: ObjectView,
    /// The payload as it is spelled.
    pub(super) text: RawJson,
    pub(super) time_ms: Option<i64>,
}

/// Items as the first versions wrote them, without an envelope.
const BARE_ITEMS: [&str; 7] = [
    "custom_tool_call",
    "custom_tool_call_output",
    "function_call",
    "function_call_output",
    "local_shell_call",
    "message",
    "reasoning",
];

impl Record {
    pub(super) fn read(fields: ObjectView) -> Self {
        let time_ms = fields.get("timestamp").and_then(time::from_json);
        let outer = fields.text("type").unwrap_or_default().into_owned();
        let inner = fields.get("payload").filter(|payload| payload.kind() == JsonKind::Object);
        let Some(text) = inner.cloned() else { return Self::bare(fields, outer, time_ms) };
        let payload = text.as_object().unwrap_or_default();
        let inner = payload.text("type").unwrap_or_default().into_owned();
        let (envelope, kind) = match &*outer {
            "session_meta" => (Envelope::Meta, outer),
            "turn_context" => (Envelope::TurnContext, outer),
            "compacted" => (Envelope::Compacted, outer),
            "response_item" => (Envelope::Item, format!("{outer}/{inner}")),
            "event_msg" => (Envelope::Event, format!("{outer}/{inner}")),
            _ => (Envelope::Other, outer),
        };
        Self { envelope, kind, payload, text, time_ms }
    }

    fn bare(fields: ObjectView, outer: String, time_ms: Option<i64>) -> Self {
        let is_state = fields.get("record_type").is_some();
        let is_meta = outer.is_empty() && !is_state && fields.text("id").is_some();
        let (envelope, kind) = match &*outer {
            _ if is_meta => (Envelope::Meta, "session_meta".to_owned()),
            _ if is_state => (Envelope::Other, "state".to_owned()),
            item if BARE_ITEMS.contains(&item) => (Envelope::Item, format!("response_item/{item}")),
            "" => (Envelope::Other, "(no type)".to_owned()),
            _ => (Envelope::Other, outer),
        };
        let text = fields.fields().iter().map(|field| field.value());
        Self { envelope, kind, text: RawJson::array(text), payload: fields, time_ms }
    }

    /// The type of the payload.
    pub(super) fn item(&self) -> &str {
        self.kind.split_once('/').map_or("", |(_, item)| item)
    }

    pub(super) fn is_meta(&self) -> bool {
        self.envelope == Envelope::Meta
    }

    pub(super) fn is_compacted(&self) -> bool {
        self.envelope == Envelope::Compacted
    }

    pub(super) fn cwd(&self) -> Option<String> {
        let is_turn = self.envelope == Envelope::TurnContext;
        self.payload.text("cwd").filter(|_| is_turn).map(|cwd| cwd.into_owned())
    }
}
