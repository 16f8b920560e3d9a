//! The tree on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};
use session_model::preview::{DEFAULT_PREVIEW_CHARS, Preview, one_line};
use session_model::tree::SessionTree;
use session_model::tree_view::TextOptions;

use super::TreeSelector;
use super::dialogs::Mode;
use super::keys::{FOOT, KEYS};
use crate::tree_selector::SelectorRow;
use crate::tui::detail::detail;
use crate::tui::draw::{
    LINE_CHARS, ask, dialog, foot_line, line, search_line, selected_line, split_line, styled,
};
use crate::tui::look::Look;

/// From this height on there is room to show the whole entry below the tree.
const DETAIL_HEIGHT: u16 = 16;

/// From this width on it is shown beside the tree.
const DETAIL_WIDTH: u16 = 120;

/// How wide a column of the tree's drawing is.
const GUIDE_WIDTH: u16 = 3;

impl TreeSelector {
    /// Draws the tree, and what is asked over it.
    ///
    /// Only the rows that are seen are read. Less than three rows of room show nothing useful.
    pub fn render(&mut self, tree: &SessionTree, area: Rect, buf: &mut Buffer) {
        let [head, body, search, foot] = Layout::vertical([
            Constraint::Length(1),
            Constraint::Min(1),
            Constraint::Length(1),
            Constraint::Length(1),
        ])
        .areas(area);
        self.draw_head(head, buf);
        let (rows, beside) = self.split(body);
        self.draw_rows(tree, rows, buf);
        if let Some((frame, is_beside)) = beside {
            self.draw_detail(tree, frame, is_beside, buf);
        }
        search_line(buf, search, self.state.search(), self.theme);
        foot_line(buf, foot, self.notice.as_ref(), FOOT, self.theme);
        self.draw_mode(area, buf);
    }

    fn draw_head(&self, area: Rect, buf: &mut Buffer) {
        let title = if self.title.is_empty() { "Session tree" } else { &self.title };
        let shown = format!("{}/{}", self.state.rows().len(), self.state.entries());
        let archived = if self.state.shows_archived() { " +archived" } else { "" };
        let right = format!("{}{archived} {shown}", self.state.filter());
        let left = styled(title, self.theme.style(Look::Strong));
        split_line(buf, area, area.y, &left, &styled(right, self.theme.style(Look::Dim)));
    }

    /// Where the rows go, and the whole entry, if it is shown: beside the rows or below.
    fn split(&self, area: Rect) -> (Rect, Option<(Rect, bool)>) {
        let beside = area.width >= DETAIL_WIDTH;
        if !self.shows_detail || (!beside && area.height + 3 < DETAIL_HEIGHT) {
            return (area, None);
        }
        let layout = if beside {
            Layout::horizontal([Constraint::Percentage(55), Constraint::Min(1)])
        } else {
            Layout::vertical([Constraint::Min(1), Constraint::Length(area.height * 2 / 5)])
        };
        let [rows, detail] = layout.areas(area);
        (rows, Some((detail, beside)))
    }

    fn draw_rows(&mut self, tree: &SessionTree, area: Rect, buf: &mut Buffer) {
        let Some(cursor) = self.state.cursor() else {
            let hint = if self.state.search().is_empty() && tree.is_empty() {
                "The session has no entries yet."
            } else {
                "No entry is shown. Alt+A shows all, Esc ends a search."
            };
            return line(buf, area, area.y, &styled(hint, self.theme.style(Look::Dim)));
        };
        self.highlighter.set_search(self.state.search());
        let rows = self.state.rows().len();
        let window = self.scroll.window(rows, cursor, usize::from(area.height));
        for (at, y) in window.zip(area.y..) {
            let row = self.state.rows()[at];
            let drawn = self.row(tree, &row, area.width, at == cursor);
            line(buf, area, y, &drawn);
        }
    }

