//! Making entries, several of them in one buffer.

use bytes::Bytes;

use super::{Entry, EntryKind, RecordLine, Span};
use crate::body::EntryBody;
use crate::json::RawJson;
use crate::persisted::{PersistOptions, may_have_other_form, persisted_form};

/// How much of the buffer is kept for the next use, in bytes.
const MAX_KEPT: usize = 1 << 20;

/// New entries, whose lines stand one behind the other as they are to be written.
///
/// Made to be used again and again: the buffer stays.
///
/// ```
/// use session_model::entry::NewEntries;
/// use session_model::message::Message;
/// use session_model::persisted::PersistOptions;
///
/// let (time, options) = ("2026-03-01T09:00:00.000Z", PersistOptions::default());
/// let mut new = NewEntries::default();
/// new.add(&Message::user("one", 1).into(), "a", None, time, &options);
/// new.add(&Message::user("two", 2).into(), "b", Some("a"), time, &options);
/// let (lines, entries) = new.take();
/// assert_eq!(lines, [&entries[0].line()[..], entries[1].line()].concat());
/// ```
#[derive(Debug, Default)]
pub struct NewEntries {
    lines: String,
    made: Vec<Made>,
}

#[derive(Debug)]
enum Made {
    /// The next so many bytes of the buffer are its line.
    Here { len: usize, kind: EntryKind, spans: [Span; 4] },
    /// Its line is elsewhere too.
    Apart(Entry),
}

impl NewEntries {
    /// Makes the entry that [`Entry::with_persisted_form`] makes of a body; `false`, and no entry,
    /// if its type is no string.
    pub fn add(
        &mut self,
        body: &EntryBody,
        id: &str,
        parent: Option<&str>,
        timestamp: &str,
        options: &PersistOptions,
    ) -> bool {
        let start = self.lines.len();
        let Some(spans) = body.push_entry(&mut self.lines, id, parent, timestamp) else {
            return self.add_json(&body.to_entry_json(id, parent, timestamp), options);
        };
        let text = &self.lines.as_bytes()[start..];
        if may_have_other_form(text, body.is_plain(), options) {
            let json = RawJson::trusted(Bytes::copy_from_slice(text));
            if let Some(short) = persisted_form(&json, options) {
                self.lines.truncate(start);
                return self.add_made(Entry::with_short_form(json, &short.json, options));
            }
        }
        self.lines.push('\n');
        let len = self.lines.len() - start;
        self.made.push(Made::Here { len, kind: EntryKind::of(body.entry_type()), spans });
        true
    }

    /// The same of an entry given whole.
    pub fn add_json(&mut self, entry: &RawJson, options: &PersistOptions) -> bool {
        self.add_made(Entry::with_persisted_form(entry, options))
    }

    fn add_made(&mut self, entry: Option<Entry>) -> bool {
        let Some(entry) = entry else { return false };
        self.lines.push_str(entry.line.text());
        self.lines.push('\n');
        self.made.push(Made::Apart(entry));
        true
    }

    /// Returns all lines and their entries, and forgets them.
    pub fn take(&mut self) -> (Bytes, Vec<Entry>) {
        let lines = Bytes::copy_from_slice(self.lines.as_bytes());
        let mut at = 0;
        let entry = |made| match made {
            Made::Here { len, kind, spans } => {
                let line = RecordLine::read_utf8(lines.slice(at..at + len), 0..len - 1);
                at += len;
                Entry::with_spans(line, (kind, spans))
            }
            Made::Apart(entry) => {
                at += entry.line().len();
                entry
            }
        };
        let entries = self.made.drain(..).map(entry).collect();
        self.clear();
        (lines, entries)
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.made.clear();
        self.lines.clear();
        self.lines.shrink_to(MAX_KEPT);
    }
}
