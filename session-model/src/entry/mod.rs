//! One entry of a session: its envelope, and everything else as it was read.

mod envelope;
mod kind;
mod line;
mod new;

use std::borrow::Cow;

use bytes::Bytes;

use crate::Blob;
use crate::body::EntryBody;
use crate::json::{JsonKind, ObjectEdit, ObjectView, RawJson, decode_string};
use crate::persisted::{PersistOptions, persisted_form};
use crate::time;

pub(crate) use envelope::{Envelope, Scanned, content_start, scan};
pub use kind::EntryKind;
pub(crate) use line::{RecordLine, same_length_text};
pub use new::NewEntries;

/// One entry of a session.
///
/// Opening a file reads only the envelope (`type`, `id`, `parentId`, `timestamp`); the rest is
/// decoded when asked for. Cloning is cheap: the text is shared with the buffer it was read from.
#[derive(Clone, Debug)]
pub struct Entry {
    line: RecordLine,
    /// The whole value, where the line holds a shorter form of it.
    whole: Option<Box<Whole>>,
    kind: EntryKind,
    entry_type: Span,
    id: Span,
    parent_id: Span,
    timestamp: Span,
}

/// The whole of an entry, and how its line was made of it.
#[derive(Clone, Debug)]
struct Whole {
    json: RawJson,
    /// What the line was made of, if that is another value.
    written: Option<RawJson>,
    options: PersistOptions,
}

/// Where in the record's text a value lies; empty if there is none.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Span {
    start: u32,
    len: u32,
}

impl Span {
    /// Where the end of a text lies, from `value` on, in the part of it that begins at `start`.
    pub(crate) fn behind(value: usize, text: &str, start: usize) -> Self {
        Self { start: (value - start) as u32, len: (text.len() - value) as u32 }
    }

    fn of(part: Option<&str>, text: &str) -> Self {
        part.map_or_else(Self::default, |part| Self {
            start: (part.as_ptr() as usize - text.as_ptr() as usize) as u32,
            len: part.len() as u32,
        })
    }

    fn bytes(self, line: &RecordLine) -> Option<&[u8]> {
        let (start, len) = (self.start as usize, self.len as usize);
        (len > 0).then(|| line.part_bytes(start..start + len)).flatten()
    }

    fn get(self, line: &RecordLine) -> Option<&str> {
        let (start, len) = (self.start as usize, self.len as usize);
        (len > 0).then(|| line.part(start..start + len)).flatten()
    }
}

/// What an entry names as its parent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Parent<'a> {
    /// No parent: `null`, no field, or a value that can be no id.
    None,
    /// The entry with this id.
    Id(Cow<'a, str>),
}

impl Entry {
    /// Makes an entry of an object; `None` if it is no object with a string `type`.
    pub fn from_json(json: &RawJson) -> Option<Self> {
        Self::from_line(RecordLine::new(json))
    }

    /// Makes an entry of an object as [`from_json`](Self::from_json) does, with its
    /// [persisted form](crate::persisted) as its line.
    ///
    /// The entry keeps the whole value, and gives it until the file is read again.
    pub fn with_persisted_form(json: &RawJson, options: &PersistOptions) -> Option<Self> {
        match persisted_form(json, options) {
            Some(short) => Self::with_short_form(json.compact(), &short.json, options),
            None => Self::from_json(json),
        }
    }

    /// Makes an entry that gives one value, with the persisted form of another as its line.
    ///
    /// For what is not to be written as it is; both are to have the same envelope.
    pub fn written_as(
        whole: &RawJson,
        written: &RawJson,
        options: &PersistOptions,
    ) -> Option<Self> {
        let line = Self::with_persisted_form(written, options)?;
        let (json, written) = (whole.compact(), Some(written.clone()));
        Some(Self { whole: Some(Box::new(Whole { json, written, options: *options })), ..line })
    }

    fn with_short_form(whole: RawJson, short: &RawJson, options: &PersistOptions) -> Option<Self> {
        Some(Self::from_json(short)?.with_whole(whole, options))
    }

    /// Returns the entry with another value to give; its line stays as it is.
    ///
    /// For what a line names and does not hold; see [`restored`](crate::persisted::restored).
    pub fn with_whole(&self, json: RawJson, options: &PersistOptions) -> Self {
        Self {
            whole: Some(Box::new(Whole { json, written: None, options: *options })),
            ..self.clone()
        }
    }

