//! The time as the system tells it.

use std::time::{SystemTime, UNIX_EPOCH};

use session_model::env::Clock;

/// The system's clock.
#[derive(Debug)]
pub(crate) struct SystemClock;

impl Clock for SystemClock {
    fn now_ms(&self) -> i64 {
        // A clock set before 1970 reads as 1970.
        SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_millis() as i64)
    }
}
