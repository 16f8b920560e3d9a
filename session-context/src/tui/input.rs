//! A line of text that is being typed.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::Span;
use session_model::preview::acts_on_terminal;

/// A line of text with a cursor.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    text: String,
    /// Where the next character goes, in bytes.
    at: usize,
}

impl Input {
    /// Begins with a text, without what a terminal acts on.
    pub(super) fn new(text: &str) -> Self {
        let text = text.replace(acts_on_terminal, "");
        Self { at: text.len(), text }
    }

    pub(super) fn text(&self) -> &str {
        &self.text
    }

    /// Takes a key or pasted text; tells whether it was one for an input.
    pub(super) fn handle(&mut self, event: &Event) -> bool {
        match event {
            Event::Paste(text) => {
                // Many lines become one.
                let text = text.replace(acts_on_terminal, " ");
                self.text.insert_str(self.at, &text);
                self.at += text.len();
                true
            }
            Event::Key(key) => self.handle_key(*key),
            _ => false,
        }
    }

    fn handle_key(&mut self, key: KeyEvent) -> bool {
        let ctrl = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('w') if ctrl => self.erase_word(),
            KeyCode::Char('u') if ctrl => {
                self.text.drain(..self.at);
                self.at = 0;
            }
            KeyCode::Char('a') if ctrl => self.at = 0,
            KeyCode::Char('e') if ctrl => self.at = self.text.len(),
            KeyCode::Char(c) if is_text(key) => self.insert(c),
            KeyCode::Backspace => {
                if let Some(c) = self.text[..self.at].chars().next_back() {
                    self.at -= c.len_utf8();
                    self.text.remove(self.at);
                }
            }
            KeyCode::Delete if self.at < self.text.len() => {
                self.text.remove(self.at);
            }
            KeyCode::Left => {
                self.at -= self.text[..self.at].chars().next_back().map_or(0, char::len_utf8);
            }
            KeyCode::Right => {
                self.at += self.text[self.at..].chars().next().map_or(0, char::len_utf8);
            }
            KeyCode::Home => self.at = 0,
            KeyCode::End => self.at = self.text.len(),
            _ => return false,
        }
        true
    }

    fn insert(&mut self, c: char) {
        if !acts_on_terminal(c) {
            self.text.insert(self.at, c);
            self.at += c.len_utf8();
        }
    }

    fn erase_word(&mut self) {
        let before = self.text[..self.at].trim_end();
        let start = before
            .rfind(char::is_whitespace)
            .map_or(0, |at| at + before[at..].chars().next().map_or(0, char::len_utf8));
        self.text.drain(start..self.at);
        self.at = start;
    }

    /// Draws the text with its cursor in one line; of a long text the part at the cursor.
    pub(super) fn render(&self, area: Rect, buf: &mut Buffer, style: Style, cursor: Style) {
        let (before, behind) = self.text.split_at(self.at);
        // Of a very long text only its end can be seen, whatever marks are joined to its letters.
        let far = before.char_indices().rev().nth(8 * usize::from(area.width));
        let mut start = &before[far.map_or(0, |(at, _)| at)..];
        while Span::raw(start).width() + 1 > usize::from(area.width) {
            let Some(c) = start.chars().next() else { break };
            start = &start[c.len_utf8()..];
        }
        let mut under = behind.chars().next();
        let rest = behind.get(under.map_or(0, char::len_utf8)..).unwrap_or_default();
        let under = under.get_or_insert(' ').to_string();
        let mut x = area.x;
        for (text, style) in [(start, style), (&under, cursor), (rest, style)] {
            let room = usize::from(area.right().saturating_sub(x));
            x = buf.set_stringn(x, area.y, text, room, style).0;
        }
    }
}

/// How many characters are searched for at most; nobody types more.
const SEARCH_CHARS: usize = 256;

/// Returns the words that are searched for after an event that types, pastes or erases; `None` after
/// any other.
pub(super) fn edited(words: &str, event: &Event) -> Option<String> {
    let edits = match event {
        Event::Paste(_) => true,
        Event::Key(key) => match key.code {
            KeyCode::Backspace => true,
            KeyCode::Char('u' | 'w') if key.modifiers == KeyModifiers::CONTROL => true,
            _ => is_text(*key),
        },
        _ => false,
    };
    let mut input = Input::new(words);
    (edits && input.handle(event)).then(|| {
        // White space before the first word would only look like a search.
        input.text.trim_start().chars().take(SEARCH_CHARS).collect()
    })
}

