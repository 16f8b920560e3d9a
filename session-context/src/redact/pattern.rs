//! Patterns that mean the same in every build.

use std::ops::Range;

use regex::bytes::{Regex, RegexBuilder};

use super::RedactError;

/// Compiles the pattern of a kind.
///
/// `\b`, `\d`, `\w`, `\s`, `.` and `(?i)` are those of ASCII: the tables of Unicode are features of
/// `regex` that another crate of a build may turn on, and a pattern that needs them would compile
/// in one build and not in another.
pub(super) fn compile(kind: &'static str, pattern: &str) -> Result<Regex, RedactError> {
    let builder = &mut RegexBuilder::new(pattern);
    builder.unicode(false).build().map_err(|error| RedactError::pattern(kind, error))
}

/// Widens a range of bytes to the characters it touches.
pub(super) fn widened(text: &str, mut range: Range<usize>) -> Range<usize> {
    while !text.is_char_boundary(range.start) {
        range.start -= 1;
    }
    while !text.is_char_boundary(range.end) {
        range.end += 1;
    }
    range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_does_not_compile_is_an_error_that_names_its_kind() {
        let error = compile("a-kind", r"(\p{Greek}").unwrap_err();
        let RedactError::Pattern { kind, reason } = &error;
        assert_eq!(*kind, "a-kind");
        assert!(error.to_string().starts_with("secrets of the kind a-kind cannot be looked for"));
        assert!(!reason.is_empty());
        // What needs tables of Unicode is refused even where a build has them.
        assert!(compile("a-kind", r"\p{Greek}").is_err());
    }

    #[test]
    fn classes_are_those_of_ascii() {
        let found =
            |pattern: &str, text: &str| compile("k", pattern).unwrap().is_match(text.as_bytes());
        assert!(found(r"(?i)\bBEARER\b", "é bearer"));
        assert!(!found(r"(?i)k", "\u{212a}"));
        assert!(!found(r"^\w$", "é"));
    }

    #[test]
    fn a_range_is_widened_to_whole_characters() {
        assert_eq!(widened("aéb", 2..2), 1..3);
        assert_eq!(widened("aéb", 0..2), 0..3);
    }
}
