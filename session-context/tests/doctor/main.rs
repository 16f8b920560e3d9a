//! Looking for what is odd in agent directories, and repairing it.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod files;
mod holder;
mod odd;
mod random;
mod records;
mod repairs;
mod stores;
mod support;
mod surroundings;
