//! A text read as what is written in it: strings of JSON, parts of URLs, pages, text in bytes.

use std::ops::Range;

use crate::export::visible::terminal_sequence;

/// A text made from another, with the way back.
#[derive(Debug)]
pub(super) struct View {
    pub(super) text: String,
    /// Where a piece begins here, and where in the other text.
    starts: Vec<(usize, usize)>,
    /// How many bytes were no text.
    skipped: usize,
}

/// The shortest text in bytes that is looked at, in bytes.
const MIN_STRING: usize = 8;

/// How many bytes of a text may be none: what base64 of it was glued to becomes such.
const MAX_SKIPPED: usize = 8;

/// What stands between two texts in bytes.
const BETWEEN: &str = "\n\0\n";

/// How a text was encoded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Encoding {
    /// With the escapes of JSON, and of strings in most languages.
    Escapes,
    /// With `%41` for `A`.
    Percent,
    /// With `&#65;` for `A`, as in pages.
    Entities,
    /// With a zero byte beside each character: UTF-16 read as if it were UTF-8.
    Wide,
    /// With what sets colours in a terminal.
    Colours,
}

impl Encoding {
    pub(super) const ALL: [Self; 5] =
        [Self::Escapes, Self::Percent, Self::Entities, Self::Wide, Self::Colours];
}

impl View {
    /// Decodes a text; `None` if nothing in it is encoded.
    pub(super) fn of(text: &str, encoding: Encoding) -> Option<Self> {
        let mark = match encoding {
            Encoding::Escapes => b'\\',
            Encoding::Percent => b'%',
            Encoding::Entities => b'&',
            Encoding::Wide => 0,
            Encoding::Colours => 0x1b,
        };
        let (mut out, mut starts) = (Vec::new(), Vec::new());
        let (bytes, mut clean) = (text.as_bytes(), 0);
        for at in memchr::memchr_iter(mark, bytes) {
            // An escape may hold the mark itself.
            if at < clean {
                continue;
            }
            let decoded = match encoding {
                Encoding::Escapes => escape(&bytes[at..]),
                Encoding::Percent => percent(&bytes[at..]),
                Encoding::Entities => entity(&bytes[at..]),
                Encoding::Wide => is_wide(bytes, at).then_some((Decoded::Nothing, 1)),
                Encoding::Colours => {
                    terminal_sequence(&text[at..]).map(|used| (Decoded::Nothing, used))
                }
            };
            let Some((char, used)) = decoded else { continue };
            starts.push((out.len(), clean));
            out.extend_from_slice(&bytes[clean..at]);
            starts.push((out.len(), at));
            match char {
                Decoded::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Decoded::Byte(byte) => out.push(byte),
                Decoded::Nothing => {}
            }
            clean = at + used;
        }
        if starts.is_empty() {
            return None;
        }
        starts.push((out.len(), clean));
        out.extend_from_slice(&bytes[clean..]);
        // Bytes that are no text would shift what is behind them.
        let text = String::from_utf8(out).unwrap_or_else(|error| {
            error
                .into_bytes()
                .into_iter()
                .map(|b| if b.is_ascii() { b as char } else { '?' })
                .collect()
        });
        Some(Self { text, starts, skipped: 0 })
    }

    /// Reads what is text in bytes, in UTF-8 or UTF-16, one after the other; `None` if nothing is.
    pub(super) fn strings(bytes: &[u8]) -> Option<Self> {
        let (mut out, mut starts, mut skipped) = (String::new(), Vec::new(), 0);
        let mut behind = 0;
        while let Some(at) = next_string(bytes, behind) {
            skipped += at - behind;
            let (length, pieces) = (out.len(), starts.len());
            out.push_str(if length > 0 { BETWEEN } else { "" });
            let began = out.len();
            behind = push_string(bytes, at, &mut out, &mut starts);
            if out.len() - began < MIN_STRING {
                skipped += out.len() - began;
                out.truncate(length);
                starts.truncate(pieces);
            }
        }
        skipped += bytes.len() - behind;
        (!out.is_empty()).then_some(Self { text: out, starts, skipped })
    }

