//! The `sessionctl` command, run as a program.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub, reason = "tests")]

mod busy;
mod docs;
mod listing;
mod pitfalls;
mod reading;
mod resume;
mod support;
mod terminal;
mod verify;
mod writing;
