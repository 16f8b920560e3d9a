//! The `sessionctl` command, run as a program.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub, reason = "tests")]

mod blobs;
mod busy;
mod docs;
mod doctor;
mod exporting;
#[cfg(feature = "indexed")]
mod history;
mod import;
mod listing;
mod navigation;
mod odd_artifacts;
mod operations;
mod outputs;
mod pitfalls;
mod reading;
mod resume;
mod search;
#[path = "../support/shipped.rs"]
mod shipped;
mod stores;
mod support;
mod terminal;
mod verify;
mod waiting;
mod watching;
mod writing;

/// The backends of this build.
const BACKENDS: &str = "file, indexed, memory";
