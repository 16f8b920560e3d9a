//! What another format has no place for.

use std::collections::BTreeMap;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};

/// A kind of thing that another tool's format has no place for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Loss {
    /// Thinking that only its own provider takes back, or that nobody signed.
    Thinking,
    /// An image that is not there, or where the format has none.
    Image,
    /// A block of a kind the format does not know.
    Block,
    /// A message of a role the format does not know; what it says is told in words.
    Role,
    /// An entry that is no conversation.
    State,
    /// An entry on another branch than the one that is written.
    Branch,
    /// That a result failed.
    Failure,
}

impl Loss {
    /// Returns the kind as a word of `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Thinking => "thinking",
            Self::Image => "image",
            Self::Block => "block",
            Self::Role => "role",
            Self::State => "state",
            Self::Branch => "branch",
            Self::Failure => "failure",
        }
    }

    /// Returns the kind in words for people, for several of them.
    pub fn text(self) -> &'static str {
        match self {
            Self::Thinking => "blocks of thinking without a signature the tool takes",
            Self::Image => "images that are not there, or have no place",
            Self::Block => "blocks of unknown kinds",
            Self::Role => "messages of roles the tool does not know, told in words",
            Self::State => "entries that are no conversation",
            Self::Branch => "entries on other branches",
            Self::Failure => "marks of failed results",
        }
    }
}

/// How often what is lost.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LossReport(BTreeMap<Loss, u64>);

impl LossReport {
    pub(super) fn add(&mut self, loss: Loss) {
        *self.0.entry(loss).or_default() += 1;
    }

    /// Returns the counts.
    pub fn counts(&self) -> &BTreeMap<Loss, u64> {
        &self.0
    }

    /// Returns the counts as an object.
    pub fn to_json(&self) -> RawJson {
        let counts = self.0.iter();
        let out = counts.fold(ObjectBuilder::new(), |out, (loss, count)| {
            out.raw(loss.as_str(), &to_raw_json(count).unwrap_or_default())
        });
        out.build()
    }
}
