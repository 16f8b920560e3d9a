//! Sessions of other tools on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use session_model::preview::one_line;
use session_model::time::to_iso;

use super::draw::size;
use super::{PickerAction, SessionPicker, View};
use crate::import::{Glimpse, Source, Tool};
use crate::session_picker::{ForeignFound, ForeignState, foreign_title};
use crate::tui::draw::{LINE_CHARS, line, split_line, styled};
use crate::tui::look::Look;

/// From this width on a session's time and size are shown.
const COLUMNS_WIDTH: u16 = 64;

impl SessionPicker {
    /// Takes what was found of a tool's sessions.
    pub fn set_foreign(&mut self, found: ForeignFound) {
        match (found, &mut self.view) {
            (ForeignFound::Sources(sources), View::Foreign(foreign)) => {
                foreign.set_sources(sources)
            }
            (ForeignFound::Glimpse(path, glimpse), View::Foreign(foreign)) => {
                foreign.set_glimpse(path, glimpse);
            }
            (ForeignFound::Failed(why), _) => self.complain(&why),
            _ => {}
        }
    }

    /// Goes to the sessions of the next tool, after the last back to those that are here.
    pub(super) fn next_tool(&mut self) -> PickerAction {
        let next = match &self.view {
            View::Foreign(foreign) if foreign.tool() == Tool::Codex => None,
            View::Foreign(_) => Some(Tool::Codex),
            _ => Some(Tool::Claude),
        };
        self.view = next.map_or(View::Sessions, |tool| View::Foreign(ForeignState::new(tool)));
        next.map_or(PickerAction::Nothing, PickerAction::Look)
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
