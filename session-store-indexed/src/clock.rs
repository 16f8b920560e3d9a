//! Where the time comes from.

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

use jiff::Timestamp;

/// A source of the current time; the default is the system's clock. Cloning is cheap.
#[derive(Clone)]
pub struct Clock(Arc<dyn Fn() -> SystemTime + Send + Sync>);

impl Clock {
    /// A clock that asks `now` each time.
    pub fn new(now: impl Fn() -> SystemTime + Send + Sync + 'static) -> Self {
        Self(Arc::new(now))
    }

    /// Returns the time in whole seconds since 1970, negative before.
    pub(crate) fn unix_seconds(&self) -> i64 {
        self.timestamp().as_second()
    }

    /// Returns the time as a part of a file name: `2026-01-31T09-05-00-000Z`.
    pub(crate) fn file_name(&self) -> String {
        self.timestamp().strftime("%Y-%m-%dT%H-%M-%S-%3fZ").to_string()
    }

    fn timestamp(&self) -> Timestamp {
        // Only times some ten thousand years away do not fit.
        Timestamp::try_from((self.0)()).unwrap_or(Timestamp::UNIX_EPOCH)
    }
}

impl Default for Clock {
    fn default() -> Self {
        Self::new(SystemTime::now)
    }
}

impl fmt::Debug for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Clock").finish_non_exhaustive()
    }
}
