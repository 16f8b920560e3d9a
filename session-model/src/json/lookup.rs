//! One field of an object.

use std::ops::Range;

use super::split;
use super::view::key_is;

/// Returns where the value of a field lies; of duplicates the last, as JavaScript does.
pub(super) fn field_of(object: &[u8], name: &str) -> Option<Range<usize>> {
    let of_name = split::fields(object)?.filter(|(key, _)| key_is(&object[key.clone()], name));
    of_name.last().map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    fn field_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
        super::field_of(text.as_bytes(), name).map(|value| &text[value])
    }

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
