//! Indexing the prompts that came since, or were changed.

use std::collections::HashSet;

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};

use super::super::HistoryEntry;
use super::super::cutter::Cutter;
use super::terms::terms_of;
use super::{BLOCKS, MOVED, from_bytes, list_of, merge, to_bytes};
use crate::inverted::{ReadError, SegmentWriter};

/// So many prompts that are not indexed are looked at one by one; more get a segment.
const ENOUGH: usize = if cfg!(test) { 4 } else { 512 };

/// So many get one segment, in one transaction, so that other programs need not wait for long.
const AT_ONCE: usize = if cfg!(test) { 10 } else { 8192 };

/// The prompts that are not indexed.
#[derive(Debug, Default)]
pub(super) struct Pending {
    /// Those that may have been indexed before, and are not any more what they were; they may be
    /// gone.
    pub(super) changed: Vec<i64>,
    /// Those that came since.
    pub(super) new: Vec<i64>,
}

impl Pending {
    /// Returns them, at most so many of each.
    pub(super) fn read(connection: &Connection, limit: usize) -> rusqlite::Result<Self> {
        let ids = |sql: &str| -> rusqlite::Result<Vec<i64>> {
            let mut statement = connection.prepare_cached(sql)?;
            statement.query_map([limit as i64], |row| row.get(0))?.collect::<rusqlite::Result<_>>()
        };
        Ok(Self {
            changed: ids("SELECT id FROM history_search_changed LIMIT ?")?,
            new: ids("SELECT id FROM history WHERE id >
                 coalesce((SELECT max(last) FROM history_search_segment), -9223372036854775808)
                 ORDER BY id LIMIT ?")?,
        })
    }

    fn is_enough(&self) -> bool {
        self.changed.len() + self.new.len() >= ENOUGH
    }
}

/// Indexes what is pending, unless it is little.
pub(super) fn catch_up(connection: &mut Connection) -> Result<(), ReadError> {
    if !super::is_complete(connection)? {
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        super::create(&transaction)?;
        transaction.commit()?;
    }
    let mut cutter = None;
    while Pending::read(connection, ENOUGH)?.is_enough() {
        let cutter = match &mut cutter {
            Some(cutter) => cutter,
            None => cutter.insert(Cutter::new()?),
        };
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        let pending = Pending::read(&transaction, AT_ONCE)?;
        if pending.is_enough() {
            index(&transaction, pending, cutter)?;
            merge::merge(&transaction)?;
        }
        transaction.commit()?;
    }
    Ok(())
}

fn index(
    transaction: &Transaction<'_>,
    pending: Pending,
    cutter: &Cutter,
) -> Result<(), ReadError> {
    forget(transaction, &pending.changed)?;
    let last: Option<i64> = transaction
        .query_row("SELECT max(last) FROM history_search_segment", [], |row| row.get(0))
        .optional()?
        .flatten();
    // Beyond it they are new ones, whose turn may not have come.
    let mut ids = pending.changed;
    ids.retain(|id| last.is_some_and(|last| *id <= last));
    ids.extend(pending.new);
    let entries: Vec<HistoryEntry> = transaction
        .prepare_cached(&format!(
            "SELECT {} FROM json_each(?) AS list CROSS JOIN history AS h ON h.id = list.value
             ORDER BY h.created_at, h.id",
            HistoryEntry::COLUMNS
        ))?
        .query_map([list_of(&ids)], HistoryEntry::from_row)?
        .collect::<rusqlite::Result<_>>()?;
    let terms = terms_of(&entries, cutter)?;
    let ids: Vec<i64> = entries.iter().map(|entry| entry.id).collect();
    let level = i64::from(ids.len() >= AT_ONCE);
    write(transaction, level, &ids, |writer| {
        Ok(terms.each(|term, postings| writer.add(term, postings))?)
    })
}

/// Writes a segment of prompts, which are in the order of their times.
pub(super) fn write(
    transaction: &Transaction<'_>,
    level: i64,
    ids: &[i64],
    terms: impl FnOnce(&mut SegmentWriter<'_>) -> Result<(), ReadError>,
) -> Result<(), ReadError> {
    let (Some(first), Some(last), Some(newest)) = (ids.iter().min(), ids.iter().max(), ids.last())
    else {
        return Ok(());
    };
    let segment = transaction
        .prepare_cached(
            "INSERT INTO history_search_segment (level, first, last, newest, ids)
             VALUES (?, ?, ?, (SELECT created_at FROM history WHERE id = ?), ?)",
        )?
        .insert(params![level, first, last, newest, to_bytes(ids)])?;
    let mut writer = SegmentWriter::new(transaction, BLOCKS, segment)?;
    terms(&mut writer)?;
    writer.finish()?;
    Ok(())
}

/// Takes prompts out of the segments they are in.
fn forget(transaction: &Transaction<'_>, changed: &[i64]) -> Result<(), ReadError> {
    let changed: HashSet<i64> = changed.iter().copied().collect();
    let (Some(first), Some(last)) = (changed.iter().min(), changed.iter().max()) else {
        return Ok(());
    };
    let segments: Vec<(i64, Vec<u8>)> = transaction
        .prepare_cached(
            "SELECT segment, ids FROM history_search_segment WHERE first <= ? AND last >= ?",
        )?
        .query_map((last, first), |row| Ok((row.get(0)?, row.get(1)?)))?
        .collect::<rusqlite::Result<_>>()?;
    for (segment, ids) in segments {
        let mut ids = from_bytes(&ids)?;
        let moved = ids.iter_mut().filter(|id| changed.contains(id));
        if moved.map(|id| *id = MOVED).count() > 0 {
            transaction
                .prepare_cached("UPDATE history_search_segment SET ids = ? WHERE segment = ?")?
                .execute((to_bytes(&ids), segment))?;
        }
    }
    let mut delete =
        transaction.prepare_cached("DELETE FROM history_search_changed WHERE id = ?")?;
    for id in changed {
        delete.execute([id])?;
    }
    Ok(())
}
