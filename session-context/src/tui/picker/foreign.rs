//! Sessions of other tools on the screen.

use ratatui::buffer::Buffer;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use session_model::preview::one_line;
use session_model::time::to_iso;

use super::draw::size;
use super::{Mode, PickerAction, SessionPicker};
use crate::import::{Glimpse, Source, Tool};
use crate::session_picker::{ForeignFound, ForeignState, foreign_title};
use crate::tui::draw::{LINE_CHARS, line, split_line, styled};
use crate::tui::input::is_text;
use crate::tui::look::Look;

/// From this width on a session's time and size are shown.
const COLUMNS_WIDTH: u16 = 64;

impl SessionPicker {
    /// Takes what was found of a tool's sessions.
    pub fn set_foreign(&mut self, found: ForeignFound) {
        match (found, &mut self.foreign) {
            (ForeignFound::Sources(sources), Some(foreign)) => foreign.set_sources(sources),
            (ForeignFound::Glimpse(path, glimpse), Some(foreign)) => {
                foreign.set_glimpse(path, glimpse);
            }
            (ForeignFound::Failed(why), _) => self.complain(&why),
            (_, None) => {}
        }
    }

    /// Goes to the sessions of the next tool, after the last back to those that are here.
    pub(super) fn next_tool(&mut self) -> PickerAction {
        let next = match self.foreign.as_ref().map(ForeignState::tool) {
            None => Some(Tool::Claude),
            Some(Tool::Claude) => Some(Tool::Codex),
            Some(Tool::Codex) => None,
        };
        self.foreign = next.map(ForeignState::new);
        next.map_or(PickerAction::Nothing, PickerAction::Look)
    }

    /// Goes back to the sessions that are here.
    pub(super) fn leave_tool(&mut self) {
        self.foreign = None;
    }

    pub(super) fn browse_foreign(&mut self, key: KeyEvent) -> PickerAction {
        let page = isize::try_from(self.scroll.page()).unwrap_or(isize::MAX).max(2);
        let Some(foreign) = &mut self.foreign else { return PickerAction::Nothing };
        let has = |modifier| key.modifiers.contains(modifier);
        let mut words = foreign.query().to_owned();
        match key.code {
            KeyCode::Char('c') if has(KeyModifiers::CONTROL) => return PickerAction::Close,
            KeyCode::Char('i' | 'I') if has(KeyModifiers::ALT) => return self.next_tool(),
            KeyCode::Up => foreign.move_by(-1),
            KeyCode::Down => foreign.move_by(1),
            KeyCode::PageUp => foreign.move_by(-page),
            KeyCode::PageDown => foreign.move_by(page),
            KeyCode::Home => foreign.move_by(isize::MIN),
            KeyCode::End => foreign.move_by(isize::MAX),
            KeyCode::F(1) => self.mode = Mode::Help { from: 0 },
            KeyCode::Esc if words.is_empty() => self.leave_tool(),
            KeyCode::Esc => foreign.set_query(""),
            KeyCode::Backspace => {
                words.pop();
                foreign.set_query(&words);
            }
            KeyCode::Enter => {
                let (tool, source) = (foreign.tool(), foreign.selected());
                let import =
                    |source: &Source| PickerAction::Import { tool, path: source.path.clone() };
                return source.map_or(PickerAction::Nothing, import);
            }
            KeyCode::Char(c) if is_text(key) => {
                words.push(c);
                foreign.set_query(words.trim_start());
            }
            _ => {}
        }
        PickerAction::Nothing
    }

    pub(super) fn draw_foreign(
        &mut self,
        foreign: &ForeignState,
        head: Rect,
        body: Rect,
        buf: &mut Buffer,
    ) {
        let theme = self.theme;
        let title = format!("Sessions of {}, to be imported", foreign.tool());
        let count = format!("{}/{}", foreign.rows().len(), foreign.len());
        let count = styled(count, theme.style(Look::Dim));
        split_line(buf, head, head.y, &styled(title, theme.style(Look::Strong)), &count);
        let Some(cursor) = foreign.cursor() else {
            let hint = "No session is found. Esc leads back.";
            return line(buf, body, body.y, &styled(hint, theme.style(Look::Dim)));
        };
        self.highlighter.set_search(foreign.query());
        let rows = foreign.rows();
        let window = self.scroll.window(rows.len(), cursor, usize::from(body.height));
        for ((at, known), y) in rows.enumerate().take(window.end).skip(window.start).zip(body.y..) {
            let mut spans = vec![Span::raw(if at == cursor { "› " } else { "  " })];
            let (plain, found) = (theme.style(Look::Plain), theme.style(Look::Found));
            spans.extend(self.highlighter.spans(foreign_title(known), plain, found));
            if let Some(cwd) = known.1.as_ref().and_then(|glimpse| glimpse.cwd.as_deref()) {
                let cwd = format!("  {}", one_line(cwd, LINE_CHARS));
                spans.push(Span::styled(cwd, theme.style(Look::Dim)));
            }
            let right = if body.width < COLUMNS_WIDTH { String::new() } else { facts(known) };
            let width = u16::try_from(right.len()).unwrap_or(body.width).min(body.width);
            let left = Rect { width: body.width - width, ..body };
            line(buf, left, y, &Line::from(spans));
            buf.set_string(left.right(), y, right, theme.style(Look::Dim));
            if at == cursor {
                buf.set_style(Rect { y, height: 1, ..body }, theme.style(Look::Selected));
            }
        }
    }
}

/// The size of a file and when it was changed, as wide as any other's.
fn facts((source, _): &(Source, Option<Glimpse>)) -> String {
    let since = source.modified.and_then(|time| time.duration_since(std::time::UNIX_EPOCH).ok());
    let time = since.and_then(|since| i64::try_from(since.as_millis()).ok()).map(to_iso);
    let time = time.unwrap_or_default().get(..16).unwrap_or_default().replace('T', " ");
    format!("{:>7} {time:>16}", size(source.bytes))
}
