//! Adding entries: where each lies in its file, and which one it hangs from.

use rusqlite::{OptionalExtension, Transaction, params};

/// How many entries are added by one statement, which takes a third of the time of as many
/// statements.
const ROWS: usize = 64;

/// An entry to be added.
#[derive(Clone, Debug)]
pub(super) struct NewEntry {
    pub(super) id: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) kind: String,
    pub(super) offset: u64,
    pub(super) length: u64,
}

impl NewEntry {
    /// The id of the entry it hangs from; an entry that names itself is a root.
    fn parent(&self) -> Option<&str> {
        self.parent.as_deref().filter(|parent| self.id.as_deref() != Some(*parent))
    }
}

/// Adds entries from a place on; tells whether each has an id of its own and hangs from an earlier
/// one.
pub(super) fn add(
    transaction: &Transaction<'_>,
    session: i64,
    first: u64,
    entries: &[NewEntry],
) -> rusqlite::Result<bool> {
    let mut is_regular = true;
    let mut add = Add { transaction, session, first: first as i64 };
    for entries in entries.chunks(ROWS) {
        let all = if entries.len() == ROWS { add.all(entries)? } else { None };
        is_regular &= all.map_or_else(|| add.each(entries), Ok)?;
        add.first += entries.len() as i64;
    }
    Ok(is_regular)
}

struct Add<'a> {
    transaction: &'a Transaction<'a>,
    session: i64,
    /// The place of the first entry.
    first: i64,
}

impl Add<'_> {
    /// Adds [`ROWS`] entries; `None` and nothing added if one of their ids is taken.
    fn all(&self, entries: &[NewEntry]) -> rusqlite::Result<Option<bool>> {
        let mut is_regular = true;
        let rows = vec!["(?1, ?, ?, ?, ?, ?, ?)"; ROWS].join(", ");
        let mut insert = self
            .transaction
            .prepare_cached(&format!("INSERT OR IGNORE INTO entry VALUES {rows}"))?;
        insert.raw_bind_parameter(1, self.session)?;
        let mut at = 2;
        for (number, entry) in entries.iter().enumerate() {
            let parent = match entry.parent() {
                None => None,
                Some(parent) => {
                    let before = entries[..number]
                        .iter()
                        .rposition(|entry| entry.id.as_deref() == Some(parent));
                    let found = match before {
                        Some(before) => Some(self.first + before as i64),
                        None => self.find(parent)?,
                    };
                    is_regular &= found.is_some();
                    found
                }
            };
            is_regular &= entry.id.is_some();
            insert.raw_bind_parameter(at, self.first + number as i64)?;
            insert.raw_bind_parameter(at + 1, entry.id.as_deref())?;
            insert.raw_bind_parameter(at + 2, parent)?;
            insert.raw_bind_parameter(at + 3, entry.kind.as_str())?;
            insert.raw_bind_parameter(at + 4, entry.offset as i64)?;
            insert.raw_bind_parameter(at + 5, entry.length as i64)?;
            at += 6;
        }
        if insert.raw_execute()? == ROWS {
            return Ok(Some(is_regular));
        }
        self.transaction
            .prepare_cached("DELETE FROM entry WHERE session = ? AND ordinal >= ?")?
            .execute((self.session, self.first))?;
        Ok(None)
    }

    /// Adds entries one by one.
    fn each(&self, entries: &[NewEntry]) -> rusqlite::Result<bool> {
        let mut insert = self
            .transaction
            .prepare_cached("INSERT OR IGNORE INTO entry VALUES (?, ?, ?, ?, ?, ?, ?)")?;
        let mut is_regular = true;
        let mut previous: Option<(&str, i64)> = None;
        for (ordinal, entry) in (self.first..).zip(entries) {
            let parent = match entry.parent() {
                None => None,
                Some(parent) => {
                    let found = match previous.filter(|(id, _)| *id == parent) {
                        Some((_, at)) => Some(at),
                        None => self.find(parent)?,
                    };
                    is_regular &= found.is_some();
                    found
                }
            };
            let added = insert.execute(params![
                self.session,
                ordinal,
                entry.id,
                parent,
                entry.kind,
                entry.offset as i64,
                entry.length as i64,
            ])?;
            is_regular &= added == 1 && entry.id.is_some();
            // Of entries with one id the first counts, whatever stands in between.
            previous = entry.id.as_deref().filter(|_| added == 1).map(|id| (id, ordinal));
        }
        Ok(is_regular)
    }

    fn find(&self, id: &str) -> rusqlite::Result<Option<i64>> {
        self.transaction
            .prepare_cached("SELECT ordinal FROM entry WHERE session = ? AND id = ?")?
            .query_row((self.session, id), |row| row.get(0))
            .optional()
    }
}
