//! Sessions of other hosts over the fake remote: fetched, followed, taken over, forked.

#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod fetching;
mod following;
mod host;
mod removing;
mod sharing;
#[cfg(unix)]
mod switching;
mod taking_over;
