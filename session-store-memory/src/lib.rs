//! Session storage in memory: for tests, and for sessions that are not to be kept.
//!
//! [`MemoryStorage`] keeps the whole storage contract; everything that holds for the files of an
//! agent holds here, within one process. An instance takes the place of the disk: it outlives
//! managers and writers as long as somebody holds a handle of it, and no longer.
//!
//! # Durability
//!
//! `Accepted` and `Durable` are answered with success once the change is in the instance, since
//! that is all that a store in memory can survive: neither the end of the process nor a loss of
//! power. Code that asks for `Durable` runs here unchanged; do not keep what must last here.
//! `Published` is `Unsupported`, as nothing remote is there to confirm it.
//!
//! # Faults
//!
//! [`Faults`] makes calls fail before, halfway or after their effect, or stops the store for good.
//! A sweep strikes every call of a piece of work, one after the other:
//!
//! ```
//! use session_model::storage::{Result, SessionStorageExt, StorageErrorKind, StorageKey};
//! use session_store_memory::{MemoryStorage, When};
//!
//! async fn work(store: &MemoryStorage) -> Result<()> {
//!     let key = StorageKey::new("a.jsonl")?;
//!     store.append_once(&key, "one\n".into()).await?;
//!     store.append_once(&key, "two\n".into()).await?;
//!     Ok(())
//! }
//!
//! # pollster::block_on(async {
//! for n in 0.. {
//!     let store = MemoryStorage::new();
//!     store.faults().fail_at(n, When::Before, StorageErrorKind::Full);
//!     let outcome = work(&store).await;
//!     if !store.faults().fired() {
//!         assert_eq!(n, 6); // each `append_once` opens, appends and closes
//!         break;
//!     }
//!     assert_eq!(outcome.unwrap_err().kind(), StorageErrorKind::Full);
//! }
//! # });
//! ```

mod content;
mod faults;
mod operation;
mod plan;
mod registry;
mod state;
mod storage;
mod writer;

pub use faults::Faults;
pub use operation::{Call, Operation};
pub use plan::When;
pub use storage::MemoryStorage;