    /// Whether the bytes it was read from are text from end to end, but for some at the ends.
    pub(super) fn is_all_text(&self) -> bool {
        self.skipped <= MAX_SKIPPED
    }

    /// The whole text in bytes that a part of this one is in.
    pub(super) fn string_around(&self, part: &Range<usize>) -> Range<usize> {
        let start = self.text[..part.start].rfind(BETWEEN).map_or(0, |at| at + BETWEEN.len());
        let end = self.text[part.end..].find(BETWEEN).map_or(self.text.len(), |at| part.end + at);
        start..end
    }

    /// Where in the other text a part of this one stands.
    pub(super) fn source(&self, part: Range<usize>) -> Range<usize> {
        let piece =
            |at: usize| self.starts.partition_point(|&(here, _)| here <= at).saturating_sub(1);
        let there = |at: usize| {
            let (here, there) = self.starts[piece(at)];
            there + (at - here)
        };
        // The end is that of the piece the last byte is of: an escape is longer than what it says.
        let last = part.end.saturating_sub(1).max(part.start);
        let behind = self.starts.get(piece(last) + 1).filter(|&&(here, _)| here == last + 1);
        there(part.start)..behind.map_or_else(|| there(last) + 1, |&(_, there)| there)
    }
}

enum Decoded {
    Char(char),
    Byte(u8),
    Nothing,
}

/// Decodes the escape a text begins with, and tells how long it is.
fn escape(bytes: &[u8]) -> Option<(Decoded, usize)> {
    let char = match bytes.get(1)? {
        b'n' => '\n',
        b't' => '\t',
        b'r' => '\r',
        b'"' => '"',
        b'\'' => '\'',
        b'\\' => '\\',
        b'/' => '/',
        // A line that goes on in the next.
        b'\n' => return Some((Decoded::Nothing, 2)),
        b'\r' if bytes.get(2) == Some(&b'\n') => return Some((Decoded::Nothing, 3)),
        b'u' if bytes.get(2) == Some(&b'{') => {
            let len = bytes.iter().take(10).position(|byte| *byte == b'}')?;
            return Some((Decoded::Char(char_of(&bytes[3..len], 16)?), len + 1));
        }
        b'u' => return Some((Decoded::Char(char_of(bytes.get(2..6)?, 16)?), 6)),
        b'x' => {
            let code = byte_of(bytes.get(2..4)?)?;
            return code.is_ascii().then_some((Decoded::Byte(code), 4));
        }
        _ => return None,
    };
    Some((Decoded::Char(char), 2))
}

fn percent(bytes: &[u8]) -> Option<(Decoded, usize)> {
    Some((Decoded::Byte(byte_of(bytes.get(1..3)?)?), 3))
}

/// Decodes the entity a text begins with, and tells how long it is.
fn entity(bytes: &[u8]) -> Option<(Decoded, usize)> {
    let len = bytes.iter().take(12).position(|byte| *byte == b';')?;
    let char = match &bytes[1..len] {
        [b'#', b'x' | b'X', digits @ ..] => char_of(digits, 16)?,
        [b'#', digits @ ..] => char_of(digits, 10)?,
        b"quot" => '"',
        b"apos" => '\'',
        b"amp" => '&',
        b"lt" => '<',
        b"gt" => '>',
        b"nbsp" => ' ',
        b"equals" => '=',
        b"colon" => ':',
        b"sol" => '/',
        b"plus" => '+',
        b"lowbar" => '_',
        b"commat" => '@',
        b"period" => '.',
        b"NewLine" => '\n',
        _ => return None,
    };
    Some((Decoded::Char(char), len + 1))
}

/// The character that digits name.
fn char_of(digits: &[u8], radix: u32) -> Option<char> {
    let digits = std::str::from_utf8(digits).ok().filter(|digits| !digits.starts_with('+'))?;
    char::from_u32(u32::from_str_radix(digits, radix).ok()?)
}

