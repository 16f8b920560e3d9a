//! Options of the prompt history.

use std::sync::Arc;
use std::time::Duration;

use session_model::env::Clock;

use crate::clock::SystemClock;

/// How a prompt history is kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HistoryOptions {
    /// How long a lock held by another program is waited for; default: 5 s.
    pub busy_timeout: Duration,
    /// How many bytes of prompts may wait to be written; default: 16 MiB.
    ///
    /// A single prompt may be larger.
    pub queue_bytes: usize,
    /// Dates prompts, and the name of a damaged database that is moved aside; default: the
    /// system's clock.
    pub clock: Arc<dyn Clock>,
}

impl Default for HistoryOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            queue_bytes: 16 * 1024 * 1024,
            clock: Arc::new(SystemClock),
        }
    }
}

impl HistoryOptions {
    /// These options with another wait for locks.
    #[must_use]
    pub fn busy_timeout(self, busy_timeout: Duration) -> Self {
        Self { busy_timeout, ..self }
    }

    /// These options with another size of the queue, in bytes.
    #[must_use]
    pub fn queue_bytes(self, queue_bytes: usize) -> Self {
        Self { queue_bytes, ..self }
    }

    /// These options with another clock.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }
}