    /// Tells whether the line is shorter than the value this entry gives.
    pub fn is_shortened(&self) -> bool {
        self.whole.is_some()
    }

    /// Returns the blobs that the line names and the whole value holds.
    pub fn blobs(&self) -> Vec<Blob> {
        let made_of = |w: &Whole| persisted_form(w.written.as_ref().unwrap_or(&w.json), &w.options);
        let form = self.whole.as_deref().and_then(made_of);
        form.map(|form| form.blobs).unwrap_or_default()
    }

    pub(crate) fn from_line(line: RecordLine) -> Option<Self> {
        let text = line.text();
        let Scanned::Object(envelope, _) = scan(text) else { return None };
        let spans = Self::spans(&envelope, text)?;
        Some(Self::with_spans(line, spans))
    }

    /// As [`from_line`](Self::from_line) when the envelope has just been read from the text.
    pub(crate) fn from_scanned(
        line: RecordLine,
        envelope: &Envelope<'_>,
        text: &str,
    ) -> Option<Self> {
        let spans = Self::spans(envelope, text)?;
        Some(Self::with_spans(line, spans))
    }

    fn spans(envelope: &Envelope<'_>, text: &str) -> Option<(EntryKind, [Span; 4])> {
        let entry_type = envelope.entry_type.and_then(string_value)?;
        let spans = [
            Span::of(envelope.entry_type, text),
            Span::of(envelope.id, text),
            Span::of(envelope.parent_id, text),
            Span::of(envelope.timestamp, text),
        ];
        Some((EntryKind::of(&entry_type), spans))
    }

    fn with_spans(line: RecordLine, (kind, spans): (EntryKind, [Span; 4])) -> Self {
        let [entry_type, id, parent_id, timestamp] = spans;
        Self { line, whole: None, kind, entry_type, id, parent_id, timestamp }
    }

    /// Returns the entry's type; `Unknown` for one without a meaning here.
    pub fn kind(&self) -> EntryKind {
        self.kind
    }

    /// Returns the `type` field.
    pub fn entry_type(&self) -> Cow<'_, str> {
        self.string(self.entry_type).unwrap_or_default()
    }

    /// Returns the `id` field if it is a string.
    pub fn id(&self) -> Option<Cow<'_, str>> {
        self.string(self.id)
    }

    /// Returns what the `parentId` field names.
    pub fn parent(&self) -> Parent<'_> {
        self.string(self.parent_id).map_or(Parent::None, Parent::Id)
    }

    /// Tells whether `parentId` names this entry, in the very spelling of its `id`.
    ///
    /// Cheaper than comparing the texts, and so for most entries and those before them.
    pub(crate) fn spells_parent(&self, parent: &Entry) -> bool {
        let named = self.parent_id.bytes(&self.line);
        named.is_some_and(|named| {
            named.starts_with(b"\"") && parent.id.bytes(&parent.line) == Some(named)
        })
    }

    /// Returns the `timestamp` field as it is spelled, if it is a string.
    pub fn timestamp(&self) -> Option<Cow<'_, str>> {
        self.string(self.timestamp)
    }

    /// Returns the `timestamp` field in epoch milliseconds, if it can be read as a time.
    pub fn timestamp_ms(&self) -> Option<i64> {
        let spelled = self.timestamp.get(&self.line)?;
        match string_value(spelled) {
            Some(iso) => time::from_iso(&iso),
            None => time::from_json(&RawJson::trusted(Bytes::copy_from_slice(spelled.as_bytes()))),
        }
    }

    /// Returns the whole entry as JSON.
    pub fn json(&self) -> RawJson {
        self.whole.as_ref().map_or_else(|| self.line.json(), |whole| whole.json.clone())
    }

    /// Returns the entry's fields.
    pub fn fields(&self) -> ObjectView {
        self.json().as_object().unwrap_or_default()
    }

    /// Returns the entry's body with typed fields.
    pub fn body(&self) -> EntryBody {
        EntryBody::from_json(&self.json())
    }

    /// Returns the `message` field of a message entry, if it is an object.
    pub fn message(&self) -> Option<RawJson> {
        if self.kind != EntryKind::Message {
            return None;
        }
        self.json().field("message").filter(|message| message.kind() == JsonKind::Object)
    }

    /// Returns the exact bytes of the entry's line, its end included.
    pub fn line(&self) -> &Bytes {
        self.line.bytes()
    }

    /// Returns the entry with some fields changed and every other byte as it was.
    ///
    /// `None` if the result is no entry: its `type` was removed or is no longer a string.
    pub fn edited(&self, edit: &ObjectEdit) -> Option<Self> {
        let Some(whole) = &self.whole else { return Self::from_line(self.line.edited(edit)?) };
        let (json, options) = (edit.apply(&whole.json)?, whole.options);
        let short = persisted_form(&json, &options).map_or_else(|| json.clone(), |form| form.json);
        let fields = short.as_object()?;
        // Fields that are not changed keep the bytes they have in the line.
        let in_line =
            edit.names().fold(ObjectEdit::new(), |in_line, name| match fields.get(name) {
                Some(value) => in_line.set(name, value),
                None => in_line.remove(name),
            });
        Some(Self::from_line(self.line.edited(&in_line)?)?.with_whole(json, &options))
    }

    pub(crate) fn ends_line(&self) -> bool {
        self.line.ends_line()
    }

    pub(crate) fn with_line_end(&self) -> Self {
        Self { line: self.line.with_line_end(), ..self.clone() }
    }

    fn string(&self, span: Span) -> Option<Cow<'_, str>> {
        string_value(span.get(&self.line)?)
    }
}

