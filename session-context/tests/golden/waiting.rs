//! Cases that are not replayed here.

/// Cases of the prompt history, which `session-store-indexed` replays in its own tests.
pub(crate) const ELSEWHERE: &[&str] = &["history-reopen", "history-vectors"];

/// Cases whose operations do not exist yet, and which they are. One that passes is to be taken
/// off.
pub(crate) const WAITING: &[(&str, &str)] = &[
    ("blob-helpers-vectors", BLOBS),
    ("blob-refs", BLOBS),
    ("continue-recent", RESUMING),
    ("ops-branched-session", BLOBS),
    ("ops-image-nested-content", BLOBS),
    ("ops-image-threshold", BLOBS),
    ("resolve-resumable", RESUMING),
];

const BLOBS: &str = "images in the blob store";
const RESUMING: &str = "resuming by argument and by terminal";
