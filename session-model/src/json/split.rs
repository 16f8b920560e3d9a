//! Taking objects and arrays apart one level deep, without a second check of their text.

use std::ops::Range;

use super::is_json_space;
use super::text::string_end;

/// Where the fields of an object lie in its text, name and value, in order.
///
/// The text is known to be JSON. Of one that is not, some fields may be missing or wrong.
pub(super) fn fields(
    object: &[u8],
) -> Option<impl Iterator<Item = (Range<usize>, Range<usize>)> + '_> {
    let mut members = Members::of(object, b'{')?;
    Some(std::iter::from_fn(move || {
        let name = members.next()?;
        let value = members.next()?;
        Some((name, value))
    }))
}

/// Where the items of an array lie in its text, in order; as [`fields`].
pub(super) fn items(array: &[u8]) -> Option<impl Iterator<Item = Range<usize>> + '_> {
    Members::of(array, b'[')
}

/// The values one level inside a text, and in an object the names too.
struct Members<'a> {
    text: &'a [u8],
    at: usize,
}

impl<'a> Members<'a> {
    fn of(text: &'a [u8], open: u8) -> Option<Self> {
        let start = text.iter().position(|byte| !is_json_space(*byte))?;
        (text[start] == open).then_some(Self { text, at: start + 1 })
    }

    /// The offset behind the value that starts at `start`.
    fn value_end(&self, start: usize) -> usize {
        let (mut at, mut depth) = (start, 0usize);
        while let Some(byte) = self.text.get(at) {
            at = match byte {
                b'"' => string_end(self.text, at),
                b'{' | b'[' => {
                    depth += 1;
                    at + 1
                }
                b'}' | b']' => {
                    depth = depth.saturating_sub(1);
                    at + 1
                }
                _ if depth > 0 => at + 1,
                _ => {
                    let ends =
                        |byte: &u8| matches!(byte, b',' | b'}' | b']') || is_json_space(*byte);
                    return self.text[at..]
                        .iter()
                        .position(ends)
                        .map_or(self.text.len(), |n| at + n);
                }
            };
            if depth == 0 {
                return at;
            }
        }
        self.text.len()
    }
}

impl Iterator for Members<'_> {
    type Item = Range<usize>;

    fn next(&mut self) -> Option<Range<usize>> {
        let is_between = |byte: &u8| matches!(byte, b',' | b':') || is_json_space(*byte);
        let start = self.at + self.text[self.at..].iter().position(|byte| !is_between(byte))?;
        if matches!(self.text[start], b'}' | b']') {
            self.at = self.text.len();
            return None;
        }
        self.at = self.value_end(start);
        Some(start..self.at)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::value::RawValue;

    use super::*;

    fn split(text: &str) -> Option<Vec<(&str, &str)>> {
        let fields = fields(text.as_bytes())?;
        Some(fields.map(|(name, value)| (&text[name], &text[value])).collect())
    }

    #[test]
    fn fields_and_items_are_as_they_are_spelled() {
        let text = "{ \"a\" : 1.0 ,\n\"b\\\"\":{\"x\":[\"}\",{}]},\"\":\"\\\\\" , \"é\":null}";
        let want = [
            ("\"a\"", "1.0"),
            ("\"b\\\"\"", "{\"x\":[\"}\",{}]}"),
            ("\"\"", "\"\\\\\""),
            ("\"é\"", "null"),
        ];
        assert_eq!(split(text).unwrap(), want);
        assert_eq!((split("{}"), split("[]"), split("1")), (Some(vec![]), None, None));
        let list = "[ 1,\"a,b\" ,[ ],-2e1]";
        let found: Vec<_> = items(list.as_bytes()).unwrap().map(|item| &list[item]).collect();
        assert_eq!(found, ["1", "\"a,b\"", "[ ]", "-2e1"]);
        assert!(items(b"{}").is_none());
    }

    proptest! {
        #[test]
        fn what_is_no_json_is_split_somehow(text in "[\\[\\]{}\",:\\\\a1 é]{0,24}") {
            let found = fields(text.as_bytes()).into_iter().flatten().flat_map(|(n, v)| [n, v]);
            let found = found.chain(items(text.as_bytes()).into_iter().flatten());
            for range in found {
                prop_assert!(text.get(range.clone()).is_some(), "{:?}", range);
            }
            // What is JSON is split as the parser splits it.
            if let Ok(items) = serde_json::from_str::<Vec<&RawValue>>(&text) {
                let want: Vec<_> = items.iter().map(|item| item.get()).collect();
                let found: Vec<_> = super::items(text.as_bytes()).unwrap().map(|r| &text[r]).collect();
                prop_assert_eq!(found, want);
            }
        }
    }
}
