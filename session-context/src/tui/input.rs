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
                let blank = |c: char| if acts_on_terminal(c) { ' ' } else { c };
                text.chars().map(blank).for_each(|c| self.insert(c));
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
        let mut start = before;
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

/// Tells whether a key types a character.
pub(super) fn is_text(key: KeyEvent) -> bool {
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
}
