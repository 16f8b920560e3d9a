//! One field of an object, found without reading what follows it.

use std::fmt;

use memchr::memmem;
use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;

use super::fields_of;
use super::view::key_is;

/// Returns the value of a field; of duplicates the last, as JavaScript does.
pub(super) fn field_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
    if stands_once(text, name) {
        let mut value = None;
        let mut deserializer = serde_json::Deserializer::from_str(text);
        // The visitor ends with an error once it has the value, to read no further.
        let _ends_early = First { name, value: &mut value }.deserialize(&mut deserializer);
        return value;
    }
    fields_of(text)?.0.into_iter().rfind(|(key, _)| key_is(key, name)).map(|(_, value)| value)
}

/// Tells whether a later field of this name is out of the question. A name can be spelled with
/// escapes, so a text with any is not looked at more closely.
fn stands_once(text: &str, name: &str) -> bool {
    let text = text.as_bytes();
    let quoted = format!("\"{name}\"");
    let finder = memmem::Finder::new(&quoted);
    let Some(first) = finder.find(text) else { return false };
    finder.find(&text[first + 1..]).is_none() && memmem::find(text, b"\\u").is_none()
}

struct First<'v, 'a> {
    name: &'v str,
    value: &'v mut Option<&'a str>,
}

impl<'a> DeserializeSeed<'a> for First<'_, 'a> {
    type Value = ();

    fn deserialize<D: Deserializer<'a>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'a> Visitor<'a> for First<'_, 'a> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'a>>(self, mut map: A) -> Result<(), A::Error> {
        while let Some((key, value)) = map.next_entry::<&RawValue, &RawValue>()? {
            if key_is(key.get(), self.name) {
                *self.value = Some(value.get());
                return Err(A::Error::custom("found"));
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_of_duplicates_counts_however_they_are_spelled() {
        assert_eq!(field_of(r#"{"a":1,"role":"x","b":[{"c":2}]}"#, "role"), Some(r#""x""#));
        assert_eq!(field_of(r#"{"role":1,"a":2,"role":3}"#, "role"), Some("3"));
        assert_eq!(field_of(r#"{"role":1,"r\u006fle":3}"#, "role"), Some("3"));
        assert_eq!(field_of(r#"{"r\u006fle":3}"#, "role"), Some("3"));
        assert_eq!(field_of(r#"{"a":{"role":1}}"#, "role"), None);
        assert_eq!(field_of(r#"{"a":"role"}"#, "role"), None);
        assert_eq!(field_of(r#"["role"]"#, "role"), None);
        assert_eq!(field_of(r#"{"x\"role":1,"role" : 2 }"#, "role"), Some("2"));
    }
}
