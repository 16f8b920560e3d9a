//! What a key costs on a screen, with the screen drawn after it.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use rustix::time::{ClockId, clock_gettime};
use session_context::listing::{Place, SessionCatalog};
use session_context::session_picker::{Loaded, Loader};
use session_context::tui::{SessionPicker, Theme, TreeSelector};
use session_model::document::{LoadOptions, SessionDocument};
use session_model::tree::SessionTree;
use session_store_file::FileStorage;

use crate::row;

const ENTRIES: usize = 100_000;
const SESSIONS: usize = 5000;
const AREA: Rect = Rect::new(0, 0, 80, 24);
const LIMIT: &str = "at most 50 ms";

/// Keys as people press them, by what they do.
const TREE_KEYS: [(&str, &str); 5] = [
    ("filters", "ctrl+o ctrl+o ctrl+o ctrl+o ctrl+o alt+d alt+t alt+u alt+l alt+a"),
    (
        "search, letter by letter and back",
        "g o e s space o n < < < < < < < e n t r y space 9 9 esc",
    ),
    ("folds", "home right left right end left left right alt+left alt+right"),
    ("moves", "up down pageup pagedown home end up alt+up alt+up alt+down"),
    ("preview and help", "tab tab f1 esc"),
];

pub(crate) fn run(dir: &Path) {
    println!("\nkeys in a tree of {ENTRIES} entries, each with the screen after it, 80x24");
    let session = session_of((0..ENTRIES).map(|at| {
        let parent = if at % 10 == 9 { at.saturating_sub(5) } else { at.saturating_sub(1) };
        let role = ["user", "assistant", "toolResult"][at % 3];
        let text =
            format!("entry {at} of them all says {} and goes on from there", at * 7919 % 10_007);
        said(&format!("n{at}"), &format!("n{parent}"), role, &text)
    }));
    tree(session.tree());
    for (name, session) in [
        (
            "a line of 1 MB",
            session_of([said("a", "", "user", &"a\\u001b[31m e\u{301}".repeat(70_000))]),
        ),
        (
            "a chain of 10,000",
            session_of((0..10_000).map(|at: usize| {
                said(&format!("n{at}"), &format!("n{}", at.saturating_sub(1)), "user", "a step")
            })),
        ),
        (
            "2,000 siblings",
            session_of((0..=2000).map(|at: usize| {
                said(&format!("n{at}"), if at == 0 { "" } else { "n0" }, "user", "a way")
            })),
        ),
    ] {
        let all: Vec<_> = TREE_KEYS.iter().map(|(_, keys)| *keys).collect();
        let mut selector = TreeSelector::new(session.tree()).theme(Theme::plain());
        let times = all.join(" ");
        tell(
            name,
            &press(&times, |event| {
                selector.handle_event(&event, session.tree());
                draw(|buf| selector.render(session.tree(), AREA, buf));
            }),
        );
    }
    println!("\nthe picker with {SESSIONS} sessions");
    picker(dir);
}

fn tree(tree: &SessionTree) {
    let (selector, time) = cpu(|| TreeSelector::new(tree));
    row("taking the tree in, once", format!("{:.1} ms", millis(time)), "");
    let mut selector = selector.theme(Theme::plain());
    for (name, keys) in TREE_KEYS {
        tell(
            name,
            &press(keys, |event| {
                selector.handle_event(&event, tree);
                draw(|buf| selector.render(tree, AREA, buf));
            }),
        );
    }
}

