//! The session picker in each of its states.

use std::sync::Arc;
use std::time::Duration;

use insta::assert_snapshot;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use session_context::import::{Tool, find_sources, glimpse};
use session_context::listing::{CwdFilter, ListingOptions, Place, SessionCatalog, SessionRow};
use session_context::session_picker::{ForeignFound, Loaded, Loader, Reader};
use session_context::tui::{PickerAction, SessionPicker, Theme};
use session_model::storage::SessionStorageExt;
use session_store_memory::MemoryStorage;

use crate::support::{DEMO, buffer, key, said, text_of, worked};

/// A session of two messages; `end` is how the answer ended.
pub fn file(id: &str, day: u32, cwd: &str, title: &str, parent: &str, end: &str) -> String {
    let time = format!("2026-01-{day:02}T08:00:00.000Z");
    let parent = match parent {
        "" => String::new(),
        parent => format!(r#","parentSession":"{parent}""#),
    };
    format!(
        r#"{{"type":"session","version":3,"id":"{id}","timestamp":"{time}","cwd":"{cwd}","title":"{title}"{parent}}}
{{"type":"message","id":"a","parentId":null,"timestamp":"{time}","message":{{"role":"user","content":"Please: {title}"}}}}
{{"type":"message","id":"b","parentId":"a","timestamp":"{time}","message":{{"role":"assistant","content":"This is done, and more besides.","stopReason":"{end}","usage":{{"cost":{{"total":0.25}}}}}}}}
"#
    )
}

/// Sessions of two directories, one of them damaged.
pub async fn catalog() -> SessionCatalog {
    let storage = MemoryStorage::new();
    let put = async |name: &str, text: String| {
        let key = format!("sessions/{name}.jsonl").parse().unwrap();
        storage.append_once(&key, text.into()).await.unwrap();
    };
    put("w/demo", DEMO.to_owned()).await;
    let made = |id, day, title, parent, end| file(id, day, "/work/weather", title, parent, end);
    put("w/a", made("s-a", 3, "Parse wind speeds", "", "stop")).await;
    put("w/b", made("s-b", 4, "Parse wind speeds, other way", "s-a", "error")).await;
    put("w/a/child", made("s-c", 3, "Look for a parser", "", "aborted")).await;
    put("o/d", file("s-d", 20, "/work/other", "漢字 and 🦀 and שלום", "", "toolUse")).await;
    put("w/bad", "no session\n".to_owned()).await;
    SessionCatalog::new(vec![Place::agent_dir(Arc::new(storage)).unwrap()])
}

pub async fn rows(catalog: &SessionCatalog) -> Vec<SessionRow> {
    catalog.list_all(ListingOptions::default().children()).await.unwrap()
}

/// A picker with all sessions, and what is inside those in sight.
pub fn picker() -> SessionPicker {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let catalog = catalog().await;
        let mut picker = SessionPicker::new(Some(CwdFilter::named("/work/weather")));
        picker = picker.theme(Theme::plain());
        let mut reader = Reader::start(catalog.places().to_vec());
        let rows = rows(&catalog).await;
        reader.ask(rows.iter().filter(|row| row.summary.is_ok()).cloned().collect());
        for _ in 0..5 {
            let (session, detail) = reader.next().await.unwrap();
            picker.set_detail(session, detail);
        }
        picker.set_sessions(rows);
        picker
    })
}

pub fn press(picker: &mut SessionPicker, keys: &str) -> PickerAction {
    keys.split(' ').map(|name| picker.handle_event(&key(name))).last().unwrap()
}

fn type_text(picker: &mut SessionPicker, text: &str) {
    for c in text.chars() {
        let event = Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        assert_eq!(picker.handle_event(&event), PickerAction::Nothing);
    }
}

pub fn drawn(picker: &mut SessionPicker, width: u16, height: u16) -> String {
    text_of(&buffer(width, height, |area, buf| picker.render(area, buf)))
}

#[test]
fn the_sessions_of_a_directory_with_their_lineage() {
    assert_snapshot!(drawn(&mut picker(), 80, 20));
}

#[test]
fn columns_give_way_in_narrow_terminals() {
    let mut picker = picker();
    for (width, height) in [(120, 18), (66, 8), (40, 8)] {
        assert_snapshot!(format!("columns_{width}"), drawn(&mut picker, width, height));
    }
    for (width, height) in [(1, 1), (2, 3), (5, 2), (20, 4), (500, 3)] {
        for keys in ["f1", "esc alt+r", "esc alt+d", "esc"] {
            press(&mut picker, keys);
            drawn(&mut picker, width, height);
        }
    }
}

