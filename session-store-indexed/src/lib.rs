//! Indexed session storage: SQLite beside the files, prompt history, and what hosts share.
//!
//! [`storage`] puts an [`index`] beside a tree of sessions: lists and paths are answered without
//! reading whole files. [`history`] keeps the prompts a user typed and finds them again.
//! [`remote`] is what several hosts share; [`publish`] brings it up to date, and [`replica`] brings
//! what others wrote to this host. Every database of this crate
//! is opened by one set of rules, so that a crash, a second process or a damaged file costs
//! nothing that was saved:
//!
//! - files are private to their owner, the write-ahead log included;
//! - a commit is on the disk when it returns (of an index, which can be made again, perhaps later);
//! - a lock held elsewhere is waited out within a bound, and is never taken for damage;
//! - a damaged file is moved aside whole, never deleted, and the caller is told
//!   ([`DatabaseDiagnostic`]).

pub mod history;
pub mod index;
pub mod publish;
#[cfg(feature = "redis")]
pub mod redis;
pub mod remote;
pub mod replica;
pub mod search;
pub mod storage;

mod clock;
mod diagnostic;
mod inverted;
mod outbox;
mod sqlite;

pub use diagnostic::DatabaseDiagnostic;
pub use outbox::{BlockKind, Blocked};
pub use sqlite::DatabaseError;