fn picker(dir: &Path) {
    let sessions = dir.join("agent/sessions/-w");
    std::fs::create_dir_all(&sessions).unwrap();
    for at in 0..SESSIONS {
        let title = format!("session number {at} about {}", at * 7919 % 10_007);
        let header = format!(
            r#"{{"type":"session","version":3,"id":"s-{at}","timestamp":"2026-01-01T00:00:00Z","cwd":"/w","title":"{title}"}}"#
        );
        let words = "The parser reads one line at a time. ".repeat(60);
        let lines = said("a", "", "user", &title) + &said("b", "a", "assistant", &words).repeat(3);
        std::fs::write(sessions.join(format!("{at:04}.jsonl")), header + "\n" + &lines).unwrap();
    }
    let catalog = || {
        let storage = FileStorage::open(dir.join("agent")).unwrap();
        SessionCatalog::new(vec![Place::agent_dir(Arc::new(storage)).unwrap()])
    };
    let mut picker = SessionPicker::new(None).theme(Theme::plain());
    let first = (0..5).map(|_| {
        let (start, worked) = (Instant::now(), time_on(ClockId::ProcessCPUTime));
        let mut loader = Loader::start(catalog());
        picker = SessionPicker::new(None).theme(Theme::plain());
        if let Some(Loaded::First(rows)) = pollster::block_on(loader.next()) {
            picker.set_first(rows);
        }
        draw(|buf| picker.render(AREA, buf));
        let times = (time_on(ClockId::ProcessCPUTime) - worked, start.elapsed());
        // The rest does not get into the way of the next round.
        while !matches!(pollster::block_on(loader.next()), Some(Loaded::All(_)) | None) {}
        times
    });
    let (worked, passed) = first.min().unwrap_or_default();
    let figure = format!("{:.1} / {:.1} ms", millis(worked), millis(passed));
    row("first screen: work of all threads, by the clock", figure, LIMIT);
    let (rows, time) = cpu(|| pollster::block_on(catalog().list_all(Default::default())).unwrap());
    row("all sessions, in the background", format!("{:.1} ms", millis(time)), "");
    let ((), time) = cpu(|| picker.set_sessions(rows));
    row("taking them in, once", format!("{:.1} ms", millis(time)), LIMIT);
    for (name, keys) in [
        (
            "search, letter by letter and back",
            "n u m b e r space 4 2 < < < < < < < < a b o u t esc",
        ),
        (
            "moves, order, scope",
            "down down pagedown end up home alt+s alt+s tab alt+p alt+p f1 esc",
        ),
    ] {
        tell(
            name,
            &press(keys, |event| {
                picker.handle_event(&event);
                draw(|buf| picker.render(AREA, buf));
            }),
        );
    }
}

/// Presses keys and returns how long each took, with what is done after it, the shortest first.
fn press(keys: &str, mut press: impl FnMut(Event)) -> Vec<Duration> {
    let mut times: Vec<_> = keys.split(' ').map(|name| cpu(|| press(key(name))).1).collect();
    times.sort_unstable();
    times
}

fn tell(what: &str, times: &[Duration]) {
    let worst = times.last().copied().unwrap_or_default();
    let figure = format!("{:.1} / {:.1} ms", millis(times[times.len() / 2]), millis(worst));
    row(&format!("{what}: median, worst"), figure, LIMIT);
}

fn key(name: &str) -> Event {
    let (modifiers, name) = match name.split_once('+') {
        Some(("alt", name)) => (KeyModifiers::ALT, name),
        Some(("ctrl", name)) => (KeyModifiers::CONTROL, name),
        _ => (KeyModifiers::NONE, name),
    };
    let code = match name {
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "esc" => KeyCode::Esc,
        "tab" => KeyCode::Tab,
        "f1" => KeyCode::F(1),
        "space" => KeyCode::Char(' '),
        "<" => KeyCode::Backspace,
        letter => KeyCode::Char(letter.chars().next().unwrap()),
    };
    Event::Key(KeyEvent::new(code, modifiers))
}

fn draw(draw: impl FnOnce(&mut Buffer)) {
    let mut buf = Buffer::empty(AREA);
    draw(&mut buf);
    black_box(buf);
}

/// Does something and returns how much time this thread worked on it, whatever else the machine does.
fn cpu<T>(work: impl FnOnce() -> T) -> (T, Duration) {
    let start = time_on(ClockId::ThreadCPUTime);
    let done = work();
    (done, time_on(ClockId::ThreadCPUTime) - start)
}

fn time_on(clock: ClockId) -> Duration {
    let time = clock_gettime(clock);
    Duration::new(time.tv_sec.cast_unsigned(), time.tv_nsec.cast_unsigned().try_into().unwrap())
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}

fn said(id: &str, parent: &str, role: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"{role}","content":"{text}"}}}}"#
    ) + "\n"
}

fn session_of(lines: impl IntoIterator<Item = String>) -> SessionDocument {
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n".to_owned();
    let text: String = std::iter::once(header).chain(lines).collect();
    SessionDocument::load(text.into(), &LoadOptions::default()).unwrap().document
}
