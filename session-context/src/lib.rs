//! Sessions of coding agents: open one, append to it, branch it, and rebuild what a model sees.

pub mod artifacts;
pub mod blobs;
#[cfg(feature = "bundle")]
pub mod bundle;
pub mod checkpoint;
pub mod context;
pub mod doctor;
pub mod env;
mod error;
#[cfg(feature = "export")]
pub mod export;
pub mod import;
pub mod listing;
pub mod manager;
pub mod navigation;
#[cfg(feature = "indexed")]
mod open_indexed;
mod open_remote;
mod open_storage;
pub mod operations;
mod percent;
pub mod reader;
#[cfg(feature = "export")]
pub mod redact;
pub mod search;
#[cfg(feature = "tui")]
pub mod session_picker;
pub mod statistics;
pub mod tree_selector;
#[cfg(feature = "tui")]
pub mod tui;
mod waiting;

pub use context::{ContextOptions, LeafChoice, SessionContext, build_session_context};
pub use error::{Result, SessionError};
pub use manager::{
    ForkFrom, Forked, NameSource, NewEntry, NewSession, PersistenceObserver, SessionManager,
    SessionOptions, SessionState, SharedSession, WriteFilter,
};
#[cfg(feature = "indexed")]
pub use open_storage::open_indexed_storage;
#[cfg(feature = "redis")]
pub use open_storage::open_replica;
pub use open_storage::{OpenStorageError, open_existing_storage, open_storage};
pub use reader::{FollowEvent, FollowOptions, SessionReader};
/// Entries, messages, the tree, and the storage contract.
pub use session_model as model;
/// Storage in memory, and faults for tests.
#[cfg(feature = "memory")]
pub use session_store_memory as memory;
pub use waiting::WaitingStorage;
