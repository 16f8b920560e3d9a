//! Texts on their way into the database: a segment in memory.

use session_model::search::{EntryPlace, EntryText, TextKind, each_term, tags_of};
use session_model::storage::StorageKey;

use super::state::{Shown, State};
use crate::inverted::Inverted;

/// Marks texts that models thought; no word of a text is equal to it.
pub(super) const THINKING: &str = "\u{1}thinking";

/// What stands for the time of a text that has none.
pub(super) const NO_TIME: i64 = i64::MIN;

/// Texts that are written together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    pub(super) terms: Inverted,
    pub(super) texts: Vec<TextRow>,
    /// What reading the sessions came to, in order.
    pub(super) advances: Vec<Advance>,
    /// How many bytes of files it was made from.
    pub(super) bytes: u64,
}

/// What is kept of a text beside its terms.
#[derive(Clone, Copy, Debug)]
pub(super) struct TextRow {
    pub(super) place: EntryPlace,
    pub(super) is_thought: bool,
    pub(super) words: u16,
    pub(super) written_ms: i64,
}

/// What reading a part of a session came to.
#[derive(Clone, Debug)]
pub(super) struct Advance {
    pub(super) key: StorageKey,
    /// Generation and indexed offset before; `None` for a session that was not known.
    pub(super) from: Option<(i64, u64)>,
    /// How far it is now; `None` if there is no such session any more.
    pub(super) to: Option<State>,
    /// The texts of whole lines.
    pub(super) texts: Texts,
    /// Those of a last line without its end, which the next advance forgets.
    pub(super) open: Texts,
    /// What hits show, once the end was reached.
    pub(super) shown: Option<Shown>,
}

/// Some texts of a batch that follow each other.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Texts {
    pub(super) first: u32,
    pub(super) count: u32,
    /// Of how many entries only a part of the text is among them.
    pub(super) cut: u64,
}

impl Batch {
    /// Adds a text.
    pub(super) fn add(&mut self, text: &EntryText, place: EntryPlace, written_ms: Option<i64>) {
        let number = self.texts.len() as u32;
        let mut words = 0;
        each_term(&text.text, |term| {
            words = words.max(term.position + 1);
            self.terms.add(term.text, number);
        });
        let is_thought = text.kind == TextKind::Thinking;
        tags_of(text).iter().for_each(|tag| self.terms.add(tag, number));
        if is_thought {
            self.terms.add(THINKING, number);
        }
        self.texts.push(TextRow {
            place,
            is_thought,
            words: u16::try_from(words).unwrap_or(u16::MAX),
            written_ms: written_ms.unwrap_or(NO_TIME),
        });
    }

    /// Notes how far a session is; steps of one session that follow each other are one.
    pub(super) fn advance(&mut self, advance: Advance) {
        if let Some(last) = self.advances.last_mut()
            && last.key == advance.key
            && last.to.as_ref().map(|to| (to.generation, to.indexed)) == advance.from
            && last.to.as_ref().map(|to| to.generation)
                == advance.to.as_ref().map(|to| to.generation)
        {
            last.texts.count += advance.texts.count;
            last.texts.cut += advance.texts.cut;
            (last.open, last.to, last.shown) = (advance.open, advance.to, advance.shown);
            return;
        }
        self.advances.push(advance);
    }

    pub(super) fn is_empty(&self) -> bool {
        self.advances.is_empty()
    }
}
