//! Waiting within a bound for what another process holds.

use std::thread;
use std::time::{Duration, Instant};

/// How long to wait between two tries.
const PAUSE: Duration = Duration::from_millis(5);

/// Repeats `attempt` while its error is a passing one and `limit` has not gone by.
///
/// There is at least one try; the last error is returned.
pub(crate) fn retry<T, E>(
    limit: Duration,
    passing: impl Fn(&E) -> bool,
    mut attempt: impl FnMut() -> Result<T, E>,
) -> Result<T, E> {
    let start = Instant::now();
    loop {
        match attempt() {
            Err(error) if passing(&error) && start.elapsed() < limit => thread::sleep(PAUSE),
            outcome => return outcome,
        }
    }
}
