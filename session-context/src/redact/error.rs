//! What can go wrong when secrets are to be hidden.

/// Why secrets cannot be looked for; nothing is written then.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RedactError {
    /// The pattern of a kind of secret does not compile in this build.
    #[error(
        "secrets of the kind {kind} cannot be looked for, so nothing was written: {reason}; \
         build this program with the released features, or leave the secrets in (--no-redact)"
    )]
    Pattern {
        /// The kind.
        kind: &'static str,
        /// What is wrong with the pattern.
        reason: String,
    },
}

impl RedactError {
    pub(super) fn pattern(kind: &'static str, reason: impl ToString) -> Self {
        Self::Pattern { kind, reason: reason.to_string() }
    }
}
