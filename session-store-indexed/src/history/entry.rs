//! What is kept of a prompt, and where to look for it.

use rusqlite::Row;
use rusqlite::types::ValueRef;

/// A prompt of the history.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct HistoryEntry {
    /// The row in the database; later prompts have greater ones.
    pub id: i64,
    /// The text, without white space around it.
    pub prompt: String,
    /// When it was typed, in seconds since 1970.
    pub created_at: i64,
    /// The working directory it was typed in, if known.
    pub cwd: Option<String>,
    /// The session it was typed in, if known.
    pub session_id: Option<String>,
}

/// Which prompts a search looks at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum HistoryScope<'a> {
    /// All of them.
    #[default]
    Global,
    /// Those typed in this working directory, spelled the same.
    Cwd(&'a str),
    /// Those typed in the session with this id.
    Session(&'a str),
}

impl HistoryEntry {
    /// The columns [`from_row`](Self::from_row) reads, in order, of a table named `h`.
    pub(super) const COLUMNS: &'static str = "h.id, h.prompt, h.created_at, h.cwd, h.session_id";

    /// Reads a row, whatever types another program may have stored: one odd value must not hide
    /// the other rows.
    pub(super) fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        Ok(Self {
            id: row.get(0)?,
            prompt: text(row.get_ref(1)?).unwrap_or_default(),
            created_at: seconds(row.get_ref(2)?),
            cwd: text(row.get_ref(3)?),
            session_id: text(row.get_ref(4)?),
        })
    }
}

fn text(value: ValueRef<'_>) -> Option<String> {
    match value {
        ValueRef::Null => None,
        ValueRef::Integer(number) => Some(number.to_string()),
        ValueRef::Real(number) => Some(number.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Some(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}

fn seconds(value: ValueRef<'_>) -> i64 {
    match value {
        ValueRef::Integer(number) => number,
        ValueRef::Real(number) => number as i64,
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            std::str::from_utf8(bytes).ok().and_then(|text| text.parse().ok()).unwrap_or(0)
        }
        ValueRef::Null => 0,
    }
}
