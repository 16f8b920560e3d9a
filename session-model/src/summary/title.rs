//! What a session is called.

use serde::{Deserialize, Serialize};

use super::Records;
use crate::entry::{Entry, EntryKind};
use crate::preview::one_line;

/// The longest title, in characters.
const MAX_CHARS: usize = 200;

/// The longest title made of a first message, in characters.
const MAX_FIRST_MESSAGE_CHARS: usize = 80;

/// What a session is called.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Title {
    /// The title, on one line of at most 200 characters.
    pub text: String,
    /// Where it comes from.
    pub origin: TitleOrigin,
}

/// Where a title comes from; the first that there is counts.
///
/// The file's beginning goes before its entries because it is always read, so that a session is
/// called the same however much of it was read. Who renames a session changes both.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum TitleOrigin {
    /// The title slot.
    Slot,
    /// The header.
    Header,
    /// The last `title_change` or `session_info` entry.
    Entry,
    /// The short summary of the last compaction that has one.
    Compaction,
    /// The beginning of what a person said first.
    FirstMessage,
}

impl TitleOrigin {
    /// Returns the origin as it stands in machine-readable output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Slot => "slot",
            Self::Header => "header",
            Self::Entry => "entry",
            Self::Compaction => "compaction",
            Self::FirstMessage => "firstMessage",
        }
    }
}

pub(super) fn find(records: &Records, first_message: Option<&str>) -> Option<Title> {
    let header = &records.header;
    let slot_or_header = match header.title_slot() {
        Some(_) => TitleOrigin::Slot,
        None => TitleOrigin::Header,
    };
    let entry = |of: fn(&Entry) -> Option<String>| records.all().rev().find_map(of);
    let title = |text: &str, origin, max_chars| {
        let text = one_line(text, max_chars);
        (!text.is_empty()).then_some(Title { text, origin })
    };
    header
        .title()
        .and_then(|text| title(&text, slot_or_header, MAX_CHARS))
        .or_else(|| title(&entry(named)?, TitleOrigin::Entry, MAX_CHARS))
        .or_else(|| title(&entry(summed_up)?, TitleOrigin::Compaction, MAX_CHARS))
        .or_else(|| title(first_message?, TitleOrigin::FirstMessage, MAX_FIRST_MESSAGE_CHARS))
}

fn named(entry: &Entry) -> Option<String> {
    match entry.kind() {
        EntryKind::TitleChange => field(entry, "title"),
        EntryKind::SessionInfo => field(entry, "name"),
        _ => None,
    }
}

fn summed_up(entry: &Entry) -> Option<String> {
    match entry.kind() {
        EntryKind::Compaction => field(entry, "shortSummary"),
        _ => None,
    }
}

fn field(entry: &Entry, name: &str) -> Option<String> {
    let text = entry.fields().text(name)?.into_owned();
    (!text.trim().is_empty()).then_some(text)
}
