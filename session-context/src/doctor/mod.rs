//! Looking for everything odd in an agent directory, and putting right what can be.
//!
//! Looking changes nothing. A repair moves aside and never deletes, and is made only while nobody
//! else has the session. What is moved aside lies beside its file as `<file>.damaged-<time>` or
//! `<file>.torn-<time>`, or below `trash/doctor-<time>/`.

mod artifacts;
mod asides;
mod blobs;
mod files;
mod finding;
mod identity;
mod records;
mod repair;
mod survey;

use std::sync::Arc;

use session_model::env::Clock;
use session_model::storage::{SessionStorage, StorageKey};

pub use finding::{Finding, FindingCode, Need, Outcome, Remedy};

use crate::env::SystemClock;
use crate::error::Result;
use survey::Survey;

/// The folder of what a repair took away.
const TRASH_DIR: &str = "trash";

/// What is looked at, and how repairs are made.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct DoctorOptions {
    /// Only this session and its artifacts; default: everything in the storage.
    pub session: Option<StorageKey>,
    /// Whether repairs are made; default: no.
    pub fix: bool,
    /// What others are told who find a session in use meanwhile; default: `doctor`.
    pub owner: String,
    /// Tells the time, which is part of the names of what is moved aside; default: the system's
    /// clock.
    pub clock: Arc<dyn Clock>,
}

impl Default for DoctorOptions {
    fn default() -> Self {
        Self { session: None, fix: false, owner: "doctor".to_owned(), clock: Arc::new(SystemClock) }
    }
}

impl DoctorOptions {
    /// These options with only one session.
    pub fn session(self, session: StorageKey) -> Self {
        Self { session: Some(session), ..self }
    }

    /// These options, making repairs.
    pub fn fix(self) -> Self {
        Self { fix: true, ..self }
    }

    /// These options with another clock.
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }
}

/// What looks at everything there is.
const CHECKS: [fn(&Survey) -> Vec<Finding>; 6] =
    [records::check, identity::check, artifacts::check, blobs::check, asides::check, files::check];

/// Looks for everything odd, and repairs it if told to.
///
/// `progress` is told after every session how many have been read, and of how many. Findings are
/// sorted by path. A repair that fails says so in its finding and keeps no other from being made.
///
/// # Errors
///
/// [`SessionError::Storage`](crate::SessionError::Storage) if the storage cannot be listed.
///
/// # Cancel safety
///
/// As that of the storage: each repair is made whole or not at all.
pub async fn examine(
    storage: &Arc<dyn SessionStorage>,
    options: &DoctorOptions,
    progress: &mut (dyn FnMut(usize, usize) + Send),
) -> Result<Vec<Finding>> {
    let survey = Survey::of(storage, options, progress).await?;
    let mut findings: Vec<_> = CHECKS.iter().flat_map(|check| check(&survey)).collect();
    findings.sort_by(|a, b| a.path.cmp(&b.path));
    if options.fix {
        repair::all(&**storage, &survey, options, &mut findings).await;
    }
    Ok(findings)
}
