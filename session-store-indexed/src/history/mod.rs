//! Prompt history: what was typed, kept in an SQLite database and found again by full-text search.
//!
//! The database is the `history.db` that other tools of the family write too. It is opened
//! whatever their version was: what is missing is added, and no row is changed.
//!
//! All calls but [`HistoryStorage::add`] block on the disk; from async code run them on a thread
//! made for that, such as `tokio::task::spawn_blocking` gives.
//!
//! ```
//! use session_store_indexed::history::{HistoryOptions, HistoryScope, HistoryStorage};
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! # let directory = tempfile::tempdir()?;
//! # let path = directory.path().join("history.db");
//! let history = HistoryStorage::open(&path, HistoryOptions::default())?;
//! history.add("fix the login test", Some("/home/me/app"), None)?;
//! history.flush()?;
//!
//! let found = history.search("log fix", 10, HistoryScope::Cwd("/home/me/app"))?;
//! assert_eq!(found[0].prompt, "fix the login test");
//! history.close()?;
//! # Ok(())
//! # }
//! ```

mod cutter;
mod entry;
mod error;
mod insert;
mod options;
mod queue;
mod read;
mod salvage;
mod schema;
mod search_index;
mod segments;
mod storage;
mod words;
mod writer;

pub use entry::{HistoryEntry, HistoryScope};
pub use error::HistoryError;
pub use options::HistoryOptions;
pub use storage::HistoryStorage;
