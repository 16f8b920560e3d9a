//! Making entries, several of them in one buffer.

use std::ops::RangeInclusive;

use bytes::{Bytes, BytesMut};

use super::{Entry, EntryKind, RecordLine, Span};
use crate::body::EntryBody;
use crate::json::RawJson;
use crate::persisted::{PersistOptions, may_have_other_form, persisted_form};

/// How much of the buffer is kept for the next use, in bytes.
const MAX_KEPT: usize = 1 << 20;

/// How much memory lines share at least and at most, in bytes: to allocate some for each would take
/// as long as to make it.
const SHARED: RangeInclusive<usize> = 4 << 10..=1 << 20;

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
    /// Room for lines that are taken next.
    room: BytesMut,
    /// How much room was made the last time, in bytes.
    shared: usize,
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
        let lines = self.share_lines();
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

    fn share_lines(&mut self) -> Bytes {
        let lines = self.lines.as_bytes();
        if self.room.capacity() < lines.len() {
            // As much again as all before, so that a short session takes little.
            self.shared = (2 * self.shared).clamp(*SHARED.start(), *SHARED.end());
            if lines.len() > self.shared / 2 {
                return Bytes::copy_from_slice(lines);
            }
            self.room = BytesMut::with_capacity(self.shared);
        }
        self.room.extend_from_slice(lines);
        self.room.split().freeze()
    }

    /// Forgets all entries.
    pub fn clear(&mut self) {
        self.made.clear();
        self.lines.clear();
        self.lines.shrink_to(MAX_KEPT);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::message::Message;

    #[test]
    fn lines_that_share_memory_stay_as_they_were_made() {
        let (time, options) = ("2026-03-01T09:00:00.000Z", PersistOptions::default());
        let mut new = NewEntries::default();
        let (mut made, mut want) = (Vec::new(), Vec::new());
        for turn in 0..600 {
            let (id, size) = (format!("{turn:08}"), [0, 900, 30, 5000, 2, 70_000][turn % 6]);
            let body = Message::user("é".repeat(size), 1).into();
            new.add(&body, &id, None, time, &options);
            let (lines, entries) = new.take();
            assert_eq!([lines], [entries[0].line().clone()]);
            made.extend(entries);
            want.push(Entry::from_json(&body.to_entry_json(&id, None, time)).unwrap());
        }
        let lines = |entries: &[Entry]| -> Vec<Bytes> {
            entries.iter().map(|entry| entry.line().clone()).collect()
        };
        assert_eq!(lines(&made), lines(&want));
    }
}
