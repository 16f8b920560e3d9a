//! Files that a command makes beside sessions: none takes the place of another unless that was asked
//! for, and none the place of what belongs to sessions.

use std::path::{Path, PathBuf};

use session_context::blobs::BlobStore;
use session_context::export::{self, WriteFileError};
use session_context::operations::TRASH_DIR;
use session_model::layout::{BLOBS_DIR, HISTORY_FILE, SESSIONS_DIR, artifacts_key};
use session_model::storage::{RESERVED_PREFIX, SessionStorage, StorageKey};

use crate::failure::Failure;

/// What stands for standard output in place of a file's name.
pub(crate) const STDOUT: &str = "-";

/// What a command reads, which it may not write over.
#[derive(Debug, Default)]
pub(crate) struct Inputs {
    /// Files, and folders with all in them.
    paths: Vec<PathBuf>,
    /// Agent directories.
    agents: Vec<PathBuf>,
}

impl Inputs {
    /// Adds a session, with all that belongs to it.
    pub(crate) fn add(
        &mut self,
        storage: &dyn SessionStorage,
        key: &StorageKey,
        blobs: &BlobStore,
    ) -> Result<(), Failure> {
        let session = storage.local_path(key).and_then(real);
        let artifacts = artifacts_key(key).and_then(|key| storage.local_path(&key)).and_then(real);
        let blobs = blobs.storage().local_path(&StorageKey::new(BLOBS_DIR)?);
        let agent = blobs.as_deref().and_then(Path::parent).map(Path::to_owned).and_then(real);
        let is_of = |agent: &PathBuf| {
            session.as_ref().is_some_and(|session| session.starts_with(agent.join(SESSIONS_DIR)))
        };
        match agent.filter(is_of) {
            Some(agent) => self.agents.push(agent),
            None => self.paths.extend(blobs.and_then(real)),
        }
        self.paths.extend(session.into_iter().chain(artifacts));
        Ok(())
    }

    /// Tells whether a file belongs to sessions.
    fn hold(&self, file: &Path) -> bool {
        let Some(file) = real(file.to_owned()) else { return false };
        let is_of_agent = |agent: &PathBuf| {
            let below = file.strip_prefix(agent).ok();
            let first = below.and_then(|below| below.iter().next()).unwrap_or_default();
            let first = first.to_string_lossy();
            [SESSIONS_DIR, BLOBS_DIR, TRASH_DIR].contains(&&*first)
                || first.starts_with(HISTORY_FILE)
                || first.starts_with(RESERVED_PREFIX)
        };
        self.paths.iter().any(|path| file.starts_with(path)) || self.agents.iter().any(is_of_agent)
    }
}

/// The path of what is there without links; `None` if nothing is.
fn real(path: PathBuf) -> Option<PathBuf> {
    path.canonicalize().ok()
}

/// Writes a file whole, or leaves nothing of it; see [`export::write_file`].
pub(crate) fn write_file(
    path: &Path,
    bytes: &[u8],
    replace: bool,
    inputs: &Inputs,
) -> Result<(), Failure> {
    if replace && inputs.hold(path) {
        let path = path.display();
        let text = format!("{path} belongs to the sessions themselves; name another file");
        return Err(Failure::Refused(text));
    }
    export::write_file(path, bytes, replace).map_err(|error| match error {
        WriteFileError::Exists { path } => {
            Failure::Refused(format!("{} is there already; --force replaces it", path.display()))
        }
        error => error.into(),
    })
}
