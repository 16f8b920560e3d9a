//! The sessions there are, to choose one.

mod desk;
mod draw;
mod foreign;
mod keys;
mod run;
mod said;

use std::collections::HashMap;
use std::path::PathBuf;

use ratatui::crossterm::event::{Event, KeyCode, KeyEventKind};

use super::Theme;
use super::draw::{Notice, Scroll};
use super::help::Help;
use super::highlight::Highlighter;
use super::input::{Input, leaves};
use crate::import::Tool;
use crate::listing::{CwdFilter, ListingProgress, SessionRow};
use crate::operations::Trashed;
use crate::session_picker::{
    Detail, ForeignState, PickerScope, SaidState, SessionName, SessionPickerState, name_of,
};

pub use run::{PickerOutcome, SessionPickerOptions, pick_session};

/// What is to be done for somebody in a [`SessionPicker`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum PickerAction {
    /// Nothing but to draw again.
    Nothing,
    /// List the sessions again, with those of child agents or without.
    List {
        /// Whether those of child agents are to be shown.
        children: bool,
    },
    /// Leave the picker.
    Close,
    /// This session was chosen.
    Choose(SessionName),
    /// This entry of a session was chosen.
    ChooseEntry {
        /// The session.
        session: SessionName,
        /// The entry's id.
        entry: String,
    },
    /// Search what was said in sessions, and no longer for anything else; without words, for nothing.
    Search {
        /// The words, as [`SearchRequest::new`](crate::search::SearchRequest::new) takes them.
        words: String,
        /// Whose sessions are searched.
        scope: PickerScope,
    },
    /// Give a session a title.
    Rename {
        /// The session.
        session: SessionName,
        /// The title.
        title: String,
    },
    /// Move a session to the trash; it was confirmed.
    Delete(SessionName),
    /// Bring back what was deleted last.
    Undo,
    /// Make a copy of a session, to go on in.
    Fork {
        /// The session.
        session: SessionName,
        /// The directory it works in; empty if that is not known.
        cwd: String,
    },
    /// Write a session as a document for people, without its secrets.
    Export {
        /// The session.
        session: SessionName,
        /// The new file; how its name ends tells the format.
        path: PathBuf,
    },
    /// Look for the sessions of this tool.
    Look(Tool),
    /// Import a session of another tool.
    Import {
        /// The tool.
        tool: Tool,
        /// The session's file.
        path: PathBuf,
    },
}

/// The sessions there are on a screen, to choose one.
///
/// It holds what is seen and where the cursor is; it reads no disk and changes nothing. Give it the
/// sessions with [`set_sessions`](Self::set_sessions), each event with
/// [`handle_event`](Self::handle_event), do what that returns, and [`render`](Self::render) it.
/// [`pick_session`] does all of this.
///
/// | key | what it does |
/// |---|---|
/// | up, down; page up, page down; home, end | moves; up from the first row leads to the last |
/// | enter | chooses the session |
/// | any letter, backspace | searches title, first message, directory and id |
/// | ctrl+f | searches what was said in sessions; enter chooses the entry; ctrl+f or esc leads back |
/// | esc | ends the search, then closes |
/// | tab | sessions of this directory, or of all |
/// | alt+s | sorts by activity, or by when the session was made |
/// | alt+a | shows sessions of child agents too, or hides them |
/// | alt+r | gives it another title |
/// | delete, or alt+d | moves it to the trash, after a question |
/// | alt+z | brings back what was deleted last |
/// | alt+f | makes a copy, to go on in |
/// | alt+e | writes it as a document: `.md`, `.html`, `.json` or `.txt`, without secrets |
/// | alt+i | sessions of Claude Code, then of Codex; enter imports one |
/// | alt+p | shows the last messages or hides them |
/// | f1, or ? while nothing is searched | all keys |
#[derive(Debug)]
pub struct SessionPicker {
    state: SessionPickerState,
    view: View,
    mode: Mode,
    theme: Theme,
    notice: Option<Notice>,
    /// How far listing has come; `None` once all sessions are there.
    progress: Option<Option<ListingProgress>>,
    details: HashMap<SessionName, Detail>,
    places: Vec<String>,
    shows_detail: bool,
    shows_children: bool,
    scroll: Scroll,
    /// What was deleted, the latest last, with the place it lay in.
    deleted: Vec<(usize, Trashed)>,
    /// The sessions in sight, as they were drawn last.
    in_sight: Vec<usize>,
    highlighter: Highlighter,
}

/// What is looked at.
#[derive(Debug)]
enum View {
    Sessions,
    /// Those of another tool.
    Foreign(ForeignState),
    /// What was said in sessions.
    Said(SaidState),
}

/// What somebody does in the picker.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Mode {
    Browse,
    Help(Help),
    Rename { session: SessionName, input: Input },
    Delete { session: SessionName, title: String },
    Export { session: SessionName, input: Input },
}

