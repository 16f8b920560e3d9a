//! JSON strings and white space, on text already known to be valid JSON.

use std::borrow::Cow;
use std::sync::LazyLock;

use memchr::memchr;
use memchr::memmem::Finder;

static FIND_SURROGATE: LazyLock<[Finder<'static>; 2]> =
    LazyLock::new(|| ["\\ud", "\\uD"].map(Finder::new));

/// Tells whether a byte is JSON white space (RFC 8259, section 2).
pub(crate) fn is_json_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t' | b'\n' | b'\r')
}

/// Cuts JSON white space off both ends.
pub(crate) fn trim_json_space(bytes: &[u8]) -> &[u8] {
    let start = bytes.iter().position(|b| !is_json_space(*b)).unwrap_or(bytes.len());
    let end = bytes.iter().rposition(|b| !is_json_space(*b)).map_or(start, |last| last + 1);
    &bytes[start..end]
}

/// Decodes the inside of a JSON string, each lone surrogate as U+FFFD.
pub(crate) fn decode_string(inner: &str) -> Cow<'_, str> {
    // Ids, times and names are too short for a search that has to be set up.
    if inner.len() <= 32 && !inner.bytes().any(|byte| byte == b'\\') {
        return Cow::Borrowed(inner);
    }
    let Some(first) = memchr(b'\\', inner.as_bytes()) else { return Cow::Borrowed(inner) };
    let mut out = String::with_capacity(inner.len());
    let mut rest = inner;
    let mut next = Some(first);
    while let Some(at) = next {
        out.push_str(&rest[..at]);
        let (decoded, used) = decode_escape(&rest[at..]);
        out.push(decoded);
        rest = &rest[at + used..];
        next = memchr(b'\\', rest.as_bytes());
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Decodes the escape a text starts with; returns the character and the bytes it took.
fn decode_escape(text: &str) -> (char, usize) {
    let simple = |c| (c, 2);
    match text.as_bytes().get(1) {
        Some(b'n') => simple('\n'),
        Some(b't') => simple('\t'),
        Some(b'r') => simple('\r'),
        Some(b'b') => simple('\u{8}'),
        Some(b'f') => simple('\u{c}'),
        Some(b'u') => decode_unicode(text),
        Some(&c) if c.is_ascii() => simple(c as char),
        _ => (char::REPLACEMENT_CHARACTER, 1),
    }
}

fn decode_unicode(text: &str) -> (char, usize) {
    let unit = |at: usize| {
        let escape = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u32::from_str_radix(escape, 16).ok()
    };
    let Some(first) = unit(0) else { return (char::REPLACEMENT_CHARACTER, 2.min(text.len())) };
    if let 0xd800..0xdc00 = first
        && let Some(second @ 0xdc00..0xe000) = unit(6)
    {
        let scalar = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
        return (char::from_u32(scalar).unwrap_or(char::REPLACEMENT_CHARACTER), 12);
    }
    (char::from_u32(first).unwrap_or(char::REPLACEMENT_CHARACTER), 6)
}

/// Replaces escapes of lone surrogates in a JSON text; `None` if there are none.
pub(super) fn without_lone_surrogates(text: &str) -> Option<String> {
    // Long outputs are full of escapes, and hardly any is of a surrogate.
    if FIND_SURROGATE.iter().all(|escape| escape.find(text.as_bytes()).is_none()) {
        return None;
    }
    let mut out = String::new();
    let (mut clean, mut at) = (0, 0);
    while let Some(found) = memchr(b'\\', &text.as_bytes()[at..]) {
        let start = at + found;
        let (decoded, used) = decode_escape(&text[start..]);
        at = start + used;
        let is_replaced = decoded == char::REPLACEMENT_CHARACTER
            && !text[start..at].eq_ignore_ascii_case("\\ufffd");
        if is_replaced {
            out.push_str(&text[clean..start]);
            out.push(decoded);
            clean = at;
        }
    }
    if clean == 0 {
        return None;
    }
    out.push_str(&text[clean..]);
    Some(out)
}

/// Appends a string as JSON, escaped as `JSON.stringify` does (ECMA-262, QuoteJSONString).
pub(crate) fn push_string(out: &mut String, text: &str) {
    out.reserve(text.len() + 2);
    out.push('"');
    let (mut clean, mut at) = (0, 0);
    while let Some(found) = next_escaped(&text.as_bytes()[at..]) {
        at += found + 1;
        let (place, byte) = (at - 1, text.as_bytes()[at - 1]);
        let escape = match byte {
            b'"' => "\\\"",
            b'\\' => "\\\\",
            b'\n' => "\\n",
            b'\r' => "\\r",
            b'\t' => "\\t",
            0x8 => "\\b",
            0xc => "\\f",
            _ => "",
        };
        out.push_str(&text[clean..place]);
        if escape.is_empty() {
            out.push_str(&format!("\\u{byte:04x}"));
        } else {
            out.push_str(escape);
        }
        clean = at;
    }
    out.push_str(&text[clean..]);
    out.push('"');
}

/// Finds the first byte that must be escaped, looking at a block at a time.
fn next_escaped(bytes: &[u8]) -> Option<usize> {
    let mut skipped = clean_blocks::<128>(bytes);
    skipped += clean_blocks::<32>(&bytes[skipped..]);
    skipped += clean_blocks::<8>(&bytes[skipped..]);
    bytes[skipped..].iter().position(is_escaped).map(|at| skipped + at)
}

/// The size of the whole blocks in front in which nothing must be escaped.
fn clean_blocks<const SIZE: usize>(bytes: &[u8]) -> usize {
    let clean = |block: &&[u8; SIZE]| !block.iter().fold(false, |any, byte| any | is_escaped(byte));
    SIZE * bytes.as_chunks::<SIZE>().0.iter().take_while(clean).count()
}

fn is_escaped(byte: &u8) -> bool {
    *byte < 0x20 || *byte == b'"' || *byte == b'\\'
}

/// Drops white space between tokens.
pub(super) fn without_space(text: &str) -> Cow<'_, str> {
    let bytes = text.as_bytes();
    let mut out = String::new();
    let (mut clean, mut at) = (0, 0);
    while at < bytes.len() {
        match bytes[at] {
            b'"' => at = string_end(bytes, at),
            byte if is_json_space(byte) => {
                out.push_str(&text[clean..at]);
                at += 1;
                clean = at;
            }
            _ => at += 1,
        }
    }
    if clean == 0 {
        return Cow::Borrowed(text);
    }
    out.push_str(&text[clean..]);
    Cow::Owned(out)
}

