//! The prompt history, through its public interface.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used)]

mod damage;
mod files;
mod golden;
mod older;
mod search;
mod support;
mod writing;
