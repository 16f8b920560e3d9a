//! Text of unknown origin made safe for a terminal.

use std::borrow::Cow;
use std::fmt::Write;

use session_model::preview::acts_on_terminal;

/// Returns a text without what a terminal would act on; line ends and tabs stay, other separators
/// of lines become spaces.
pub(crate) fn clean(text: &str) -> Cow<'_, str> {
    let acts = |c: char| !matches!(c, '\n' | '\t') && acts_on_terminal(c);
    if !text.contains(acts) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace(['\u{85}', '\u{2028}', '\u{2029}'], " ").replace(acts, ""))
}

/// Returns a text as one line without what a terminal would act on.
pub(crate) fn clean_line(text: &str) -> Cow<'_, str> {
    match clean(text) {
        line if !line.contains(['\n', '\t']) => line,
        text => Cow::Owned(text.replace(['\n', '\t'], " ")),
    }
}

/// Returns the same JSON with escapes in the place of what a terminal would act on.
pub(crate) fn escape_json(json: &str) -> Cow<'_, str> {
    // Between tokens JSON has line ends, which are harmless; inside strings it has no C0 controls.
    if !json.contains(|c| c > '\u{7e}' && acts_on_terminal(c)) {
        return Cow::Borrowed(json);
    }
    let mut out = String::with_capacity(json.len() + 16);
    for c in json.chars() {
        if c > '\u{7e}' && acts_on_terminal(c) {
            // None of them needs more than four digits, and writing to a string never fails.
            let _ = write!(out, "\\u{:04x}", u32::from(c));
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str =
        "a\u{1b}[31mb\u{9b}2Jc\u{7}\r\u{7f}\u{0}d\u{202e}e\u{2066}\u{2069}\u{61c}\u{200f}\u{2028}f";

    #[test]
    fn nothing_a_terminal_acts_on_is_left() {
        assert_eq!(clean(HOSTILE), "a[31mb2Jcde f");
        assert_eq!(clean("one\r\n\ttwo\n"), "one\n\ttwo\n");
        assert_eq!(clean_line("one\r\n\ttwo"), "one  two");
    }

    #[test]
    fn other_text_is_as_it_was() {
        for text in ["", "plain", "Ünïcödé 漢字 🦀 e\u{301} \u{a0}\u{ad}"] {
            assert!(matches!(clean(text), Cow::Borrowed(same) if same == text), "{text}");
            assert!(matches!(clean_line(text), Cow::Borrowed(same) if same == text), "{text}");
        }
    }

    #[test]
    fn json_keeps_its_meaning() {
        assert_eq!(
            escape_json("{\"a\":\"\u{9b}2J\u{202e}\u{7f}ü\\u001b\"}\n"),
            "{\"a\":\"\\u009b2J\\u202e\\u007fü\\u001b\"}\n"
        );
        assert!(matches!(escape_json("[\"plain\"]\n"), Cow::Borrowed(_)));
    }
}
