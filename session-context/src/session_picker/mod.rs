//! Which sessions somebody sees who looks for one, and where they are among them.
//!
//! [`SessionPickerState`] is the part of a session picker that no screen is needed for: scope, order,
//! search, and the cursor. [`Loader`] finds the sessions, [`Reader`] looks into them and [`SaidSearcher`] searches
//! them, each in a thread of its own, so that a screen never waits for a disk.

mod foreign;
mod load;
mod order;
mod read;
mod said;
#[cfg(test)]
mod tests;

use nucleo_matcher::{Config, Matcher};
use session_model::preview::one_line;
use session_model::storage::StorageKey;

use crate::listing::{CwdFilter, Kinship, SessionRow, lineage};

pub use foreign::{ForeignFound, ForeignLoader, ForeignState, foreign_title};
pub use load::{Loaded, Loader};
pub use read::{Detail, Reader};
pub use said::{SaidFound, SaidSearcher, SaidState};

/// How much of a title or first message is searched and shown, in characters.
const TEXT_CHARS: usize = 200;

/// Whose sessions are shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PickerScope {
    /// Those of the present directory.
    Here,
    /// Those of all directories.
    All,
}

/// What sessions are sorted by, the latest first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PickerSort {
    /// When somebody last said something; the default.
    #[default]
    Activity,
    /// When the session was made.
    Created,
}

/// Names a session among those that were listed: the place it lies in, and its key there.
pub type SessionName = (usize, StorageKey);

/// A session that is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct PickerRow {
    /// Its place in [`SessionPickerState::sessions`].
    pub session: usize,
    /// How many of the shown sessions it comes from; 0 while words are searched for.
    pub depth: usize,
    /// How it comes from another session, shown or not.
    pub kinship: Option<Kinship>,
}

/// Sessions to choose from, and the place among them.
#[derive(Debug)]
pub struct SessionPickerState {
    here: Option<CwdFilter>,
    scope: PickerScope,
    sort: PickerSort,
    query: String,
    sessions: Vec<SessionRow>,
    known: Vec<Known>,
    rows: Vec<PickerRow>,
    cursor: usize,
    matcher: Matcher,
}

/// What is known of a listed session beside its row.
#[derive(Debug)]
struct Known {
    /// Title, first message and directory.
    text: String,
    is_here: bool,
    /// The session it comes from, and how.
    parent: Option<(usize, Kinship)>,
}

impl SessionPickerState {
    /// Begins with no sessions; with a directory, those of that directory are shown first.
    pub fn new(here: Option<CwdFilter>) -> Self {
        Self {
            scope: if here.is_some() { PickerScope::Here } else { PickerScope::All },
            here,
            sort: PickerSort::default(),
            query: String::new(),
            sessions: Vec::new(),
            known: Vec::new(),
            rows: Vec::new(),
            cursor: 0,
            matcher: Matcher::new(Config::DEFAULT),
        }
    }

    /// Takes the sessions there are, in the order of [`list_sessions`](crate::listing::list_sessions).
    ///
    /// The cursor stays at its session, if that is still there.
    pub fn set_sessions(&mut self, sessions: Vec<SessionRow>) {
        let selected = self.name();
        let mut parents = vec![None; sessions.len()];
        lineage(&sessions).iter().for_each(|node| parents[node.row] = node.parent);
        let mut known = Vec::with_capacity(sessions.len());
        for (row, parent) in sessions.iter().zip(parents) {
            let cwd = row.summary.as_ref().ok().and_then(|summary| summary.cwd.as_deref());
            let is_here = match (&mut self.here, cwd) {
                (Some(here), Some(cwd)) => here.admits(cwd),
                // As in a list, what is not known of is not hidden.
                _ => true,
            };
            known.push(Known { text: text_of(row), is_here, parent });
        }
        (self.sessions, self.known) = (sessions, known);
        self.update(selected);
    }

    /// Returns all sessions that were listed.
    pub fn sessions(&self) -> &[SessionRow] {
        &self.sessions
    }

    /// Returns the sessions that are shown, from top to bottom.
    pub fn rows(&self) -> &[PickerRow] {
        &self.rows
    }

    /// Returns the number of the row somebody is at; `None` if no row is shown.
    pub fn cursor(&self) -> Option<usize> {
        (!self.rows.is_empty()).then_some(self.cursor)
    }

    /// Returns the session somebody is at.
    pub fn selected(&self) -> Option<&SessionRow> {
        Some(&self.sessions[self.rows.get(self.cursor)?.session])
    }

    /// Returns the name of the session somebody is at.
    pub fn name(&self) -> Option<SessionName> {
        self.selected().map(name_of)
    }

    /// Goes to a session, if it is shown.
    pub fn select(&mut self, name: &SessionName) {
        let is_it = |row: &PickerRow| name_of(&self.sessions[row.session]) == *name;
        if let Some(at) = self.rows.iter().position(is_it) {
            self.cursor = at;
        }
    }

    /// Returns whose sessions are shown.
    pub fn scope(&self) -> PickerScope {
        self.scope
    }

    /// Shows the sessions of the present directory or those of all.
    ///
    /// Without a directory there are only those of all.
    pub fn set_scope(&mut self, scope: PickerScope) {
        self.scope = if self.here.is_some() { scope } else { PickerScope::All };
        self.update(self.name());
    }

    /// Returns what sessions are sorted by.
    pub fn sort(&self) -> PickerSort {
        self.sort
    }

    /// Sorts sessions by something else.
    pub fn set_sort(&mut self, sort: PickerSort) {
        self.sort = sort;
        self.update(self.name());
    }

    /// Returns the words that are searched for, as they were typed.
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Shows only sessions with all these words in title, first message and directory, the best
    /// first; letters may lie between those of a word.
    pub fn set_query(&mut self, query: &str) {
        query.clone_into(&mut self.query);
        // A search begins at its best answer, and its end leaves the cursor where it is.
        let at = self.name().filter(|_| query.trim().is_empty());
        self.update(at);
    }

    /// Goes so many rows down, or up if negative; one row leads around the ends, more do not.
    pub fn move_by(&mut self, rows: isize) {
        self.cursor = moved(self.cursor, self.rows.len(), rows);
    }
}

/// Where a cursor goes among so many rows.
fn moved(cursor: usize, rows: usize, by: isize) -> usize {
    let last = rows.saturating_sub(1);
    match by {
        -1 if cursor == 0 => last,
        1 if cursor >= last => 0,
        by => cursor.saturating_add_signed(by).min(last),
    }
}

/// Returns the name of a listed session.
pub fn name_of(row: &SessionRow) -> SessionName {
    (row.place, row.key.clone())
}

/// Returns what a session is called: its title, or its first message, or its file.
pub fn title_of(row: &SessionRow) -> String {
    let title = match &row.summary {
        Ok(summary) => {
            let title = summary.title.as_ref().map(|title| title.text.as_str());
            title.or(summary.first_message.as_deref()).unwrap_or("(no title)")
        }
        Err(_) => row.key.file_name(),
    };
    one_line(title, TEXT_CHARS)
}

/// What is searched: title, first message, directory, and the id.
fn text_of(row: &SessionRow) -> String {
    let mut text = title_of(row);
    if let Ok(summary) = &row.summary {
        let first = summary.first_message.as_deref();
        for part in [first, summary.cwd.as_deref(), Some(&*summary.id)].into_iter().flatten() {
            text.push(' ');
            text.push_str(&one_line(part, TEXT_CHARS));
        }
    }
    text
}
