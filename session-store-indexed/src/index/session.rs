//! What the index knows of a session.

use rusqlite::Row;
use session_model::message::UsageTotals;
use session_model::storage::StorageKey;

/// A session as the index knows it; it may lag behind the file.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct IndexedSession {
    /// The key of its file.
    pub key: StorageKey,
    /// The session's id.
    pub id: Option<String>,
    /// The directory the session works in.
    pub cwd: Option<String>,
    /// Where the session comes from: an id or a path.
    pub parent_session: Option<String>,
    /// The session's title.
    pub title: Option<String>,
    /// When it was made, in milliseconds since the epoch.
    pub created_ms: Option<i64>,
    /// When somebody last said something, in milliseconds since the epoch.
    pub activity_ms: Option<i64>,
    /// How the conversation stands, as
    /// [`SessionStatus::as_str`](session_model::summary::SessionStatus::as_str) says it.
    pub status: String,
    /// Why the file is no session, if it is none.
    pub problem: Option<String>,
    /// When the file was changed, in milliseconds since the epoch.
    pub modified_ms: i64,
    /// The size of the file in bytes when it was last looked at.
    pub size: u64,
    /// How often the file was read from its beginning; a rewritten file begins a new generation.
    pub generation: u64,
    /// How many bytes of the file are indexed: whole lines only.
    pub indexed: u64,
    /// How many entries these hold.
    pub entries: u64,
    /// How many of them are messages, of all branches.
    pub messages: u64,
    /// The id of the last entry.
    pub leaf: Option<String>,
    /// Tokens and cost of all requests.
    pub usage: UsageTotals,
}

/// The columns [`IndexedSession::read`] takes, in its order.
pub(super) const COLUMNS: &str = "key, id, cwd, parent, title, created, activity, status, problem, \
    modified, size, generation, indexed, entries, messages, leaf, \
    input, output, cache_read, cache_write, premium_requests, cost";

impl IndexedSession {
    /// Reads a row of [`COLUMNS`]; `None` if its key is none, as only a foreign hand writes it.
    pub(super) fn read(row: &Row<'_>) -> rusqlite::Result<Option<Self>> {
        let Ok(key) = StorageKey::new(row.get_ref(0)?.as_str()?) else { return Ok(None) };
        let number = |at| row.get::<_, i64>(at).map(|number| number as u64);
        Ok(Some(Self {
            key,
            id: row.get(1)?,
            cwd: row.get(2)?,
            parent_session: row.get(3)?,
            title: row.get(4)?,
            created_ms: row.get(5)?,
            activity_ms: row.get(6)?,
            status: row.get(7)?,
            problem: row.get(8)?,
            modified_ms: row.get(9)?,
            size: number(10)?,
            generation: number(11)?,
            indexed: number(12)?,
            entries: number(13)?,
            messages: number(14)?,
            leaf: row.get(15)?,
            usage: UsageTotals {
                input: number(16)?,
                output: number(17)?,
                cache_read: number(18)?,
                cache_write: number(19)?,
                premium_requests: row.get(20)?,
                cost: row.get(21)?,
            },
        }))
    }
}
