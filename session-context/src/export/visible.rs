//! Text whose characters can all be seen.

use std::borrow::Cow;

/// Returns a text without the colours of terminals, and with a sign for each control character
/// and each that turns the direction of text; line ends and tabs stay.
///
/// ```text
/// "\u{1b}[31mred\u{1b}[0m\u{7}\u{202e}" becomes "red␇⟨U+202E⟩"
/// ```
pub(super) fn visible(text: &str) -> Cow<'_, str> {
    if !text.contains(is_hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(is_hidden) {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(used) = terminal_sequence(rest) {
            rest = &rest[used..];
            continue;
        }
        let Some(c) = rest.chars().next() else { break };
        rest = &rest[c.len_utf8()..];
        match c {
            // A line end of Windows is a line end.
            '\r' if rest.starts_with('\n') => {}
            '\0'..='\u{1f}' => out.extend(char::from_u32(0x2400 + u32::from(c))),
            '\u{7f}' => out.push('␡'),
            '\u{85}' | '\u{2028}' | '\u{2029}' => out.push('\n'),
            _ => out.push_str(&format!("⟨U+{:04X}⟩", u32::from(c))),
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

fn is_hidden(c: char) -> bool {
    (c.is_control() && !matches!(c, '\n' | '\t'))
        || matches!(c, '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{feff}')
}

/// The length of a sequence that sets colours, moves the cursor or names the window.
pub(crate) fn terminal_sequence(text: &str) -> Option<usize> {
    let bytes = text.as_bytes();
    match bytes.get(..2)? {
        b"\x1b[" => {
            let len = bytes[2..].iter().take(64).position(|byte| (0x40..=0x7e).contains(byte))?;
            let inside = &bytes[2..2 + len];
            inside.iter().all(|byte| (0x20..0x40).contains(byte)).then_some(len + 3)
        }
        b"\x1b]" => {
            let end = bytes[2..].iter().take(1_024).position(|&byte| byte == 7 || byte == 0x1b)?;
            let long = bytes.get(2 + end..4 + end) == Some(b"\x1b\\");
            (long || bytes[2 + end] == 7).then_some(end + 3 + usize::from(long))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_hidden_and_terminals_are_not_driven() {
        assert_eq!(visible("\u{1b}[1;31mred\u{1b}[0m\u{7}\u{202e}x"), "red␇⟨U+202E⟩x");
        assert_eq!(visible("\u{1b}]0;title\u{7}a\u{1b}]8;;http://x\u{1b}\\b"), "ab");
        assert_eq!(
            visible("a\r\nb\rc\td\u{85}e\u{9b}2J\u{2066}"),
            "a\nb␍c\td\ne⟨U+009B⟩2J⟨U+2066⟩"
        );
        assert_eq!(visible("\u{1b}[31"), "␛[31");
        assert_eq!(visible("\u{1b}["), "␛[");
        assert_eq!(visible("\u{1b}]é"), "␛]é");
        assert!(matches!(visible("plain é 😀\u{200f}\n"), Cow::Borrowed(_)));
    }
}
