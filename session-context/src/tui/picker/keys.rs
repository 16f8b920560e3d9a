//! What each key does while the sessions are looked at.

use ratatui::crossterm::event::{Event, KeyCode, KeyModifiers};
use session_model::layout::SESSION_SUFFIX;

use super::{Mode, PickerAction, SessionPicker};
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
        if let Some(words) = edited(self.state.query(), event) {
            if words == "?" {
                self.mode = Mode::Help(Help::default());
            } else {
                self.state.set_query(&words);
            }
            return PickerAction::Nothing;
        }
        let Event::Key(key) = event else { return PickerAction::Nothing };
        if let Some(rows) = rows_moved(*key, self.scroll.page()) {
            self.state.move_by(rows);
        }
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('c') if ctrl => return PickerAction::Close,
            KeyCode::Char('f') if ctrl => return self.toggle_said(),
            KeyCode::Char(letter) if alt => return self.alt(letter.to_ascii_lowercase()),
            KeyCode::Enter => {
                return self.state.name().map_or(PickerAction::Nothing, PickerAction::Choose);
            }
            KeyCode::Tab => self.next_scope(),
            KeyCode::Delete => return self.alt('d'),
            KeyCode::F(1) => self.mode = Mode::Help(Help::default()),
            KeyCode::Esc if self.state.query().is_empty() => return PickerAction::Close,
            KeyCode::Esc => self.state.set_query(""),
            _ => {}
        }
        PickerAction::Nothing
    }

    pub(super) fn next_scope(&mut self) {
        self.state.set_scope(match self.state.scope() {
            PickerScope::Here => PickerScope::All,
            PickerScope::All => PickerScope::Here,
        });
    }

    fn alt(&mut self, letter: char) -> PickerAction {
        let selected = self.state.selected().zip(self.state.name());
        match (letter, selected) {
            ('s', _) => self.state.set_sort(match self.state.sort() {
                PickerSort::Activity => PickerSort::Created,
                PickerSort::Created => PickerSort::Activity,
            }),
            ('p', _) => self.shows_detail = !self.shows_detail,
            ('a', _) => {
                self.shows_children = !self.shows_children;
                return PickerAction::List { children: self.shows_children };
            }
            ('i', _) => return self.next_tool(),
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
