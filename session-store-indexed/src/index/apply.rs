//! Writing what was read of the files into the database.

use rusqlite::{Connection, OptionalExtension, Transaction, TransactionBehavior, params};
use session_model::message::UsageTotals;
use session_model::storage::StorageKey;

use super::entries::{self, NewEntry};
use super::summaries::{self, Noted};
use crate::outbox::{self, Outgoing};

/// How far a session is indexed, and what was found so far.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Known {
    pub(crate) version: String,
    pub(crate) size: u64,
    pub(crate) modified_ms: i64,
    pub(crate) identity: String,
    pub(crate) fingerprint: i64,
    pub(crate) generation: u64,
    pub(crate) indexed: u64,
    pub(crate) entries: u64,
    pub(crate) messages: u64,
    pub(crate) leaf: Option<String>,
    pub(crate) regular: bool,
    pub(crate) usage: UsageTotals,
}

/// What a list shows of a session.
#[derive(Clone, Debug, Default)]
pub(super) struct Shown {
    pub(super) id: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) parent: Option<String>,
    pub(super) title: Option<String>,
    pub(super) created_ms: Option<i64>,
    pub(super) activity_ms: Option<i64>,
    pub(super) status: &'static str,
    pub(super) problem: Option<String>,
    /// What is kept for lists; `None` if that must be found out again.
    pub(super) noted: Option<Noted>,
}

/// A step of one session.
#[derive(Clone, Debug)]
pub(super) enum Change {
    /// There is no such session any more; it may have been moved.
    Remove(StorageKey, Option<StorageKey>),
    /// A part of a session was read.
    Advance(Box<Advance>),
}

/// What reading a part of a session found.
#[derive(Clone, Debug)]
pub(super) struct Advance {
    pub(super) key: StorageKey,
    /// Generation and indexed offset before; `None` for a session that was not known.
    pub(super) from: Option<(u64, u64)>,
    pub(super) to: Known,
    pub(super) entries: Vec<NewEntry>,
    /// What a list shows, once the end was reached.
    pub(super) shown: Option<Shown>,
}

impl Advance {
    /// The generation, and the range of the file that is new in the index.
    fn added(&self) -> Option<(u64, (u64, u64))> {
        let before = self.from.filter(|(generation, _)| *generation == self.to.generation);
        let start = before.map_or(0, |(_, indexed)| indexed);
        let is_cut = self.from.is_some() && before.is_none();
        (self.to.indexed > start || is_cut)
            .then_some((self.to.generation, (start, self.to.indexed)))
    }
}

/// Returns how far a session is indexed.
pub(crate) fn known(connection: &Connection, key: &StorageKey) -> rusqlite::Result<Option<Known>> {
    connection
        .prepare_cached(
            "SELECT version, size, modified, identity, fingerprint, generation, indexed, entries,
             messages, leaf, regular, input, output, cache_read, cache_write, premium_requests,
             cost FROM session WHERE key = ?",
        )?
        .query_row([key.as_str()], |row| {
            let number = |at| row.get::<_, i64>(at).map(|number| number as u64);
            Ok(Known {
                version: row.get(0)?,
                size: number(1)?,
                modified_ms: row.get(2)?,
                identity: row.get(3)?,
                fingerprint: row.get(4)?,
                generation: number(5)?,
                indexed: number(6)?,
                entries: number(7)?,
                messages: number(8)?,
                leaf: row.get(9)?,
                regular: row.get(10)?,
                usage: UsageTotals {
                    input: number(11)?,
                    output: number(12)?,
                    cache_read: number(13)?,
                    cache_write: number(14)?,
                    premium_requests: row.get(15)?,
                    cost: row.get(16)?,
                },
            })
        })
        .optional()
}

/// Writes changes in one transaction, and what is to be published of them; returns the sessions
/// that somebody else advanced meanwhile.
pub(super) fn apply(
    connection: &mut Connection,
    changes: &[Change],
    outgoing: &Outgoing,
) -> rusqlite::Result<Vec<StorageKey>> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    let publishes = outbox::is_publishing(&transaction)?;
    let now = outgoing.now_ms;
    // Before the lines that name them.
    for object in outgoing.objects.iter().filter(|_| publishes) {
        outbox::add_object(&transaction, object, now)?;
    }
    let mut overtaken = Vec::new();
    for change in changes {
        match change {
            Change::Remove(key, moved_to) => {
                remove(&transaction, key)?;
                if publishes {
                    outbox::add_gone(&transaction, key, moved_to.as_ref(), now)?;
                }
            }
            Change::Advance(advance) => {
                if !advance_session(&transaction, advance)? {
                    overtaken.push(advance.key.clone());
                } else if publishes && let Some((generation, range)) = advance.added() {
                    outbox::add_log(&transaction, &advance.key, generation, range, now)?;
                }
            }
        }
    }
    transaction.commit()?;
    Ok(overtaken)
}

