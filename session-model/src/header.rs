//! The first record of a session file.

use bytes::Bytes;

use crate::entry::RecordLine;
use crate::json::{ObjectBuilder, ObjectEdit, RawJson, to_raw_json};
use crate::title_slot::TitleSlot;

/// The format version this crate writes.
pub const CURRENT_VERSION: u32 = 3;

/// A session's header, with the title slot before it if the file has one.
///
/// Fields this version does not know stay in place through every change.
#[derive(Clone, Debug)]
pub struct SessionHeader {
    line: RecordLine,
    slot: Option<TitleSlot>,
    slot_line: Bytes,
}

/// What a new session's header is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct NewHeader {
    /// The session's id.
    pub id: String,
    /// When it was made, in ISO 8601.
    pub timestamp: String,
    /// The directory it works in.
    pub cwd: String,
    /// Where it comes from: an id or a path.
    pub parent_session: Option<String>,
    /// What a provider's prompt cache is keyed by.
    pub provider_prompt_cache_key: Option<String>,
    /// Further directories it works in; empty for none.
    pub additional_directories: Vec<String>,
    /// Where its file was before.
    pub previous_session_files: Vec<String>,
    /// Its title.
    pub title: Option<String>,
    /// Who gave the title: `auto` or `user`.
    pub title_source: Option<String>,
}

impl SessionHeader {
    /// Makes the header of a new session, of the current version and without a title slot.
    pub fn new(new: &NewHeader) -> Self {
        let list = |items: &[String]| {
            (!items.is_empty()).then(|| to_raw_json(items).unwrap_or_else(|_| RawJson::null()))
        };
        let string = |text: &Option<String>| text.as_deref().map(RawJson::string);
        let json = ObjectBuilder::new()
            .string("type", "session")
            .raw("version", &version_json())
            .string("id", &new.id)
            .string("timestamp", &new.timestamp)
            .string("cwd", &new.cwd)
            .optional("parentSession", string(&new.parent_session).as_ref())
            .optional("providerPromptCacheKey", string(&new.provider_prompt_cache_key).as_ref())
            .optional("additionalDirectories", list(&new.additional_directories).as_ref())
            .optional("previousSessionFiles", list(&new.previous_session_files).as_ref())
            .optional("title", string(&new.title).as_ref())
            .optional("titleSource", string(&new.title_source).as_ref())
            .build();
        Self { line: RecordLine::new(&json), slot: None, slot_line: Bytes::new() }
    }

    /// Takes a record for a header; `None` unless `type` is `session` and `id` is a string.
    pub(crate) fn read(line: RecordLine, slot: Option<(TitleSlot, Bytes)>) -> Option<Self> {
        let fields = line.json().as_object()?;
        fields.text("type").filter(|t| t == "session")?;
        fields.text("id")?;
        let (slot, slot_line) = match slot {
            Some((slot, line)) => (Some(slot), line),
            None => (None, Bytes::new()),
        };
        Some(Self { line, slot, slot_line })
    }

    /// Returns the header record as it stands in the file.
    pub fn json(&self) -> RawJson {
        self.line.json()
    }

    /// Returns the header record with the title slot folded in.
    pub fn folded_json(&self) -> RawJson {
        let Some(slot) = &self.slot else { return self.json() };
        let set = |edit: ObjectEdit, name: &str, value: Option<&str>| match value {
            Some(value) => edit.set(name, &RawJson::string(value)),
            None => edit.remove(name),
        };
        let title = Some(slot.title.as_str()).filter(|t| !t.is_empty());
        let edit = set(ObjectEdit::new(), "title", title);
        let edit = set(edit, "titleSource", title.and(slot.source.as_deref()));
        edit.apply(&self.json()).unwrap_or_else(|| self.json())
    }

    /// Returns the session's id.
    pub fn id(&self) -> String {
        self.text("id").unwrap_or_default()
    }

