//! Entries that are written otherwise than they are.

use std::borrow::Cow;
use std::fmt::Debug;

use session_model::Entry;
use session_model::json::RawJson;

use super::SessionManager;

/// Says what is written in the place of what a session is given.
///
/// Memory keeps what was given, and so does the context made of it, until the file is read again.
/// Asked for every new entry, and for entries that are [rewritten](SessionManager::rewrite_entries);
/// not for artifacts, nor for what is in the file already.
pub trait WriteFilter: Debug + Send + Sync {
    /// Returns the entry to be written; `None` if that is the entry itself.
    ///
    /// `type`, `id`, `parentId` and `timestamp` are to stay.
    fn entry(&self, entry: &RawJson) -> Option<RawJson>;

    /// Returns the name the session gets.
    fn name<'n>(&self, name: &'n str) -> Cow<'n, str>;
}

impl SessionManager {
    /// The entry with the line the filter wants.
    pub(super) fn filtered(&self, entry: Entry) -> Entry {
        let Some(filter) = &self.filter else { return entry };
        let whole = entry.json();
        let written = filter.entry(&whole);
        written.and_then(|to| Entry::written_as(&whole, &to, &self.persist)).unwrap_or(entry)
    }
}
