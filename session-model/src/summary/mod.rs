//! What a list shows of a session, from a bounded part of its file.

mod activity;
mod cut;
mod first_message;
mod glance;
mod json;
mod parts;
mod read;
mod status;
#[cfg(test)]
mod tests;
mod title;

use crate::Diagnostic;
use crate::document::LoadError;
use crate::time;

pub use activity::{Activity, ActivityOrigin};
pub use parts::FileParts;
use read::Records;
pub use status::SessionStatus;
pub use title::{Title, TitleOrigin};

/// How many bytes of a file's beginning a list reads.
pub const HEAD_BYTES: u64 = 4 << 10;

/// How many bytes of a file's end a list reads.
pub const TAIL_BYTES: u64 = 32 << 10;

/// What is known of a session without reading all of it.
///
/// ```
/// use session_model::summary::{FileParts, SessionStatus, SessionSummary};
///
/// let file = concat!(
///     r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#, "\n",
///     r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:05.000Z","#,
///     r#""message":{"role":"user","content":"fix the login"}}"#, "\n",
/// );
/// let summary = SessionSummary::from_parts(&FileParts::whole(file))?;
/// assert_eq!(summary.title.unwrap().text, "fix the login");
/// assert_eq!(summary.activity.unwrap().at_ms, 1_767_225_605_000);
/// assert_eq!(summary.status, SessionStatus::Pending);
/// assert!(summary.message_count_is_exact);
/// # Ok::<(), session_model::summary::SummaryError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SessionSummary {
    /// The session's id; empty if the header's is.
    pub id: String,
    /// The format version of the file; 1 if it names none.
    pub version: f64,
    /// The directory the session works in.
    pub cwd: Option<String>,
    /// Where the session comes from: an id or a path.
    pub parent_session: Option<String>,
    /// The session's title.
    pub title: Option<Title>,
    /// When the session was made, in milliseconds since the epoch.
    pub created_ms: Option<i64>,
    /// When somebody last said something.
    pub activity: Option<Activity>,
    /// When the file was changed, in milliseconds since the epoch.
    pub modified_ms: Option<i64>,
    /// The size of the file in bytes.
    pub size: u64,
    /// How many messages there are, of all branches; at least so many unless it is exact.
    pub message_count: u64,
    /// Whether all messages were counted.
    pub message_count_is_exact: bool,
    /// What a person said first; the beginning, if it is long.
    pub first_message: Option<String>,
    /// How the conversation stands.
    pub status: SessionStatus,
    /// What is wrong with the part of the file that was read; of most messages there only the
    /// beginning and the end of the line are looked at.
    pub diagnostics: Vec<Diagnostic>,
}

/// No summary could be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SummaryError {
    /// The header is longer than what was read of the file's beginning.
    #[error("the header is longer than what was read; read the first {head} bytes")]
    NeedMore {
        /// How many bytes of the beginning to try next.
        head: u64,
    },
    /// The file is no session.
    #[error(transparent)]
    NotASession(#[from] LoadError),
}

impl SessionSummary {
    /// Makes a summary of a file, or of its beginning and end.
    ///
    /// Damaged lines, and those that are cut off because only parts were read, cost nothing but
    /// what they say.
    ///
    /// # Errors
    ///
    /// [`SummaryError`] if there is no header in the file, or not enough of it was read.
    pub fn from_parts(parts: &FileParts) -> Result<Self, SummaryError> {
        let records = Records::read(parts)?;
        let header = records.header.listed();
        let first_message = first_message::find(&records);
        let created_ms = header.timestamp.as_ref().and_then(time::from_json);
        Ok(Self {
            id: header.id,
            version: header.version,
            cwd: header.cwd,
            parent_session: header.parent_session,
            title: title::find(&records, first_message.as_deref()),
            created_ms,
            activity: activity::find(&records, created_ms, parts.modified_ms),
            modified_ms: parts.modified_ms,
            size: parts.size,
            message_count: records.message_count(),
            message_count_is_exact: records.is_whole,
            first_message,
            status: status::find(&records),
            diagnostics: records.diagnostics,
        })
    }
}
