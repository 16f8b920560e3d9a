//! The whole loop: a screen, a picker, and the threads that list, read and search sessions.

use std::io;

use session_model::layout::SESSIONS_DIR;

use super::desk::Desk;
use super::{PickerAction, SessionPicker};
use crate::error::with_sources;
use crate::listing::{CwdFilter, Place, SessionCatalog};
use crate::search::{SearchRequest, SessionSearch};
use crate::session_picker::{
    ForeignLoader, Loaded, Loader, PickerScope, Reader, SaidSearcher, SessionName, name_of,
};
use crate::tui::{Screen, ScreenEvent, Theme};

/// How many entries a search of what was said finds at most.
const SAID_LIMIT: usize = 200;

/// How much is shown of each, in characters.
const SAID_CHARS: usize = 600;

/// How [`pick_session`] goes about it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionPickerOptions {
    /// Where the sessions are.
    pub catalog: SessionCatalog,
    /// The directory whose sessions are shown first; default: none, and all are shown.
    pub here: Option<CwdFilter>,
    /// How what was said is searched; default: by reading the sessions.
    pub search: SessionSearch,
    /// What others see who find a session in use while it is renamed; default: `session picker`.
    pub owner: String,
    /// The colours; default: what the environment allows.
    pub theme: Option<Theme>,
}

impl SessionPickerOptions {
    /// The sessions of these places.
    pub fn new(catalog: SessionCatalog) -> Self {
        let search = SessionSearch::new(catalog.clone());
        Self { catalog, here: None, search, owner: "session picker".to_owned(), theme: None }
    }

    /// These options with a directory whose sessions are shown first.
    pub fn here(self, here: CwdFilter) -> Self {
        Self { here: Some(here), ..self }
    }

    /// A picker for these sessions.
    pub fn picker(&self) -> SessionPicker {
        let picker = SessionPicker::new(self.here.clone()).places(place_names(&self.catalog));
        match self.theme {
            Some(theme) => picker.theme(theme),
            None => picker,
        }
    }

    fn request(&self, words: &str, scope: PickerScope) -> SearchRequest {
        let mut request = SearchRequest::new(words).limit(SAID_LIMIT);
        request.snippet_chars = SAID_CHARS;
        request.cwd = self.here.clone().filter(|_| scope == PickerScope::Here);
        request
    }
}

/// How somebody left [`pick_session`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PickerOutcome {
    /// This session was chosen: the place it lies in, and its key there.
    Chosen(SessionName),
    /// This entry of a session was chosen, by its id.
    ChosenEntry(SessionName, String),
    /// None was.
    Closed,
    /// The program is to end: this signal came, or (with `None`) the terminal is gone.
    End(Option<i32>),
}

/// Lets somebody choose a session, and rename, delete and fork sessions on the way.
///
/// The picker shows what it showed before, so that somebody can come back to where they were; see
/// [`SessionPickerOptions::picker`].
///
/// The first rows are there before all files have been looked at. Deleted sessions go to the trash.
/// What fails is told on the screen.
///
/// # Errors
///
/// The terminal cannot be drawn on.
///
/// # Cancel safety
///
/// Not cancel safe while a session is being changed.
pub async fn pick_session(
    screen: &mut Screen,
    picker: &mut SessionPicker,
    options: &SessionPickerOptions,
) -> io::Result<PickerOutcome> {
    let mut loader = Loader::start(options.catalog.clone());
    let mut reader = Reader::start(options.catalog.places().to_vec());
    let mut tools: Option<ForeignLoader> = None;
    let mut said: Option<SaidSearcher> = None;
    let desk = Desk { options };
    let mut asked = Vec::new();
    // A session to go to once it is listed.
    let mut new = None;
    loop {
        screen.draw(|frame| picker.render(frame.area(), frame.buffer_mut()))?;
        let wants = picker.wants();
        let names: Vec<_> = wants.iter().map(name_of).collect();
        if names != asked {
            reader.ask(wants);
            asked = names;
        }
        let event = tokio::select! {
            biased;
            event = screen.next() => event,
            Some(loaded) = loader.next() => {
                let is_all = matches!(loaded, Loaded::All(_));
                take(picker, loaded);
                if let Some(session) = new.take_if(|_| is_all) {
                    picker.select(&session);
                }
                continue;
            }
            found = next_of(&mut tools, ForeignLoader::next) => {
                match found {
                    Some(found) => picker.set_foreign(found),
                    None => tools = None,
                }
                continue;
            }
            found = next_of(&mut said, SaidSearcher::next) => {
                match found {
                    Some(found) => picker.set_said(found),
                    None => said = None,
                }
                continue;
            }
            Some((session, detail)) = reader.next() => {
                picker.set_detail(session, detail);
                continue;
            }
        };
        let mut next = match event {
            ScreenEvent::Terminal(event) => Some(event),
            ScreenEvent::End(signal) => return Ok(PickerOutcome::End(signal)),
        };
        // Keys that wait already are taken together, so that a held key never lags.
        while let Some(event) = next {
            match picker.handle_event(&event) {
                PickerAction::Nothing => {}
                PickerAction::Close => return Ok(PickerOutcome::Closed),
                PickerAction::Choose(session) => return Ok(PickerOutcome::Chosen(session)),
                PickerAction::ChooseEntry { session, entry } => {
                    return Ok(PickerOutcome::ChosenEntry(session, entry));
                }
                PickerAction::Search { words, scope } => {
                    let request = options.request(&words, scope);
                    let start = || SaidSearcher::start(options.search.clone(), request);
                    said = (!words.is_empty()).then(start);
                }
                PickerAction::List { children } => loader.again(children),
                PickerAction::Look(tool) => tools = Some(ForeignLoader::start(tool)),
                action => {
                    match desk.carry_out(action, &mut picker.deleted).await {
                        Ok(done) => {
                            picker.tell(&done.text);
                            new = done.new;
                        }
                        Err(error) => picker.complain(&with_sources(&*error)),
                    }
                    loader.again(picker.shows_children());
                }
            }
            next = screen.ready();
        }
    }
}