/// Tells whether a byte is the zero of a character of UTF-16, which its neighbours show.
fn is_wide(bytes: &[u8], at: usize) -> bool {
    let is = |at: usize, zero: bool| bytes.get(at).map(|byte| (*byte == 0) == zero);
    // Three in a row; what is before the first byte or behind the last one may be anything.
    let three = |first: usize| {
        let near = |n: usize| first.wrapping_add(n);
        let found = [0, 2, 4].map(|n| match is(near(n), true) {
            None if near(n) == usize::MAX || near(n) == bytes.len() => None,
            found => Some(found == Some(true)),
        });
        let is_one = |n: usize| is(near(n), false).unwrap_or(true);
        !found.contains(&Some(false))
            && found.iter().flatten().count() >= 2
            && is_one(1)
            && is_one(3)
    };
    bytes[at] == 0
        && is(at.wrapping_sub(1), false).unwrap_or(true)
        && is(at + 1, false).unwrap_or(true)
        && [0, 2, 4].into_iter().any(|before| three(at.wrapping_sub(before)))
}

/// The character that begins here, if it is one of text.
fn char_at(bytes: &[u8], at: usize) -> Option<&str> {
    let len = match bytes[at] {
        byte if IS_TEXT[usize::from(byte)] => 1,
        0xc2..=0xdf => 2,
        0xe0..=0xef => 3,
        0xf0..=0xf4 => 4,
        _ => return None,
    };
    std::str::from_utf8(bytes.get(at..at + len)?).ok()
}

/// Whether a byte is a character of text by itself.
pub(super) const IS_TEXT: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = b' ';
    while byte <= b'~' {
        table[byte as usize] = true;
        byte += 1;
    }
    let others = [b'\n', b'\r', b'\t', 0x1b];
    let mut at = 0;
    while at < others.len() {
        table[others[at] as usize] = true;
        at += 1;
    }
    table
};

/// How far before plain letters a text may begin with others, in bytes.
const MAX_BEFORE: usize = 64;

/// Finds where the next text may begin: at so many plain letters, zeros aside, or before them.
fn next_string(bytes: &[u8], from: usize) -> Option<usize> {
    let is_plain = |at: usize| bytes[at] == 0 || IS_TEXT[usize::from(bytes[at])];
    let mut at = from;
    while at + MIN_STRING <= bytes.len() {
        // What ends a text is most often found at once if it is looked for from behind.
        if let Some(end) = (at..at + MIN_STRING).rev().find(|at| !is_plain(*at)) {
            at = end + 1;
            continue;
        }
        let (mut letters, mut end) = (0, at);
        while letters < MIN_STRING && end < bytes.len() && is_plain(end) {
            letters += usize::from(bytes[end] != 0);
            end += 1;
        }
        if letters < MIN_STRING {
            at = end + 1;
            continue;
        }
        // One zero may belong to the first letter.
        let zeros = bytes[at..].iter().take_while(|byte| **byte == 0).count();
        at += zeros.saturating_sub(1);
        let first = at.saturating_sub(MAX_BEFORE).max(from);
        let before = bytes[first..at].iter().rev().take_while(|byte| **byte >= b' ').count();
        return Some(at - before);
    }
    None
}

/// Reads a text up to what is none, and returns where that ends.
fn push_string(
    bytes: &[u8],
    mut at: usize,
    out: &mut String,
    starts: &mut Vec<(usize, usize)>,
) -> usize {
    starts.push((out.len(), at));
    while at < bytes.len() {
        if let Some(c) = char_at(bytes, at) {
            out.push_str(c);
            at += c.len();
        } else if is_wide(bytes, at) {
            at += 1;
            starts.push((out.len(), at));
        } else {
            break;
        }
    }
    at + usize::from(at < bytes.len())
}

