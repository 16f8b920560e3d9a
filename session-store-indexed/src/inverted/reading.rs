//! Reading the terms of a segment: some of them, or one after the other.

use std::ops::Range;

use rusqlite::Connection;

use super::block::BlockReader;
use super::error::ReadError;
use super::postings::read_postings;

/// What is looked for.
#[derive(Clone, Debug)]
pub(crate) struct Wanted<'a> {
    pub(crate) term: &'a str,
    /// Whether terms that begin so will do.
    pub(crate) is_beginning: bool,
}

/// Gives the texts of a segment that have a term, with how often they have it, and whether that is
/// the whole term; a text can come several times, for several terms.
pub(crate) fn each_posting(
    connection: &Connection,
    table: &str,
    segment: i64,
    wanted: &Wanted<'_>,
    mut found: impl FnMut(u32, u32, bool),
) -> Result<(), ReadError> {
    let term = wanted.term.as_bytes();
    let mut end = term.to_vec();
    // No term holds these bytes.
    end.push(if wanted.is_beginning { 0xff } else { 0 });
    let mut statement = connection.prepare_cached(&format!(
        "SELECT data FROM {table} WHERE segment = ?1 AND term < ?3 AND term >= coalesce(
             (SELECT max(term) FROM {table} WHERE segment = ?1 AND term <= ?2), x'')
         ORDER BY term",
    ))?;
    let mut blocks = statement.query((segment, term, end))?;
    while let Some(row) = blocks.next()? {
        let block = row.get_ref(0)?.as_blob().map_err(rusqlite::Error::from)?;
        let mut reader = BlockReader::default();
        while let Some(postings) = reader.next(block)? {
            let is_whole = match reader.term().strip_prefix(term) {
                Some([]) => true,
                Some(_) if wanted.is_beginning => false,
                None if reader.term() < term => continue,
                _ => break,
            };
            read_postings(&block[postings], |text, times| found(text, times, is_whole))?;
        }
    }
    Ok(())
}

/// Goes through the terms of a segment, block by block.
pub(crate) struct SegmentReader {
    next_block: String,
    blocks: std::vec::IntoIter<i64>,
    block: Vec<u8>,
    reader: BlockReader,
    postings: Range<usize>,
    term: Option<Vec<u8>>,
}

impl SegmentReader {
    /// Goes to the first term.
    pub(crate) fn open(
        connection: &Connection,
        table: &str,
        segment: i64,
    ) -> Result<Self, ReadError> {
        let sql = format!("SELECT block FROM {table} WHERE segment = ? ORDER BY term");
        let blocks: Vec<i64> = connection
            .prepare_cached(&sql)?
            .query_map([segment], |row| row.get(0))?
            .collect::<rusqlite::Result<_>>()?;
        let mut reader = Self {
            next_block: format!("SELECT data FROM {table} WHERE block = ?"),
            blocks: blocks.into_iter(),
            block: Vec::new(),
            reader: BlockReader::default(),
            postings: 0..0,
            term: None,
        };
        reader.step(connection)?;
        Ok(reader)
    }

    /// Goes to the next term.
    pub(crate) fn step(&mut self, connection: &Connection) -> Result<(), ReadError> {
        loop {
            if let Some(postings) = self.reader.next(&self.block)? {
                self.postings = postings;
                let term = self.term.get_or_insert_default();
                term.clear();
                term.extend_from_slice(self.reader.term());
                return Ok(());
            }
            let Some(block) = self.blocks.next() else {
                self.term = None;
                return Ok(());
            };
            self.reader = BlockReader::default();
            self.block = connection
                .prepare_cached(&self.next_block)?
                .query_row([block], |row| row.get(0))?;
        }
    }

    /// Returns the term it is at; `None` at the end.
    pub(crate) fn term(&self) -> Option<&[u8]> {
        self.term.as_deref()
    }

    /// Returns the texts that have the term it is at, as they are stored.
    pub(crate) fn postings(&self) -> &[u8] {
        &self.block[self.postings.clone()]
    }
}
