//! What a search text asks for.

use super::terms::{TermKind, each_term};

/// So many terms of a query count; what follows is passed over.
const MAX_PIECES: usize = 64;

/// Shorter words must be whole words of the text, unless a `*` follows.
const SHORTEST_BEGINNING: usize = 3;

/// What a search text asks for.
///
/// Any text is a query. Words are what white space separates, and all must occur, in any order.
///
/// - A word of three letters or more is found where a word begins with it; a shorter one, and one
///   that ends in punctuation, only as a whole word. `a*` finds what begins with `a`.
/// - Punctuation inside a word separates words that must follow each other: `main.rs` finds
///   `main_rs`.
/// - `"a phrase"` finds these words whole and in this order; an unclosed quote ends with the text.
/// - `-word` and `-"a phrase"` exclude what has them, if the text asks for anything else.
/// - What has neither letters, digits nor signs is passed over.
///
/// ```
/// use session_model::search::Query;
///
/// let query = Query::parse("user -\"log out\" src/app");
/// assert!(query.find("the UserName in src/app.ts").is_some());
/// assert!(query.find("the UserName in src/app.ts: log out").is_none());
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Query {
    wanted: Vec<Clause>,
    excluded: Vec<Clause>,
    is_cut: bool,
}

/// Terms that must follow each other.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Clause {
    /// The terms; never none.
    pub pieces: Vec<Piece>,
}

/// A term that is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// The term.
    pub term: String,
    /// Whether terms that begin so will do.
    pub is_beginning: bool,
    /// How many words further the next piece must be; `None` for as many as the term found has.
    pub(super) advance: Option<u32>,
}

impl Query {
    /// Reads a search text.
    pub fn parse(text: &str) -> Self {
        let mut query = Self::default();
        let mut rest = text.trim_start();
        while !rest.is_empty() {
            let (is_excluded, word) = match rest.strip_prefix('-') {
                Some(behind) if behind.starts_with(|c: char| c == '"' || c.is_alphanumeric()) => {
                    (true, behind)
                }
                _ => (false, rest),
            };
            let (clause, behind) = match word.strip_prefix('"') {
                Some(phrase) => phrase_clause(phrase),
                None => word_clause(word),
            };
            query.add(clause, is_excluded);
            rest = behind.trim_start();
        }
        if query.wanted.is_empty() {
            std::mem::swap(&mut query.wanted, &mut query.excluded);
        }
        query
    }

    fn add(&mut self, mut clause: Clause, is_excluded: bool) {
        let known = self.wanted.iter().chain(&self.excluded);
        let room = MAX_PIECES - known.map(|clause| clause.pieces.len()).sum::<usize>();
        self.is_cut |= clause.pieces.len() > room;
        clause.pieces.truncate(room);
        let to = if is_excluded { &mut self.excluded } else { &mut self.wanted };
        if !clause.pieces.is_empty() && !to.contains(&clause) {
            to.push(clause);
        }
    }

    /// Returns what must occur.
    pub fn wanted(&self) -> &[Clause] {
        &self.wanted
    }

    /// Returns what must not occur.
    pub fn excluded(&self) -> &[Clause] {
        &self.excluded
    }

    /// Tells whether terms must follow each other anywhere, which only the text itself tells.
    pub fn has_joined(&self) -> bool {
        self.wanted.iter().chain(&self.excluded).any(|clause| clause.pieces.len() > 1)
    }

    /// Tells whether the text asks for nothing that could be found.
    pub fn is_empty(&self) -> bool {
        self.wanted.is_empty()
    }

    /// Tells whether the text has more words than count.
    pub fn is_cut(&self) -> bool {
        self.is_cut
    }
}

/// The clause of a phrase, whose quote was opened, and what follows it.
fn phrase_clause(text: &str) -> (Clause, &str) {
    let (phrase, rest) = text.split_once('"').unwrap_or((text, ""));
    let mut clause = Clause::of(phrase);
    let Some(behind) = rest.strip_prefix('*') else { return (clause, rest) };
    if let Some(last) = clause.pieces.last_mut() {
        last.is_beginning = true;
    }
    (clause, behind)
}

