//! A clock and ids that tests control.
#![allow(unreachable_pub, dead_code, reason = "each test binary uses its own part")]

pub mod store;

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};

use session_context::SessionOptions;
use session_model::env::{Clock, IdSource};
use session_model::storage::SessionStorage;

/// A clock that stands at 2026-01-01T00:00:00Z and steps a second with every look.
#[derive(Debug, Default)]
pub struct Ticking(AtomicI64);

impl Clock for Ticking {
    fn now_ms(&self) -> i64 {
        1_767_225_600_000 + 1000 * self.0.fetch_add(1, Ordering::Relaxed)
    }
}

/// Entry ids `00000001`, `00000002`, … behind a prefix, and session ids `session-1`, ….
#[derive(Debug)]
pub struct Counting {
    pub prefix: &'static str,
    pub entries: u32,
    pub sessions: u32,
}

impl IdSource for Counting {
    fn entry_id(&mut self) -> String {
        self.entries += 1;
        let digits = 8 - self.prefix.len();
        format!("{}{:0digits$x}", self.prefix, self.entries)
    }

    fn session_id(&mut self) -> String {
        self.sessions += 1;
        format!("session-{}", self.sessions)
    }
}

/// Options with a ticking clock and counted ids.
pub fn options(prefix: &'static str) -> SessionOptions {
    let ids = Counting { prefix, entries: 0, sessions: 0 };
    SessionOptions::default().clock(Ticking::default()).ids(ids).owner(format!("test {prefix}"))
}

/// Runs a future to its end.
pub fn block_on<T>(future: impl Future<Output = T>) -> T {
    pollster::block_on(future)
}

/// A storage as the manager takes it.
pub fn shared(storage: &(impl SessionStorage + Clone)) -> Arc<dyn SessionStorage> {
    Arc::new(storage.clone())
}
