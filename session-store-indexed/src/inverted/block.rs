//! Blocks: terms in their order, each with its postings.

use std::ops::Range;

use super::error::ReadError;
use super::postings::{push_number, take_number};

/// A block is closed before it grows beyond this, so that it fits in one page of the database.
const SIZE: usize = 3800;

/// Writes terms in their order into blocks.
#[derive(Debug, Default)]
pub(crate) struct BlockWriter {
    first: Vec<u8>,
    last: Vec<u8>,
    data: Vec<u8>,
}

impl BlockWriter {
    /// Adds a term; returns the block before, with its first term, if that is full.
    pub(crate) fn add(&mut self, term: &[u8], postings: &[u8]) -> Option<(Vec<u8>, Vec<u8>)> {
        let is_full = !self.data.is_empty() && self.data.len() + term.len() + postings.len() > SIZE;
        let full = if is_full { self.take() } else { None };
        let shared = if self.data.is_empty() {
            self.first = term.to_vec();
            0
        } else {
            self.last.iter().zip(term).take_while(|(a, b)| a == b).count()
        };
        for number in [shared, term.len() - shared, postings.len()] {
            push_number(&mut self.data, number as u64);
        }
        self.data.extend_from_slice(&term[shared..]);
        self.data.extend_from_slice(postings);
        self.last.clear();
        self.last.extend_from_slice(term);
        full
    }

    /// Returns what was begun: the first term, and the block.
    pub(crate) fn take(&mut self) -> Option<(Vec<u8>, Vec<u8>)> {
        let data = std::mem::take(&mut self.data);
        (!data.is_empty()).then(|| (std::mem::take(&mut self.first), data))
    }
}

/// Reads the terms of a block, which is given with each call.
#[derive(Debug, Default)]
pub(crate) struct BlockReader {
    at: usize,
    term: Vec<u8>,
}

impl BlockReader {
    /// Goes to the next term; returns where in the block its postings are.
    pub(crate) fn next(&mut self, block: &[u8]) -> Result<Option<Range<usize>>, ReadError> {
        let mut rest = block.get(self.at..).ok_or(ReadError::Malformed)?;
        if rest.is_empty() {
            return Ok(None);
        }
        let mut number = || {
            let number = take_number(&mut rest)?;
            usize::try_from(number).map_err(|_| ReadError::Malformed)
        };
        let (shared, added, size) = (number()?, number()?, number()?);
        let (term, rest) = rest.split_at_checked(added).ok_or(ReadError::Malformed)?;
        if shared > self.term.len() || size > rest.len() {
            return Err(ReadError::Malformed);
        }
        self.term.truncate(shared);
        self.term.extend_from_slice(term);
        let start = block.len() - rest.len();
        self.at = start + size;
        Ok(Some(start..self.at))
    }

    /// Returns the term it is at.
    pub(crate) fn term(&self) -> &[u8] {
        &self.term
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_come_back_from_blocks_of_a_page() {
        let terms: Vec<_> = (0..3000).map(|n| format!("term{n:05}").into_bytes()).collect();
        let mut writer = BlockWriter::default();
        let mut blocks = Vec::new();
        for (n, term) in terms.iter().enumerate() {
            blocks.extend(writer.add(term, &vec![n as u8; n % 5]));
        }
        blocks.extend(writer.add(b"z", &[1; 9000]));
        blocks.extend(writer.take());
        assert_eq!(writer.take(), None);
        let mut found = Vec::new();
        for (first, data) in &blocks {
            assert!(data.len() <= SIZE || found.len() == 3000, "{}", data.len());
            let mut reader = BlockReader::default();
            let start = found.len();
            while let Some(postings) = reader.next(data).unwrap() {
                found.push((reader.term().to_vec(), data[postings].to_vec()));
            }
            assert_eq!(found[start].0, *first);
        }
        let mut expected: Vec<_> =
            terms.into_iter().enumerate().map(|(n, term)| (term, vec![n as u8; n % 5])).collect();
        expected.push((b"z".to_vec(), vec![1; 9000]));
        assert_eq!(found, expected);
    }

    #[test]
    fn a_block_that_was_cut_is_malformed() {
        let mut writer = BlockWriter::default();
        writer.add(b"abc", b"xyz");
        let (_, data) = writer.take().unwrap();
        for end in 1..data.len() {
            assert!(BlockReader::default().next(&data[..end]).is_err(), "{end}");
        }
        assert!(BlockReader::default().next(&[5, 0, 0]).is_err());
    }
}