#[test]
fn all_sessions_are_shown_sorted_and_searched() {
    let mut picker = picker();
    press(&mut picker, "tab alt+s");
    assert_snapshot!("all_by_creation", drawn(&mut picker, 80, 20));
    type_text(&mut picker, "othr pars");
    assert_snapshot!("search_for_sessions", drawn(&mut picker, 80, 10));
    type_text(&mut picker, "zzz");
    assert_snapshot!("no_session_found", drawn(&mut picker, 80, 10));
    assert_eq!(press(&mut picker, "esc esc"), PickerAction::Close);
}

#[test]
fn sessions_are_chosen_and_changed() {
    let mut picker = picker();
    drawn(&mut picker, 80, 20);
    let name = |key: &str| (0, format!("sessions/{key}.jsonl").parse().unwrap());
    assert_eq!(press(&mut picker, "enter"), PickerAction::Choose(name("w/demo")));
    press(&mut picker, "down");
    assert_eq!(press(&mut picker, "enter"), PickerAction::Choose(name("w/a")));
    press(&mut picker, "alt+r");
    assert_snapshot!("title", drawn(&mut picker, 80, 20));
    type_text(&mut picker, "!");
    let title = "Parse wind speeds!".to_owned();
    assert_eq!(press(&mut picker, "enter"), PickerAction::Rename { session: name("w/a"), title });
    assert_eq!(press(&mut picker, "alt+r ctrl+u enter"), PickerAction::Nothing);
    assert_eq!(press(&mut picker, "alt+d x"), PickerAction::Nothing);
    assert_eq!(press(&mut picker, "alt+d esc"), PickerAction::Nothing);
    press(&mut picker, "alt+d");
    assert_snapshot!("delete", drawn(&mut picker, 80, 20));
    assert_eq!(press(&mut picker, "enter"), PickerAction::Delete(name("w/a")));
    assert_eq!(press(&mut picker, "alt+z"), PickerAction::Undo);
    let cwd = "/work/weather".to_owned();
    assert_eq!(press(&mut picker, "alt+f"), PickerAction::Fork { session: name("w/a"), cwd });
    assert_eq!(press(&mut picker, "alt+a"), PickerAction::List { children: true });
    assert_eq!(press(&mut picker, "alt+a"), PickerAction::List { children: false });
    press(&mut picker, "alt+e");
    assert_snapshot!("export", drawn(&mut picker, 80, 20));
    let path = "a.md".into();
    assert_eq!(press(&mut picker, "enter"), PickerAction::Export { session: name("w/a"), path });
    assert_eq!(press(&mut picker, "alt+e ctrl+u enter"), PickerAction::Nothing);
    press(&mut picker, "?");
    assert_snapshot!("keys", drawn(&mut picker, 80, 20));
    press(&mut picker, "esc end");
    assert_snapshot!("unreadable", drawn(&mut picker, 80, 20));
}

#[test]
fn sessions_of_other_tools_are_shown_and_imported() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("projects/-work-weather");
    std::fs::create_dir_all(&folder).unwrap();
    for (name, text) in [("one", "Draw the wind"), ("two", "Parse 漢字")] {
        let line = format!(
            r#"{{"type":"user","uuid":"a","parentUuid":null,"sessionId":"{name}","timestamp":"2026-03-01T09:00:00Z","cwd":"/work/weather","message":{{"role":"user","content":"{text}"}}}}"#
        );
        let path = folder.join(format!("{name}.jsonl"));
        std::fs::write(&path, line + "\n").unwrap();
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        let day = if name == "one" { 20_454 } else { 20_455 };
        let time = Duration::from_secs(day * 86_400);
        file.set_modified(std::time::UNIX_EPOCH + time).unwrap();
    }
    let mut picker = picker();
    assert_eq!(press(&mut picker, "alt+i"), PickerAction::Look(Tool::Claude));
    let mut sources = find_sources(Tool::Claude, dir.path()).unwrap().sources;
    let glimpses: Vec<_> = sources.iter().map(|source| source.path.clone()).collect();
    picker.set_foreign(ForeignFound::Sources(sources.clone()));
    for path in glimpses {
        let glimpse = glimpse(Tool::Claude, &path).unwrap();
        picker.set_foreign(ForeignFound::Glimpse(path, glimpse));
    }
    press(&mut picker, "down");
    assert_snapshot!("sessions_of_claude", drawn(&mut picker, 80, 8));
    let path = sources.remove(1).path;
    let import = PickerAction::Import { tool: Tool::Claude, path };
    assert_eq!(press(&mut picker, "enter"), import);
    type_text(&mut picker, "wnd");
    assert_snapshot!("search_for_sessions_of_claude", drawn(&mut picker, 50, 8));
    assert_eq!(press(&mut picker, "esc alt+i"), PickerAction::Look(Tool::Codex));
    picker.set_foreign(ForeignFound::Failed("no \u{1b}[2J".to_owned()));
    assert_snapshot!("no_sessions_of_codex", drawn(&mut picker, 80, 8));
    assert_eq!(press(&mut picker, "alt+i"), PickerAction::Nothing);
    assert_eq!(press(&mut picker, "alt+i esc esc"), PickerAction::Close);
}

