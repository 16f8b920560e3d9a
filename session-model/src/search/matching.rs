//! Finding in a text what a query asks for.

use std::ops::Range;

use super::query::{Clause, Piece, Query};
use super::terms::{Term, each_term};

/// What a whole word counts for, and what the beginning of one does.
pub(super) const WHOLE: u32 = 2;
const BEGINNING: u32 = 1;

/// Where and how often a text has what a query asks for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Match {
    /// How often each wanted clause occurs: 2 for whole words, 1 for beginnings.
    pub weights: Vec<u32>,
    /// Where they occur, in bytes, in order and apart.
    pub ranges: Vec<Range<usize>>,
    /// How many words the text has.
    pub words: u32,
}

/// An occurrence of a piece.
struct Hit {
    position: u32,
    words: u32,
    range: Range<usize>,
    weight: u32,
}

/// What a text has of a query.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Examined {
    /// Whether it answers the query.
    pub is_match: bool,
    /// How often each wanted clause occurs, whether all do or not.
    pub found: Match,
}

impl Query {
    /// Looks for what is asked for; `None` if it is not there, or excluded, or nothing is asked for.
    pub fn find(&self, text: &str) -> Option<Match> {
        let Examined { is_match, found } = self.examine(text);
        is_match.then_some(found)
    }

    /// Tells how much of what is asked for a text has.
    pub fn examine(&self, text: &str) -> Examined {
        let wanted = self.wanted();
        let clauses = || wanted.iter().chain(self.excluded());
        let pieces: Vec<&Piece> = clauses().flat_map(|clause| &clause.pieces).collect();
        let mut hits: Vec<Vec<Hit>> = pieces.iter().map(|_| Vec::new()).collect();
        let mut words = 0;
        each_term(text, |term| {
            words = words.max(term.position + 1);
            for (piece, hits) in pieces.iter().zip(&mut hits) {
                if let Some(weight) = piece.weight_of(&term) {
                    let Term { position, words, range, .. } = term.clone();
                    hits.push(Hit { position, words, range, weight });
                }
            }
        });
        let mut of_clause = &hits[..];
        let mut weights = Vec::with_capacity(wanted.len());
        let mut ranges = Vec::new();
        let mut is_match = !wanted.is_empty();
        for (at, clause) in clauses().enumerate() {
            let (own, others) = of_clause.split_at(clause.pieces.len());
            of_clause = others;
            let is_wanted = at < wanted.len();
            let mut unseen = Vec::new();
            let shown = if is_wanted { &mut ranges } else { &mut unseen };
            let weight = occurrences(clause, own, shown);
            is_match &= is_wanted == (weight > 0);
            if is_wanted {
                weights.push(weight);
            }
        }
        Examined { is_match, found: Match { weights, ranges: joined(ranges), words } }
    }
}

impl Piece {
    fn weight_of(&self, term: &Term<'_>) -> Option<u32> {
        if term.text == self.term {
            return Some(WHOLE);
        }
        (self.is_beginning && term.text.starts_with(&*self.term)).then_some(BEGINNING)
    }
}

/// Adds where a clause occurs, and returns what that counts for.
fn occurrences(clause: &Clause, hits: &[Vec<Hit>], ranges: &mut Vec<Range<usize>>) -> u32 {
    let Some((first, others)) = hits.split_first() else { return 0 };
    let mut sum = 0;
    // A name and the word it begins with may both begin here; they are one occurrence.
    let mut counted = None;
    for start in first {
        let mut weight = start.weight;
        let mut end = start.range.end;
        let mut ends = vec![next_position(clause, 0, start)];
        for (at, hits) in others.iter().enumerate() {
            let mut next = Vec::new();
            for position in ends {
                let from = hits.partition_point(|hit| hit.position < position);
                for hit in hits[from..].iter().take_while(|hit| hit.position == position) {
                    weight = weight.min(hit.weight);
                    end = end.max(hit.range.end);
                    next.push(next_position(clause, at + 1, hit));
                }
            }
            next.dedup();
            ends = next;
        }
        if ends.is_empty() {
            continue;
        }
        ranges.push(start.range.start..end);
        if counted != Some(start.position) {
            sum += weight;
            counted = Some(start.position);
        }
    }
    sum
}

