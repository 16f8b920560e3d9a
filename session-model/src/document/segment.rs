//! Finding the records on one line.

use std::ops::Range;

use crate::entry::{Envelope, Scanned, content_start, scan};
use crate::json::is_json_space;

/// How many beginnings of records are tried on a damaged line, from its end backwards.
///
/// Each try may read the rest of the line, so this bounds the work a hostile line can cause.
const MAX_TRIES: usize = 64;

/// A part of a line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Part<'a> {
    /// A complete object with a string `type`.
    Record(Envelope<'a>, Range<usize>),
    /// Nothing but white space and NULs.
    Blank(Range<usize>),
    /// JSON that is no record.
    Value(Range<usize>),
    /// Anything else, and why it is no JSON.
    Junk(Range<usize>, String),
}

/// Splits a line into its parts, which together are the whole line.
pub(super) fn parts(line: &str) -> Vec<Part<'_>> {
    let mut parts = Vec::with_capacity(1);
    let mut at = 0;
    while at < line.len() {
        let rest = &line[at..];
        let Some(start) = content_start(rest.as_bytes()) else {
            parts.push(Part::Blank(at..line.len()));
            break;
        };
        if start > 0 {
            parts.push(Part::Blank(at..at + start));
            at += start;
        }
        match scan(&line[at..]) {
            Scanned::Object(envelope, len) if has_type(&envelope) => {
                parts.push(Part::Record(envelope, at..at + len));
                at += len;
            }
            Scanned::Object(_, len) | Scanned::Other(len) => {
                parts.push(Part::Value(at..at + len));
                at += len;
            }
            Scanned::Damaged(reason) => {
                let next = trailing_record(&line[at..]).map_or(line.len(), |start| at + start);
                parts.push(Part::Junk(at..next, reason));
                at = next;
            }
        }
    }
    parts
}

fn has_type(envelope: &Envelope<'_>) -> bool {
    envelope.entry_type.is_some_and(|raw| raw.starts_with('"'))
}

/// Finds where a complete record begins that ends the text.
fn trailing_record(text: &str) -> Option<usize> {
    let end = text.bytes().rposition(|byte| byte != 0 && !is_json_space(byte))? + 1;
    let starts =
        memchr::memmem::rfind_iter(&text.as_bytes()[..end], b"{\"type\":\"").take(MAX_TRIES);
    starts.filter(|&start| start > 0 && is_whole_record(&text[start..end])).last()
}

/// A content block has a `type` and perhaps an `id` too, but never a place in the tree or a time.
fn is_whole_record(text: &str) -> bool {
    match scan(text) {
        Scanned::Object(envelope, len) => {
            len == text.len()
                && has_type(&envelope)
                && envelope.id.is_some()
                && (envelope.parent_id.is_some() || envelope.timestamp.is_some())
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shape(line: &str) -> Vec<(&'static str, &str)> {
        let part = |part| match part {
            Part::Record(_, range) => ("record", &line[range]),
            Part::Blank(range) => ("blank", &line[range]),
            Part::Value(range) => ("value", &line[range]),
            Part::Junk(range, _) => ("junk", &line[range]),
        };
        parts(line).into_iter().map(part).collect()
    }

    const RECORD: &str = r#"{"type":"x","id":"b","parentId":null}"#;

    #[test]
    fn one_record_is_one_part() {
        assert_eq!(shape(RECORD), [("record", RECORD)]);
        let nul = format!("\0\0{RECORD}\r");
        assert_eq!(shape(&nul), [("blank", "\0\0"), ("record", RECORD), ("blank", "\r")]);
    }

    #[test]
    fn a_record_fused_to_a_torn_one_is_found() {
        let torn = r#"{"type":"message","message":{"role":"toolResult","id":"call_9"#;
        let line = format!("{torn}{RECORD}");
        assert_eq!(shape(&line), [("junk", torn), ("record", RECORD)]);
        let twice = format!("{RECORD}{RECORD}");
        assert_eq!(shape(&twice), [("record", RECORD), ("record", RECORD)]);
    }

    #[test]
    fn a_content_block_at_the_end_of_a_torn_line_is_no_record() {
        let line = r#"{"type":"message","content":[{"type":"toolCall","id":"c","name":"n"}"#;
        assert_eq!(shape(line), [("junk", line)]);
    }

    #[test]
    fn text_and_values_around_a_record() {
        let line = format!("{RECORD} tail ] 7");
        assert_eq!(shape(&line), [("record", RECORD), ("blank", " "), ("junk", "tail ] 7")]);
        assert_eq!(shape("[1] {} \"s\"").len(), 5);
        assert_eq!(shape("{\"type\":7}"), [("value", "{\"type\":7}")]);
    }
}
