//! The sessions on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::Style;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};
use session_model::preview::{Preview, one_line};
use session_model::summary::{SessionStatus, SessionSummary};
use session_model::time::to_iso;

use super::keys::{FOOT, FOREIGN_FOOT, KEYS, SAID_FOOT};
use super::{Mode, SessionPicker, View};
use crate::error::with_sources;
use crate::listing::{Kinship, SessionRow};
use crate::session_picker::{Detail, PickerRow, PickerScope, PickerSort, name_of, title_of};
use crate::tui::draw::{
    LINE_CHARS, ask, dialog, foot_line, key_line, line, search_line, split_line, styled,
};
use crate::tui::look::Look;

/// From this height on there is room to show the last messages.
const DETAIL_HEIGHT: u16 = 16;

/// How deep a session is indented at most, so that its title has room.
const MAX_INDENT: usize = 6;

/// A column behind the title.
struct Column {
    width: u16,
    /// From this width of the screen on it is shown.
    from: u16,
    text: fn(&SessionSummary, Option<&Detail>, PickerSort) -> String,
}

/// From this width on the place of each session is shown, if there are several.
const PLACE_FROM: u16 = 56;

/// How wide the name of a place is at most.
const PLACE_WIDTH: u16 = 14;

const COLUMNS: [Column; 5] = [
    Column { width: 11, from: 72, text: |summary, _, _| summary.status.to_string() },
    Column { width: 6, from: 90, text: |summary, _, _| messages(summary) },
    Column { width: 7, from: 64, text: |summary, _, _| size(summary.size) },
    Column { width: 9, from: 72, text: |_, detail, _| cost(detail) },
    Column { width: 17, from: 44, text: |summary, _, sort| time(summary, sort) },
];

