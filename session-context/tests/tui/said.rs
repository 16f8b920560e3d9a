//! What was said in sessions, searched from the picker.

use std::sync::Arc;

use insta::assert_snapshot;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use session_context::listing::{CwdFilter, Place, SessionCatalog};
use session_context::search::{SearchRequest, SessionSearch};
use session_context::session_picker::{PickerScope, SaidSearcher};
use session_context::tui::{PickerAction, SessionPicker, Theme};
use session_model::storage::SessionStorageExt;
use session_store_memory::MemoryStorage;

use crate::picker::{catalog, drawn, file, picker, press};
use crate::support::said;

/// What a picker asks for when this is typed.
fn type_text(picker: &mut SessionPicker, text: &str) -> PickerAction {
    let type_it = |c| Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
    text.chars().map(|c| picker.handle_event(&type_it(c))).last().unwrap()
}

fn search(words: &str, scope: PickerScope) -> PickerAction {
    PickerAction::Search { words: words.to_owned(), scope }
}

/// Searches for what the picker asks for, and gives it what is found.
fn find(picker: &mut SessionPicker, catalog: &SessionCatalog, action: PickerAction) {
    let PickerAction::Search { words, scope } = action else { panic!("{action:?}") };
    let mut request = SearchRequest::new(&words);
    request.cwd = (scope == PickerScope::Here).then(|| CwdFilter::named("/work/weather"));
    let mut searcher = SaidSearcher::start(SessionSearch::new(catalog.clone()), request);
    pollster::block_on(async {
        while let Some(found) = searcher.next().await {
            picker.set_said(found);
        }
    });
}

#[test]
fn what_was_said_is_searched_and_chosen() {
    let catalog = pollster::block_on(catalog());
    let mut picker = picker();
    assert_eq!(press(&mut picker, "ctrl+f"), search("", PickerScope::Here));
    assert_snapshot!("nothing_typed", drawn(&mut picker, 80, 20));
    let action = type_text(&mut picker, "fixed delay");
    assert_eq!(action, search("fixed delay", PickerScope::Here));
    assert_snapshot!("looking", drawn(&mut picker, 80, 8));
    find(&mut picker, &catalog, action);
    press(&mut picker, "down");
    assert_snapshot!("found", drawn(&mut picker, 80, 20));
    assert_snapshot!("found_in_little_room", drawn(&mut picker, 40, 8));
    let session = (0, "sessions/w/demo.jsonl".parse().unwrap());
    let PickerAction::ChooseEntry { session: of, entry } = press(&mut picker, "enter") else {
        panic!("nothing was chosen")
    };
    assert_eq!((of, &*entry), (session.clone(), "2e2ac0ea"));
    press(&mut picker, "alt+p");
    assert!(!drawn(&mut picker, 80, 20).contains("──"));

    // What was found before the last letter cannot be chosen.
    let action = type_text(&mut picker, "x");
    assert_eq!(press(&mut picker, "enter"), PickerAction::Nothing);
    find(&mut picker, &catalog, action);
    assert_snapshot!("nothing_found", drawn(&mut picker, 80, 8));
    press(&mut picker, "ctrl+u");
    // In the title there is no entry.
    let action = type_text(&mut picker, "\"retry failed downloads\"");
    find(&mut picker, &catalog, action);
    assert_eq!(press(&mut picker, "enter"), PickerAction::Choose(session));

    press(&mut picker, "ctrl+u");
    let action = type_text(&mut picker, "more besides");
    find(&mut picker, &catalog, action);
    assert!(!drawn(&mut picker, 80, 20).contains("s-d"));
    let action = press(&mut picker, "tab");
    assert_eq!(action, search("more besides", PickerScope::All));
    find(&mut picker, &catalog, action);
    assert_snapshot!("found_anywhere", drawn(&mut picker, 100, 20));
    assert_eq!(press(&mut picker, "esc"), search("", PickerScope::All));
    assert_eq!(press(&mut picker, "esc"), search("", PickerScope::All));
    assert!(drawn(&mut picker, 80, 20).starts_with("Sessions of all directories"));
    // What was searched for among the sessions is searched for in them, and is there again.
    type_text(&mut picker, "wind");
    assert_eq!(press(&mut picker, "ctrl+f"), search("wind", PickerScope::All));
    assert_eq!(press(&mut picker, "ctrl+f"), search("", PickerScope::All));
    assert_eq!(picker.state().query(), "wind");
}

#[test]
fn what_could_not_be_searched_is_told_and_nothing_acts_on_the_terminal() {
    let bad = "\\u001b[2J\\u009b2J\u{9b}2J\\u0007\u{202e}\u{2066}\\u2028 found\\ny";
    let catalog = pollster::block_on(async {
        let storage = MemoryStorage::new();
        let text = file(bad, 1, bad, bad, bad, bad) + &said(bad, "b", "user", bad);
        for (name, text) in [("a", text), ("b", "no session\n".to_owned())] {
            let key = format!("sessions/w/{name}.jsonl").parse().unwrap();
            storage.append_once(&key, text.into()).await.unwrap();
        }
        SessionCatalog::new(vec![Place::agent_dir(Arc::new(storage)).unwrap()])
    });
    let mut picker = SessionPicker::new(None).theme(Theme::plain());
    press(&mut picker, "ctrl+f");
    let action = type_text(&mut picker, "found");
    find(&mut picker, &catalog, action);
    // `drawn` looks at each cell.
    let screen = drawn(&mut picker, 120, 20);
    assert!(screen.contains("3/3, not searched: 1\n"), "{screen}");
    assert!(screen.contains("user: ") && screen.contains("found y"), "{screen}");
    for (width, height) in [(1, 1), (2, 3), (5, 2), (20, 4), (500, 3)] {
        drawn(&mut picker, width, height);
    }
}
