//! The index of a tree of sessions: what lists show of each, and where each entry lies.
//!
//! Everything in it is made from the session files, by one thread that reads what it was told has
//! changed. A database that is lost, damaged or behind costs time and nothing else.

mod apply;
mod catch_up;
mod check;
mod entries;
mod error;
mod fingerprint;
mod options;
mod queue;
mod read;
mod schema;
mod session;
mod summaries;
mod worker;

pub use check::IndexDifference;
pub use error::IndexError;
pub use options::IndexOptions;
pub use queue::IndexStatus;
pub use read::{IndexStats, SessionFilter};
pub use session::IndexedSession;
pub use summaries::Summaries;

pub(crate) use apply::{Known, known};
pub(crate) use catch_up::summary;
pub(crate) use check::differences;
pub(crate) use fingerprint::{SAMPLE, fingerprint, identity, samples};
pub(crate) use queue::{Mark, Queue};
pub(crate) use read::{Place, children, path_places, session, session_by_id, sessions, stats};
pub(crate) use schema::{is_complete, prepare};
pub(crate) use worker::{build, is_artifact, is_session, spawn};
