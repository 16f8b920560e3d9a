//! Where a session's file goes.

use session_model::storage::{InvalidKey, StorageKey};

/// The folder of all sessions, below the agent directory.
const SESSIONS: &str = "sessions";

/// Returns the bucket of a directory's sessions: the directory without its leading separator,
/// each of `/`, `\` and `:` replaced by `-`, between `--` and `--`.
pub(crate) fn bucket_key(cwd: &str) -> Result<StorageKey, InvalidKey> {
    let inner = cwd.strip_prefix(['/', '\\']).unwrap_or(cwd).replace(['/', '\\', ':'], "-");
    StorageKey::new(format!("{SESSIONS}/--{inner}--"))
}

/// Returns the name of a session's file: its time with `:` and `.` as `-`, and its id.
pub(crate) fn session_file_name(timestamp: &str, id: &str) -> String {
    format!("{}_{id}.jsonl", timestamp.replace([':', '.'], "-"))
}
