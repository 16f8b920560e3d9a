//! Cases that are not replayed here.

/// Cases of the prompt history, which `session-store-indexed` replays in its own tests.
pub(crate) const ELSEWHERE: &[&str] = &["history-reopen", "history-vectors"];

/// Cases whose operations do not exist yet, and which they are. One that passes is to be taken
/// off.
pub(crate) const WAITING: &[(&str, &str)] = &[
    ("artifact-vectors", ARTIFACTS),
    ("blob-helpers-vectors", BLOBS),
    ("blob-refs", BLOBS),
    ("ops-artifacts", ARTIFACTS),
    ("ops-branched-session", OPERATIONS),
    ("ops-branched-session-in-memory", OPERATIONS),
    ("ops-branched-session-label-gap", OPERATIONS),
    ("ops-fork", OPERATIONS),
    ("ops-fork-from-missing", OPERATIONS),
    ("ops-fork-from-v1", OPERATIONS),
    ("ops-fork-from-v3", OPERATIONS),
    ("ops-fork-unflushed", OPERATIONS),
    ("ops-image-nested-content", BLOBS),
    ("ops-image-threshold", BLOBS),
    ("ops-move-to", OPERATIONS),
];

const ARTIFACTS: &str = "artifacts";
const BLOBS: &str = "images in the blob store";
const OPERATIONS: &str = "operations on whole sessions";
