//! The few fields of a record that are read when a file is opened.

use std::fmt;

use serde::de::{Deserialize, Deserializer, IgnoredAny, MapAccess, Visitor};
use serde_json::value::RawValue;

use crate::json::{fields_of, is_json_space};

/// Spellings of the envelope fields; everything else of the record is only checked to be JSON.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Envelope<'a> {
    pub(crate) entry_type: Option<&'a str>,
    pub(crate) id: Option<&'a str>,
    pub(crate) parent_id: Option<&'a str>,
    pub(crate) timestamp: Option<&'a str>,
}

/// What a line begins with.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Scanned<'a> {
    /// An object, and where it ends.
    Object(Envelope<'a>, usize),
    /// A JSON value that is no object, and where it ends.
    Other(usize),
    /// No JSON; why not.
    Damaged(String),
}

#[derive(Clone, Copy)]
enum Key {
    Type,
    Id,
    ParentId,
    Timestamp,
    Other,
}

impl Key {
    fn of(name: &str) -> Self {
        match name {
            "type" => Self::Type,
            "id" => Self::Id,
            "parentId" => Self::ParentId,
            "timestamp" => Self::Timestamp,
            _ => Self::Other,
        }
    }
}

struct KeyVisitor;

impl Visitor<'_> for KeyVisitor {
    type Value = Key;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a field name")
    }

    fn visit_str<E>(self, name: &str) -> Result<Key, E> {
        Ok(Key::of(name))
    }
}

impl<'a> Deserialize<'a> for Key {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_identifier(KeyVisitor)
    }
}

struct EnvelopeVisitor;

impl<'a> Visitor<'a> for EnvelopeVisitor {
    type Value = Envelope<'a>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<Envelope<'a>, A::Error> {
        let mut envelope = Envelope::default();
        while let Some(key) = map.next_key()? {
            let place = match key {
                Key::Type => &mut envelope.entry_type,
                Key::Id => &mut envelope.id,
                Key::ParentId => &mut envelope.parent_id,
                Key::Timestamp => &mut envelope.timestamp,
                Key::Other => {
                    map.next_value::<IgnoredAny>()?;
                    continue;
                }
            };
            // Of duplicates the last is in force, as in JavaScript.
            *place = Some(map.next_value::<&RawValue>()?.get());
        }
        Ok(envelope)
    }
}

impl<'a> Deserialize<'a> for Envelope<'a> {
    fn deserialize<D: Deserializer<'a>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(EnvelopeVisitor)
    }
}

/// Reads the envelope of the record a text begins with.
pub(crate) fn scan(text: &str) -> Scanned<'_> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    match Envelope::deserialize(&mut deserializer) {
        Ok(envelope) => {
            let end = deserializer.into_iter::<IgnoredAny>().byte_offset();
            Scanned::Object(envelope, end)
        }
        Err(error) => scan_slowly(text, &error),
    }
}

/// A field name with a lone surrogate is JSON, but no `str`: such records take the long way.
fn scan_slowly<'a>(text: &'a str, error: &serde_json::Error) -> Scanned<'a> {
    let mut values = serde_json::Deserializer::from_str(text).into_iter::<&'a RawValue>();
    let Some(Ok(value)) = values.next() else { return Scanned::Damaged(error.to_string()) };
    let end = values.byte_offset();
    let Some(fields) = fields_of(value.get()) else { return Scanned::Other(end) };
    let mut envelope = Envelope::default();
    for (key, value) in fields.0 {
        match Key::of(key.trim_matches('"')) {
            Key::Type => envelope.entry_type = Some(value),
            Key::Id => envelope.id = Some(value),
            Key::ParentId => envelope.parent_id = Some(value),
            Key::Timestamp => envelope.timestamp = Some(value),
            Key::Other => {}
        }
    }
    Scanned::Object(envelope, end)
}

/// Returns the offset of the first byte that is no white space and no NUL.
pub(crate) fn content_start(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|&byte| byte != 0 && !is_json_space(byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_envelope_and_where_it_ends() {
        let text = r#" {"type":"x","n":{"id":1},"id":"a","id":"b","parentId":null} rest"#;
        let want = Envelope {
            entry_type: Some("\"x\""),
            id: Some("\"b\""),
            parent_id: Some("null"),
            timestamp: None,
        };
        assert_eq!(scan(text), Scanned::Object(want, text.len() - 5));
    }

    #[test]
    fn odd_names_and_values_are_json_all_the_same() {
        let text = r#"{"\ud800":1,"type":"x","v":[1e400,"\udc00"]}"#;
        let want = Envelope { entry_type: Some("\"x\""), ..Envelope::default() };
        assert_eq!(scan(text), Scanned::Object(want, text.len()));
        let deep = format!("{{\"d\":{}{}}}", "[".repeat(50_000), "]".repeat(50_000));
        assert_eq!(scan(&deep), Scanned::Object(Envelope::default(), deep.len()));
    }

    #[test]
    fn tells_other_values_from_damage() {
        assert_eq!(scan("[1] x"), Scanned::Other(3));
        assert_eq!(scan("null"), Scanned::Other(4));
        for damaged in ["{\"a\":", "{'a':1}", "", "nul"] {
            assert!(matches!(scan(damaged), Scanned::Damaged(_)), "{damaged:?}");
        }
    }
}
