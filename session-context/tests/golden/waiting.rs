//! Cases that are not replayed here.

/// Cases of the prompt history, which `session-store-indexed` replays in its own tests.
pub(crate) const ELSEWHERE: &[&str] = &["history-reopen", "history-vectors"];

/// Cases whose operations do not exist yet, and which they are. One that passes is to be taken
/// off.
pub(crate) const WAITING: &[(&str, &str)] = &[("ops-branched-session", ANSWERS)];

const ANSWERS: &str =
    "answers of our own: children of labels hang from what was before, images stay references";
