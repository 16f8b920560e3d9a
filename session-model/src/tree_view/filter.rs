//! Which entries a view shows.

use std::fmt;
use std::str::FromStr;

use crate::entry::EntryKind;
use crate::preview::Preview;

/// Which entries a [`TreeView`](super::TreeView) shows.
///
/// `Default`, `NoTools` and `UserOnly` leave out assistant messages that hold nothing but tool
/// calls (and thinking), unless they failed, were aborted, or are the leaf.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum TreeFilter {
    /// The conversation, without records of settings and bookkeeping.
    #[default]
    Default,
    /// As `Default`, without results of tools.
    NoTools,
    /// Messages of role `user`.
    UserOnly,
    /// Entries with a label.
    LabeledOnly,
    /// Every entry.
    All,
}

/// Who speaks, as far as filters and jumps tell people apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Speaker {
    /// A person: messages of role `user`.
    User,
    /// A model: messages of role `assistant`.
    Assistant,
    /// A tool: messages of role `toolResult`.
    Tool,
    /// Anybody else; also every entry that is no message.
    Other,
}

/// What a filter goes by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct EntryFacts {
    /// The entry's type.
    pub kind: EntryKind,
    /// Who speaks.
    pub speaker: Speaker,
    /// Whether this is an assistant's message with tool calls that says nothing to people and
    /// did not fail.
    pub only_tool_calls: bool,
}

impl EntryFacts {
    /// Takes the facts from an entry's preview.
    pub fn of(preview: &Preview) -> Self {
        let speaker = match (preview.kind, preview.role.as_str()) {
            (EntryKind::Message, "user") => Speaker::User,
            (EntryKind::Message, "assistant") => Speaker::Assistant,
            (EntryKind::Message, "toolResult") => Speaker::Tool,
            _ => Speaker::Other,
        };
        Self { kind: preview.kind, speaker, only_tool_calls: preview.only_tool_calls }
    }
}

/// A text that names no [`TreeFilter`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("unknown filter {0:?}; use default, no-tools, user-only, labeled-only or all")]
pub struct UnknownFilter(String);

impl TreeFilter {
    /// All filters in the order a selector cycles through them.
    pub const CYCLE: [Self; 5] =
        [Self::Default, Self::NoTools, Self::UserOnly, Self::LabeledOnly, Self::All];

    /// Returns the filter that follows in the cycle.
    pub fn next(self) -> Self {
        Self::CYCLE[(self as usize + 1) % Self::CYCLE.len()]
    }

    /// Returns the filter that comes before in the cycle.
    pub fn previous(self) -> Self {
        Self::CYCLE[(self as usize + Self::CYCLE.len() - 1) % Self::CYCLE.len()]
    }

    /// Returns the filter's name: `default`, `no-tools`, `user-only`, `labeled-only`, `all`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Default => "default",
            Self::NoTools => "no-tools",
            Self::UserOnly => "user-only",
            Self::LabeledOnly => "labeled-only",
            Self::All => "all",
        }
    }

    /// Tells whether an entry is shown.
    pub fn admits(self, facts: EntryFacts, labeled: bool, leaf: bool) -> bool {
        let EntryFacts { kind, speaker, only_tool_calls } = facts;
        self.admits_kind(kind, labeled)
            && match self {
                Self::Default => leaf || !only_tool_calls,
                Self::NoTools => speaker != Speaker::Tool && (leaf || !only_tool_calls),
                Self::UserOnly => speaker == Speaker::User,
                Self::LabeledOnly | Self::All => true,
            }
    }

    /// Tells by what is cheap to know whether an entry can be shown at all.
    pub(super) fn admits_kind(self, kind: EntryKind, labeled: bool) -> bool {
        match self {
            Self::Default | Self::NoTools => !is_bookkeeping(kind),
            Self::UserOnly => kind == EntryKind::Message,
            Self::LabeledOnly => labeled,
            Self::All => true,
        }
    }
}

impl fmt::Display for TreeFilter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for TreeFilter {
    type Err = UnknownFilter;

    fn from_str(name: &str) -> Result<Self, UnknownFilter> {
        let filter = Self::CYCLE.into_iter().find(|filter| filter.as_str() == name);
        filter.ok_or_else(|| UnknownFilter(name.to_owned()))
    }
}

fn is_bookkeeping(kind: EntryKind) -> bool {
    matches!(
        kind,
        EntryKind::Label
            | EntryKind::Custom
            | EntryKind::ModelChange
            | EntryKind::ThinkingLevelChange
            | EntryKind::ModelUsage
            | EntryKind::ServiceTierChange
            | EntryKind::TitleChange
            | EntryKind::CredentialPin
            | EntryKind::SessionInit
            | EntryKind::TtsrInjection
            | EntryKind::ModeChange
            | EntryKind::ResetBoundary
    )
}
