//! Options of the index.

use std::sync::Arc;
use std::time::Duration;

use session_model::env::Clock;

use crate::clock::SystemClock;

/// How an index is kept.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IndexOptions {
    /// How long a lock held by another program is waited for; default: 5 s.
    ///
    /// Appends never wait for it.
    pub busy_timeout: Duration,
    /// How many changed sessions are remembered one by one; default: 4,096.
    ///
    /// With more, all sessions are compared with their files instead.
    pub queue_sessions: usize,
    /// How long the first change waits for others, so that they are indexed, and published,
    /// together; default: 50 ms. Who waits for the index does not wait for this.
    pub delay: Duration,
    /// Dates the name of a damaged database that is moved aside; default: the system's clock.
    pub clock: Arc<dyn Clock>,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            busy_timeout: Duration::from_secs(5),
            queue_sessions: 4096,
            delay: Duration::from_millis(50),
            clock: Arc::new(SystemClock),
        }
    }
}

impl IndexOptions {
    /// These options with another wait for locks.
    #[must_use]
    pub fn busy_timeout(self, busy_timeout: Duration) -> Self {
        Self { busy_timeout, ..self }
    }

    /// These options with another size of the queue, in sessions.
    #[must_use]
    pub fn queue_sessions(self, queue_sessions: usize) -> Self {
        Self { queue_sessions, ..self }
    }

    /// These options with another wait for further changes.
    #[must_use]
    pub fn delay(self, delay: Duration) -> Self {
        Self { delay, ..self }
    }

    /// These options with another clock.
    #[must_use]
    pub fn clock(self, clock: Arc<dyn Clock>) -> Self {
        Self { clock, ..self }
    }
}
