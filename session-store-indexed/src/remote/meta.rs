//! What listings of a remote show of a session.

use bytes::Bytes;
use session_model::json::{ObjectBuilder, ObjectEdit, RawJson, to_raw_json};
use session_model::time;

use super::MAX_META_BYTES;

/// The most characters kept of one text.
const MAX_TEXT: usize = 1024;

/// What a host says of a session it publishes, kept as the session's metadata.
///
/// A part that is missing or of another type reads as unknown, so that hosts of several versions
/// can share a remote.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SessionMeta {
    /// The session's id.
    pub id: Option<String>,
    /// The directory the session works in.
    pub cwd: Option<String>,
    /// The session's title.
    pub title: Option<String>,
    /// Where the session comes from: an id or a path.
    pub parent_session: Option<String>,
    /// When it was made, in milliseconds since the epoch.
    pub created_ms: Option<i64>,
    /// When somebody last said something, in milliseconds since the epoch.
    pub activity_ms: Option<i64>,
    /// The id of the last entry.
    pub leaf: Option<String>,
    /// How many entries it has.
    pub entries: Option<i64>,
    /// How many of them are messages.
    pub messages: Option<i64>,
    /// How the conversation stands.
    pub status: Option<String>,
    /// Who wrote to it last: the owner of the claim.
    pub writer: Option<String>,
}

impl SessionMeta {
    /// Reads what [`to_bytes`](Self::to_bytes) wrote; what cannot be read is unknown.
    pub fn read(bytes: &Bytes) -> Self {
        let Some(object) = RawJson::parse(bytes.clone()).ok().and_then(|json| json.as_object())
        else {
            return Self::default();
        };
        let text = |name: &str| object.text(name).map(|text| text.into_owned());
        let number = |name: &str| object.get(name).and_then(RawJson::as_i64);
        let at = |name: &str| text(name).and_then(|iso| time::from_iso(&iso));
        Self {
            id: text("id"),
            cwd: text("cwd"),
            title: text("title"),
            parent_session: text("parentSession"),
            created_ms: at("created"),
            activity_ms: at("lastActivity"),
            leaf: text("leaf"),
            entries: number("entries"),
            messages: number("messages"),
            status: text("status"),
            writer: text("writer"),
        }
    }

    /// Names another writer in metadata of any version; what is none stays as it is.
    pub(crate) fn written_by(meta: &Bytes, writer: &str) -> Bytes {
        let edit = ObjectEdit::new().set("writer", &RawJson::string(writer));
        let edited = RawJson::parse(meta.clone()).ok().and_then(|json| edit.apply(&json));
        let edited = edited.filter(|edited| edited.as_bytes().len() <= MAX_META_BYTES);
        edited.map_or_else(|| meta.clone(), |edited| edited.as_bytes().clone())
    }

    /// Writes it as JSON of a bounded size; longer texts are cut to their first 1,024 characters.
    pub fn to_bytes(&self) -> Bytes {
        let text = |text: &Option<String>| {
            text.as_deref().map(|text| {
                let end = text.char_indices().nth(MAX_TEXT).map_or(text.len(), |(at, _)| at);
                RawJson::string(&text[..end])
            })
        };
        let number = |number: Option<i64>| number.and_then(|number| to_raw_json(&number).ok());
        let at = |ms: Option<i64>| ms.map(|ms| RawJson::string(&time::to_iso(ms)));
        ObjectBuilder::new()
            .optional("id", text(&self.id).as_ref())
            .optional("cwd", text(&self.cwd).as_ref())
            .optional("title", text(&self.title).as_ref())
            .optional("parentSession", text(&self.parent_session).as_ref())
            .optional("created", at(self.created_ms).as_ref())
            .optional("lastActivity", at(self.activity_ms).as_ref())
            .optional("leaf", text(&self.leaf).as_ref())
            .optional("entries", number(self.entries).as_ref())
            .optional("messages", number(self.messages).as_ref())
            .optional("status", text(&self.status).as_ref())
            .optional("writer", text(&self.writer).as_ref())
            .build()
            .as_bytes()
            .clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_stays_small() {
        let meta = SessionMeta {
            id: Some("i".into()),
            cwd: Some("/w \"x\"".into()),
            title: Some("\u{1}".repeat(MAX_TEXT)),
            parent_session: Some("p".into()),
            created_ms: Some(1_767_225_600_000),
            activity_ms: Some(1_767_225_600_001),
            leaf: Some("e".into()),
            entries: Some(3),
            messages: Some(2),
            status: Some("complete".into()),
            writer: Some("h/w".into()),
        };
        assert_eq!(SessionMeta::read(&meta.to_bytes()), meta);
        let long = Some("\u{1}".repeat(100_000));
        let (id, cwd, title) = (long.clone(), long.clone(), long.clone());
        let (parent_session, leaf, writer) = (long.clone(), long.clone(), long.clone());
        let long =
            SessionMeta { id, cwd, title, parent_session, leaf, writer, status: long, ..meta };
        assert!(long.to_bytes().len() <= MAX_META_BYTES);
        assert_eq!(SessionMeta::read(&long.to_bytes()).title.unwrap().len(), MAX_TEXT);
    }

    #[test]
    fn another_writer_is_named_and_the_rest_stays() {
        let newer = Bytes::from_static(br#"{"new": [1],"writer":"a"}"#);
        assert_eq!(SessionMeta::written_by(&newer, "b"), r#"{"new": [1],"writer":"b"}"#);
        assert_eq!(SessionMeta::written_by(&"meta of 3".into(), "b"), "meta of 3");
    }

    #[test]
    fn what_is_none_reads_as_unknown() {
        for text in ["", "[]", "meta of 3", r#"{"id":1,"entries":"x","created":"soon"}"#] {
            assert_eq!(SessionMeta::read(&Bytes::from(text)), SessionMeta::default(), "{text}");
        }
    }
}
