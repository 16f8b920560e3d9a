//! Pure model of coding-agent sessions.
//!
//! This crate reads and writes session files in memory, keeps their tree, brings old formats up
//! to date, and defines the storage contract every backend fulfils. It does no I/O, has no
//! runtime, reads no clock and makes no ids of its own.

mod blob;
pub mod body;
#[cfg(feature = "conformance")]
pub mod conformance;
mod diagnostic;
pub mod document;
pub mod entry;
pub mod env;
mod header;
pub mod json;
pub mod layout;
pub mod message;
pub mod migrate;
pub mod persisted;
pub mod preview;
pub mod record;
pub mod search;
pub mod storage;
pub mod summary;
pub mod time;
mod title_slot;
pub mod tree;
pub mod tree_view;

pub use blob::{Blob, BlobRef, InvalidBlobRef};
pub use diagnostic::{Diagnostic, DiagnosticCode, Severity};
pub use document::SessionDocument;
pub use entry::{Entry, EntryKind, Parent};
pub use header::{CURRENT_VERSION, NewHeader, SessionHeader};
pub use title_slot::{TITLE_SLOT_BYTES, TitleSlot};
pub use tree::{NodeId, SessionTree};