/// Decodes a raw value if it is a string.
fn string_value(raw: &str) -> Option<Cow<'_, str>> {
    Some(decode_string(raw.strip_prefix('"')?.strip_suffix('"')?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(text: &str) -> Entry {
        Entry::from_json(&RawJson::parse(text.to_owned()).unwrap()).unwrap()
    }

    #[test]
    fn reads_envelopes_of_every_spelling() {
        let e = entry(r#"{"type":"label","id":"a\u0062","parentId":"p","timestamp":"2026-01-01"}"#);
        assert_eq!(e.kind(), EntryKind::Label);
        assert_eq!(e.id().as_deref(), Some("ab"));
        assert_eq!(e.parent(), Parent::Id("p".into()));
        assert_eq!(e.timestamp_ms(), Some(1_767_225_600_000));
        let odd = entry(r#"{"type":"new\u002dthing","id":7,"parentId":null,"timestamp":5}"#);
        assert_eq!(odd.kind(), EntryKind::Unknown);
        assert_eq!(odd.entry_type(), "new-thing");
        assert_eq!((odd.id(), odd.parent()), (None, Parent::None));
        assert_eq!((odd.timestamp(), odd.timestamp_ms()), (None, Some(5)));
        assert!(Entry::from_json(&RawJson::parse(r#"{"type":1}"#).unwrap()).is_none());
        assert!(Entry::from_json(&RawJson::null()).is_none());
    }

    #[test]
    fn an_edit_touches_only_its_fields() {
        let e = entry(r#"{"type":"custom","n":1.0,"id":"a","x":"\ud800"}"#);
        let edited = e.edited(&ObjectEdit::new().set("id", &RawJson::string("b"))).unwrap();
        assert_eq!(edited.json().as_str(), r#"{"type":"custom","n":1.0,"id":"b","x":"\ud800"}"#);
        assert_eq!(edited.id().as_deref(), Some("b"));
        assert!(e.edited(&ObjectEdit::new().remove("type")).is_none());
    }

    #[test]
    fn an_edit_of_a_resolved_entry_leaves_the_rest_of_its_line() {
        let e = entry(r#"{"type":"custom", "n":1.0,"id":"a","data":"a reference"}"#);
        let whole = RawJson::parse(r#"{"type":"custom","n":1.0,"id":"a","data":"whole"}"#).unwrap();
        let e = e.with_whole(whole, &PersistOptions::default());
        let edited = e.edited(&ObjectEdit::new().set("id", &RawJson::string("b"))).unwrap();
        let line = r#"{"type":"custom","n":1.0,"id":"b","data":"a reference"}"#;
        assert_eq!(edited.line(), format!("{line}\n").as_bytes());
        assert_eq!(edited.json().as_str(), r#"{"type":"custom","n":1.0,"id":"b","data":"whole"}"#);
    }
}
