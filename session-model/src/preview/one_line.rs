//! Text made fit for one line of a list.

use std::borrow::Cow;

use memchr::memchr;

use super::raw::inside;
use crate::json::decode_string;

/// Returns a text as one line of at most `max_chars` characters.
///
/// White space, control and text direction characters become single spaces; none are left at the
/// ends. A longer text ends in `…`, which is what is left of it if `max_chars` is 0 or 1.
///
/// ```
/// use session_model::preview::one_line;
///
/// assert_eq!(one_line(" two\n  lines\u{1b}[0m ", 20), "two lines [0m");
/// assert_eq!(one_line("schön", 4), "sch…");
/// ```
pub fn one_line(text: &str, max_chars: usize) -> String {
    let mut line = OneLine::new(max_chars);
    line.push(text);
    line.finish()
}

/// A line that takes text until it is full.
#[derive(Debug)]
pub(super) struct OneLine {
    out: String,
    left: usize,
    space: bool,
    cut: bool,
}

impl OneLine {
    pub(super) fn new(max_chars: usize) -> Self {
        Self { out: String::new(), left: max_chars.max(1), space: false, cut: false }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.out.is_empty()
    }

    /// Tells whether further text would be cut off.
    pub(super) fn is_full(&self) -> bool {
        self.cut
    }

    pub(super) fn push(&mut self, text: &str) {
        let mut rest = text;
        while let Some(c) = rest.chars().next() {
            if self.cut {
                return;
            }
            let plain = rest.bytes().take_while(u8::is_ascii_graphic).count();
            let fits = plain.min(self.left.saturating_sub(usize::from(self.space)));
            let taken = if fits > 0 {
                self.add(&rest[..fits], fits);
                fits
            } else {
                self.push_char(c);
                c.len_utf8()
            };
            rest = &rest[taken..];
        }
    }

    /// Starts a new word.
    pub(super) fn space(&mut self) {
        self.space = !self.out.is_empty();
    }

    /// Adds `[text] `.
    pub(super) fn tag(&mut self, text: &str) {
        for part in ["[", text, "]"] {
            self.push(part);
        }
        self.space();
    }

    /// Adds a value of JSON: the text of a string, anything else as it is spelled.
    ///
    /// A long string is decoded only as far as it fits.
    pub(super) fn value(&mut self, value: &str) {
        let Some(inner) = inside(value) else { return self.push(value) };
        for piece in decoded_pieces(inner) {
            if self.cut {
                return;
            }
            self.push(&piece);
        }
    }

    pub(super) fn finish(self) -> String {
        self.out
    }

    fn push_char(&mut self, c: char) {
        if is_blank(c) {
            self.space();
        } else if self.left > usize::from(self.space) {
            self.add(c.encode_utf8(&mut [0; 4]), 1);
        } else {
            self.cut = true;
            if self.left == 0 {
                self.out.pop();
            }
            self.out.truncate(self.out.trim_end().len());
            self.out.push('…');
        }
    }

    /// Adds so many characters that fit.
    fn add(&mut self, text: &str, chars: usize) {
        if std::mem::take(&mut self.space) {
            self.out.push(' ');
            self.left -= 1;
        }
        self.out.push_str(text);
        self.left -= chars;
    }
}

/// Characters that move the cursor, change the direction of text, or show nothing.
pub(crate) fn is_blank(c: char) -> bool {
    c.is_whitespace() || acts_on_terminal(c)
}

/// Tells whether a terminal does something else with a character than to show it: controls (C0,
/// DEL, C1), and what breaks lines or turns the direction of text around.
pub fn acts_on_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Decodes the inside of a JSON string piece by piece.
pub(crate) fn decoded_pieces(inner: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let mut rest = inner;
    std::iter::from_fn(move || {
        let (piece, behind) = rest.split_at(piece_len(rest)?);
        rest = behind;
        Some(decode_string(piece))
    })
}

/// The length of the next piece that can be decoded by itself.
fn piece_len(inner: &str) -> Option<usize> {
    match inner.as_bytes() {
        [] => None,
        [b'\\', b'u', ..] => {
            // Two escapes can be the halves of one character.
            let both = inner.get(..12).filter(|pair| pair[6..].starts_with("\\u"));
            let is_one = both.is_some_and(|pair| decode_string(pair).chars().count() == 1);
            Some(if is_one { 12 } else { inner.len().min(6) })
        }
        [b'\\', ..] => Some(inner.len().min(2)),
        bytes => {
            let near = &bytes[..bytes.len().min(256)];
            let end = memchr(b'\\', near).unwrap_or(near.len());
            (1..=end).rev().find(|&at| inner.is_char_boundary(at))
        }
    }
}
