//! All keys of a screen, shown over it.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::KeyEvent;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};

use super::Theme;
use super::draw::{KeyHelp, dialog, line};
use super::input::rows_moved;
use super::look::Look;

/// What every screen has at the end of its keys.
const COMMON_KEYS: [KeyHelp; 5] = [
    ("Ctrl+W Ctrl+U", "erase a word of the search, or all of it"),
    ("in a line", "← → Home End Ctrl+A Ctrl+E move, Ctrl+W Ctrl+U erase"),
    ("F1 ?", "these keys"),
    ("Ctrl+C", "close"),
    ("Ctrl+Z", "stop; `fg` goes on"),
];

/// All keys, from one on.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Help {
    from: usize,
    /// How many there was room for last time.
    height: usize,
}

impl Help {
    /// Takes a key; tells whether the keys are shown on.
    pub(super) fn stays(&mut self, key: KeyEvent) -> bool {
        let rows = rows_moved(key, self.height);
        // Drawing keeps it within the list.
        self.from = self.from.saturating_add_signed(rows.unwrap_or_default());
        rows.is_some()
    }

    /// Draws the keys of a screen, and those that every screen has.
    pub(super) fn render(&mut self, buf: &mut Buffer, area: Rect, keys: &[KeyHelp], theme: Theme) {
        let keys = [keys, &COMMON_KEYS].concat();
        let names = keys.iter().map(|(name, _)| Span::raw(*name).width()).max().unwrap_or(0);
        let texts = keys.iter().map(|(_, text)| Span::raw(*text).width()).max().unwrap_or(0);
        let size = |cells: usize| u16::try_from(cells).unwrap_or(u16::MAX);
        let inner = dialog(buf, area, "Keys", size(names + texts + 6), size(keys.len() + 2), theme);
        self.height = inner.height.into();
        self.from = self.from.min(keys.len().saturating_sub(self.height));
        for ((name, text), y) in keys.iter().skip(self.from).zip(inner.y..inner.bottom()) {
            let key = Span::styled(format!("{name:<names$}  "), theme.style(Look::Key));
            line(buf, inner, y, &Line::from(vec![key, Span::raw(*text)]));
        }
    }
}
