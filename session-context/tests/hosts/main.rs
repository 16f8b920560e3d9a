//! Two hosts that share sessions through a real Redis: processes that write, are killed, and come
//! back.
#![cfg(unix)]
#![allow(clippy::expect_used, clippy::panic, clippy::unwrap_used, reason = "tests")]

mod agent;
mod commands;
mod hostile;
mod life;
mod reading;
mod repair;
mod rights;
mod server;
#[path = "../support/shipped.rs"]
mod shipped;