#[test]
fn the_places_of_sessions_are_shown_if_there_are_several() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let rows = runtime.block_on(async {
        let mut places = catalog().await.places().to_vec();
        let other = MemoryStorage::new();
        let text = file("s-f", 21, "/work/weather", "漢字 elsewhere", "", "stop");
        other.append_once(&"sessions/-w/f.jsonl".parse().unwrap(), text.into()).await.unwrap();
        places.push(Place::agent_dir(Arc::new(other)).unwrap());
        SessionCatalog::new(places).list_all(ListingOptions::default()).await.unwrap()
    });
    let places = ["omp".to_owned(), "/srv/漢字漢字/agents/of/all".to_owned()];
    let mut picker = SessionPicker::new(None).theme(Theme::plain()).places(places.to_vec());
    picker.set_sessions(rows);
    assert_snapshot!("places", drawn(&mut picker, 80, 20));
    assert_snapshot!("places_in_little_room", drawn(&mut picker, 50, 6));
}

#[test]
fn it_tells_that_it_is_looking() {
    let mut picker = SessionPicker::new(None).theme(Theme::plain());
    assert_snapshot!("looking", drawn(&mut picker, 80, 6));
    picker.set_sessions(Vec::new());
    assert_snapshot!("no_sessions", drawn(&mut picker, 80, 6));
    picker.complain("that\u{1b}[2J went wrong");
    let foot = drawn(&mut picker, 80, 6).lines().last().unwrap().to_owned();
    assert_eq!(foot, "! that [2J went wrong");
}

#[test]
fn what_a_terminal_acts_on_is_not_drawn() {
    let bad = "\\u001b[2J\\u009b2J\u{9b}2J\\u0007\u{202e}\u{2066}\\u2028x\\ny";
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let (rows, details) = runtime.block_on(async {
        let storage = MemoryStorage::new();
        let key = "sessions/w/a.jsonl".parse().unwrap();
        let text = file(bad, 1, bad, bad, bad, bad) + &said(bad, "b", bad, bad);
        storage.append_once(&key, text.into()).await.unwrap();
        let catalog = SessionCatalog::new(vec![Place::agent_dir(Arc::new(storage)).unwrap()]);
        let rows = rows(&catalog).await;
        let mut reader = Reader::start(catalog.places().to_vec());
        reader.ask(rows.clone());
        (rows, reader.next().await.unwrap())
    });
    let mut picker = SessionPicker::new(None);
    picker.set_sessions(rows);
    picker.set_detail(details.0, details.1);
    // `drawn` looks at each cell.
    for keys in ["tab", "alt+r", "esc alt+d", "esc x"] {
        press(&mut picker, keys);
        drawn(&mut picker, 120, 20);
    }
}

#[test]
fn the_first_of_five_thousand_sessions_come_at_once_and_keys_do_not_wait() {
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        let storage = MemoryStorage::new();
        for at in 0..5000 {
            let key = format!("sessions/w/{at:04}.jsonl").parse().unwrap();
            let title = format!("session number {at} about {}", at * 7919 % 10_007);
            let text = file(&format!("s-{at}"), 1 + at % 28, "/w", &title, "", "stop");
            storage.append_once(&key, text.into()).await.unwrap();
        }
        let catalog = SessionCatalog::new(vec![Place::agent_dir(Arc::new(storage)).unwrap()]);
        let mut loader = Loader::start(catalog);
        let Some(Loaded::First(first)) = loader.next().await else { panic!("no first rows") };
        assert_eq!(first.len(), 200);
        let all = loop {
            match loader.next().await {
                Some(Loaded::All(rows)) => break rows.unwrap(),
                Some(_) => {}
                None => panic!("no list"),
            }
        };
        let mut picker = SessionPicker::new(None);
        picker.set_sessions(all);
        for name in "s e s 4 2 backspace esc down pageup home alt+s".split(' ') {
            let start = worked();
            press(&mut picker, name);
            drawn(&mut picker, 80, 24);
            let took = worked() - start;
            // Without optimisation, on a slow machine.
            assert!(took < Duration::from_secs(2), "{name}: {took:?}");
            assert!(picker.wants().len() <= 24);
        }
    });
}
