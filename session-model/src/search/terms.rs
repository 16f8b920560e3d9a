//! The terms of a text: what an index keeps of it, and what words of a query are compared with.

use std::ops::Range;

use super::fold::{is_mark, push_folded};

/// The longest term, in bytes; longer words are cut, in texts and queries alike.
const MAX_TERM_BYTES: usize = 64;

/// Longer words are no names somebody put together, but keys and encoded bytes.
const MAX_HUMPED_BYTES: usize = 40;

/// A term of a text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Term<'a> {
    /// The term, in the form in which terms are compared.
    pub text: &'a str,
    /// Which word of the text it begins with, counted from 0.
    pub position: u32,
    /// How many words it is made of.
    pub words: u32,
    /// Where in the text it stands, in bytes.
    pub range: Range<usize>,
    pub(super) kind: TermKind,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum TermKind {
    Word,
    /// Two neighbours of a script without spaces.
    Pair,
    /// The last letter of a run of such a script, or the only one.
    Last {
        is_only: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Class {
    Word,
    Unspaced,
    Symbol,
    Between,
}

impl Class {
    fn of(c: char) -> Self {
        match c {
            _ if c.is_ascii_alphanumeric() => Self::Word,
            _ if c.is_ascii() => Self::Between,
            _ if is_unspaced(c) => Self::Unspaced,
            _ if c.is_alphanumeric() || is_mark(c) => Self::Word,
            // Arrows, signs, pictures; not the punctuation of East Asia.
            '\u{2190}'..='\u{2bff}' | '\u{1f000}'..='\u{1faff}' => Self::Symbol,
            _ => Self::Between,
        }
    }
}

/// Gives the terms of a text one by one.
///
/// - A word is a run of letters and digits, without case and accents.
/// - A word made of words, such as `getUserName`, gives each of them, itself, and what it ends
///   with: `getusername`, `get`, `username`, `user`, `name`.
/// - A run of a script without spaces (Chinese, Japanese, Korean, Thai and the like) gives each
///   pair of neighbours, and its last letter, so that every letter begins a term.
/// - Arrows, signs and pictures are terms of one character.
///
/// ```
/// use session_model::search::each_term;
///
/// let mut found = Vec::new();
/// each_term("open src/mainLoop.rs", |term| found.push(term.text.to_owned()));
/// assert_eq!(found, ["open", "src", "mainloop", "main", "loop", "rs"]);
/// ```
pub fn each_term(text: &str, mut found: impl FnMut(Term<'_>)) {
    let (mut at, mut position) = (0, 0);
    let mut folded = String::with_capacity(MAX_TERM_BYTES + 8);
    while let Some(c) = text[at..].chars().next() {
        match Class::of(c) {
            Class::Between => at += c.len_utf8(),
            Class::Symbol => {
                let range = at..at + c.len_utf8();
                at = range.end;
                let kind = TermKind::Word;
                found(Term { text: &text[range.clone()], position, words: 1, range, kind });
                position += 1;
            }
            Class::Word => {
                let end = word_end(text, at);
                position += word(text, at..end, position, &mut folded, &mut found);
                at = end;
            }
            Class::Unspaced => {
                let end = unspaced_end(text, at);
                position += run(text, at..end, position, &mut folded, &mut found);
                at = end;
            }
        }
    }
}

fn word_end(text: &str, start: usize) -> usize {
    let bytes = text.as_bytes();
    let mut at = start;
    while let Some(byte) = bytes.get(at) {
        if byte.is_ascii_alphanumeric() {
            at += 1;
        } else if byte.is_ascii() {
            break;
        } else {
            match text[at..].chars().next() {
                Some(c) if Class::of(c) == Class::Word => at += c.len_utf8(),
                _ => break,
            }
        }
    }
    at
}

fn unspaced_end(text: &str, start: usize) -> usize {
    let behind = text[start..].char_indices().find(|(_, c)| Class::of(*c) != Class::Unspaced);
    behind.map_or(text.len(), |(at, _)| start + at)
}

/// Gives the terms of a word; returns how many words it is made of.
fn word(
    text: &str,
    range: Range<usize>,
    position: u32,
    folded: &mut String,
    found: &mut impl FnMut(Term<'_>),
) -> u32 {
    let mut give = |range: Range<usize>, position: u32, words: u32| {
        fold(&text[range.clone()], folded);
        if !folded.is_empty() {
            found(Term { text: folded, position, words, range, kind: TermKind::Word });
        }
    };
    let whole = &text[range.clone()];
    let is_plain = whole.len() > MAX_HUMPED_BYTES
        || !whole.as_bytes()[1..].iter().any(|b| b.is_ascii_uppercase() || !b.is_ascii());
    let humps = if is_plain { Vec::new() } else { humps(whole) };
    if humps.len() < 2 {
        give(range, position, 1);
        return 1;
    }
    let count = humps.len();
    for (at, hump) in humps.iter().enumerate() {
        let start = range.start + hump;
        let end = humps.get(at + 1).map_or(range.end, |next| range.start + next);
        let here = position + at as u32;
        if at + 1 < count {
            give(start..range.end, here, (count - at) as u32);
        }
        give(start..end, here, 1);
    }
    count as u32
}

/// Where in a word the words begin that it is made of.
fn humps(word: &str) -> Vec<usize> {
    let mut starts = vec![0];
    let mut chars = word.char_indices().peekable();
    let mut before: Option<char> = None;
    while let Some((at, c)) = chars.next() {
        if let Some(before) = before
            && c.is_uppercase()
        {
            // `XMLFile` is made of `XML` and `File`.
            let ends_capitals = chars.peek().is_some_and(|(_, next)| next.is_lowercase());
            if !before.is_uppercase() || ends_capitals {
                starts.push(at);
            }
        }
        before = Some(c);
    }
    starts
}

fn fold(word: &str, folded: &mut String) {
    folded.clear();
    if word.is_ascii() {
        folded.push_str(&word[..word.len().min(MAX_TERM_BYTES)]);
        return folded.make_ascii_lowercase();
    }
    for c in word.chars() {
        let before = folded.len();
        push_folded(folded, c);
        if folded.len() > MAX_TERM_BYTES {
            return folded.truncate(before);
        }
    }
}

/// Gives the pairs of a run of letters; returns how many letters it has.
fn run(
    text: &str,
    range: Range<usize>,
    position: u32,
    folded: &mut String,
    found: &mut impl FnMut(Term<'_>),
) -> u32 {
    let mut letters = text[range.clone()].char_indices().peekable();
    let mut count = 0;
    while let Some((at, _)) = letters.next() {
        let start = range.start + at;
        let (end, kind) = match letters.peek() {
            Some((next, letter)) => (range.start + next + letter.len_utf8(), TermKind::Pair),
            None => (range.end, TermKind::Last { is_only: count == 0 }),
        };
        fold(&text[start..end], folded);
        found(Term { text: folded, position: position + count, words: 1, range: start..end, kind });
        count += 1;
    }
    count
}

/// Tells whether a letter belongs to a script written without spaces between words, or with words
/// grown together.
fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' // Thai, Lao
        | '\u{1000}'..='\u{109f}' // Burmese
        | '\u{1780}'..='\u{17ff}' // Khmer
        | '\u{3005}'..='\u{3007}' | '\u{3031}'..='\u{3035}' // ideographic marks
        | '\u{3041}'..='\u{30ff}' // Hiragana, Katakana
        | '\u{31f0}'..='\u{31ff}' // Katakana extensions
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' // Han
        | '\u{ac00}'..='\u{d7a3}' // Hangul
        | '\u{f900}'..='\u{faff}' // Han, compatibility
        | '\u{ff66}'..='\u{ff9f}' // Katakana of half width
        | '\u{20000}'..='\u{3ffff}' // further Han
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<(String, u32, u32, Range<usize>)> {
        let mut found = Vec::new();
        each_term(text, |term| {
            found.push((term.text.to_owned(), term.position, term.words, term.range));
        });
        found
    }

    fn words(text: &str) -> Vec<String> {
        terms(text).into_iter().map(|(text, ..)| text).collect()
    }

    #[test]
    fn words_are_letters_and_digits() {
        assert_eq!(
            words("don't touch src/app.ts (c++)"),
            ["don", "t", "touch", "src", "app", "ts", "c"]
        );
        assert_eq!(
            words("snake_case kebab-case v1.2 utf8"),
            ["snake", "case", "kebab", "case", "v1", "2", "utf8"]
        );
        assert_eq!(words("Été déjà-vu cafe\u{301}"), ["ete", "deja", "vu", "cafe"]);
        assert_eq!(words(" \t\0\u{1b}[0m…—“”"), ["0m"]);
        assert_eq!(words("\u{301} a"), ["a"]);
    }

    #[test]
    fn names_give_what_they_are_made_of() {
        assert_eq!(
            terms("x getUserName"),
            [
                ("x".into(), 0, 1, 0..1),
                ("getusername".into(), 1, 3, 2..13),
                ("get".into(), 1, 1, 2..5),
                ("username".into(), 2, 2, 5..13),
                ("user".into(), 2, 1, 5..9),
                ("name".into(), 3, 1, 9..13),
            ]
        );
        assert_eq!(
            words("XMLHttpRequest2"),
            ["xmlhttprequest2", "xml", "httprequest2", "http", "request2"]
        );
        assert_eq!(
            words("CONSTANT Word ÄpfelBaum"),
            ["constant", "word", "apfelbaum", "apfel", "baum"]
        );
        let key = "aB".repeat(21);
        assert_eq!(words(&key), [key.to_lowercase()]);
    }

    #[test]
    fn letters_without_spaces_give_pairs() {
        assert_eq!(
            terms("a漢字處 b"),
            [
                ("a".into(), 0, 1, 0..1),
                ("漢字".into(), 1, 1, 1..7),
                ("字處".into(), 2, 1, 4..10),
                ("處".into(), 3, 1, 7..10),
                ("b".into(), 4, 1, 11..12),
            ]
        );
        assert_eq!(words("こんにちは。世"), ["こん", "んに", "にち", "ちは", "は", "世"]);
        assert_eq!(words("검색 สวัส"), ["검색", "색", "สว", "วั", "ัส", "ส"]);
    }

    #[test]
    fn pictures_are_terms() {
        assert_eq!(words("→🦀ok ✓"), ["→", "🦀", "ok", "✓"]);
    }

    #[test]
    fn long_words_are_cut() {
        let long = "x".repeat(100);
        assert_eq!(terms(&long), [("x".repeat(64), 0, 1, 0..100)]);
        let accented = "é".repeat(100) + "ж";
        assert_eq!(words(&accented), ["e".repeat(64)]);
        assert_eq!(words(&"ж".repeat(100)), ["ж".repeat(32)]);
    }
}