impl SessionPicker {
    /// Begins with no sessions, in the colours the environment allows; with a directory, its
    /// sessions are shown first.
    pub fn new(here: Option<CwdFilter>) -> Self {
        Self {
            state: SessionPickerState::new(here),
            view: View::Sessions,
            mode: Mode::Browse,
            theme: Theme::from_env(),
            notice: None,
            progress: Some(None),
            details: HashMap::new(),
            places: Vec::new(),
            shows_detail: true,
            shows_children: false,
            scroll: Scroll::default(),
            deleted: Vec::new(),
            in_sight: Vec::new(),
            highlighter: Highlighter::default(),
        }
    }

    /// The same in other colours.
    pub fn theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    /// The same, naming the places that sessions lie in; without names no place is shown.
    pub fn places(self, names: Vec<String>) -> Self {
        Self { places: names, ..self }
    }

    /// The name of a place, if it is to be shown.
    fn place_name(&self, place: usize) -> &str {
        self.places.get(place).map_or("", String::as_str)
    }

    /// Returns what is seen and where the cursor is.
    pub fn state(&self) -> &SessionPickerState {
        &self.state
    }

    /// Takes the first sessions that were found; more come.
    pub fn set_first(&mut self, sessions: Vec<SessionRow>) {
        self.state.set_sessions(sessions);
    }

    /// Takes all sessions there are.
    pub fn set_sessions(&mut self, sessions: Vec<SessionRow>) {
        self.progress = None;
        self.state.set_sessions(sessions);
    }

    /// Shows how far listing has come.
    pub fn set_progress(&mut self, progress: ListingProgress) {
        if let Some(known) = &mut self.progress {
            *known = Some(progress);
        }
    }

    /// Tells whether sessions of child agents are to be shown.
    pub fn shows_children(&self) -> bool {
        self.shows_children
    }

    /// Goes to a session, if it is shown, from whatever else is looked at.
    pub fn select(&mut self, session: &SessionName) {
        self.view = View::Sessions;
        self.state.select(session);
    }

    /// Takes what a session says inside.
    pub fn set_detail(&mut self, session: SessionName, detail: Detail) {
        self.details.insert(session, detail);
    }

    /// Returns the sessions in sight of which nothing is known inside, the one at the cursor first.
    pub fn wants(&self) -> Vec<SessionRow> {
        let is_unknown = |row: &&SessionRow| {
            let version = row.meta.as_ref().map(|meta| &meta.version);
            row.summary.is_ok()
                && self
                    .details
                    .get(&name_of(row))
                    .is_none_or(|known| known.version.as_ref() != version)
        };
        let in_sight = self.in_sight.iter().filter_map(|&at| self.state.sessions().get(at));
        self.state.selected().into_iter().chain(in_sight).filter(is_unknown).cloned().collect()
    }

    /// Tells something in the foot line, until the next key.
    pub fn tell(&mut self, text: &str) {
        self.notice = Some(Notice::good(text));
    }

    /// Tells in the foot line what went wrong, until the next key.
    pub fn complain(&mut self, text: &str) {
        self.notice = Some(Notice::bad(text));
    }

    /// Takes an event and tells what is to be done.
    pub fn handle_event(&mut self, event: &Event) -> PickerAction {
        let key = match event {
            Event::Key(key) if key.kind == KeyEventKind::Release => return PickerAction::Nothing,
            Event::Key(key) => Some(key),
            _ => None,
        };
        if key.is_some() {
            self.notice = None;
        }
        if self.mode == Mode::Browse {
            return self.browse(event);
        }
        if key.is_some_and(leaves) {
            self.mode = Mode::Browse;
            return PickerAction::Nothing;
        }
        if let (Mode::Help(help), Some(key)) = (&mut self.mode, key) {
            if !help.stays(*key) {
                self.mode = Mode::Browse;
            }
            return PickerAction::Nothing;
        }
        match (&mut self.mode, key.map(|key| key.code)) {
            (Mode::Rename { session, input }, Some(KeyCode::Enter)) => {
                let (session, title) = (session.clone(), input.text().trim().to_owned());
                self.mode = Mode::Browse;
                if !title.is_empty() {
                    return PickerAction::Rename { session, title };
                }
            }
            (Mode::Export { session, input }, Some(KeyCode::Enter)) => {
                let (session, path) = (session.clone(), PathBuf::from(input.text().trim()));
                self.mode = Mode::Browse;
                if path != PathBuf::new() {
                    return PickerAction::Export { session, path };
                }
            }
            (Mode::Rename { input, .. } | Mode::Export { input, .. }, _) => {
                input.handle(event);
            }
            (Mode::Delete { session, .. }, Some(KeyCode::Enter | KeyCode::Char('y'))) => {
                let session = session.clone();
                self.mode = Mode::Browse;
                return PickerAction::Delete(session);
            }
            (Mode::Delete { .. }, Some(_)) => self.mode = Mode::Browse,
            (Mode::Browse | Mode::Help(_) | Mode::Delete { .. }, _) => {}
        }
        PickerAction::Nothing
    }
}
