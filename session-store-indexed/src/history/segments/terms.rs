//! Terms a prompt is found by: its words, and what the full-text index knows nothing of.

use std::collections::BTreeSet;

use super::super::cutter::Cutter;
use super::super::words::{Words, is_unspaced};
use super::super::{HistoryEntry, HistoryScope};
use crate::inverted::{Inverted, Wanted};

/// What other terms than words begin with: a directory, a session, letters of a script without
/// spaces, a sign, two words in a row. No word has such a letter.
const CWD: char = '\u{1}';
const SESSION: char = '\u{2}';
const LETTERS: char = '\u{3}';
const SIGN: char = '\u{4}';
const PAIR: char = '\u{5}';

/// Collects the terms of prompts, which are numbered as they come.
pub(super) fn terms_of(entries: &[HistoryEntry], cutter: &Cutter) -> rusqlite::Result<Inverted> {
    let mut terms = Inverted::default();
    let prompts = entries.iter().map(|entry| &*entry.prompt);
    let mut words: Vec<(u32, u32, String)> = Vec::new();
    cutter.each_word(prompts, |word, text, offset| words.push((text, offset, word.to_owned())))?;
    words.sort_unstable_by_key(|(text, offset, _)| (*text, *offset));
    let mut words = words.iter().peekable();
    for (text, entry) in (0..).zip(entries) {
        while let Some((_, _, word)) = words.next_if(|(of, ..)| *of == text) {
            terms.add(word, text);
            if let Some((_, _, next)) = words.peek().filter(|(of, ..)| *of == text) {
                terms.add(&pair_term(word, next), text);
            }
        }
        let scopes = [(CWD, &entry.cwd), (SESSION, &entry.session_id)];
        for (mark, value) in scopes {
            value.iter().for_each(|value| terms.add(&scope_term(mark, value), text));
        }
        for term in letters_and_signs(&entry.prompt.to_lowercase()) {
            terms.add(&term, text);
        }
    }
    Ok(terms)
}

/// The term of a directory or session. No term has a NUL.
fn scope_term(mark: char, value: &str) -> String {
    let value = value.split('\0').next().unwrap_or_default();
    format!("{mark}{value}")
}

/// Stands for a word and how the next one begins: 16 bits of the FNV hash, so that there are few
/// such terms.
fn pair_term(word: &str, next: &str) -> String {
    let beginning = next.chars().next().unwrap_or_default();
    let of = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    let hash = word.bytes().fold(0x811c_9dc5, of);
    let hash = beginning.to_string().bytes().fold(of(hash, b' '), of);
    format!("{PAIR}{:04x}", (hash >> 16) ^ (hash & 0xffff))
}

/// Each pair of letters of a script without spaces, the last letter of a run, and each sign.
fn letters_and_signs(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if is_unspaced(c) {
            let next = chars.peek().filter(|next| is_unspaced(**next));
            found.insert([LETTERS, c].iter().chain(next).collect());
        } else if is_sign(c) {
            found.insert([SIGN, c].iter().collect());
        }
    }
    found
}

fn is_sign(c: char) -> bool {
    !c.is_alphanumeric() && !c.is_whitespace() && c != '\0'
}

/// What is looked for.
#[derive(Debug, Default)]
pub(super) struct Query {
    /// Terms a prompt must have, and whether those that begin so will do.
    terms: BTreeSet<(bool, String)>,
    /// Whether a prompt that has them need not be an answer.
    pub(super) is_loose: bool,
}

impl Query {
    /// The terms of what is asked; `None` if no prompt can have it.
    pub(super) fn new(
        words: &Words,
        scope: HistoryScope<'_>,
        cutter: &Cutter,
    ) -> rusqlite::Result<Option<Self>> {
        let is_cut = matches!(scope,
            HistoryScope::Cwd(value) | HistoryScope::Session(value) if value.contains('\0'));
        let is_loose = is_cut || !words.literals.is_empty();
        let mut query = Self { is_loose, ..Self::default() };
        match scope {
            HistoryScope::Global => {}
            HistoryScope::Cwd(cwd) => query.add(scope_term(CWD, cwd), false),
            HistoryScope::Session(session) => query.add(scope_term(SESSION, session), false),
        }
        words.literals.iter().for_each(|literal| query.add_literal(literal));
        let mut cut: Vec<Vec<(u32, String)>> = vec![Vec::new(); words.indexed.len()];
        cutter.each_word(words.indexed.iter().map(|word| &**word), |word, text, offset| {
            cut[text as usize].push((offset, word.to_owned()));
        })?;
        for mut tokens in cut {
            // Those of a word follow each other, and the last one begins a word.
            tokens.sort();
            query.is_loose |= tokens.len() > 1;
            for ((_, word), (_, next)) in tokens.iter().zip(tokens.iter().skip(1)) {
                query.add(pair_term(word, next), false);
            }
            if let Some((_, last)) = tokens.pop() {
                query.add(last, true);
            }
            tokens.into_iter().for_each(|(_, token)| query.add(token, false));
        }
        let has_words = query.terms.iter().any(|(_, term)| !term.starts_with(MARKS));
        Ok((words.indexed.is_empty() || has_words).then_some(query))
    }

    fn add(&mut self, term: String, is_beginning: bool) {
        self.terms.insert((is_beginning, term));
    }

    fn add_literal(&mut self, literal: &str) {
        let has_letters = literal.contains(is_unspaced);
        for term in letters_and_signs(literal) {
            let letters = term.chars().count() - 1;
            match term.starts_with(LETTERS) {
                true if letters == 2 => self.add(term, false),
                // It may begin a pair in the prompt.
                true => self.add(term, true),
                false if !has_letters => self.add(term, false),
                false => {}
            }
        }
    }

    /// Returns the terms, those first that are likely to be in few prompts.
    pub(super) fn wanted(&self) -> Vec<Wanted<'_>> {
        let mut wanted: Vec<_> = self
            .terms
            .iter()
            .map(|(is_beginning, term)| Wanted { term, is_beginning: *is_beginning })
            .collect();
        wanted.sort_by_key(|wanted| (wanted.is_beginning, std::cmp::Reverse(wanted.term.len())));
        wanted
    }
}

const MARKS: [char; 5] = [CWD, SESSION, LETTERS, SIGN, PAIR];
