//! Summaries as messages, built for a context.

use crate::json::RawJson;
use crate::record::record;

record! {
    /// A message of role `branchSummary`.
    pub struct BranchSummaryMessage {
        /// What happened on the branch that was left.
        summary: String = "summary",
        /// The id of the branch point, or `root`.
        from_id: String = "fromId",
        /// Milliseconds since the epoch.
        timestamp: Option<i64> = "timestamp",
    }
}

record! {
    /// A message of role `compactionSummary`.
    pub struct CompactionSummaryMessage {
        /// What happened before.
        summary: String = "summary",
        /// The same in a line.
        short_summary: Option<String> = "shortSummary",
        /// Tokens of the context before.
        tokens_before: u64 = "tokensBefore",
        /// Tokens of the context after.
        tokens_after: Option<u64> = "tokensAfter",
        /// The provider's own history, in place of the summary.
        provider_payload: Option<RawJson> = "providerPayload",
        /// Milliseconds since the epoch.
        timestamp: Option<i64> = "timestamp",
    }
}