/// The clause of a word, and what follows it.
fn word_clause(text: &str) -> (Clause, &str) {
    let end = text.find(char::is_whitespace).unwrap_or(text.len());
    let (word, rest) = text.split_at(end);
    let mut clause = Clause::of(word);
    if let Some(last) = clause.pieces.last_mut() {
        let is_long = last.term.chars().count() >= SHORTEST_BEGINNING;
        let ends_in_term = word.ends_with(char::is_alphanumeric);
        last.is_beginning |= word.ends_with('*') || (is_long && ends_in_term);
    }
    (clause, rest)
}

impl Clause {
    /// The terms of a text, whole and in order.
    fn of(text: &str) -> Self {
        let mut pieces: Vec<Piece> = Vec::new();
        let mut next = 0;
        each_term(text, |term| {
            // Of a word made of words only the whole is asked for.
            if term.position < next {
                return;
            }
            next = term.position + term.words;
            if pieces.len() > MAX_PIECES {
                return;
            }
            let (is_beginning, advance) = match term.kind {
                TermKind::Word => (false, None),
                TermKind::Pair => (false, Some(1)),
                // It begins a pair unless it ends a run there too.
                TermKind::Last { is_only: true } => (true, Some(1)),
                TermKind::Last { is_only: false } => {
                    if let Some(last) = pieces.last_mut() {
                        last.advance = Some(2);
                    }
                    return;
                }
            };
            pieces.push(Piece { term: term.text.to_owned(), is_beginning, advance });
        });
        Self { pieces }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Clauses as text: `+` between pieces, `*` behind beginnings.
    fn shown(clauses: &[Clause]) -> Vec<String> {
        let piece =
            |piece: &Piece| format!("{}{}", piece.term, if piece.is_beginning { "*" } else { "" });
        clauses
            .iter()
            .map(|clause| clause.pieces.iter().map(piece).collect::<Vec<_>>().join("+"))
            .collect()
    }

    #[track_caller]
    fn assert_parsed(text: &str, wanted: &[&str], excluded: &[&str]) {
        let query = Query::parse(text);
        assert_eq!(
            (shown(&query.wanted), shown(&query.excluded)),
            (
                wanted.iter().map(|w| (*w).to_owned()).collect(),
                excluded.iter().map(|w| (*w).to_owned()).collect(),
            )
        );
    }

    #[test]
    fn words_are_beginnings_unless_they_are_short() {
        assert_parsed(" Login\tgo a* test( ", &["login*", "go", "a*", "test"], &[]);
    }

    #[test]
    fn punctuation_joins_words() {
        assert_parsed("src/app.tsx foo_bar don't", &["src+app+tsx*", "foo+bar*", "don+t"], &[]);
        assert_parsed("getUserName", &["getusername*"], &[]);
    }

    #[test]
    fn quotes_make_phrases() {
        assert_parsed("\"log in\" \"sign o\"*x \"open", &["log+in", "sign+o*", "x", "open"], &[]);
        assert_parsed("say\"hi\"", &["say+hi"], &[]);
        assert!(Query::parse("a -b.c").has_joined() && !Query::parse("a -b").has_joined());
    }

    #[test]
    fn a_dash_excludes() {
        assert_parsed("a -b -\"c d\" -e-f", &["a"], &["b", "c+d", "e+f"]);
        assert_parsed("- -- --flags -> a", &["flags*", "a"], &[]);
        assert_parsed("-x -yes", &["x", "yes*"], &[]);
    }

    #[test]
    fn letters_without_spaces_are_pairs() {
        assert_parsed("漢字處 世 Fix修复", &["漢字+字處", "世*", "fix+修复"], &[]);
        let query = Query::parse("漢字處");
        let advances: Vec<_> = query.wanted[0].pieces.iter().map(|piece| piece.advance).collect();
        assert_eq!(advances, [Some(1), Some(2)]);
    }

    #[test]
    fn nothing_to_look_for_is_no_query() {
        for text in ["", " \n", "*", "-", "\"\"", "\"", "&& || ()", "-\"\"", "\0", "。"] {
            assert!(Query::parse(text).is_empty(), "{text:?}");
        }
    }

    #[test]
    fn equal_words_count_once_and_too_many_are_passed_over() {
        assert_parsed("abc abc ABC", &["abc*"], &[]);
        let many: Vec<_> = (0..70).map(|n| format!("w{n}")).collect();
        let query = Query::parse(&many.join(" "));
        assert!(query.is_cut());
        assert_eq!(query.wanted.len(), 64);
        assert_eq!(Query::parse(&many.join(".")).wanted[0].pieces.len(), 64);
    }
}
