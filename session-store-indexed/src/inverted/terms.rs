//! Which texts have which terms, while they are collected.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::postings::Postings;

/// Terms of so many bytes are kept in place; together with their length they fill three words.
const SHORT: usize = 23;

/// A short term, filled up with zeros, then its length. No term holds a zero, so that these are in
/// the order of the terms.
type ShortTerm = [u8; SHORT + 1];

/// What is known of a term.
#[derive(Clone, Copy, Debug)]
struct Known {
    number: u32,
    /// The last text that has it, and where that is noted.
    text: u32,
    at: u32,
}

/// The terms of texts, noted text by text and sorted by term in the end.
///
/// Looking a term up touches one place of memory, and noting it appends; that is what indexing
/// spends its time on.
#[derive(Debug, Default)]
pub(crate) struct Inverted {
    short: HashMap<ShortTerm, Known, RandomState>,
    long: HashMap<Box<str>, Known, RandomState>,
    notes: Vec<Note>,
}

/// That a text has a term, and how often.
#[derive(Clone, Copy, Debug)]
struct Note {
    term: u32,
    text: u32,
    times: u32,
}

impl Inverted {
    /// Notes that a text has a term; texts come in rising order.
    pub(crate) fn add(&mut self, term: &str, text: u32) {
        let number = (self.short.len() + self.long.len()) as u32;
        let new = Known { number, text: u32::MAX, at: 0 };
        let known = match short(term) {
            Some(short) => self.short.entry(short).or_insert(new),
            None => match self.long.get_mut(term) {
                Some(known) => known,
                None => self.long.entry(term.into()).or_insert(new),
            },
        };
        if known.text == text
            && let Some(note) = self.notes.get_mut(known.at as usize)
        {
            note.times += 1;
            return;
        }
        (known.text, known.at) = (text, self.notes.len() as u32);
        self.notes.push(Note { term: known.number, text, times: 1 });
    }

    /// Gives the terms in their order, each with its postings.
    pub(crate) fn each<E>(
        &self,
        mut give: impl FnMut(&[u8], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        let count = self.short.len() + self.long.len();
        // Sorted by counting: where the notes of each term begin, then where its next one goes.
        let mut starts = vec![0_usize; count + 1];
        for note in &self.notes {
            starts[note.term as usize + 1] += 1;
        }
        for at in 0..count {
            starts[at + 1] += starts[at];
        }
        let mut next = starts.clone();
        let mut sorted = vec![(0, 0); self.notes.len()];
        for note in &self.notes {
            let at = &mut next[note.term as usize];
            sorted[*at] = (note.text, note.times);
            *at += 1;
        }
        let mut short: Vec<(ShortTerm, u32)> =
            self.short.iter().map(|(term, known)| (*term, known.number)).collect();
        short.sort_unstable();
        let mut long: Vec<(&str, u32)> =
            self.long.iter().map(|(term, known)| (&**term, known.number)).collect();
        long.sort_unstable();
        let mut short = short.iter().map(|(term, number)| (bytes(term), *number)).peekable();
        let mut long = long.iter().map(|(term, number)| (term.as_bytes(), *number)).peekable();
        let mut postings = Postings::default();
        loop {
            let is_short = match (short.peek(), long.peek()) {
                (Some((short, _)), Some((long, _))) => short < long,
                (Some(_), None) => true,
                (None, Some(_)) => false,
                (None, None) => return Ok(()),
            };
            let term = if is_short { short.next() } else { long.next() };
            let Some((term, number)) = term else { return Ok(()) };
            postings.clear();
            let notes = starts[number as usize]..starts[number as usize + 1];
            sorted[notes].iter().for_each(|(text, times)| postings.add(*text, *times));
            postings.finish();
            give(term, postings.bytes())?;
        }
    }
}

fn short(term: &str) -> Option<ShortTerm> {
    let mut short = [0; SHORT + 1];
    short.get_mut(..term.len()).filter(|_| term.len() <= SHORT)?.copy_from_slice(term.as_bytes());
    short[SHORT] = term.len() as u8;
    Some(short)
}

fn bytes(term: &ShortTerm) -> &[u8] {
    &term[..usize::from(term[SHORT]).min(SHORT)]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inverted::postings::read_postings;

    #[test]
    fn terms_come_in_their_order_with_their_texts() {
        let mut inverted = Inverted::default();
        let long = "x".repeat(64);
        let (at, above) = ("b".repeat(23), "b".repeat(24));
        for (text, terms) in [
            (0, vec!["b", "a", "b", &long, "ab"]),
            (1, vec![]),
            (2, vec!["b", "\u{1}role:user", &above, &at, "漢字", &long, &long]),
        ] {
            terms.iter().for_each(|term| inverted.add(term, text));
        }
        let mut found = Vec::new();
        let given = inverted.each(|term, postings| {
            let mut texts = Vec::new();
            read_postings(postings, |text, times| texts.push((text, times))).unwrap();
            found.push((String::from_utf8(term.to_vec()).unwrap(), texts));
            Ok::<_, ()>(())
        });
        given.unwrap();
        let expected = [
            ("\u{1}role:user", vec![(2, 1)]),
            ("a", vec![(0, 1)]),
            ("ab", vec![(0, 1)]),
            ("b", vec![(0, 2), (2, 1)]),
            (&at, vec![(2, 1)]),
            (&above, vec![(2, 1)]),
            (&long, vec![(0, 1), (2, 2)]),
            ("漢字", vec![(2, 1)]),
        ];
        let expected = expected.map(|(term, texts)| (term.to_owned(), texts));
        assert_eq!(found, expected);
    }
}