    fn row(
        &mut self,
        tree: &SessionTree,
        row: &SelectorRow,
        width: u16,
        selected: bool,
    ) -> Line<'static> {
        let theme = self.theme;
        let entry = tree.entry(row.node);
        let preview = Preview::of(entry, DEFAULT_PREVIEW_CHARS.min(usize::from(width)));
        let columns = usize::from(width / 2 / GUIDE_WIDTH);
        let draw = TextOptions::default();
        let guides: String = row.guides(columns).map(|guide| draw.draw(guide)).collect();
        let mut spans = vec![
            Span::raw(if selected { "› " } else { "  " }),
            Span::styled(guides, theme.style(Look::Dim)),
            Span::styled(if row.active { "• " } else { "" }, theme.style(Look::Strong)),
        ];
        if let Some(hidden) = row.folded {
            spans.push(Span::styled(format!("[+{hidden}] "), theme.style(Look::Key)));
        }
        if row.archived {
            spans.push(Span::styled("(archived) ", theme.style(Look::Dim)));
        }
        let found = theme.style(Look::Found);
        let id = entry.id();
        if let Some(label) = id.and_then(|id| tree.label_for(&id)) {
            let label = format!("[{}] ", one_line(label, LINE_CHARS));
            spans.extend(self.highlighter.spans(label, theme.style(Look::Label), found));
        }
        let look = Look::of_role(&preview.role);
        let text = match preview.kind {
            session_model::EntryKind::Message => {
                spans.push(Span::styled(format!("{}: ", preview.role), theme.style(look)));
                Look::Plain
            }
            _ => Look::Dim,
        };
        spans.extend(self.highlighter.spans(preview.text, theme.style(text), found));
        if selected {
            return selected_line(spans, theme);
        }
        Line::from(spans)
    }

    fn draw_detail(&mut self, tree: &SessionTree, area: Rect, beside: bool, buf: &mut Buffer) {
        let Some(node) = self.state.selected() else { return };
        let entry = tree.entry(node);
        let id = entry.id().unwrap_or_default();
        let time = entry.timestamp().unwrap_or_default();
        let role = Preview::of(entry, 1).role;
        let facts = one_line(&format!("{id} {role} {time}"), LINE_CHARS);
        let dim = self.theme.style(Look::Dim);
        let area = if beside {
            for y in area.y..area.bottom() {
                buf.set_string(area.x, y, "│", dim);
            }
            Rect { x: area.x + 2, width: area.width.saturating_sub(2), ..area }
        } else {
            area
        };
        let rule = if beside { String::new() } else { "── ".to_owned() };
        let rest = if beside { 0 } else { usize::from(area.width) };
        let head = Line::from(vec![
            Span::styled(format!("{rule}{facts} "), dim),
            Span::styled("─".repeat(rest), dim),
        ]);
        line(buf, area, area.y, &head);
        if self.detail.as_ref().is_none_or(|(of, _)| *of != node) {
            self.detail = Some((node, detail(entry, self.theme)));
        }
        let text = self.detail.as_ref().map(|(_, lines)| lines.clone()).unwrap_or_default();
        let room = Rect { y: area.y + 1, height: area.height.saturating_sub(1), ..area };
        let seen = text.into_iter().take(usize::from(room.height)).collect::<Vec<_>>();
        Paragraph::new(seen).wrap(Wrap { trim: false }).render(room, buf);
    }

    fn draw_mode(&mut self, area: Rect, buf: &mut Buffer) {
        let theme = self.theme;
        match &mut self.mode {
            Mode::Browse => {}
            Mode::Help(help) => help.render(buf, area, KEYS, theme),
            Mode::Label { input, .. } => {
                ask(buf, area, "Label", input, "Enter keeps it, empty takes it away", theme);
            }
            Mode::Words { input, .. } => {
                let (title, hint) = match self.has_summarizer {
                    true => ("What the summary is to say", "Enter begins, Esc goes back"),
                    false => ("Summary of the branch that is left", "Enter goes, Esc stays"),
                };
                ask(buf, area, title, input, hint, theme);
            }
            Mode::Choose { at, .. } => {
                let at = *at;
                let offers = self.offers();
                let height = u16::try_from(offers.len()).unwrap_or(0) + 4;
                let inner = dialog(buf, area, "Leave the branch", 46, height, theme);
                for ((number, offer), y) in offers.iter().enumerate().zip(inner.y..) {
                    let text = offer.text(self.has_summarizer);
                    let mark = if number == at { "›" } else { " " };
                    let look = if number == at { Look::Selected } else { Look::Plain };
                    let drawn = Line::from(format!("{mark} {}. {text}", number + 1));
                    line(buf, inner, y, &drawn.style(theme.style(look)));
                }
                let hint = styled("Esc stays where it is", theme.style(Look::Dim));
                line(buf, inner, inner.bottom().saturating_sub(1), &hint);
            }
            Mode::Wait(what) => {
                let inner = dialog(buf, area, "Please wait", 46, 4, theme);
                line(buf, inner, inner.y, &Line::from(what.clone()));
                let hint = styled("Esc calls it off; nothing has moved", theme.style(Look::Dim));
                line(buf, inner, inner.y + 1, &hint);
            }
        }
    }
}
