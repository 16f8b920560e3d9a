//! Trees to look at, keys, and screens as text.

use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use rustix::time::{ClockId, clock_gettime};
use session_context::tui::{Theme, TreeAction, TreeSelector};
use session_model::document::{LoadOptions, SessionDocument};
use session_model::tree::SessionTree;

/// The session that is shipped.
pub const DEMO: &str =
    include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/examples/data/demo.jsonl"));

/// Loads a session.
pub fn session(text: impl Into<String>) -> SessionDocument {
    SessionDocument::load(text.into().into(), &LoadOptions::default()).unwrap().document
}

/// A message as a line of a session; `text` is as JSON holds it.
pub fn said(id: &str, parent: &str, role: &str, text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","timestamp":"2026-01-01T00:00:00Z","message":{{"role":"{role}","content":"{text}"}}}}"#
    ) + "\n"
}

/// A session of these lines.
pub fn session_of(lines: impl IntoIterator<Item = String>) -> SessionDocument {
    let header = "{\"type\":\"session\",\"version\":3,\"id\":\"s\"}\n".to_owned();
    session(std::iter::once(header).chain(lines).collect::<String>())
}

/// A key by the name it has in the help: `alt+x`, `shift+enter`, `L`.
pub fn key(name: &str) -> Event {
    let mut modifiers = KeyModifiers::NONE;
    let mut rest = name;
    for (prefix, modifier) in [
        ("shift+", KeyModifiers::SHIFT),
        ("ctrl+", KeyModifiers::CONTROL),
        ("alt+", KeyModifiers::ALT),
    ] {
        if let Some(behind) = rest.strip_prefix(prefix) {
            (rest, modifiers) = (behind, modifiers | modifier);
        }
    }
    let code = match rest {
        "enter" => KeyCode::Enter,
        "esc" => KeyCode::Esc,
        "up" => KeyCode::Up,
        "down" => KeyCode::Down,
        "left" => KeyCode::Left,
        "right" => KeyCode::Right,
        "home" => KeyCode::Home,
        "end" => KeyCode::End,
        "pageup" => KeyCode::PageUp,
        "pagedown" => KeyCode::PageDown,
        "tab" => KeyCode::Tab,
        "backspace" => KeyCode::Backspace,
        "delete" => KeyCode::Delete,
        function if function.len() > 1 && function.starts_with('f') => {
            KeyCode::F(function[1..].parse().unwrap())
        }
        letter => {
            assert_eq!(letter.chars().count(), 1, "{name}");
            KeyCode::Char(letter.chars().next().unwrap())
        }
    };
    Event::Key(KeyEvent::new(code, modifiers))
}

/// A selector without colours.
pub fn selector(tree: &SessionTree) -> TreeSelector {
    TreeSelector::new(tree).theme(Theme::plain()).title("Retry failed downloads")
}

/// Presses keys, named and separated by spaces; returns what the last one asks to be done.
pub fn press(selector: &mut TreeSelector, tree: &SessionTree, keys: &str) -> TreeAction {
    let mut action = TreeAction::Nothing;
    for name in keys.split(' ') {
        action = selector.handle_event(&key(name), tree);
    }
    action
}

/// Types a text.
pub fn type_text(selector: &mut TreeSelector, tree: &SessionTree, text: &str) {
    for c in text.chars() {
        let event = Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::NONE));
        assert_eq!(selector.handle_event(&event, tree), TreeAction::Nothing);
    }
}

/// How long a processor has worked on this thread: what others do on the machine does not count.
pub fn worked() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::new(time.tv_sec.try_into().unwrap(), time.tv_nsec.try_into().unwrap())
}

/// The selector on a screen of this size, as text.
pub fn drawn(selector: &mut TreeSelector, tree: &SessionTree, width: u16, height: u16) -> String {
    text_of(&buffer(width, height, |area, buf| selector.render(tree, area, buf)))
}

/// Draws on a screen of this size, and checks what holds for every screen.
pub fn buffer(width: u16, height: u16, draw: impl FnOnce(Rect, &mut Buffer)) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame.area(), frame.buffer_mut())).unwrap();
    let buffer = terminal.backend().buffer().clone();
    for cell in buffer.content() {
        let bad = |c: char| c.is_control() || "\u{202e}\u{2066}\u{2028}\u{200f}\u{61c}".contains(c);
        assert!(!cell.symbol().contains(bad), "{:?}", cell.symbol());
    }
    buffer
}

/// A screen as lines of text, without the blanks at their ends.
pub fn text_of(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in buffer.area.top()..buffer.area.bottom() {
        let mut line = String::new();
        let mut x = buffer.area.left();
        while x < buffer.area.right() {
            let symbol = buffer[(x, y)].symbol();
            line.push_str(symbol);
            // A wide character covers the next cell.
            x += u16::try_from(ratatui::text::Span::raw(symbol).width()).unwrap().max(1);
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}
