//! Where things lie below an agent directory, as names; nothing here looks at a disk.
//!
//! ```text
//! sessions/<bucket>/<timestamp>_<session id>.jsonl   a session
//! sessions/<bucket>/<timestamp>_<session id>/        its artifacts
//! blobs/<sha256 in hex>                              binaries
//! terminal-sessions/<terminal id>                    breadcrumbs
//! history.db                                         prompt history
//! ```

mod breadcrumb;
mod bucket;
mod name;
mod profile;
mod terminal;

pub use breadcrumb::{Breadcrumb, CwdStat};
pub use bucket::{BucketRoots, BucketScheme};
pub use name::{InvalidSessionName, SessionFileName, artifacts_key, session_file_name};
pub use profile::AgentProfile;
pub use terminal::TerminalId;

/// The folder of all buckets.
pub const SESSIONS_DIR: &str = "sessions";

/// The folder of content-addressed binaries.
pub const BLOBS_DIR: &str = "blobs";

/// The folder of breadcrumbs, one file for each terminal.
pub const TERMINALS_DIR: &str = "terminal-sessions";

/// The file of the prompt history.
pub const HISTORY_FILE: &str = "history.db";

/// What the name of a session's file ends with.
pub const SESSION_SUFFIX: &str = ".jsonl";