fn take(picker: &mut SessionPicker, loaded: Loaded) {
    match loaded {
        Loaded::First(rows) => picker.set_first(rows),
        Loaded::Progress(progress) => picker.set_progress(progress),
        Loaded::All(Ok(rows)) => picker.set_sessions(rows),
        Loaded::All(Err(error)) => picker.complain(&with_sources(&error)),
    }
}

/// What a thread found; `None` if it found all. Waits forever while there is none.
async fn next_of<T, F>(
    looks: &mut Option<T>,
    next: impl AsyncFnOnce(&mut T) -> Option<F>,
) -> Option<F> {
    match looks {
        Some(looks) => next(looks).await,
        None => std::future::pending().await,
    }
}

/// What places are called: the name of an agent's directory, the whole path where that is not
/// enough; nothing if there is one place only.
fn place_names(catalog: &SessionCatalog) -> Vec<String> {
    let places = catalog.places();
    if places.len() < 2 {
        return Vec::new();
    }
    let path = |place: &Place| {
        let path = place.storage.local_path(&SESSIONS_DIR.parse().ok()?)?;
        Some(path.parent()?.to_owned())
    };
    let paths: Vec<_> = places.iter().map(path).collect();
    let name = |path: &std::path::PathBuf| {
        let mut names = path.components().rev().map(|name| name.as_os_str().to_string_lossy());
        let name = names.by_ref().find(|name| name != "agent")?;
        Some(name.trim_start_matches('.').to_owned())
    };
    let short: Vec<_> = paths.iter().map(|path| path.as_ref().and_then(name)).collect();
    let called = |at: usize| match (&short[at], &paths[at]) {
        (Some(name), _) if short.iter().flatten().filter(|other| *other == name).count() == 1 => {
            name.clone()
        }
        (_, Some(path)) => path.display().to_string(),
        _ => places[at].storage.to_string(),
    };
    (0..places.len()).map(called).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use session_store_memory::MemoryStorage;

    use super::*;

    #[test]
    fn places_are_called_by_what_tells_them_apart() {
        let dir = tempfile::tempdir().unwrap();
        let place = |path: &str| {
            let storage = session_store_file::FileStorage::open(dir.path().join(path)).unwrap();
            Place::agent_dir(Arc::new(storage)).unwrap()
        };
        let memory = || Place::agent_dir(Arc::new(MemoryStorage::new())).unwrap();
        let names = |places: Vec<Place>| place_names(&SessionCatalog::new(places));
        assert_eq!(names(vec![place(".omp/agent")]), [""; 0]);
        assert_eq!(names(vec![place(".omp/agent"), place("work")]), ["omp", "work"]);
        let twins = names(vec![place("a/.pi/agent"), place("b/.pi/agent"), memory()]);
        let path = |path: &str| dir.path().join(path).display().to_string();
        assert_eq!(twins[..2], [path("a/.pi/agent"), path("b/.pi/agent")]);
        assert_eq!(twins[2], MemoryStorage::new().to_string());
    }
}
