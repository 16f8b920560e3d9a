//! The tree of a session, to choose a place in it.

mod dialogs;
mod draw;
mod keys;
mod run;

use ratatui::crossterm::event::{Event, KeyEventKind};
use ratatui::text::Line;
use session_model::preview::one_line;
use session_model::tree::{NodeId, SessionTree};
use session_model::tree_view::{TreeFilter, TreeViewOptions};

use super::Theme;
use super::draw::{LINE_CHARS, Notice, Scroll};
use super::highlight::Highlighter;
use crate::navigation::abandoned_entries;
use crate::tree_selector::TreeSelectorState;
use dialogs::Mode;

pub use run::{TreeOutcome, TreeSelectorOptions, select_in_tree};

/// What is to be done for somebody in a [`TreeSelector`].
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum TreeAction {
    /// Nothing but to draw again.
    Nothing,
    /// Leave the selector.
    Close,
    /// Go to an entry; see [`navigate_tree`](crate::SessionManager::navigate_tree).
    Navigate {
        /// The entry's id.
        target: String,
        /// What becomes of the branch that is left.
        summary: SummaryChoice,
    },
    /// Give an entry a label, or take it away.
    Label {
        /// The entry's id.
        target: String,
        /// The label.
        label: Option<String>,
    },
    /// Archive the branch below an entry, or bring it back.
    Archive {
        /// The entry's id.
        target: String,
        /// Whether it is to be archived.
        archived: bool,
    },
    /// Call off what was said to be under way with [`TreeSelector::wait`].
    Abort,
}

/// What a model is to be told of the branch that is left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SummaryChoice {
    /// Nothing.
    None,
    /// What the summariser writes, paying attention to this.
    Written {
        /// What to pay attention to.
        instructions: Option<String>,
    },
    /// This text.
    Given(String),
}

/// The tree of a session on a screen, to choose a place in it.
///
/// It holds what is seen and where the cursor is, and reads the tree it is given; it changes
/// nothing. Give it each event with [`handle_event`](Self::handle_event), do what that returns, then
/// [`refresh`](Self::refresh) it if the tree has changed, and [`render`](Self::render) it.
/// [`select_in_tree`] does all of this.
///
/// | key | what it does |
/// |---|---|
/// | up, down; page up, page down; home, end | moves; up from the first row leads to the last |
/// | alt+up, alt+down | to the previous or next message of a person or a model |
/// | enter | goes to the entry, after a question what becomes of the branch that is left |
/// | shift+enter, or alt+enter, ctrl+s | goes to the entry with a summary of the branch that is left |
/// | any letter, backspace | searches: all words, letters may lie between those of a word |
/// | esc | ends the search, then closes |
/// | ctrl+o; shift+ctrl+o, or alt+o | next and previous filter |
/// | alt+d, alt+t, alt+u, alt+l, alt+a | filter default, no-tools, user-only, labeled-only, all |
/// | shift+l | edits the label; an empty one takes it away |
/// | alt+x; alt+h | archives the branch or brings it back; shows archived branches or hides them |
/// | left, right; alt+left, alt+right | folds and unfolds; folds all other branches, unfolds all |
/// | tab | shows the whole entry or hides it |
/// | f1, or ? while nothing is searched | all keys |
///
/// Many terminals cannot tell shift+enter from enter, nor shift+ctrl+o from ctrl+o; the other keys
/// reach the program from any of them.
///
/// ```
/// use ratatui::buffer::Buffer;
/// use ratatui::crossterm::event::{Event, KeyCode, KeyEvent, KeyModifiers};
/// use ratatui::layout::Rect;
/// use session_context::tui::{TreeAction, TreeSelector};
/// use session_model::tree::SessionTree;
///
/// let tree = SessionTree::default();
/// let mut selector = TreeSelector::new(&tree);
/// let area = Rect::new(0, 0, 80, 24);
/// selector.render(&tree, area, &mut Buffer::empty(area));
/// let esc = Event::Key(KeyEvent::new(KeyCode::Esc, KeyModifiers::NONE));
/// assert_eq!(selector.handle_event(&esc, &tree), TreeAction::Close);
/// ```
#[derive(Debug)]
pub struct TreeSelector {
    state: TreeSelectorState,
    mode: Mode,
    theme: Theme,
    title: String,
    notice: Option<Notice>,
    has_summarizer: bool,
    shows_detail: bool,
    detail: Option<(NodeId, Vec<Line<'static>>)>,
    scroll: Scroll,
    highlighter: Highlighter,
}

impl TreeSelector {
    /// Begins at the leaf of a tree, in the colours the environment allows.
    pub fn new(tree: &SessionTree) -> Self {
        Self {
            state: TreeSelectorState::new(tree),
            mode: Mode::Browse,
            theme: Theme::from_env(),
            title: String::new(),
            notice: None,
            has_summarizer: false,
            shows_detail: true,
            detail: None,
            scroll: Scroll::default(),
            highlighter: Highlighter::default(),
        }
    }

