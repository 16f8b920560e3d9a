//! A text read as what is written in it: strings of JSON, and parts of URLs.

use std::ops::Range;

/// A text made from another, with the way back.
#[derive(Debug)]
pub(super) struct View {
    pub(super) text: String,
    /// Where a piece begins here, and where in the other text.
    starts: Vec<(usize, usize)>,
}

/// How a text was encoded.
#[derive(Clone, Copy, Debug)]
pub(super) enum Encoding {
    /// With the escapes of JSON, and of strings in most languages.
    Escapes,
    /// With `%41` for `A`.
    Percent,
}

impl View {
    /// Decodes a text; `None` if nothing in it is encoded.
    pub(super) fn of(text: &str, encoding: Encoding) -> Option<Self> {
        let mark = match encoding {
            Encoding::Escapes => b'\\',
            Encoding::Percent => b'%',
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
            };
            let Some((char, used)) = decoded else { continue };
            starts.push((out.len(), clean));
            out.extend_from_slice(&bytes[clean..at]);
            starts.push((out.len(), at));
            match char {
                Decoded::Char(c) => out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes()),
                Decoded::Byte(byte) => out.push(byte),
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
        Some(Self { text, starts })
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
        b'u' => {
            let digits = std::str::from_utf8(bytes.get(2..6)?).ok()?;
            let code = u32::from_str_radix(digits, 16).ok()?;
            return Some((Decoded::Char(char::from_u32(code)?), 6));
        }
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
