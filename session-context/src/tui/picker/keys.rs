//! What each key does while the sessions are looked at.

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};
use session_model::layout::SESSION_SUFFIX;

use super::{Mode, PickerAction, SessionPicker, View};
use crate::session_picker::{PickerScope, PickerSort, title_of};
use crate::tui::draw::KeyHelp;
use crate::tui::help::Help;
use crate::tui::input::{Input, edited, rows_moved};

/// Every key.
pub(super) const KEYS: &[KeyHelp] = &[
    ("↑ ↓", "move; around the ends"),
    ("PgUp PgDn Home End", "move far"),
    ("Enter", "choose the session"),
    ("any letter Backspace", "search title, first message, directory, id"),
    ("Esc", "end the search; close"),
    ("Ctrl+F", "search what was said, or the sessions again"),
    ("Tab", "sessions of this directory, or of all"),
    ("Alt+S", "sort by activity, or by when it was made"),
    ("Alt+A", "show sessions of child agents, or hide them"),
    ("Alt+R", "give it another title"),
    ("Delete Alt+D", "move it to the trash"),
    ("Alt+Z", "bring back what was deleted last"),
    ("Alt+F", "make a copy, to go on in"),
    ("Alt+E", "write it as a document, without its secrets"),
    ("Alt+I", "import from Claude Code, then from Codex"),
    ("Alt+P", "show the last messages, or hide them"),
];

/// Those that are always in sight, the most needed first.
pub(super) const FOOT: &[KeyHelp] = &[
    ("Enter", "choose"),
    ("Esc", "close"),
    ("F1", "keys"),
    ("Tab", "all"),
    ("Ctrl+F", "texts"),
    ("Alt+R", "title"),
    ("Alt+D", "delete"),
    ("Alt+F", "fork"),
    ("Alt+S", "sort"),
    ("type", "search"),
];

/// Those for sessions of other tools.
pub(super) const FOREIGN_FOOT: &[KeyHelp] = &[
    ("Enter", "import"),
    ("Esc", "back"),
    ("Alt+I", "next tool"),
    ("F1", "keys"),
    ("type", "search"),
];

/// Those for what was said.
pub(super) const SAID_FOOT: &[KeyHelp] = &[
    ("Enter", "open there"),
    ("Esc", "back"),
    ("Tab", "all"),
    ("Ctrl+F", "sessions"),
    ("Alt+P", "preview"),
    ("F1", "keys"),
    ("type", "search"),
];

impl SessionPicker {
    pub(super) fn browse(&mut self, event: &Event) -> PickerAction {
        let words = match &self.view {
            View::Sessions => self.state.query(),
            View::Foreign(foreign) => foreign.query(),
            View::Said(said) => said.query(),
        };
        let is_searched = !words.is_empty();
        match edited(words, event) {
            Some(words) if words == "?" => self.mode = Mode::Help(Help::default()),
            Some(words) => return self.search(&words),
            None => {}
        }
        let Event::Key(key) = event else { return PickerAction::Nothing };
        if let Some(rows) = rows_moved(*key, self.scroll.page()) {
            self.move_by(rows);
        }
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if ctrl => return PickerAction::Close,
            KeyCode::Char('f') if ctrl => return self.toggle_said(),
            KeyCode::Char(letter) if alt => return self.alt(letter.to_ascii_lowercase()),
            KeyCode::Enter => return self.choose(),
            KeyCode::Tab if !matches!(self.view, View::Foreign(_)) => return self.next_scope(),
            KeyCode::Delete => return self.alt('d'),
            KeyCode::F(1) => self.mode = Mode::Help(Help::default()),
            KeyCode::Esc if is_searched => return self.search(""),
            KeyCode::Esc => match self.view {
                View::Sessions => return PickerAction::Close,
                View::Foreign(_) => self.view = View::Sessions,
                View::Said(_) => return self.toggle_said(),
            },
            _ => {}
        }
        PickerAction::Nothing
    }

    fn search(&mut self, words: &str) -> PickerAction {
        match &mut self.view {
            View::Sessions => self.state.set_query(words),
            View::Foreign(foreign) => foreign.set_query(words),
            View::Said(_) => return self.search_said(words),
        }
        PickerAction::Nothing
    }

    fn move_by(&mut self, rows: isize) {
        match &mut self.view {
            View::Sessions => self.state.move_by(rows),
            View::Foreign(foreign) => foreign.move_by(rows),
            View::Said(said) => said.move_by(rows),
        }
    }

    fn choose(&self) -> PickerAction {
        let chosen = match &self.view {
            View::Sessions => self.state.name().map(PickerAction::Choose),
            View::Foreign(foreign) => foreign.selected().map(|source| PickerAction::Import {
                tool: foreign.tool(),
                path: source.path.clone(),
            }),
            View::Said(said) if said.is_stale() => None,
            View::Said(said) => said.selected().map(|hit| {
                let session = (hit.session.place, hit.session.key.clone());
                match hit.entry.clone() {
                    Some(entry) => PickerAction::ChooseEntry { session, entry },
                    None => PickerAction::Choose(session),
                }
            }),
        };
        chosen.unwrap_or(PickerAction::Nothing)
    }

    fn next_scope(&mut self) -> PickerAction {
        self.state.set_scope(match self.state.scope() {
            PickerScope::Here => PickerScope::All,
            PickerScope::All => PickerScope::Here,
        });
        match &self.view {
            View::Said(said) => {
                let words = said.query().to_owned();
                self.search_said(&words)
            }
            _ => PickerAction::Nothing,
        }
    }

    fn alt(&mut self, letter: char) -> PickerAction {
        match letter {
            'i' => return self.next_tool(),
            'p' => self.shows_detail = !self.shows_detail,
            // What is done to sessions is done to those that are seen.
            _ if !matches!(self.view, View::Sessions) => return PickerAction::Nothing,
            _ => {}
        }
        let selected = self.state.selected().zip(self.state.name());
        match (letter, selected) {
            ('s', _) => self.state.set_sort(match self.state.sort() {
                PickerSort::Activity => PickerSort::Created,
                PickerSort::Created => PickerSort::Activity,
            }),
            ('a', _) => {
                self.shows_children = !self.shows_children;
                return PickerAction::List { children: self.shows_children };
            }
            ('z', _) => return PickerAction::Undo,
            ('r', Some((row, session))) => {
                self.mode = Mode::Rename { session, input: Input::new(&title_of(row)) };
            }
            ('d', Some((row, session))) => {
                self.mode = Mode::Delete { session, title: title_of(row) };
            }
            ('e', Some((row, session))) => {
                let stem = row.key.file_name().trim_end_matches(SESSION_SUFFIX);
                let input = Input::new(&format!("{stem}.md"));
                self.mode = Mode::Export { session, input };
            }
            ('f', Some((row, session))) => {
                let cwd = row.summary.as_ref().ok().and_then(|summary| summary.cwd.clone());
                return PickerAction::Fork { session, cwd: cwd.unwrap_or_default() };
            }
            _ => {}
        }
        PickerAction::Nothing
    }
}
