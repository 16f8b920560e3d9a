//! The types of entries that have a meaning here.

macro_rules! kinds {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal,)+) => {
        /// The type of an entry.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum EntryKind {
            $($(#[doc = $doc])+ $name,)+
            /// A type this version gives no meaning to; such entries are carried as they are.
            Unknown,
        }

        impl EntryKind {
            /// Every kind but `Unknown`.
            pub const KNOWN: &[Self] = &[$(Self::$name,)+];

            /// Returns the kind of a `type` value.
            pub fn of(entry_type: &str) -> Self {
                match entry_type { $($text => Self::$name,)+ _ => Self::Unknown }
            }

            /// Returns the `type` value, or `None` for `Unknown`.
            pub fn as_str(self) -> Option<&'static str> {
                match self { $(Self::$name => Some($text),)+ Self::Unknown => None }
            }
        }
    };
}

kinds! {
    /// A message of the conversation.
    Message = "message",
    /// The thinking level was set.
    ThinkingLevelChange = "thinking_level_change",
    /// A model was chosen.
    ModelChange = "model_change",
    /// The service tier was set.
    ServiceTierChange = "service_tier_change",
    /// What lies before was summed up.
    Compaction = "compaction",
    /// A branch that was left was summed up, or a move was marked.
    BranchSummary = "branch_summary",
    /// The conversation starts afresh from here.
    ResetBoundary = "reset_boundary",
    /// State of an extension.
    Custom = "custom",
    /// A message of an extension.
    CustomMessage = "custom_message",
    /// An entry was labelled.
    Label = "label",
    /// The session got a title.
    TitleChange = "title_change",
    /// Rules were injected.
    TtsrInjection = "ttsr_injection",
    /// A credential was pinned.
    CredentialPin = "credential_pin",
    /// How a session of a child agent began.
    SessionInit = "session_init",
    /// The mode was changed.
    ModeChange = "mode_change",
    /// A model was used outside the conversation.
    ModelUsage = "model_usage",
    /// A branch was archived or brought back.
    Archive = "archive",
    /// Tools of MCP servers were selected.
    McpToolSelection = "mcp_tool_selection",
    /// The active context was changed.
    ContextChange = "context_change",
    /// The session got a title, as pi spells it.
    SessionInfo = "session_info",
}
