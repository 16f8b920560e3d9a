//! Navigating, checkpoints, and switching sessions.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[path = "../support/mod.rs"]
mod support;

mod checkpoint;
mod faults;
mod fresh;
mod hooks;
mod moves;
mod oracle;
mod statistics;
mod switch;