/// Tells whether a key leads back from what is asked.
pub(super) fn leaves(key: &KeyEvent) -> bool {
    key.code == KeyCode::Esc
        || (key.code == KeyCode::Char('c') && key.modifiers == KeyModifiers::CONTROL)
}

/// Returns how many rows a key leads down, or up if negative; one row leads around the ends.
pub(super) fn rows_moved(key: KeyEvent, page: usize) -> Option<isize> {
    // Less would be taken for a step.
    let page = isize::try_from(page).unwrap_or(isize::MAX).max(2);
    Some(match key.code {
        KeyCode::Up => -1,
        KeyCode::Down => 1,
        KeyCode::PageUp => -page,
        KeyCode::PageDown => page,
        KeyCode::Home => isize::MIN,
        KeyCode::End => isize::MAX,
        _ => return None,
    })
}

/// Tells whether a key types a character.
fn is_text(key: KeyEvent) -> bool {
    matches!(key.code, KeyCode::Char(_))
        && !key
            .modifiers
            .intersects(KeyModifiers::CONTROL | KeyModifiers::ALT | KeyModifiers::SUPER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_edited_in_any_script() {
        let mut input = Input::new("über añ");
        let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        let ctrl = |c| Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
        let mut trace = Vec::new();
        for event in [
            key(KeyCode::Backspace),
            key(KeyCode::Char('漢')),
            key(KeyCode::Left),
            key(KeyCode::Left),
            key(KeyCode::Delete),
            Event::Paste("x\ny\u{1b}[".to_owned()),
            key(KeyCode::End),
            ctrl('w'),
            key(KeyCode::Home),
            key(KeyCode::Right),
            ctrl('u'),
        ] {
            assert!(input.handle(&event));
            trace.push(input.text().to_owned());
        }
        let wanted = [
            "über a",
            "über a漢",
            "über a漢",
            "über a漢",
            "über 漢",
            "über x y [漢",
            "über x y [漢",
            "über x y ",
            "über x y ",
            "über x y ",
            "ber x y ",
        ];
        assert_eq!(trace, wanted);
        assert!(!input.handle(&key(KeyCode::Enter)) && !input.handle(&ctrl('x')));
    }

    #[test]
    fn a_megabyte_is_pasted_and_drawn_at_once() {
        let start = std::time::Instant::now();
        let mut input = Input::new("() ");
        let long = "漢e\u{301} ".repeat(200_000);
        input.handle(&Event::Key(KeyEvent::new(KeyCode::Left, KeyModifiers::NONE)));
        assert!(input.handle(&Event::Paste(long.clone())));
        assert_eq!(input.text(), format!("(){long} "));
        let area = Rect::new(0, 0, 9, 1);
        let mut buf = Buffer::empty(area);
        input.render(area, &mut buf, Style::new(), Style::new());
        let cells: Vec<_> = buf.content().iter().map(|cell| cell.symbol()).collect();
        assert_eq!(cells, ["漢", " ", "e\u{301}", " ", "漢", " ", "e\u{301}", " ", " "]);
        assert_eq!(edited("a ", &Event::Paste(long)).map(|words| words.chars().count()), Some(256));
        // Without optimisation, on a busy machine.
        assert!(start.elapsed() < std::time::Duration::from_secs(60));
    }

    #[test]
    fn a_search_is_typed_pasted_and_erased() {
        let key = |code| Event::Key(KeyEvent::new(code, KeyModifiers::NONE));
        let ctrl = |c| Event::Key(KeyEvent::new(KeyCode::Char(c), KeyModifiers::CONTROL));
        for (words, event, wanted) in [
            ("", key(KeyCode::Char(' ')), Some("")),
            ("a", key(KeyCode::Char('b')), Some("ab")),
            ("ab", key(KeyCode::Backspace), Some("a")),
            ("a b", ctrl('w'), Some("a ")),
            ("a b", ctrl('u'), Some("")),
            ("", Event::Paste(" x\ny".to_owned()), Some("x y")),
            ("a", key(KeyCode::Left), None),
            ("a", ctrl('a'), None),
            ("a", Event::FocusGained, None),
        ] {
            assert_eq!(edited(words, &event).as_deref(), wanted, "{words} {event:?}");
        }
    }
}
