//! Writing a batch into the database.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use session_model::storage::StorageKey;

use super::batch::{Advance, Batch, NO_TIME, Texts};
use super::beginnings::TermWriter;
use super::state::{Shown, State};
use crate::inverted::{ReadError, SegmentWriter};

/// A segment that is to be written, beside its blocks.
#[derive(Debug, Default)]
pub(super) struct NewSegment {
    pub(super) first: i64,
    /// How many words each text has, in two bytes.
    pub(super) words: Vec<u8>,
    /// When each was written, in eight bytes.
    pub(super) times: Vec<u8>,
    /// How many texts have terms, and how many words all of them.
    pub(super) texts: u64,
    pub(super) all_words: u64,
    pub(super) latest: i64,
}

/// Writes a batch in one transaction.
///
/// Texts of sessions that somebody else advanced meanwhile are left without a session; the next
/// update looks at these again.
pub(super) fn write(connection: &mut Connection, batch: &mut Batch) -> Result<(), ReadError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let first: i64 = transaction
        .prepare_cached("SELECT coalesce(max(first + count), 1) FROM segment")?
        .query_row([], |row| row.get(0))?;
    if !batch.texts.is_empty() {
        let mut new = NewSegment { first, latest: NO_TIME, ..NewSegment::default() };
        for text in &batch.texts {
            new.words.extend_from_slice(&text.words.to_le_bytes());
            new.times.extend_from_slice(&text.written_ms.to_le_bytes());
            new.texts += 1;
            new.all_words += u64::from(text.words);
            new.latest = new.latest.max(text.written_ms);
        }
        let segment = new.segment_number(&transaction)?;
        let mut blocks = TermWriter::new(SegmentWriter::new(&transaction, "block", segment)?);
        let terms = std::mem::take(&mut batch.terms);
        terms.each(|term, postings| blocks.add(term, postings))?;
        let size = blocks.finish()?;
        new.insert(&transaction, segment, size)?;
    }
    for advance in &batch.advances {
        apply(&transaction, advance, batch, first)?;
    }
    Ok(transaction.commit()?)
}

impl NewSegment {
    /// The number of a new segment.
    pub(super) fn segment_number(&self, transaction: &Transaction<'_>) -> rusqlite::Result<i64> {
        transaction
            .prepare_cached("SELECT coalesce(max(segment), 0) + 1 FROM segment")?
            .query_row([], |row| row.get(0))
    }

    pub(super) fn insert(
        &self,
        transaction: &Transaction<'_>,
        segment: i64,
        size: u64,
    ) -> rusqlite::Result<()> {
        let count = self.words.len() as i64 / 2;
        transaction
            .prepare_cached("INSERT INTO segment VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")?
            .execute(params![
                segment,
                self.first,
                count,
                self.texts as i64,
                size as i64,
                self.all_words as i64,
                self.latest,
                self.words,
                self.times
            ])?;
        Ok(())
    }
}

/// Brings the rows of a session up to date; does nothing if it is not where the step begins.
fn apply(
    transaction: &Transaction<'_>,
    advance: &Advance,
    batch: &Batch,
    first: i64,
) -> rusqlite::Result<()> {
    let found: Option<(i64, i64, u64)> = transaction
        .prepare_cached("SELECT session, generation, indexed FROM session WHERE key = ?")?
        .query_row([advance.key.as_str()], |row| {
            Ok((row.get(0)?, row.get(1)?, row.get::<_, i64>(2)? as u64))
        })
        .optional()?;
    if found.map(|(_, generation, indexed)| (generation, indexed)) != advance.from {
        return Ok(());
    }
    let Some(to) = &advance.to else { return remove(transaction, &advance.key) };
    let session = match found {
        Some((session, generation, _)) => {
            if generation != to.generation {
                forget_texts(transaction, session, false)?;
            }
            forget_texts(transaction, session, true)?;
            session
        }
        None => insert_session(transaction, &advance.key)?,
    };
    update_session(transaction, session, to, advance.shown.as_ref())?;
    insert_texts(transaction, session, batch, first, (advance.texts, false))?;
    insert_texts(transaction, session, batch, first, (advance.open, true))
}

