//! An index of the prompts for fast answers, beside that of the other tools.
//!
//! Prompts that were indexed together are a *segment*: their ids, in the order of their times, and
//! which of them have which terms. Prompts that came since are looked at one by one, until they are
//! enough for a segment; so are prompts that were changed, which triggers note. Who does not know
//! these tables can leave them alone: whatever is done to the prompts, the answers stay right.

mod catch_up;
mod find;
mod merge;
mod terms;
#[cfg(test)]
mod tests;

use rusqlite::{Connection, ErrorCode, TransactionBehavior};

use super::read;
use super::words::Words;
use super::{HistoryEntry, HistoryScope};
use crate::inverted::ReadError;

/// The table of blocks; see [`crate::inverted`].
const BLOCKS: &str = "history_search_block";

const NAMES: [(&str, &str); 5] = [
    ("TRIGGER", "history_search_ai"),
    ("TRIGGER", "history_search_au"),
    ("TABLE", "history_search_segment"),
    ("TABLE", "history_search_block"),
    ("TABLE", "history_search_changed"),
];

/// The triggers must not depend on how the statements of other tools handle conflicts.
const CREATE: &str = "
CREATE TABLE history_search_segment (
    segment INTEGER PRIMARY KEY,
    level INTEGER NOT NULL,
    first INTEGER NOT NULL,
    last INTEGER NOT NULL,
    newest,
    ids BLOB NOT NULL
);
CREATE INDEX history_search_last ON history_search_segment(last);
CREATE TABLE history_search_block (
    block INTEGER PRIMARY KEY,
    segment INTEGER NOT NULL,
    term BLOB NOT NULL,
    data BLOB NOT NULL
);
CREATE INDEX history_search_term ON history_search_block(segment, term);
CREATE TABLE history_search_changed (id INTEGER PRIMARY KEY);
CREATE TRIGGER history_search_ai AFTER INSERT ON history
WHEN new.id <= (SELECT max(last) FROM history_search_segment) BEGIN
    INSERT INTO history_search_changed SELECT new.id
        WHERE NOT EXISTS (SELECT 1 FROM history_search_changed WHERE id = new.id);
END;
CREATE TRIGGER history_search_au AFTER UPDATE ON history BEGIN
    INSERT INTO history_search_changed SELECT new.id
        WHERE NOT EXISTS (SELECT 1 FROM history_search_changed WHERE id = new.id);
END;
";

/// Tells whether the index is there and was kept in step.
pub(super) fn is_complete(connection: &Connection) -> rusqlite::Result<bool> {
    let names = NAMES.map(|(_, name)| format!("'{name}'")).join(", ");
    let count: i64 = connection
        .prepare_cached(&format!(
            "SELECT count(*) FROM sqlite_schema
             WHERE name IN ({names}) AND (type = 'table' OR tbl_name = 'history')"
        ))?
        .query_row([], |row| row.get(0))?;
    Ok(count == NAMES.len() as i64)
}

/// Makes the index anew, empty.
pub(super) fn create(connection: &Connection) -> rusqlite::Result<()> {
    for (kind, name) in NAMES {
        connection.execute_batch(&format!("DROP {kind} IF EXISTS {name}"))?;
    }
    connection.execute_batch(CREATE)
}

/// Indexes what came since, if it is much.
pub(super) fn catch_up(connection: &mut Connection) -> rusqlite::Result<()> {
    match catch_up::catch_up(connection) {
        Err(ReadError::Malformed) => empty(connection),
        Err(ReadError::Sqlite(error)) => Err(error),
        Ok(()) => Ok(()),
    }
}

/// Returns the newest prompts of `scope` that hold all `words`.
pub(super) fn search(
    connection: &mut Connection,
    words: &Words,
    limit: usize,
    scope: HistoryScope<'_>,
) -> rusqlite::Result<Vec<HistoryEntry>> {
    let limit = limit.min(read::LARGEST_LIMIT);
    // Nobody waits for a search while another program writes.
    let patience: i64 = connection.pragma_query_value(None, "busy_timeout", |row| row.get(0))?;
    connection.pragma_update(None, "busy_timeout", 0)?;
    let caught_up = catch_up(connection);
    connection.pragma_update(None, "busy_timeout", patience)?;
    match caught_up {
        Err(error) if is_denied(&error) => {
            tracing::debug!(%error, "the prompts are searched as far as they are indexed");
        }
        caught_up => caught_up?,
    }
    match find::find(connection, words, limit, scope) {
        Ok(Some(found)) => Ok(found),
        Ok(None) => read::search(connection, words, limit, scope),
        Err(ReadError::Sqlite(error)) => Err(error),
        Err(ReadError::Malformed) => {
            empty(connection)?;
            read::search(connection, words, limit, scope)
        }
    }
}

/// Tells whether the database could not be written for a reason that does not keep it from being
/// read.
fn is_denied(error: &rusqlite::Error) -> bool {
    use ErrorCode::{DatabaseBusy, DatabaseLocked, DiskFull, ReadOnly};
    let code = error.sqlite_error_code();
    matches!(code, Some(DatabaseBusy | DatabaseLocked | DiskFull | ReadOnly))
}

fn empty(connection: &mut Connection) -> rusqlite::Result<()> {
    tracing::warn!("the index of the prompts is malformed; it is made again");
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    create(&transaction)?;
    transaction.commit()
}

/// Returns ids as they are stored: runs of ids that follow each other, each its first one and how
/// many they are.
fn to_bytes(ids: &[i64]) -> Vec<u8> {
    let runs = ids.chunk_by(|id, next| id.checked_add(1) == Some(*next));
    runs.flat_map(|run| [run[0].to_le_bytes(), (run.len() as i64).to_le_bytes()])
        .flatten()
        .collect()
}

/// The runs of ids that are stored.
fn runs(bytes: &[u8]) -> Result<impl Iterator<Item = (i64, i64)>, ReadError> {
    let (numbers, []) = bytes.as_chunks::<8>() else { return Err(ReadError::Malformed) };
    let (runs, []) = numbers.as_chunks::<2>() else { return Err(ReadError::Malformed) };
    let runs = runs.iter().map(|run| (i64::from_le_bytes(run[0]), i64::from_le_bytes(run[1])));
    let mut all = 0;
    let is_sound = runs.clone().all(|(first, len)| {
        let is_sound = (1..=MOST - all).contains(&len) && first.checked_add(len).is_some();
        all += if is_sound { len } else { 0 };
        is_sound
    });
    if is_sound { Ok(runs) } else { Err(ReadError::Malformed) }
}

fn from_bytes(bytes: &[u8]) -> Result<Vec<i64>, ReadError> {
    Ok(runs(bytes)?.flat_map(|(first, len)| first..first + len).collect())
}

/// A greater number of prompts in a segment is damage.
const MOST: i64 = 1 << 30;

/// Stands for a prompt that has another place by now.
const MOVED: i64 = i64::MIN;

/// Returns ids as SQL takes a list.
fn list_of(ids: &[i64]) -> String {
    let ids: Vec<String> = ids.iter().map(i64::to_string).collect();
    format!("[{}]", ids.join(","))
}
