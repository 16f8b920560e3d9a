//! What each key does while the tree is looked at.

use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
use session_model::tree::SessionTree;
use session_model::tree_view::TreeFilter;

use super::dialogs::Mode;
use super::{TreeAction, TreeSelector};
use crate::tui::draw::KeyHelp;
use crate::tui::help::Help;
use crate::tui::input::{Input, edited};

/// Every key.
pub(super) const KEYS: &[KeyHelp] = &[
    ("↑ ↓", "move; around the ends"),
    ("PgUp PgDn Home End", "move far"),
    ("Alt+↑ Alt+↓", "previous or next turn of user or assistant"),
    ("Enter", "go there"),
    ("Shift+Enter Alt+Enter Ctrl+S", "go there with a summary"),
    ("any letter Backspace", "search: all words, letters may lie between"),
    ("Esc", "end the search; close"),
    ("Ctrl+O", "next filter"),
    ("Shift+Ctrl+O Alt+O", "previous filter"),
    ("Alt+D", "filter default"),
    ("Alt+T", "filter no-tools"),
    ("Alt+U", "filter user-only"),
    ("Alt+L", "filter labeled-only"),
    ("Alt+A", "filter all"),
    ("Shift+L", "edit the label"),
    ("Alt+X", "archive the branch, or bring it back"),
    ("Alt+H", "show archived branches, or hide them"),
    ("← →", "fold, unfold"),
    ("Alt+← Alt+→", "fold all other branches, unfold all"),
    ("Tab", "show the whole entry, or hide it"),
];

/// Those that are always in sight, the most needed first.
pub(super) const FOOT: &[KeyHelp] = &[
    ("Enter", "go"),
    ("Esc", "close"),
    ("F1", "keys"),
    ("Ctrl+O", "filter"),
    ("Shift+L", "label"),
    ("← →", "fold"),
    ("Tab", "entry"),
    ("type", "search"),
];

impl TreeSelector {
    pub(super) fn browse(&mut self, event: &Event, tree: &SessionTree) -> TreeAction {
        match event {
            Event::Key(key) => self.browse_key(*key, tree),
            event => {
                self.search(event);
                TreeAction::Nothing
            }
        }
    }

    fn browse_key(&mut self, key: KeyEvent, tree: &SessionTree) -> TreeAction {
        let has = |modifier| key.modifiers.contains(modifier);
        let (alt, ctrl, shift) =
            (has(KeyModifiers::ALT), has(KeyModifiers::CONTROL), has(KeyModifiers::SHIFT));
        let letter = match key.code {
            KeyCode::Char(c) => Some(c.to_ascii_lowercase()),
            _ => None,
        };
        match (key.code, letter) {
            (_, Some('c')) if ctrl => return TreeAction::Close,
            (_, Some('s')) if ctrl => return self.choose(tree, true),
            (_, Some('o')) if ctrl && !shift => self.state.set_filter(self.state.filter().next()),
            (_, Some('o')) if ctrl || alt => self.state.set_filter(self.state.filter().previous()),
            (_, Some(c)) if alt => return self.alt(c, tree),
            (KeyCode::Enter, _) => return self.choose(tree, shift || alt),
            (KeyCode::Up, _) if alt => self.state.previous_turn(),
            (KeyCode::Down, _) if alt => self.state.next_turn(),
            (KeyCode::Left, _) if alt => self.state.fold_others(),
            (KeyCode::Right, _) if alt => self.state.unfold_all(),
            (KeyCode::Up, _) => self.state.up(),
            (KeyCode::Down, _) => self.state.down(),
            (KeyCode::Left, _) => self.state.fold(),
            (KeyCode::Right, _) => self.state.unfold(),
            (KeyCode::PageUp, _) => self.state.page_up(self.scroll.page()),
            (KeyCode::PageDown, _) => self.state.page_down(self.scroll.page()),
            (KeyCode::Home, _) => self.state.home(),
            (KeyCode::End, _) => self.state.end(),
            (KeyCode::Tab, _) => self.shows_detail = !self.shows_detail,
            (KeyCode::F(1), _) => self.mode = Mode::Help(Help::default()),
            (KeyCode::Esc, _) if self.state.search().is_empty() => return TreeAction::Close,
            (KeyCode::Esc, _) => self.state.set_search(""),
            (KeyCode::Char('?'), _) if self.state.search().is_empty() => {
                self.mode = Mode::Help(Help::default());
            }
            (KeyCode::Char('L'), _) if !ctrl => self.edit_label(tree),
            // Some terminals send the letter that is on the key.
            (KeyCode::Char('l'), _) if shift && !ctrl => self.edit_label(tree),
            _ => self.search(&Event::Key(key)),
        }
        TreeAction::Nothing
    }

    fn search(&mut self, event: &Event) {
        if let Some(words) = edited(self.state.search(), event) {
            self.state.set_search(&words);
        }
    }

    fn alt(&mut self, letter: char, tree: &SessionTree) -> TreeAction {
        let filter = match letter {
            'd' => TreeFilter::Default,
            't' => TreeFilter::NoTools,
            'u' => TreeFilter::UserOnly,
            'l' => TreeFilter::LabeledOnly,
            'a' => TreeFilter::All,
            'h' => {
                let shows = self.state.shows_archived();
                self.state.show_archived(tree, !shows);
                return TreeAction::Nothing;
            }
            'x' => return self.archive(tree),
            _ => return TreeAction::Nothing,
        };
        self.state.set_filter(filter);
        TreeAction::Nothing
    }

    fn archive(&mut self, tree: &SessionTree) -> TreeAction {
        let row = self.state.cursor().map(|at| self.state.rows()[at]);
        let Some(row) = row else { return TreeAction::Nothing };
        if row.active {
            self.complain("the branch in use cannot be archived");
            return TreeAction::Nothing;
        }
        match self.id(tree, row.node) {
            Some(target) => TreeAction::Archive { target, archived: !row.archived },
            None => TreeAction::Nothing,
        }
    }

    fn edit_label(&mut self, tree: &SessionTree) {
        let Some(target) = self.state.selected() else { return };
        if let Some(id) = self.id(tree, target) {
            let input = Input::new(tree.label_for(&id).unwrap_or_default());
            self.mode = Mode::Label { target: id, input };
        }
    }
}