impl SessionPicker {
    /// Draws the sessions, and what is asked over them.
    ///
    /// Less than three rows of room show nothing useful.
    pub fn render(&mut self, area: Rect, buf: &mut Buffer) {
        let [head, body, search, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(area);
        let has_detail = !matches!(self.view, View::Foreign(_));
        let with_detail = has_detail && self.shows_detail && area.height >= DETAIL_HEIGHT;
        let below = if with_detail { body.height * 2 / 5 } else { 0 };
        let [rows, detail] =
            Layout::vertical([Constraint::Min(1), Constraint::Length(below)]).areas(body);
        // Taken out while it is drawn, since drawing moves what is in sight.
        let view = std::mem::replace(&mut self.view, View::Sessions);
        let (words, keys) = match &view {
            View::Sessions => {
                self.draw_head(head, buf);
                self.draw_rows(rows, buf);
                self.draw_detail(detail, buf);
                (self.state.query(), FOOT)
            }
            View::Foreign(foreign) => {
                self.draw_foreign(foreign, head, rows, buf);
                (foreign.query(), FOREIGN_FOOT)
            }
            View::Said(said) => {
                self.draw_said_head(said, head, buf);
                self.draw_said_rows(said, rows, buf);
                self.draw_said_detail(said, detail, buf);
                (said.query(), SAID_FOOT)
            }
        };
        search_line(buf, search, words, self.theme);
        foot_line(buf, foot, self.notice.as_ref(), keys, self.theme);
        self.view = view;
        self.draw_mode(area, buf);
    }

    fn draw_head(&self, area: Rect, buf: &mut Buffer) {
        let title = match self.state.scope() {
            PickerScope::Here => "Sessions of this directory",
            PickerScope::All => "Sessions of all directories",
        };
        let sort = match self.state.sort() {
            PickerSort::Activity => "by activity",
            PickerSort::Created => "by creation",
        };
        let count = match self.progress {
            Some(Some(progress)) => format!("looking {}/{}", progress.done, progress.total),
            Some(None) => "looking".to_owned(),
            None => format!("{}/{}", self.state.rows().len(), self.state.sessions().len()),
        };
        let left = styled(title, self.theme.style(Look::Strong));
        let agents = if self.shows_children { " +agents" } else { "" };
        let right = styled(format!("{sort}{agents} {count}"), self.theme.style(Look::Dim));
        split_line(buf, area, area.y, &left, &right);
    }

    fn draw_rows(&mut self, area: Rect, buf: &mut Buffer) {
        self.in_sight.clear();
        let Some(cursor) = self.state.cursor() else {
            let hint = match (self.progress.is_some(), self.state.scope()) {
                (true, _) => "Looking for sessions …",
                (false, _) if !self.state.query().is_empty() => {
                    "No session is found. Esc ends the search."
                }
                (false, PickerScope::Here) => "No session works in this directory. Tab shows all.",
                (false, PickerScope::All) => "There are no sessions yet.",
            };
            return line(buf, area, area.y, &styled(hint, self.theme.style(Look::Dim)));
        };
        self.highlighter.set_search(self.state.query());
        let rows = self.state.rows().len();
        for (at, y) in self.scroll.window(rows, cursor, usize::from(area.height)).zip(area.y..) {
            let row = self.state.rows()[at];
            self.in_sight.push(row.session);
            self.draw_row(row, Rect { y, height: 1, ..area }, at == cursor, buf);
        }
    }

    fn draw_row(&mut self, row: PickerRow, area: Rect, selected: bool, buf: &mut Buffer) {
        let theme = self.theme;
        let session = &self.state.sessions()[row.session];
        let mut right = area.right();
        let detail = self.details.get(&name_of(session));
        for column in COLUMNS.iter().rev().filter(|column| area.width >= column.from) {
            right -= column.width;
            let (text, look) = match &session.summary {
                Ok(summary) => {
                    let text = (column.text)(summary, detail, self.state.sort());
                    (text, look_of(summary.status))
                }
                Err(_) => (String::new(), Look::Dim),
            };
            let is_status = column.width == COLUMNS[0].width;
            let look = if is_status { look } else { Look::Dim };
            let text = format!("{text:>width$}", width = usize::from(column.width));
            buf.set_stringn(right, area.y, text, usize::from(column.width), theme.style(look));
        }
        if !self.places.is_empty() && area.width >= PLACE_FROM {
            let width = self.places.iter().map(|name| Span::raw(&**name).width()).max();
            let width = width.map_or(0, |width| width + 2).min(PLACE_WIDTH.into()) as u16;
            right -= width;
            let name = place_column(self.place_name(session.place), width.into());
            buf.set_string(right, area.y, name, theme.style(Look::Dim));
        }
        let mut spans = vec![Span::raw(if selected { "› " } else { "  " })];
        if row.depth > 0 {
            let indent = "  ".repeat((row.depth - 1).min(MAX_INDENT));
            spans.push(Span::styled(format!("{indent}└ "), theme.style(Look::Dim)));
        }
        if row.kinship == Some(Kinship::ChildAgent) {
            spans.push(Span::styled("agent: ", theme.style(Look::Dim)));
        }
        let look = if session.summary.is_ok() { Look::Plain } else { Look::Bad };
        if session.summary.is_err() {
            spans.push(Span::styled("unreadable ", theme.style(look)));
        }
        let title = title_of(session);
        let found = theme.style(Look::Found);
        spans.extend(self.highlighter.spans(title, theme.style(Look::Plain), found));
        let title = Line::from(spans);
        // A blank parts it from the columns.
        let room = if right < area.right() { right.saturating_sub(area.x + 1) } else { area.width };
        buf.set_line(area.x, area.y, &title, room);
        if selected {
            self.mark_selected(area, buf);
        }
    }

    /// Draws a row as that at the cursor: in one style, so that it can be read on any background.
    pub(super) fn mark_selected(&self, area: Rect, buf: &mut Buffer) {
        buf.set_style(area, Style::reset().patch(self.theme.style(Look::Selected)));
    }

    /// Draws the line above a preview; returns the room below.
    pub(super) fn rule(&self, text: &str, area: Rect, buf: &mut Buffer) -> Rect {
        let text = format!("── {} {}", one_line(text, LINE_CHARS), "─".repeat(area.width.into()));
        line(buf, area, area.y, &styled(text, self.theme.style(Look::Dim)));
        Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area }
    }

    fn draw_detail(&mut self, area: Rect, buf: &mut Buffer) {
        let Some(session) = self.state.selected().filter(|_| !area.is_empty()) else { return };
        let theme = self.theme;
        let dim = theme.style(Look::Dim);
        let place = self.place_name(session.place);
        let room = self.rule(&format!("{place} {}", facts(session)), area, buf);
        let detail = self.details.get(&name_of(session));
        let lines = match (&session.summary, detail) {
            (Err(error), _) => {
                vec![styled(one_line(&with_sources(error), LINE_CHARS), theme.style(Look::Bad))]
            }
            (Ok(_), None) => vec![styled("…", dim)],
            (Ok(_), Some(Detail { error: Some(error), .. })) => {
                vec![styled(one_line(error, LINE_CHARS), theme.style(Look::Bad))]
            }
            (Ok(_), Some(detail)) => {
                let said: Vec<_> = detail.last.iter().map(|said| self.said(said)).collect();
                // The last message is seen, and as many before it as there is room for.
                let mut left = usize::from(room.height);
                let fits = said.iter().rev().take_while(|line| {
                    let rows = line.width().div_ceil(usize::from(room.width).max(1)).max(1);
                    let fits = rows <= left;
                    left = left.saturating_sub(rows);
                    fits
                });
                let fits = fits.count().max(1);
                said[said.len().saturating_sub(fits)..].to_vec()
            }
        };
        Paragraph::new(lines).wrap(Wrap { trim: false }).render(room, buf);
    }