fn byte_of(digits: &[u8]) -> Option<u8> {
    let digit = |byte: u8| (byte as char).to_digit(16);
    let (high, low) = (digit(*digits.first()?)?, digit(*digits.get(1)?)?);
    Some((high * 16 + low) as u8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_part_of_a_view_leads_back_to_what_it_was_read_from() {
        let text = r#"a\u0041b\n\"c\" é\x41"#;
        let view = View::of(text, Encoding::Escapes).unwrap();
        assert_eq!(view.text, "aAb\n\"c\" éA");
        let back = |part: &str| {
            let at = view.text.find(part).unwrap();
            &text[view.source(at..at + part.len())]
        };
        assert_eq!(back("A"), r"\u0041");
        assert_eq!(back("aAb"), r"a\u0041b");
        assert_eq!(back("Ab\n"), r"\u0041b\n");
        assert_eq!(back("c"), "c");
        assert_eq!(back("é"), "é");
        assert_eq!(back("éA"), r"é\x41");
        assert_eq!(&text[view.source(0..view.text.len())], text);
    }

    #[test]
    fn pages_lines_that_go_on_and_colours_are_decoded() {
        let text = |text: &str, encoding| View::of(text, encoding).map(|view| view.text);
        let page = "&quot;a&#98;&#x63;&quot;&#61;&apos;&lt;&nope;&#;&#xZ; a && b";
        assert_eq!(
            text(page, Encoding::Entities).as_deref(),
            Some("\"abc\"='<&nope;&#;&#xZ; a && b")
        );
        assert_eq!(text("a && b; c", Encoding::Entities), None);
        let long = "a\\\nb\\\r\nc\\u{41}\\u{zz}";
        assert_eq!(text(long, Encoding::Escapes).as_deref(), Some("abcA\\u{zz}"));
        let view = View::of("x\u{1b}[1mab\u{1b}[0mc", Encoding::Colours).unwrap();
        assert_eq!((view.text.as_str(), view.source(1..4)), ("xabc", 5..12));
    }

    #[test]
    fn wide_text_is_read_and_other_zeros_are_not() {
        let view = View::of("a\0k\0e\0y\0.", Encoding::Wide).unwrap();
        assert_eq!((view.text.as_str(), view.source(1..4)), ("akey.", 2..7));
        let big = View::of("\0k\0e\0y", Encoding::Wide).unwrap();
        assert_eq!((big.text.as_str(), big.source(0..3)), ("key", 1..6));
        for other in ["one\0two\0", "\0\0\0a\0\0", "a\0b", "a\0\0b\0\0c"] {
            assert!(View::of(other, Encoding::Wide).is_none(), "{other:?}");
        }
    }

    #[test]
    fn texts_in_bytes_are_read_where_they_stand() {
        let bytes = b"\xff\x01the first\x00\x02short\x03the \xc3\xa9cond one\x80\xc3";
        let view = View::strings(bytes).unwrap();
        assert_eq!(view.text, "the first\n\0\nthe écond one");
        let back = |part: &str| {
            let at = view.text.find(part).unwrap();
            &bytes[view.source(at..at + part.len())]
        };
        assert_eq!((back("first"), back("cond")), (&b"first"[..], &b"cond"[..]));
        assert_eq!(view.string_around(&(4..6)), 0..9);
        assert_eq!(view.string_around(&(13..14)), 12..26);
        assert!(!view.is_all_text());

        let wide: Vec<u8> = "\u{feff}a secret".encode_utf16().flat_map(u16::to_le_bytes).collect();
        let view = View::strings(&wide).unwrap();
        assert_eq!((view.text.as_str(), view.is_all_text()), ("a secret", true));
        assert_eq!(&wide[view.source(2..8)], b"s\0e\0c\0r\0e\0t\0");
        assert!(View::strings(b"\x01short\x02again\x03").is_none());
        assert_eq!(View::strings("länges Wört".as_bytes()).map(|v| v.text), None);
        let long = "ein langes Wörtchen";
        assert_eq!(View::strings(long.as_bytes()).unwrap().text, long);
    }

    #[test]
    fn urls_are_decoded_and_plain_text_is_not() {
        let view = View::of("a%3Db%C3%A9%zz%", Encoding::Percent).unwrap();
        assert_eq!(view.text, "a=bé%zz%");
        assert_eq!(view.source(1..2), 1..4);
        let odd = View::of("é%ffx", Encoding::Percent).unwrap();
        assert_eq!((odd.text.as_str(), odd.source(3..4)), ("???x", 5..6));
        assert!(View::of("100% of it", Encoding::Percent).is_none());
        assert!(View::of("plain \\d", Encoding::Escapes).is_none());
    }
}
