//! Exported pages in a real browser, and bundles.
#![allow(clippy::unwrap_used, clippy::panic, unreachable_pub, reason = "tests")]

mod browser;
mod page;
