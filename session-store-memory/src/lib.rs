//! Session storage in memory: for tests, and for sessions that are not to be kept.

mod content;
mod faults;
mod operation;
mod plan;
mod registry;
mod state;
mod storage;
mod writer;

pub use faults::Faults;
pub use operation::{At, Call, Operation};
pub use plan::When;
pub use storage::MemoryStorage;