/// Returns the offset behind the string that starts at `start`.
pub(super) fn string_end(bytes: &[u8], start: usize) -> usize {
    let mut at = start + 1;
    // Long texts are full of escapes, and hardly any is of a quotation mark.
    while let Some(found) = memchr(b'"', &bytes[at..]) {
        at += found + 1;
        let escapes = bytes[start + 1..at - 1].iter().rev().take_while(|byte| **byte == b'\\');
        if escapes.count().is_multiple_of(2) {
            return at;
        }
    }
    bytes.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decodes_every_escape() {
        assert!(matches!(decode_string("plain é"), Cow::Borrowed("plain é")));
        assert_eq!(decode_string(r#"\"\\\/\b\f\n\r\t\u0041"#), "\"\\/\u{8}\u{c}\n\r\tA");
        assert_eq!(decode_string(r"\ud83d\ude00!"), "😀!");
        assert_eq!(decode_string(r"\uD83D\uDE00"), "😀");
    }

    #[test]
    fn a_lone_half_is_a_replacement_character() {
        assert_eq!(decode_string(r"a\ud800b"), "a\u{fffd}b");
        assert_eq!(decode_string(r"\udc00\ud800"), "\u{fffd}\u{fffd}");
        assert_eq!(decode_string(r"\ud800\u0041"), "\u{fffd}A");
        assert_eq!(decode_string(r"\ud800\n"), "\u{fffd}\n");
    }

    #[test]
    fn only_lone_halves_are_replaced_in_a_json_text() {
        let replaced = |text| without_lone_surrogates(text);
        for clean in [r#"{"a":"\\ud800","b":"\ud83d\ude00 \ufffd \uFFFD \n"}"#, "[]", r#""\\""#] {
            assert_eq!(replaced(clean), None, "{clean}");
        }
        let lone = r#"{"a\udc00":"x\\\ud83d","b":["\ud83d\ude00\uD800\ud83d\ude00"]}"#;
        let want =
            "{\"a\u{fffd}\":\"x\\\\\u{fffd}\",\"b\":[\"\\ud83d\\ude00\u{fffd}\\ud83d\\ude00\"]}";
        assert_eq!(replaced(lone).as_deref(), Some(want));
    }

    #[test]
    fn a_string_ends_at_a_quote_that_is_not_escaped() {
        for (text, end) in [
            (r#""","#, 2),
            (r#""a\nb" "c""#, 6),
            (r#""\"" "#, 4),
            (r#""\\" "#, 4),
            (r#""\\\"\\" "#, 8),
            (r#""\""#, 3),
            ("\"", 1),
        ] {
            assert_eq!(string_end(text.as_bytes(), 0), end, "{text}");
        }
        assert_eq!(string_end(br#"\\"x""#, 2), 5);
    }

    #[test]
    fn quotes_as_json_stringify() {
        let mut out = String::new();
        push_string(&mut out, "q\" b\\ nl\n nul\0 esc\u{1b} del\u{7f} ls\u{2028} 😀 /");
        assert_eq!(out, "\"q\\\" b\\\\ nl\\n nul\\u0000 esc\\u001b del\u{7f} ls\u{2028} 😀 /\"");
    }
}
