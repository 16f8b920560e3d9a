//! How often and how long something that is held is tried again.

use std::hash::{BuildHasher, RandomState};
use std::time::{Duration, Instant};

use session_model::storage::{StorageError, StorageErrorKind};

use super::pause::Pause;

/// The shortest and the longest pause between two tries.
const PAUSES: [Duration; 2] = [Duration::from_millis(5), Duration::from_millis(45)];

/// How long somebody waits before it is told for whom.
const SILENCE: Duration = Duration::from_secs(1);

/// The patience of one call.
pub(crate) struct Patience<'a> {
    since: Instant,
    limit: Duration,
    tell: Option<&'a (dyn Fn(&StorageError) + Send + Sync)>,
}

impl<'a> Patience<'a> {
    pub(crate) fn new(
        limit: Duration,
        tell: Option<&'a (dyn Fn(&StorageError) + Send + Sync)>,
    ) -> Self {
        Self { since: Instant::now(), limit, tell }
    }

    /// Pauses and returns true if the object is held and there is time to try once more.
    pub(crate) async fn goes_on(&mut self, error: &StorageError) -> bool {
        let waited = self.since.elapsed();
        if error.kind() != StorageErrorKind::Busy || waited >= self.limit {
            return false;
        }
        if waited >= SILENCE
            && let Some(tell) = self.tell.take()
        {
            tell(error);
        }
        // The last try is at the very end.
        Pause::of(random_pause().min(self.limit - waited)).await;
        true
    }
}

/// A pause that is another each time, so that those who wait do not keep meeting.
fn random_pause() -> Duration {
    let [shortest, longest] = PAUSES;
    let spread = (longest - shortest).as_micros() as u64;
    shortest + Duration::from_micros(RandomState::new().hash_one(Instant::now()) % spread)
}
