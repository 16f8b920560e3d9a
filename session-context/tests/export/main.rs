//! Exported pages in a real browser, and documents.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub, reason = "tests")]

mod browser;
mod documents;
mod page;
mod plain_texts;
mod shapes;
mod writing;
