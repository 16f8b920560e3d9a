//! Which letters of a text a search meant.

use nucleo_matcher::pattern::{Atom, AtomKind, CaseMatching, Normalization};
use nucleo_matcher::{Config, Matcher, Utf32Str};
use ratatui::style::Style;
use ratatui::text::Span;

/// Finds the letters that the words of a search meant, those that stand together first.
#[derive(Debug)]
pub(super) struct Highlighter {
    matcher: Matcher,
    typed: String,
    words: Vec<Atom>,
}

impl Default for Highlighter {
    fn default() -> Self {
        Self { matcher: Matcher::new(Config::DEFAULT), typed: String::new(), words: Vec::new() }
    }
}

impl Highlighter {
    /// Takes the words that are searched for.
    pub(super) fn set_search(&mut self, typed: &str) {
        if self.typed == typed {
            return;
        }
        typed.clone_into(&mut self.typed);
        let atom = |word: &str| {
            let (case, form) = (CaseMatching::Ignore, Normalization::Never);
            Atom::new(word, case, form, AtomKind::Fuzzy, false)
        };
        self.words = typed.split_whitespace().map(atom).collect();
    }

    /// Returns a text in pieces, with `found` on what was searched for.
    pub(super) fn spans(&mut self, text: String, plain: Style, found: Style) -> Vec<Span<'static>> {
        let mut marked = Vec::new();
        let mut chars = Vec::new();
        for word in &self.words {
            // Positions are those of characters as people count them.
            let haystack = Utf32Str::new(&text, &mut chars);
            word.indices(haystack, &mut self.matcher, &mut marked);
        }
        if marked.is_empty() {
            return vec![Span::styled(text, plain)];
        }
        marked.sort_unstable();
        let mut spans: Vec<Span<'static>> = Vec::new();
        let mut last = None;
        let whole = Span::raw(text.as_str());
        for (at, piece) in whole.styled_graphemes(plain).map(|piece| piece.symbol).enumerate() {
            let is_found = u32::try_from(at).is_ok_and(|at| marked.binary_search(&at).is_ok());
            match spans.last_mut().filter(|_| last == Some(is_found)) {
                Some(span) => span.content.to_mut().push_str(piece),
                None => {
                    let style = if is_found { plain.patch(found) } else { plain };
                    spans.push(Span::styled(piece.to_owned(), style));
                }
            }
            last = Some(is_found);
        }
        spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_that_were_meant_are_marked() {
        let mut highlighter = Highlighter::default();
        let (plain, found) = (Style::new(), Style::new().bold());
        for (typed, text, wanted) in [
            ("", "fix the login", "fix the login"),
            ("LOGIN", "fix the login", "fix the <login>"),
            ("fx lgn", "fix the login", "<f>i<x> the <l>o<g>i<n>"),
            ("nowhere", "fix the login", "fix the login"),
            ("漢", "e\u{301} 漢字", "e\u{301} <漢>字"),
        ] {
            highlighter.set_search(typed);
            let spans = highlighter.spans(text.to_owned(), plain, found);
            let drawn = spans.iter().map(|span| match span.style == found {
                true => format!("<{}>", span.content),
                false => span.content.to_string(),
            });
            assert_eq!(drawn.collect::<String>(), wanted, "{typed}");
        }
    }
}
