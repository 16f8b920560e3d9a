//! When somebody last said something.

use serde::{Deserialize, Serialize};

use super::Records;
use crate::entry::{Entry, EntryKind};
use crate::time;

/// When a session was last active.
///
/// Labels, titles and records of settings are no activity, and neither is a change of the file's
/// time by a copy or a backup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Activity {
    /// Milliseconds since the epoch.
    pub at_ms: i64,
    /// How it is known.
    pub origin: ActivityOrigin,
}

/// How the time of a session's last activity is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum ActivityOrigin {
    /// It is the time of the newest message.
    Message,
    /// No message is near the end of the file: it is the time of the first entry that was read
    /// there, which is no earlier than the newest message.
    Entry,
    /// There is no message: it is when the session was made.
    Header,
    /// The file holds no usable time: it is that of the file's last change.
    File,
}

impl ActivityOrigin {
    /// Returns the origin as it stands in machine-readable output: one word in lower case.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Message => "message",
            Self::Entry => "entry",
            Self::Header => "header",
            Self::File => "file",
        }
    }
}

pub(super) fn find(
    records: &Records,
    created_ms: Option<i64>,
    modified_ms: Option<i64>,
) -> Option<Activity> {
    let newest = |entries: &[Entry]| entries.iter().filter_map(message_time).max();
    let message = match records.is_whole {
        true => newest(&records.head),
        false => newest(&records.tail)
            .max(records.glanced.newest_ms)
            .or_else(|| cut_message_time(&records.cut_tail)),
    };
    let entry = || records.tail.iter().find_map(Entry::timestamp_ms);
    // With a part unread, what the beginning says is too old to go by.
    let header = || created_ms.filter(|_| records.is_whole);
    let by = |origin| move |at_ms| Activity { at_ms, origin };
    message
        .map(by(ActivityOrigin::Message))
        .or_else(|| entry().map(by(ActivityOrigin::Entry)))
        .or_else(|| header().map(by(ActivityOrigin::Header)))
        .or_else(|| modified_ms.map(by(ActivityOrigin::File)))
        .or_else(|| created_ms.map(by(ActivityOrigin::Header)))
}

fn message_time(entry: &Entry) -> Option<i64> {
    if entry.kind() != EntryKind::Message {
        return None;
    }
    let inner = || time::from_json(entry.message()?.as_object()?.get("timestamp")?);
    entry.timestamp_ms().or_else(inner)
}

/// The time at the end of a message whose beginning was not read: every known writer puts it last,
/// as `…,"timestamp":1767225602000}}`.
fn cut_message_time(line: &[u8]) -> Option<i64> {
    let line = line.trim_ascii_end().strip_suffix(b"}}")?;
    let digits = line.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, digits) = line.split_at(line.len() - digits);
    let is_time = before.ends_with(b",\"timestamp\":");
    std::str::from_utf8(digits).ok().filter(|_| is_time)?.parse().ok()
}