fn next_position(clause: &Clause, piece: usize, hit: &Hit) -> u32 {
    hit.position + clause.pieces[piece].advance.unwrap_or(hit.words)
}

/// Joins ranges that overlap.
fn joined(mut ranges: Vec<Range<usize>>) -> Vec<Range<usize>> {
    ranges.sort_by_key(|range| (range.start, range.end));
    let mut joined: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match joined.last_mut() {
            Some(last) if range.start < last.end => last.end = last.end.max(range.end),
            _ => joined.push(range),
        }
    }
    joined
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found<'a>(query: &str, text: &'a str) -> Option<Vec<&'a str>> {
        let found = Query::parse(query).find(text)?;
        Some(found.ranges.into_iter().map(|range| &text[range]).collect())
    }

    #[test]
    fn all_words_must_occur_in_any_order() {
        let text = "Fix the login test; logins fail";
        assert_eq!(found("test log", text), Some(vec!["login", "test", "logins"]));
        assert_eq!(found("test logout", text), None);
        assert_eq!(found("lo", text), None);
        assert_eq!(found("lo*", text), Some(vec!["login", "logins"]));
        assert_eq!(found("fix -fail", text), None);
        assert_eq!(found("fix -pass", text), Some(vec!["Fix"]));
    }

    #[test]
    fn what_is_joined_must_follow() {
        let text = "see src/app.ts and app src ts";
        assert_eq!(found("src/app.ts", text), Some(vec!["src/app.ts"]));
        assert_eq!(found("\"and app\"", text), Some(vec!["and app"]));
        assert_eq!(found("\"app and\"", text), None);
        assert_eq!(found("app-src", text), Some(vec!["app src"]));
    }

    #[test]
    fn names_are_found_whole_and_by_their_parts() {
        let text = "call getUserName(id) in user_store";
        for query in ["getUserName", "getusername", "userName", "user", "\"user\"", "getUs", "name"]
        {
            assert!(found(query, text).is_some(), "{query}");
        }
        assert_eq!(found("getUserName(id)", text), Some(vec!["getUserName(id"]));
        assert_eq!(found("user", text), Some(vec!["UserName", "user"]));
        assert_eq!(found("\"call get user\"", text), Some(vec!["call getUser"]));
        assert_eq!(found("ser", text), None);
    }

    #[test]
    fn letters_without_spaces_are_found_anywhere() {
        let text = "修复登录测试。已完成 Fix修复x";
        assert_eq!(found("登录", text), Some(vec!["登录"]));
        assert_eq!(found("修复登", text), Some(vec!["修复登"]));
        assert_eq!(found("试", text), Some(vec!["试"]));
        assert_eq!(found("登测", text), None);
        assert_eq!(found("fix修复", text), Some(vec!["Fix修复"]));
        assert_eq!(found("修复x", text), Some(vec!["修复x"]));
        assert_eq!(found("完成 测试", text), Some(vec!["测试", "完成"]));
    }

    #[test]
    fn weights_tell_whole_words_from_beginnings() {
        let found = Query::parse("log in").find("log logs login in").unwrap();
        assert_eq!((found.weights, found.words), (vec![4, 2], 4));
        let name = Query::parse("user").find("userName").unwrap();
        assert_eq!(name.weights, [1]);
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_a_query_for_any_text(query in ".*", text in ".*") {
            let parsed = Query::parse(&query);
            if let Some(found) = parsed.find(&text) {
                for range in found.ranges {
                    proptest::prop_assert!(text.get(range).is_some());
                }
                proptest::prop_assert_eq!(found.weights.len(), parsed.wanted().len());
            }
        }

        #[test]
        fn a_text_has_its_own_words(text in "[a-zA-Zäé漢字0-9_./ -]{0,40}") {
            let query = Query::parse(&format!("\"{text}\""));
            proptest::prop_assert!(query.is_empty() || query.find(&text).is_some());
        }
    }
}
