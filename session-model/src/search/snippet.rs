//! The part of a text that shows what was found.

use std::ops::Range;

use crate::preview::is_blank;

/// How many characters are shown before the first occurrence.
const LEAD: usize = 40;

/// The part of a text around what was found, on one line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Snippet {
    /// The text, with `…` where it was cut; white space and control characters are single spaces.
    pub text: String,
    /// Where in it what was found stands, in bytes.
    pub highlights: Vec<Range<usize>>,
}

impl Snippet {
    /// Cuts about `max_chars` characters out of a text, where most of the ranges are.
    pub fn new(text: &str, ranges: &[Range<usize>], max_chars: usize) -> Self {
        // A character takes up to four bytes; close enough to choose by.
        let reach = max_chars.saturating_sub(LEAD);
        let near = |start: usize| {
            ranges.iter().filter(move |r| r.start >= start && r.end <= start + reach)
        };
        let best = (0..ranges.len()).rev().max_by_key(|&at| near(ranges[at].start).count());
        let first = best.map_or(0, |best| ranges[best].start);
        let before = text[..first].char_indices().rev().take(LEAD).last();
        let start = before.map_or(first, |(at, _)| at);
        let start = if start == 0 { 0 } else { word_start(text, start, first) };
        Self::from(text, start, ranges, max_chars)
    }

    fn from(text: &str, start: usize, ranges: &[Range<usize>], max_chars: usize) -> Self {
        let mut snippet = Self::default();
        if start > 0 {
            snippet.text.push('…');
        }
        let mut space = false;
        let mut open = None;
        let mut ranges = ranges.iter().skip_while(|range| range.start < start).peekable();
        let mut count = 0;
        for (at, c) in text[start..].char_indices().map(|(at, c)| (start + at, c)) {
            if open.is_some() && ranges.peek().is_some_and(|range| range.end <= at) {
                snippet.close(&mut open);
                ranges.next();
            }
            if is_blank(c) {
                space = !snippet.text.is_empty();
                continue;
            }
            if count + usize::from(space) >= max_chars {
                snippet.close(&mut open);
                snippet.text.push('…');
                return snippet;
            }
            if std::mem::take(&mut space) {
                snippet.text.push(' ');
                count += 1;
            }
            if open.is_none() && ranges.peek().is_some_and(|range| range.start <= at) {
                open = Some(snippet.text.len());
            }
            snippet.text.push(c);
            count += 1;
        }
        snippet.close(&mut open);
        snippet
    }

    fn close(&mut self, open: &mut Option<usize>) {
        if let Some(start) = open.take() {
            self.highlights.push(start..self.text.len());
        }
    }
}

/// The beginning of the first word behind `start`, if there is one before `end`.
fn word_start(text: &str, start: usize, end: usize) -> usize {
    let blank = text[start..end].char_indices().find(|(_, c)| is_blank(*c));
    blank.map_or(start, |(at, c)| start + at + c.len_utf8())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::Query;

    fn snippet(query: &str, text: &str, max_chars: usize) -> String {
        let ranges = Query::parse(query).find(text).map(|found| found.ranges).unwrap_or_default();
        let Snippet { mut text, highlights } = Snippet::new(text, &ranges, max_chars);
        for range in highlights.into_iter().rev() {
            text.insert(range.end, ']');
            text.insert(range.start, '[');
        }
        text
    }

    #[test]
    fn a_short_text_is_shown_whole() {
        assert_eq!(snippet("log test", "the\n\n login\u{1b}\ttest", 80), "the [login] [test]");
        assert_eq!(snippet("none", "the login test", 80), "the login test");
        assert_eq!(snippet("", "", 80), "");
        assert_eq!(snippet("漢字", "a 漢字處", 80), "a [漢字]處");
    }

    #[test]
    fn a_long_text_is_cut_where_most_was_found() {
        let text = format!("alpha {} beta alpha gamma {}", "x ".repeat(100), "y ".repeat(100));
        let cut = snippet("alpha gamma", &text, 80);
        let before = "x ".repeat(16);
        let behind = "y ".repeat(16);
        assert_eq!(cut, format!("…{before}beta [alpha] [gamma] {}…", behind.trim_end()));
        assert_eq!(snippet("alpha", "alpha beta", 5), "[alpha]…");
        assert_eq!(snippet("alpha", "alpha beta", 3), "[alp]…");
    }

    proptest::proptest! {
        #[test]
        fn highlights_are_parts_of_any_text(text in ".{0,80}", query in "[a-z]{1,2}\\*", max in 0usize..60) {
            let ranges = Query::parse(&query).find(&text).map(|found| found.ranges).unwrap_or_default();
            let snippet = Snippet::new(&text, &ranges, max);
            for range in snippet.highlights {
                proptest::prop_assert!(snippet.text.get(range).is_some_and(|text| !text.is_empty()));
            }
            proptest::prop_assert!(snippet.text.chars().count() <= max + 2);
        }
    }
}
