//! Single fields of an object.

use std::ops::Range;

use super::split;
use super::view::key_is;

/// Returns where the values of some fields lie; of duplicates the last, as JavaScript does.
pub(super) fn fields_of<const N: usize>(
    object: &[u8],
    names: [&str; N],
) -> [Option<Range<usize>>; N] {
    let mut found = [const { None }; N];
    for (key, value) in split::fields(object).into_iter().flatten() {
        if let Some(at) = names.iter().position(|name| key_is(&object[key.clone()], name)) {
            found[at] = Some(value);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    fn field_of<'a>(text: &'a str, name: &str) -> Option<&'a str> {
        let [value] = super::fields_of(text.as_bytes(), [name]);
        value.map(|value| &text[value])
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
