//! Damage that SQLite does not see.

/// Why a question to an index has no answer.
#[derive(Debug)]
pub(crate) enum ReadError {
    Sqlite(rusqlite::Error),
    /// What is stored is none of what this crate writes.
    Malformed,
}

impl From<rusqlite::Error> for ReadError {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sqlite(error)
    }
}
