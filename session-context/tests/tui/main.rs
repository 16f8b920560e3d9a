//! Screens: drawn into buffers, and in a real terminal.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub, reason = "tests")]

mod dependencies;
mod hostile;
mod keys;
mod picker;
mod picker_in_terminal;
mod said;
#[path = "../support/shipped.rs"]
mod shipped;
mod support;
mod tmux;
mod tree;
mod tree_in_terminal;
