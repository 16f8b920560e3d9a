//! One message of a context.

use std::borrow::Cow;
use std::sync::Arc;

use session_model::Entry;
use session_model::json::{ObjectBuilder, RawJson};
use session_model::message::Message;
use session_model::persisted::names_blobs;
use session_model::tree::NodeId;

/// A message of a context: its bytes, its role, and the entry it comes from.
///
/// A stored message keeps every byte it has in its entry, and is typed when asked for. Cloning is
/// cheap.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ContextMessage {
    raw: RawJson,
    role: Cow<'static, str>,
    source: Option<Source>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Source {
    node: NodeId,
    id: Option<Arc<str>>,
}

/// Roles this crate has something to do with.
const KNOWN_ROLES: [&str; 11] = [
    "assistant",
    "toolResult",
    "user",
    "developer",
    "custom",
    "hookMessage",
    "bashExecution",
    "pythonExecution",
    "fileMention",
    "branchSummary",
    "compactionSummary",
];

impl ContextMessage {
    /// A message that comes from no entry.
    pub fn new(raw: RawJson) -> Self {
        let role = role_of(&raw);
        Self { raw, role, source: None }
    }

    /// A message that an entry stands for.
    pub(super) fn of_entry(raw: RawJson, node: NodeId, entry: &Entry) -> Self {
        let id = entry.id().map(Arc::from);
        Self { source: Some(Source { node, id }), ..Self::new(raw) }
    }

    /// Another message in the place of this one, from the same entry.
    pub(super) fn replaced(&self, raw: RawJson) -> Self {
        Self { source: self.source.clone(), ..Self::new(raw) }
    }

    /// The message as the field of an entry, in which references are looked for.
    pub(crate) fn as_entry(&self) -> Option<RawJson> {
        names_blobs(self.raw.as_bytes()).then(|| {
            ObjectBuilder::new().string("type", "message").raw("message", &self.raw).build()
        })
    }

    /// Takes the message that such an entry holds.
    pub(crate) fn take_from_entry(&mut self, entry: &RawJson) {
        if let Some(raw) = entry.field("message") {
            self.raw = raw;
        }
    }

    /// Returns the role; empty if the message has none.
    pub fn role(&self) -> &str {
        &self.role
    }

    /// Returns the message as it is spelled.
    pub fn json(&self) -> &RawJson {
        &self.raw
    }

    /// Decodes the message.
    pub fn message(&self) -> Message {
        Message::from_json(&self.raw)
    }

    /// Returns the entry the message comes from, by its place in the tree; none for one that was
    /// made for the context.
    pub fn node(&self) -> Option<NodeId> {
        self.source.as_ref().map(|source| source.node)
    }

    /// Returns the id of the entry the message comes from, if that has one.
    pub fn entry_id(&self) -> Option<&str> {
        self.source.as_ref()?.id.as_deref()
    }
}

impl From<Message> for ContextMessage {
    fn from(message: Message) -> Self {
        Self::new(message.to_json())
    }
}

fn role_of(raw: &RawJson) -> Cow<'static, str> {
    let Some(field) = raw.field("role") else { return Cow::Borrowed("") };
    let role = field.as_text().unwrap_or_default();
    match KNOWN_ROLES.into_iter().find(|known| *known == role) {
        Some(known) => Cow::Borrowed(known),
        None => Cow::Owned(role.into_owned()),
    }
}
