//! Waiting for a session that another writer has.

use std::sync::Arc;
use std::time::Duration;

use session_context::WaitingStorage;
use session_model::storage::{SessionStorage, StorageError};

use crate::Context;
use crate::output::say;

/// A command that writes, and how long it waits for what another writer has.
#[derive(Debug, clap::Args)]
#[group(skip)]
pub(crate) struct Waiting<T: clap::Args> {
    #[command(flatten)]
    command: T,

    /// Wait while another writer has the session, at most so many seconds (0.5 is half a one), or
    /// without a number for as long as it takes
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true,
        default_missing_value = FOR_EVER, value_parser = seconds)]
    wait: Option<Duration>,
}

/// What a bare `--wait` means.
const FOR_EVER: &str = "inf";

fn seconds(text: &str) -> Result<Duration, String> {
    if text == FOR_EVER {
        return Ok(Duration::MAX);
    }
    let seconds = text.parse().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| "it is a number of seconds, such as 30 or 0.5".to_owned())
}

impl<T: clap::Args> Waiting<T> {
    /// Has every storage wait that is opened from now on, and returns the command.
    pub(crate) fn ready(self, context: &mut Context) -> T {
        context.store.wait = self.wait;
        self.command
    }
}

/// A storage that waits so long, and tells people for whom.
pub(crate) fn patient(
    storage: Arc<dyn SessionStorage>,
    wait: Option<Duration>,
) -> Arc<dyn SessionStorage> {
    match wait {
        None => storage,
        Some(limit) => Arc::new(WaitingStorage::new(storage, limit).telling(tell)),
    }
}

fn tell(busy: &StorageError) {
    if let StorageError::Busy { key, holder } = busy {
        say("note", &format!("waiting for {key}, which is in use by {holder}; ctrl+c gives up"));
    }
}