    fn said(&self, said: &Preview) -> Line<'static> {
        Line::from(vec![
            Span::styled(format!("{}: ", said.role), self.look_of_role(&said.role)),
            Span::raw(said.text.clone()),
        ])
    }

    pub(super) fn look_of_role(&self, role: &str) -> Style {
        self.theme.style(Look::of_role(role))
    }

    fn draw_mode(&mut self, area: Rect, buf: &mut Buffer) {
        let theme = self.theme;
        match &mut self.mode {
            Mode::Browse => {}
            Mode::Help(help) => help.render(buf, area, KEYS, theme),
            Mode::Rename { input, .. } => {
                ask(buf, area, "Title", input, "Enter keeps it, Esc leaves the old one", theme);
            }
            Mode::Export { input, .. } => {
                let hint = "A name in .md, .html, .json or .txt; secrets are left out";
                ask(buf, area, "Write to a new file", input, hint, theme);
            }
            Mode::Delete { title, .. } => {
                let inner = dialog(buf, area, "Move to the trash?", 64, 6, theme);
                line(buf, inner, inner.y, &Line::from(title.clone()));
                let hint = styled(
                    "Its artifacts go with it. Alt+Z brings it back.",
                    theme.style(Look::Dim),
                );
                line(buf, inner, inner.y + 1, &hint);
                let keys = [("Enter y", "moves it"), ("Esc", "leaves it where it is")];
                line(buf, inner, inner.y + 3, &key_line(&keys, inner.width, theme));
            }
        }
    }
}

/// The name of a place as a column: of a long one the end, which tells more than the beginning.
fn place_column(name: &str, width: usize) -> String {
    let width = width.saturating_sub(2);
    let mut name = one_line(name, LINE_CHARS);
    if Span::raw(&*name).width() > width {
        while Span::raw(&*name).width() >= width {
            name.remove(0);
        }
        name.insert(0, '…');
    }
    format!("  {name:<width$}")
}

/// What is known of a session beside its columns.
fn facts(session: &SessionRow) -> String {
    match &session.summary {
        Ok(summary) => {
            let cwd = summary.cwd.as_deref().unwrap_or("(no directory)");
            let messages = messages(summary);
            one_line(&format!("{} {cwd} {messages} messages", summary.id), LINE_CHARS)
        }
        Err(_) => one_line(&session.location(), LINE_CHARS),
    }
}

fn look_of(status: SessionStatus) -> Look {
    match status {
        SessionStatus::Complete => Look::Assistant,
        SessionStatus::Error => Look::Bad,
        SessionStatus::Aborted | SessionStatus::Interrupted => Look::Label,
        _ => Look::Dim,
    }
}

fn messages(summary: &SessionSummary) -> String {
    let more = if summary.message_count_is_exact { "" } else { "+" };
    format!("{}{more}", summary.message_count)
}

/// A size in as few characters as tell it: `900`, `14K`, `1.5M`.
pub(super) fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["", "K", "M", "G", "T"];
    let (mut value, mut unit) = (bytes as f64, 0);
    while value >= 999.5 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    let digits = usize::from(unit > 0 && value < 9.95);
    format!("{value:.digits$}{}", UNITS[unit])
}

fn cost(detail: Option<&Detail>) -> String {
    match detail.and_then(|detail| detail.cost) {
        Some(cost) if cost > 0.0 => format!("${cost:.2}"),
        _ => String::new(),
    }
}

fn time(summary: &SessionSummary, sort: PickerSort) -> String {
    let time = match sort {
        PickerSort::Activity => summary.activity.map(|activity| activity.at_ms),
        PickerSort::Created => summary.created_ms,
    };
    let time = time.map(to_iso).unwrap_or_default();
    time.get(..16).unwrap_or_default().replace('T', " ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_short() {
        let sizes = [0, 999, 1000, 1024, 10_000, 10_240, 1_500_000, 5 << 30, u64::MAX].map(size);
        let wanted = ["0", "999", "1.0K", "1.0K", "9.8K", "10K", "1.4M", "5.0G", "16777216T"];
        assert_eq!(sizes, wanted);
    }
}
