//! What is asked over the tree.

use ratatui::crossterm::event::{Event, KeyCode};
use session_model::tree::{NodeId, SessionTree};

use super::{SummaryChoice, TreeAction, TreeSelector};
use crate::tui::help::Help;
use crate::tui::input::{Input, leaves};

/// What somebody does in the selector.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// Looks at the tree.
    Browse,
    /// Looks at the keys.
    Help(Help),
    /// Edits the label of an entry.
    Label { target: String, input: Input },
    /// Chooses what becomes of the branch that is left.
    Choose { target: NodeId, at: usize },
    /// Writes the summary, or what it is to pay attention to.
    Words { target: NodeId, input: Input },
    /// Waits for what is under way.
    Wait(String),
}

/// What can become of the branch that is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Offer {
    NoSummary,
    Summary,
    OwnWords,
}

impl Offer {
    pub(super) fn text(self, has_summarizer: bool) -> &'static str {
        match self {
            Self::NoSummary => "No summary",
            Self::Summary => "Summarize the branch that is left",
            Self::OwnWords if has_summarizer => "Summarize, and say what matters",
            Self::OwnWords => "Summarize in own words",
        }
    }
}

impl TreeSelector {
    pub(super) fn offers(&self) -> &'static [Offer] {
        match self.has_summarizer {
            true => &[Offer::NoSummary, Offer::Summary, Offer::OwnWords],
            false => &[Offer::NoSummary, Offer::OwnWords],
        }
    }

    /// Takes an event while something is asked.
    pub(super) fn answer(&mut self, event: &Event, tree: &SessionTree) -> TreeAction {
        if let Event::Key(key) = event
            && leaves(key)
        {
            let waited = matches!(self.mode, Mode::Wait(_));
            self.mode = Mode::Browse;
            return if waited { TreeAction::Abort } else { TreeAction::Nothing };
        }
        let code = match (&mut self.mode, event) {
            (Mode::Help(help), Event::Key(key)) => {
                if !help.stays(*key) {
                    self.mode = Mode::Browse;
                }
                return TreeAction::Nothing;
            }
            (_, Event::Key(key)) => Some(key.code),
            _ => None,
        };
        match (&mut self.mode, code) {
            (Mode::Label { target, input }, Some(KeyCode::Enter)) => {
                let label = Some(input.text().trim().to_owned()).filter(|label| !label.is_empty());
                let target = std::mem::take(target);
                self.mode = Mode::Browse;
                return TreeAction::Label { target, label };
            }
            (Mode::Label { input, .. }, _) => {
                input.handle(event);
            }
            (Mode::Choose { .. }, Some(code)) => return self.choose_offer(code, tree),
            (Mode::Words { target, input }, Some(KeyCode::Enter)) => {
                let (target, words) = (*target, input.text().trim().to_owned());
                return self.said(target, words, tree);
            }
            (Mode::Words { input, .. }, _) => {
                input.handle(event);
            }
            (Mode::Browse | Mode::Choose { .. } | Mode::Help(_) | Mode::Wait(_), _) => {}
        }
        TreeAction::Nothing
    }

    fn choose_offer(&mut self, code: KeyCode, tree: &SessionTree) -> TreeAction {
        let offers = self.offers();
        let Mode::Choose { target, at } = &mut self.mode else { return TreeAction::Nothing };
        let target = *target;
        let chosen = match code {
            KeyCode::Up => {
                *at = at.checked_sub(1).unwrap_or(offers.len() - 1);
                None
            }
            KeyCode::Down | KeyCode::Tab => {
                *at = (*at + 1) % offers.len();
                None
            }
            KeyCode::Enter => offers.get(*at),
            KeyCode::Char(digit) => {
                let number = digit.to_digit(10).and_then(|n| usize::try_from(n).ok());
                number.and_then(|n| offers.get(n.checked_sub(1)?))
            }
            _ => None,
        };
        match chosen {
            None => TreeAction::Nothing,
            Some(Offer::NoSummary) => self.navigate(tree, target, SummaryChoice::None),
            Some(Offer::Summary) => {
                self.navigate(tree, target, SummaryChoice::Written { instructions: None })
            }
            Some(Offer::OwnWords) => {
                self.mode = Mode::Words { target, input: Input::default() };
                TreeAction::Nothing
            }
        }
    }

    /// Own words were said.
    fn said(&mut self, target: NodeId, words: String, tree: &SessionTree) -> TreeAction {
        let summary = match (self.has_summarizer, words.is_empty()) {
            (true, empty) => SummaryChoice::Written { instructions: (!empty).then_some(words) },
            (false, false) => SummaryChoice::Given(words),
            (false, true) => {
                self.complain("a summary needs some words; esc leads back to the tree");
                return TreeAction::Nothing;
            }
        };
        self.navigate(tree, target, summary)
    }
}