    /// Returns the format version: 1 if there is none.
    ///
    /// A number in a string counts as that number; anything else counts as current.
    pub fn version(&self) -> f64 {
        let [version] = self.line.json().some_fields(["version"]);
        version_of(version)
    }

    /// Tells whether the file is of a format newer than this crate writes.
    pub fn is_newer(&self) -> bool {
        self.version() >= f64::from(CURRENT_VERSION) + 1.0
    }

    /// Returns when the session was made, as spelled.
    pub fn timestamp(&self) -> Option<String> {
        self.text("timestamp")
    }

    /// Returns the directory the session works in.
    pub fn cwd(&self) -> Option<String> {
        self.text("cwd")
    }

    /// Returns where the session comes from: an id or a path.
    pub fn parent_session(&self) -> Option<String> {
        self.text("parentSession")
    }

    /// Returns what a provider's prompt cache is keyed by.
    pub fn provider_prompt_cache_key(&self) -> Option<String> {
        self.text("providerPromptCacheKey")
    }

    /// Returns the title, from the slot if there is one; never empty.
    pub fn title(&self) -> Option<String> {
        match &self.slot {
            Some(slot) => Some(slot.title.clone()),
            None => self.text("title"),
        }
        .filter(|title| !title.is_empty())
    }

    /// Returns who gave the title: `auto` or `user`.
    pub fn title_source(&self) -> Option<String> {
        match &self.slot {
            Some(slot) => slot.source.clone(),
            None => self.text("titleSource"),
        }
    }

    /// Returns the title slot, if the file has one.
    pub fn title_slot(&self) -> Option<&TitleSlot> {
        self.slot.as_ref()
    }

    /// Sets the title, in the slot if there is one, else in the header.
    pub fn set_title(&mut self, title: &str, source: &str, updated_at: &str) {
        if self.slot.is_some() {
            let slot = TitleSlot {
                title: title.to_owned(),
                source: Some(source.to_owned()),
                updated_at: updated_at.to_owned(),
            };
            self.slot_line = slot.to_line().into();
            self.slot = TitleSlot::read(&self.slot_line);
            return;
        }
        let edit = ObjectEdit::new()
            .set("title", &RawJson::string(title))
            .set("titleSource", &RawJson::string(source));
        self.edit(&edit);
    }

    /// Changes fields of the header record; no other byte changes.
    ///
    /// A change that would make it no header (its `type` or `id` gone) is not made.
    pub fn edit(&mut self, edit: &ObjectEdit) {
        let slot = self.slot.clone().map(|slot| (slot, self.slot_line.clone()));
        if let Some(edited) = self.line.edited(edit).and_then(|line| Self::read(line, slot)) {
            *self = edited;
        }
    }

    pub(crate) fn set_current_version(&mut self) {
        self.edit(&ObjectEdit::new().set("version", &version_json()));
    }

    /// The bytes before the first entry that belong to the header: slot and record.
    pub(crate) fn lines(&self) -> [&Bytes; 2] {
        [&self.slot_line, self.line.bytes()]
    }

    pub(crate) fn ends_line(&self) -> bool {
        self.line.ends_line()
    }

    pub(crate) fn end_line(&mut self) {
        self.line = self.line.with_line_end();
    }

    fn text(&self, name: &str) -> Option<String> {
        let [value] = self.line.json().some_fields([name]);
        value.and_then(text_of)
    }

    /// Reads the fields a list shows, all at once.
    pub(crate) fn listed(&self) -> ListedFields {
        let names = ["id", "version", "timestamp", "cwd", "parentSession"];
        let [id, version, timestamp, cwd, parent_session] = self.line.json().some_fields(names);
        ListedFields {
            id: id.and_then(text_of).unwrap_or_default(),
            version: version_of(version),
            timestamp,
            cwd: cwd.and_then(text_of),
            parent_session: parent_session.and_then(text_of),
        }
    }
}