    /// The same in other colours.
    pub fn theme(self, theme: Theme) -> Self {
        Self { theme, ..self }
    }

    /// The same with a title above the tree.
    pub fn title(self, title: &str) -> Self {
        Self { title: one_line(title, LINE_CHARS), ..self }
    }

    /// The same with somebody who can sum up a branch, so that this is offered.
    ///
    /// Without, own words are the summary.
    pub fn with_summarizer(self) -> Self {
        Self { has_summarizer: true, ..self }
    }

    /// Shows what a view with these options shows.
    pub fn look(&mut self, tree: &SessionTree, view: &TreeViewOptions) {
        self.state.show_archived(tree, view.archived);
        self.state.set_filter(view.filter);
        self.state.set_search(&view.search);
    }

    /// Goes to an entry, and shows all entries if what is seen lacks it.
    pub fn go_to(&mut self, tree: &SessionTree, entry: NodeId) {
        self.state.select(Some(entry));
        if self.state.selected() != Some(entry) {
            self.state.set_search("");
            self.state.set_filter(TreeFilter::All);
            self.state.show_archived(tree, true);
            self.state.unfold_all();
            self.state.select(Some(entry));
        }
    }

    /// Returns what is seen and where the cursor is.
    pub fn state(&self) -> &TreeSelectorState {
        &self.state
    }

    /// Takes over what became of the tree.
    pub fn refresh(&mut self, tree: &SessionTree) {
        self.state.refresh(tree);
        self.detail = None;
    }

    /// Tells something in the foot line, until the next key.
    pub fn tell(&mut self, text: &str) {
        self.notice = Some(Notice::good(text));
    }

    /// Tells in the foot line what went wrong, until the next key.
    pub fn complain(&mut self, text: &str) {
        self.notice = Some(Notice::bad(text));
    }

    /// Shows that something is under way, which esc calls off.
    pub fn wait(&mut self, what: &str) {
        self.mode = Mode::Wait(one_line(what, LINE_CHARS));
    }

    /// Goes back to the tree, as it was left.
    pub fn resume(&mut self) {
        self.mode = Mode::Browse;
    }

    /// Takes an event and tells what is to be done.
    pub fn handle_event(&mut self, event: &Event, tree: &SessionTree) -> TreeAction {
        if let Event::Key(key) = event {
            if key.kind == KeyEventKind::Release {
                return TreeAction::Nothing;
            }
            self.notice = None;
        }
        match &self.mode {
            Mode::Browse => self.browse(event, tree),
            _ => self.answer(event, tree),
        }
    }

    /// Chooses the row at the cursor; with a summary, if that was asked for.
    fn choose(&mut self, tree: &SessionTree, with_summary: bool) -> TreeAction {
        let Some(target) = self.state.selected() else { return TreeAction::Nothing };
        let leaves_something = !abandoned_entries(tree, Some(target)).is_empty();
        match (leaves_something, with_summary) {
            (false, _) => self.navigate(tree, target, SummaryChoice::None),
            (true, false) => {
                self.mode = Mode::Choose { target, at: 0 };
                TreeAction::Nothing
            }
            (true, true) if self.has_summarizer => {
                self.navigate(tree, target, SummaryChoice::Written { instructions: None })
            }
            (true, true) => {
                self.mode = Mode::Words { target, input: Default::default() };
                TreeAction::Nothing
            }
        }
    }

    fn navigate(
        &mut self,
        tree: &SessionTree,
        target: NodeId,
        summary: SummaryChoice,
    ) -> TreeAction {
        self.mode = Mode::Browse;
        match self.id(tree, target) {
            Some(target) => TreeAction::Navigate { target, summary },
            None => TreeAction::Nothing,
        }
    }

    /// The id of an entry to be changed or gone to; tells if it has none.
    fn id(&mut self, tree: &SessionTree, node: NodeId) -> Option<String> {
        let id = tree.entry(node).id().filter(|id| tree.find(id) == Some(node));
        if id.is_none() {
            self.complain("this entry has no id of its own, so nothing can refer to it");
        }
        id.map(std::borrow::Cow::into_owned)
    }
}
