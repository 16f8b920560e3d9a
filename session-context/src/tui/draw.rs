//! Pieces that several screens are made of.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, BorderType, Clear, Widget};
use session_model::preview::one_line;

use super::Theme;
use super::input::Input;
use super::look::Look;

/// How long a title or notice may be, in characters.
pub(super) const LINE_CHARS: usize = 200;

/// A key, or several with the same meaning, and what it does.
pub(super) type KeyHelp = (&'static str, &'static str);

/// The rows of a list that are seen: where the view begins, so that the cursor is in it.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Scroll {
    offset: usize,
    /// How many rows there was room for last time.
    height: usize,
}

impl Scroll {
    /// Returns the rows that are seen of so many, with room for `height`.
    pub(super) fn window(
        &mut self,
        rows: usize,
        cursor: usize,
        height: usize,
    ) -> std::ops::Range<usize> {
        self.height = height;
        let latest = rows.saturating_sub(height);
        let lowest = (cursor + 1).saturating_sub(height);
        self.offset = self.offset.clamp(lowest.min(cursor), cursor).min(latest);
        self.offset..rows.min(self.offset + height)
    }

    /// Returns how many rows a page is: one less than there is room for, so that one stays in sight.
    pub(super) fn page(self) -> usize {
        self.height.saturating_sub(1).max(1)
    }
}

/// Draws a line and fills the rest of the row with its style.
pub(super) fn line(buf: &mut Buffer, area: Rect, y: u16, line: &Line<'_>) {
    if y < area.bottom() {
        buf.set_style(Rect { y, height: 1, ..area }, line.style);
        buf.set_line(area.x, y, line, area.width);
    }
}

/// Draws a line with another one at its right end, which gives way if there is no room for both.
pub(super) fn split_line(buf: &mut Buffer, area: Rect, y: u16, left: &Line<'_>, right: &Line<'_>) {
    line(buf, area, y, left);
    let (used, wanted) = (left.width(), right.width());
    let room = usize::from(area.width);
    if used + wanted + 2 <= room && y < area.bottom() {
        let x = area.right() - u16::try_from(wanted).unwrap_or(area.width);
        buf.set_line(x, y, right, area.width);
    }
}

/// Clears room for a dialog in the middle and draws its frame; returns what is inside.
pub(super) fn dialog(
    buf: &mut Buffer,
    area: Rect,
    title: &str,
    width: u16,
    height: u16,
    theme: Theme,
) -> Rect {
    let (width, height) = (width.min(area.width), height.min(area.height));
    let x = area.x + (area.width - width) / 2;
    let y = area.y + (area.height - height) / 2;
    let area = Rect { x, y, width, height };
    Clear.render(area, buf);
    let title = Span::styled(format!(" {title} "), theme.style(Look::Strong));
    let block = Block::bordered().border_type(BorderType::Rounded).title(title);
    let inner = block.inner(area);
    block.render(area, buf);
    Rect { x: inner.x + 1, width: inner.width.saturating_sub(2), ..inner }
}

/// Keys with what they do, for a foot line: as many as there is room for.
pub(super) fn key_line(keys: &[KeyHelp], width: u16, theme: Theme) -> Line<'static> {
    let mut spans: Vec<Span<'static>> = Vec::new();
    let mut left = usize::from(width);
    for (name, text) in keys {
        let needed = Span::raw(*name).width() + Span::raw(*text).width() + 1;
        if needed > left {
            break;
        }
        left = left.saturating_sub(needed + 2);
        spans.push(Span::styled(*name, theme.style(Look::Key)));
        spans.push(Span::styled(format!(" {text}  "), theme.style(Look::Dim)));
    }
    Line::from(spans)
}

/// Something to be told in the foot line.
#[derive(Clone, Debug)]
pub(super) struct Notice {
    text: String,
    is_bad: bool,
}

impl Notice {
    pub(super) fn good(text: &str) -> Self {
        Self { text: one_line(text, LINE_CHARS), is_bad: false }
    }

    pub(super) fn bad(text: &str) -> Self {
        Self { text: one_line(text, LINE_CHARS), is_bad: true }
    }
}

/// Draws a notice, or keys if there is none.
pub(super) fn foot_line(
    buf: &mut Buffer,
    area: Rect,
    notice: Option<&Notice>,
    keys: &[KeyHelp],
    theme: Theme,
) {
    let foot = match notice {
        Some(Notice { text, is_bad: true }) => styled(format!("! {text}"), theme.style(Look::Bad)),
        Some(Notice { text, .. }) => styled(text.clone(), theme.style(Look::Strong)),
        None => key_line(keys, area.width, theme),
    };
    line(buf, area, area.y, &foot);
}

/// Draws the words that are searched for.
pub(super) fn search_line(buf: &mut Buffer, area: Rect, words: &str, theme: Theme) {
    const NAME: &str = "Search: ";
    if words.is_empty() {
        return line(buf, area, area.y, &styled("Search: type", theme.style(Look::Dim)));
    }
    line(buf, area, area.y, &styled(NAME, theme.style(Look::Key)));
    let used = area.width.min(NAME.len() as u16);
    let room = Rect { x: area.x + used, width: area.width - used, ..area };
    let plain = theme.style(Look::Plain);
    Input::new(words).render(room, buf, plain, theme.style(Look::Selected));
}

/// Asks for a line of text.
pub(super) fn ask(
    buf: &mut Buffer,
    area: Rect,
    title: &str,
    input: &Input,
    hint: &str,
    theme: Theme,
) {
    let inner = dialog(buf, area, title, 64, 5, theme);
    let plain = theme.style(Look::Plain);
    input.render(Rect { height: 1, ..inner }, buf, plain, theme.style(Look::Selected));
    line(buf, inner, inner.y + 2, &styled(hint, theme.style(Look::Dim)));
}

/// A line at the cursor: in one style, so that it can be read on any background.
pub(super) fn selected_line(spans: Vec<Span<'static>>, theme: Theme) -> Line<'static> {
    let found = theme.style(Look::Found).add_modifier;
    let plain = |span: Span<'static>| {
        let kept = span.style.add_modifier.intersection(found);
        span.style(Style::new().add_modifier(kept))
    };
    let spans: Vec<_> = spans.into_iter().map(plain).collect();
    Line::from(spans).style(theme.style(Look::Selected))
}

/// A line of one style.
pub(super) fn styled(text: impl Into<String>, style: Style) -> Line<'static> {
    Line::from(Span::styled(text.into(), style))
}