/// What a list shows of a header.
#[derive(Debug)]
pub(crate) struct ListedFields {
    pub(crate) id: String,
    pub(crate) version: f64,
    pub(crate) timestamp: Option<RawJson>,
    pub(crate) cwd: Option<String>,
    pub(crate) parent_session: Option<String>,
}

fn text_of(value: RawJson) -> Option<String> {
    value.as_text().map(|text| text.into_owned())
}

fn version_of(version: Option<RawJson>) -> f64 {
    match version {
        None => 1.0,
        Some(version) if version.is_null() => 1.0,
        Some(version) => version
            .as_f64()
            .or_else(|| version.as_text()?.trim().parse().ok())
            .unwrap_or(f64::from(CURRENT_VERSION)),
    }
}

fn version_json() -> RawJson {
    to_raw_json(&CURRENT_VERSION).unwrap_or_else(|_| RawJson::null())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn header(text: &str) -> Option<SessionHeader> {
        SessionHeader::read(RecordLine::new(&RawJson::parse(text.to_owned()).unwrap()), None)
    }

    #[test]
    fn writes_fields_in_the_fixed_order() {
        let new = NewHeader {
            id: "s".into(),
            timestamp: "2026-01-01T00:00:00.000Z".into(),
            cwd: "/w".into(),
            parent_session: Some("p".into()),
            provider_prompt_cache_key: Some("k".into()),
            additional_directories: vec!["/x".into()],
            previous_session_files: vec!["/y".into()],
            title: Some("t".into()),
            title_source: Some("user".into()),
        };
        let want = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","parentSession":"p","providerPromptCacheKey":"k","additionalDirectories":["/x"],"previousSessionFiles":["/y"],"title":"t","titleSource":"user"}"#;
        assert_eq!(SessionHeader::new(&new).json().as_str(), want);
    }

    #[test]
    fn versions_of_every_spelling() {
        let cases = [
            ("", 1.0, false),
            (r#","version":null"#, 1.0, false),
            (r#","version":2.5"#, 2.5, false),
            (r#","version":-1"#, -1.0, false),
            (r#","version":"3""#, 3.0, false),
            (r#","version":"new""#, 3.0, false),
            (r#","version":3.5"#, 3.5, false),
            (r#","version":4"#, 4.0, true),
            (r#","version":1e400"#, f64::INFINITY, true),
        ];
        for (field, version, newer) in cases {
            let header = header(&format!(r#"{{"type":"session","id":"s"{field}}}"#)).unwrap();
            assert_eq!((header.version(), header.is_newer()), (version, newer), "{field}");
        }
    }

    #[test]
    fn only_a_session_with_a_string_id_is_a_header() {
        assert!(header(r#"{"type":"session","id":""}"#).is_some());
        for text in [r#"{"type":"session","id":1}"#, r#"{"type":"session"}"#, r#"{"id":"s"}"#, "[]"]
        {
            assert!(header(text).is_none(), "{text}");
        }
    }

    #[test]
    fn a_slot_wins_over_the_title_field_and_is_updated_in_place() {
        let json = RawJson::parse(r#"{"type":"session","id":"s","title":"old"}"#).unwrap();
        let slot = TitleSlot { title: "new".into(), source: None, updated_at: "t".into() };
        let line = Bytes::from(slot.to_line());
        let mut header = SessionHeader::read(RecordLine::new(&json), Some((slot, line))).unwrap();
        assert_eq!(header.title().as_deref(), Some("new"));
        assert_eq!(header.folded_json().as_str(), r#"{"type":"session","id":"s","title":"new"}"#);
        header.set_title("", "user", "t2");
        assert_eq!((header.title(), header.json()), (None, json));
        assert_eq!(header.folded_json().as_str(), r#"{"type":"session","id":"s"}"#);
        assert_eq!(header.lines()[0].len(), crate::title_slot::TITLE_SLOT_BYTES);
    }
}
