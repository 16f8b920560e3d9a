//! Summaries, and where a context begins.

use crate::json::RawJson;
use crate::record::record;

record! {
    /// An entry of type `compaction`.
    pub struct Compaction {
        /// What happened before.
        summary: String = "summary",
        /// The same in a line.
        short_summary: Option<String> = "shortSummary",
        /// The first entry before this one that the context still holds.
        first_kept_entry_id: String = "firstKeptEntryId",
        /// Tokens of the context before.
        tokens_before: u64 = "tokensBefore",
        /// Tokens of the context after.
        tokens_after: Option<u64> = "tokensAfter",
        /// How the summary was made.
        method: Option<String> = "method",
        /// The entry behind which the provider's own history needs replay.
        provider_replay_through_entry_id: Option<String> = "providerReplayThroughEntryId",
        /// What the maker of the summary keeps with it.
        details: Option<RawJson> = "details",
        /// Whether an extension made the summary.
        from_extension: Option<bool> = "fromExtension",
        /// The same, where pi wrote the entry; new entries use `from_extension`.
        from_hook: Option<bool> = "fromHook",
        /// What outlives the compaction, an object.
        preserve_data: Option<RawJson> = "preserveData",
        /// What people should know about the summary.
        warning: Option<String> = "warning",
    }
}

impl Compaction {
    /// Tells whether an extension made the summary, in either spelling.
    pub fn is_from_extension(&self) -> bool {
        self.from_extension.or(self.from_hook).unwrap_or(false)
    }
}

record! {
    /// An entry of type `branch_summary`.
    pub struct BranchSummary {
        /// The id of the branch point, or `root`.
        from_id: String = "fromId",
        /// What happened on the branch that was left; an empty one only marks the move.
        summary: String = "summary",
        /// What the maker of the summary keeps with it.
        details: Option<RawJson> = "details",
        /// Whether an extension made the summary.
        from_extension: Option<bool> = "fromExtension",
        /// The same, where pi wrote the entry; new entries use `from_extension`.
        from_hook: Option<bool> = "fromHook",
    }
}

impl BranchSummary {
    /// Tells whether an extension made the summary, in either spelling.
    pub fn is_from_extension(&self) -> bool {
        self.from_extension.or(self.from_hook).unwrap_or(false)
    }
}

record! {
    /// An entry of type `reset_boundary`: the context begins behind it.
    pub struct ResetBoundary {}
}