fn remove(transaction: &Transaction<'_>, key: &StorageKey) -> rusqlite::Result<()> {
    let session = "(SELECT session FROM session WHERE key = ?)";
    transaction
        .prepare_cached(&format!("DELETE FROM entry WHERE session = {session}"))?
        .execute([key.as_str()])?;
    transaction.prepare_cached("DELETE FROM session WHERE key = ?")?.execute([key.as_str()])?;
    summaries::forget(transaction, key.as_str())
}

/// Answers `false`, and changes nothing, if the session is not where the change begins.
fn advance_session(transaction: &Transaction<'_>, advance: &Advance) -> rusqlite::Result<bool> {
    let found = transaction
        .prepare_cached("SELECT session, generation, indexed FROM session WHERE key = ?")?
        .query_row([advance.key.as_str()], |row| {
            Ok((row.get::<_, i64>(0)?, row.get::<_, i64>(1)? as u64, row.get::<_, i64>(2)? as u64))
        })
        .optional()?;
    if found.map(|(_, generation, indexed)| (generation, indexed)) != advance.from {
        return Ok(false);
    }
    let session = match found {
        Some((session, ..)) => session,
        None => {
            transaction
                .prepare_cached(
                    "INSERT INTO session (key, status, modified, size, version, identity,
                     fingerprint, generation, indexed, entries, messages, regular, input, output,
                     cache_read, cache_write, premium_requests, cost)
                     VALUES (?, 'unknown', 0, 0, '', '', 0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0)",
                )?
                .execute([advance.key.as_str()])?;
            transaction.last_insert_rowid()
        }
    };
    if found.is_some_and(|(_, generation, _)| generation != advance.to.generation) {
        transaction.prepare_cached("DELETE FROM entry WHERE session = ?")?.execute([session])?;
    }
    let to = &advance.to;
    let first = to.entries - advance.entries.len() as u64;
    let is_regular = entries::add(transaction, session, first, &advance.entries)?;
    transaction
        .prepare_cached(
            "UPDATE session SET version = ?, size = ?, modified = ?, identity = ?,
             fingerprint = ?, generation = ?, indexed = ?, entries = ?, messages = ?, leaf = ?,
             regular = ?, input = ?, output = ?, cache_read = ?, cache_write = ?,
             premium_requests = ?, cost = ? WHERE session = ?",
        )?
        .execute(params![
            to.version,
            to.size as i64,
            to.modified_ms,
            to.identity,
            to.fingerprint,
            to.generation as i64,
            to.indexed as i64,
            to.entries as i64,
            to.messages as i64,
            to.leaf,
            to.regular && is_regular && was_regular(transaction, session, first)?,
            to.usage.input as i64,
            to.usage.output as i64,
            to.usage.cache_read as i64,
            to.usage.cache_write as i64,
            to.usage.premium_requests,
            to.usage.cost,
            session,
        ])?;
    if let Some(shown) = &advance.shown {
        transaction
            .prepare_cached(
                "UPDATE session SET id = ?, cwd = ?, parent = ?, title = ?, created = ?,
                 activity = ?, status = ?, problem = ? WHERE session = ?",
            )?
            .execute(params![
                shown.id,
                shown.cwd,
                shown.parent,
                shown.title,
                shown.created_ms,
                shown.activity_ms,
                shown.status,
                shown.problem,
                session,
            ])?;
        summaries::keep(transaction, advance.key.as_str(), shown.noted.as_ref())?;
    }
    Ok(true)
}

/// Tells whether all earlier parts of the same generation were regular.
fn was_regular(transaction: &Transaction<'_>, session: i64, first: u64) -> rusqlite::Result<bool> {
    if first == 0 {
        return Ok(true);
    }
    transaction
        .prepare_cached("SELECT regular FROM session WHERE session = ?")?
        .query_row([session], |row| row.get(0))
}