/// Adds texts of a batch, whose first has the number `first`, to a session.
fn insert_texts(
    transaction: &Transaction<'_>,
    session: i64,
    batch: &Batch,
    first: i64,
    (Texts { first: from, count, cut }, is_open): (Texts, bool),
) -> rusqlite::Result<()> {
    if count == 0 {
        return Ok(());
    }
    let first = first + i64::from(from);
    transaction
        .prepare_cached(
            "INSERT INTO part (first, count, session, cut, is_open) VALUES (?, ?, ?, ?, ?)",
        )?
        .execute((first, count, session, cut as i64, is_open))?;
    let mut insert = transaction.prepare_cached(
        "INSERT INTO text (text, offset, length, line, is_thought) VALUES (?, ?, ?, ?, ?)",
    )?;
    let texts = &batch.texts[from as usize..(from + count) as usize];
    for (number, text) in (first..).zip(texts) {
        let place = text.place;
        insert.execute((
            number,
            place.offset as i64,
            place.length as i64,
            place.line as i64,
            text.is_thought,
        ))?;
    }
    Ok(())
}

fn insert_session(transaction: &Transaction<'_>, key: &StorageKey) -> rusqlite::Result<i64> {
    transaction
        .prepare_cached(
            "INSERT INTO session (key, version, size, identity, fingerprint, generation, indexed,
             lines) VALUES (?, '', 0, '', 0, 0, 0, 0)",
        )?
        .insert([key.as_str()])
}

fn update_session(
    transaction: &Transaction<'_>,
    session: i64,
    to: &State,
    shown: Option<&Shown>,
) -> rusqlite::Result<()> {
    transaction
        .prepare_cached(
            "UPDATE session SET version = ?, size = ?, identity = ?, fingerprint = ?,
             generation = ?, indexed = ?, lines = ? WHERE session = ?",
        )?
        .execute(params![
            to.version,
            to.size as i64,
            to.identity,
            to.fingerprint,
            to.generation,
            to.indexed as i64,
            to.lines as i64,
            session
        ])?;
    if let Some(Shown { id, cwd, title, problem }) = shown {
        transaction
            .prepare_cached(
                "UPDATE session SET id = coalesce(?, id), cwd = coalesce(?, cwd), title = ?,
                 problem = ? WHERE session = ?",
            )?
            .execute(params![id, cwd, title, problem, session])?;
    }
    Ok(())
}

/// Removes a session with its texts; their terms stay until segments are merged.
pub(super) fn remove(transaction: &Transaction<'_>, key: &StorageKey) -> rusqlite::Result<()> {
    let session: Option<i64> = transaction
        .prepare_cached("SELECT session FROM session WHERE key = ?")?
        .query_row([key.as_str()], |row| row.get(0))
        .optional()?;
    let Some(session) = session else { return Ok(()) };
    forget_texts(transaction, session, false)?;
    transaction.prepare_cached("DELETE FROM session WHERE session = ?")?.execute([session])?;
    Ok(())
}

/// Removes the texts of a session, or those only of a last line that had no end.
fn forget_texts(
    transaction: &Transaction<'_>,
    session: i64,
    only_open: bool,
) -> rusqlite::Result<()> {
    let parts: Vec<(i64, i64)> = transaction
        .prepare_cached("SELECT first, count FROM part WHERE session = ? AND is_open >= ?")?
        .query_map((session, only_open), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    let mut delete = transaction.prepare_cached("DELETE FROM text WHERE text >= ? AND text < ?")?;
    for (first, count) in parts {
        delete.execute((first, first.saturating_add(count)))?;
    }
    transaction
        .prepare_cached("DELETE FROM part WHERE session = ? AND is_open >= ?")?
        .execute((session, only_open))?;
    Ok(())
}
