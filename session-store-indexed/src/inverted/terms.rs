//! Which texts have which terms, while they are collected.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::postings::Postings;

/// Terms of so many bytes are kept in place.
const SHORT: usize = 23;

/// A short term, filled up with zeros, then its length, as numbers. No term holds a zero, so that
/// these are in the order of the terms.
type ShortTerm = [u64; 3];

/// That a text has a term, and how often.
type Note<T> = (T, u32, u32);

/// The terms of texts, noted text by text and sorted by term in the end.
///
/// What a text has is counted in a small table, and then appended to what begins with the same
/// byte: indexing would spend most of its time waiting for memory if it looked up each term among
/// all.
#[derive(Debug)]
pub(crate) struct Inverted {
    /// The last text, and its terms, which are not among the notes yet.
    text: u32,
    short: HashMap<ShortTerm, u32, RandomState>,
    long: HashMap<Box<str>, u32, RandomState>,
    /// Notes by the first byte of their term.
    short_notes: Vec<Vec<Note<ShortTerm>>>,
    long_notes: Vec<Note<Box<str>>>,
}

impl Default for Inverted {
    fn default() -> Self {
        Self {
            text: 0,
            short: HashMap::default(),
            long: HashMap::default(),
            short_notes: vec![Vec::new(); 256],
            long_notes: Vec::new(),
        }
    }
}

impl Inverted {
    /// Notes that a text has a term; texts come one after the other, in rising order.
    pub(crate) fn add(&mut self, term: &str, text: u32) {
        if text != self.text {
            self.end_text();
            self.text = text;
        }
        match short(term) {
            Some(short) => *self.short.entry(short).or_default() += 1,
            None => match self.long.get_mut(term) {
                Some(times) => *times += 1,
                None => drop(self.long.insert(term.into(), 1)),
            },
        }
    }

    fn end_text(&mut self) {
        for (term, times) in self.short.drain() {
            self.short_notes[(term[0] >> 56) as usize].push((term, self.text, times));
        }
        let long = self.long.drain().map(|(term, times)| (term, self.text, times));
        self.long_notes.extend(long);
    }

    /// Gives the terms in their order, each with its postings.
    pub(crate) fn each<E>(
        mut self,
        mut give: impl FnMut(&[u8], &[u8]) -> Result<(), E>,
    ) -> Result<(), E> {
        self.end_text();
        self.long_notes.sort_unstable();
        let mut long = self.long_notes.chunk_by(|a, b| a.0 == b.0).peekable();
        let mut postings = Postings::default();
        for notes in &mut self.short_notes {
            notes.sort_unstable();
            for notes in notes.chunk_by(|a, b| a.0 == b.0) {
                let (term, len) = bytes(&notes[0].0);
                let term = &term[..len];
                while let Some(before) = long.next_if(|notes| notes[0].0.as_bytes() < term) {
                    give(before[0].0.as_bytes(), postings.of(before))?;
                }
                give(term, postings.of(notes))?;
            }
        }
        for notes in long {
            give(notes[0].0.as_bytes(), postings.of(notes))?;
        }
        Ok(())
    }
}

impl Postings {
    /// Returns what is to be stored of the texts of one term.
    fn of<T>(&mut self, notes: &[Note<T>]) -> &[u8] {
        self.clear();
        notes.iter().for_each(|(_, text, times)| self.add(*text, *times));
        self.finish();
        self.bytes()
    }
}

fn short(term: &str) -> Option<ShortTerm> {
    let mut bytes = [0; SHORT + 1];
    bytes.get_mut(..term.len()).filter(|_| term.len() <= SHORT)?.copy_from_slice(term.as_bytes());
    bytes[SHORT] = term.len() as u8;
    let (numbers, _) = bytes.as_chunks::<8>();
    Some([0, 1, 2].map(|at| u64::from_be_bytes(numbers[at])))
}

/// The bytes of a term, and how many they are.
fn bytes(term: &ShortTerm) -> ([u8; SHORT + 1], usize) {
    let mut bytes = [0; SHORT + 1];
    for (bytes, number) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(term) {
        *bytes = number.to_be_bytes();
    }
    (bytes, usize::from(bytes[SHORT]).min(SHORT))
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
