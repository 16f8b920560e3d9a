//! What was said in sessions, searched and shown on the screen.

use ratatui::buffer::Buffer;
use ratatui::layout::Rect;
use ratatui::text::{Line, Span};
use ratatui::widgets::{Paragraph, Widget, Wrap};
use session_model::preview::{acts_on_terminal, one_line};
use session_model::time::to_iso;

use super::{PickerAction, SessionPicker, View};
use crate::search::SearchHit;
use crate::session_picker::{PickerScope, SaidFound, SaidState};
use crate::tui::draw::{LINE_CHARS, line, split_line, styled};
use crate::tui::look::Look;

/// From this width on the title of each entry's session is shown.
const TITLE_WIDTH: u16 = 64;

/// How wide it is.
const TITLE_CHARS: usize = 22;

impl SessionPicker {
    /// Takes what became of the search of what was said.
    pub fn set_said(&mut self, found: SaidFound) {
        if let View::Said(said) = &mut self.view
            && let Err(why) = said.set_found(found)
        {
            self.complain(&why);
        }
    }

    /// Goes from the sessions to what was said in them, and back.
    pub(super) fn toggle_said(&mut self) -> PickerAction {
        if let View::Said(_) = self.view {
            self.view = View::Sessions;
            return self.search_said("");
        }
        self.view = View::Said(SaidState::default());
        let words = self.state.query().to_owned();
        self.search_said(&words)
    }

    pub(super) fn search_said(&mut self, words: &str) -> PickerAction {
        if let View::Said(said) = &mut self.view {
            said.set_query(words);
        }
        PickerAction::Search { words: words.to_owned(), scope: self.state.scope() }
    }

    pub(super) fn draw_said_head(&self, said: &SaidState, area: Rect, buf: &mut Buffer) {
        let title = match self.state.scope() {
            PickerScope::Here => "What was said in sessions of this directory",
            PickerScope::All => "What was said in sessions of all directories",
        };
        let results = said.results();
        let looking = match said.progress() {
            Some(Some(progress)) => format!("looking {}/{} ", progress.done, progress.total),
            Some(None) => "looking ".to_owned(),
            None => String::new(),
        };
        let about = if results.total_is_exact { "" } else { "≤" };
        let found = format!("{}/{about}{}", results.hits.len(), results.total);
        let coverage = &results.coverage;
        let left = coverage.not_reached + coverage.unreadable.len() as u64;
        let count = match (results.hits.is_empty(), left) {
            (true, 0) => looking,
            (false, 0) => looking + &found,
            (true, left) => format!("{looking}not searched: {left}"),
            (false, left) => format!("{looking}{found}, not searched: {left}"),
        };
        let title = styled(title, self.theme.style(Look::Strong));
        split_line(buf, area, area.y, &title, &styled(count, self.theme.style(Look::Dim)));
    }

    pub(super) fn draw_said_rows(&mut self, said: &SaidState, area: Rect, buf: &mut Buffer) {
        let Some(cursor) = said.cursor() else {
            let hint = match (said.query().is_empty(), said.progress().is_some()) {
                (true, _) => "Type what was said; \"a phrase\" stands as it is, -word excludes.",
                (_, true) => "Looking …",
                _ => "Nothing is found. Tab searches all directories, Esc ends the search.",
            };
            return line(buf, area, area.y, &styled(hint, self.theme.style(Look::Dim)));
        };
        let hits = &said.results().hits;
        let window = self.scroll.window(hits.len(), cursor, usize::from(area.height));
        for (at, y) in window.zip(area.y..) {
            let hit = &hits[at];
            let mut spans = vec![Span::raw(if at == cursor { "› " } else { "  " })];
            spans.push(Span::styled(format!("{}: ", speaker(hit)), self.look_of_role(&hit.role)));
            spans.extend(self.snippet(hit));
            let titled = area.width >= TITLE_WIDTH;
            let right = if titled { TITLE_CHARS as u16 + 1 } else { 0 };
            let left = Rect { width: area.width - right, ..area };
            line(buf, left, y, &Line::from(spans));
            if titled {
                let title = one_line(&title_of(hit), TITLE_CHARS);
                let dim = self.theme.style(Look::Dim);
                buf.set_stringn(left.right() + 1, y, title, TITLE_CHARS, dim);
            }
            let row = Rect { y, height: 1, ..area };
            match at == cursor {
                _ if said.is_stale() => buf.set_style(row, self.theme.style(Look::Dim)),
                true => self.mark_selected(row, buf),
                false => {}
            }
        }
    }

    pub(super) fn draw_said_detail(&self, said: &SaidState, area: Rect, buf: &mut Buffer) {
        let Some(hit) = said.selected().filter(|_| !area.is_empty()) else { return };
        let time = hit.written_ms.map(to_iso).unwrap_or_default();
        let session = hit.session.id.as_deref().unwrap_or_default();
        let cwd = hit.session.cwd.as_deref().unwrap_or("(no directory)");
        let place = self.place_name(hit.session.place);
        let room = self.rule(&format!("{place} {session} {cwd} {time}"), area, buf);
        let title = one_line(&title_of(hit), LINE_CHARS);
        let mut spans =
            vec![Span::styled(format!("{}: ", speaker(hit)), self.look_of_role(&hit.role))];
        spans.extend(self.snippet(hit));
        let lines = vec![styled(title, self.theme.style(Look::Strong)), Line::from(spans)];
        Paragraph::new(lines).wrap(Wrap { trim: false }).render(room, buf);
    }

    /// What shows an entry, with what was found in it marked.
    fn snippet(&self, hit: &SearchHit) -> Vec<Span<'static>> {
        let (text, found) = (&hit.snippet.text, self.theme.style(Look::Found));
        let clean = |part: &str| part.replace(acts_on_terminal, "");
        let (mut at, mut spans) = (0, Vec::new());
        for range in &hit.snippet.highlights {
            spans.push(Span::raw(clean(&text[at..range.start])));
            spans.push(Span::styled(clean(&text[range.clone()]), found));
            at = range.end;
        }
        spans.push(Span::raw(clean(&text[at..])));
        spans
    }
}

/// Who said it, and with which tools.
fn speaker(hit: &SearchHit) -> String {
    let mut speaker = hit.role.clone();
    for tool in &hit.tools {
        speaker.push(' ');
        speaker.push_str(tool);
    }
    one_line(&speaker, TITLE_CHARS)
}

fn title_of(hit: &SearchHit) -> String {
    hit.session.title.clone().unwrap_or_else(|| hit.session.key.file_name().to_owned())
}
