//! Writing the terms of a segment.

use rusqlite::{CachedStatement, Connection};

use super::block::BlockWriter;

/// Writes the blocks of a segment into a table.
pub(crate) struct SegmentWriter<'a> {
    insert: CachedStatement<'a>,
    segment: i64,
    writer: BlockWriter,
    size: u64,
}

impl<'a> SegmentWriter<'a> {
    pub(crate) fn new(
        connection: &'a Connection,
        table: &str,
        segment: i64,
    ) -> rusqlite::Result<Self> {
        let sql = format!("INSERT INTO {table} (segment, term, data) VALUES (?, ?, ?)");
        let insert = connection.prepare_cached(&sql)?;
        Ok(Self { insert, segment, writer: BlockWriter::default(), size: 0 })
    }

    /// Adds a term; terms come in rising order.
    pub(crate) fn add(&mut self, term: &[u8], postings: &[u8]) -> rusqlite::Result<()> {
        match self.writer.add(term, postings) {
            Some(block) => self.insert(&block),
            None => Ok(()),
        }
    }

    /// Writes what is left; returns how large all blocks are.
    pub(crate) fn finish(mut self) -> rusqlite::Result<u64> {
        if let Some(block) = self.writer.take() {
            self.insert(&block)?;
        }
        Ok(self.size)
    }

    fn insert(&mut self, (term, data): &(Vec<u8>, Vec<u8>)) -> rusqlite::Result<()> {
        self.size += data.len() as u64;
        self.insert.execute((self.segment, term, data))?;
        Ok(())
    }
}
