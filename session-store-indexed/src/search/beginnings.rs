//! Which texts have terms that begin so, for beginnings that very many terms have.

use super::lookup::is_tag;
use crate::inverted::{Postings, ReadError, SegmentWriter, read_postings};

/// Longer beginnings are not looked at, in letters.
const LONGEST: usize = 4;

/// A list is kept where the terms have so many times as many postings.
const SAVED: usize = 8;

/// What the term of a list begins with; it is behind all terms of texts.
pub(super) const MARK: &str = "\u{10ffff}";

/// Writes the terms of a segment, and behind them the lists of common beginnings.
pub(super) struct TermWriter<'a> {
    writer: SegmentWriter<'a>,
    /// One for each length.
    levels: [Level; LONGEST],
    lists: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The present beginning of a length.
#[derive(Default)]
struct Level {
    beginning: Vec<u8>,
    /// How often each text has it, and which do.
    times: Vec<u32>,
    texts: Vec<u32>,
    postings: usize,
}

impl<'a> TermWriter<'a> {
    pub(super) fn new(writer: SegmentWriter<'a>) -> Self {
        Self { writer, levels: Default::default(), lists: Vec::new() }
    }

    /// Adds a term; terms come in rising order.
    pub(super) fn add(&mut self, term: &[u8], postings: &[u8]) -> Result<(), ReadError> {
        self.writer.add(term, postings)?;
        if is_tag(term) {
            return Ok(());
        }
        // Where letters end: before a byte that begins one, and at the end.
        let is_end = |at: &usize| term.get(*at).is_none_or(|byte| byte & 0xc0 != 0x80);
        let mut ends = (1..=term.len()).filter(is_end);
        let mut count = 0;
        for level in &mut self.levels {
            let Some(end) = ends.next() else { break };
            if level.beginning != term[..end] {
                level.end(&mut self.lists);
                level.beginning = term[..end].to_vec();
            }
            count += 1;
        }
        read_postings(postings, |text, times| {
            self.levels[..count].iter_mut().for_each(|level| level.add(text, times));
        })
    }

    /// Writes what is left; returns how large all blocks are.
    pub(super) fn finish(mut self) -> rusqlite::Result<u64> {
        self.levels.iter_mut().for_each(|level| level.end(&mut self.lists));
        self.lists.sort_unstable();
        for (term, postings) in &self.lists {
            self.writer.add(term, postings)?;
        }
        self.writer.finish()
    }
}

impl Level {
    fn add(&mut self, text: u32, times: u32) {
        let at = text as usize;
        if at >= self.times.len() {
            self.times.resize(at + 1, 0);
        }
        if self.times[at] == 0 {
            self.texts.push(text);
        }
        self.times[at] += times;
        self.postings += 1;
    }

    /// Keeps the list if it saves enough, and starts anew.
    fn end(&mut self, lists: &mut Vec<(Vec<u8>, Vec<u8>)>) {
        if self.postings >= SAVED * self.texts.len() && self.postings > 0 {
            self.texts.sort_unstable();
            let mut postings = Postings::default();
            self.texts.iter().for_each(|text| postings.add(*text, self.times[*text as usize]));
            postings.finish();
            lists.push(([MARK.as_bytes(), &self.beginning].concat(), postings.bytes().to_vec()));
        }
        self.texts.drain(..).for_each(|text| self.times[text as usize] = 0);
        self.postings = 0;
    }
}

#[cfg(test)]
mod tests {
    use rusqlite::Connection;

    use super::*;
    use crate::inverted::SegmentReader;

    #[test]
    fn lists_tell_of_all_terms_that_begin_so() {
        let connection = Connection::open_in_memory().unwrap();
        connection
            .execute_batch("CREATE TABLE b (block INTEGER PRIMARY KEY, segment, term, data)")
            .unwrap();
        let mut writer = TermWriter::new(SegmentWriter::new(&connection, "b", 1).unwrap());
        let mut add = |term: &str, texts: &[(u32, u32)]| {
            let mut postings = Postings::default();
            texts.iter().for_each(|(text, times)| postings.add(*text, *times));
            postings.finish();
            writer.add(term.as_bytes(), postings.bytes()).unwrap();
        };
        add("\u{1}role:user", &[(0, 1)]);
        add("a", &[(3, 1)]);
        for letter in 'a'..='h' {
            add(&format!("é{letter}"), &[(1, 2), (3, 1)]);
        }
        writer.finish().unwrap();
        let mut reader = SegmentReader::open(&connection, "b", 1).unwrap();
        let mut lists = Vec::new();
        while let Some(term) = reader.term() {
            if let Some(beginning) = term.strip_prefix(MARK.as_bytes()) {
                let mut texts = Vec::new();
                read_postings(reader.postings(), |text, times| texts.push((text, times))).unwrap();
                lists.push((String::from_utf8(beginning.to_vec()).unwrap(), texts));
            }
            reader.step(&connection).unwrap();
        }
        assert_eq!(lists, [("é".to_owned(), vec![(1, 16), (3, 8)])]);
    }
}
