//! Session storage over a directory of files.

mod dir;
mod error;
mod lease;
mod list;
mod lock;
mod names;
mod read;
mod remove;
mod replace;
mod root;
mod state;
mod storage;
mod store;
mod temp;
mod writer;

pub use root::OpenRootError;
pub use storage::{FileOptions, FileStorage};
