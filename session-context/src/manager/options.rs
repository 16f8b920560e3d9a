//! How a session is opened or made.

use std::sync::Arc;

use session_model::document::LoadOptions;
use session_model::env::{Clock, IdSource};
use session_model::storage::StorageKey;

use crate::env::{RandomIds, SystemClock};

/// What a [`SessionManager`](super::SessionManager) needs beside the session itself.
#[derive(Debug)]
#[non_exhaustive]
pub struct SessionOptions {
    /// Tells the time; default: the system's clock.
    pub clock: Arc<dyn Clock>,
    /// Makes ids; default: random ones.
    pub ids: Box<dyn IdSource>,
    /// What others are told who find the session in use; default: `session-context`.
    pub owner: String,
    /// Whether the file is made at once and every entry written as it comes.
    ///
    /// By default nothing is written before the first assistant message, so that sessions nobody
    /// answered leave no files.
    pub eager: bool,
    /// How files are read; by default large ones with as many threads as there are processors.
    pub load: LoadOptions,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            clock: Arc::new(SystemClock),
            ids: Box::new(RandomIds),
            owner: env!("CARGO_PKG_NAME").to_owned(),
            eager: false,
            load: load_options(),
        }
    }
}

fn load_options() -> LoadOptions {
    let mut options = LoadOptions::default();
    options.threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    options
}

impl SessionOptions {
    /// These options with another clock.
    pub fn clock(self, clock: impl Clock + 'static) -> Self {
        Self { clock: Arc::new(clock), ..self }
    }

    /// These options with another source of ids.
    pub fn ids(self, ids: impl IdSource + 'static) -> Self {
        Self { ids: Box::new(ids), ..self }
    }

    /// These options with another name for others to see.
    pub fn owner(self, owner: impl Into<String>) -> Self {
        Self { owner: owner.into(), ..self }
    }

    /// These options, writing the file from the first entry on.
    pub fn eager(self) -> Self {
        Self { eager: true, ..self }
    }
}

/// A session to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct NewSession {
    /// The directory the agent works in.
    pub cwd: String,
    /// Where the file goes: the key of the project's bucket; default: `sessions/` and the bucket
    /// of the directory.
    pub bucket: Option<StorageKey>,
    /// The name of the file in the bucket; default: the time and the session's id.
    pub file_name: Option<String>,
    /// The session's id; default: a new UUIDv7.
    pub id: Option<String>,
    /// Where the session comes from: an id or a path.
    pub parent_session: Option<String>,
    /// What a provider's prompt cache is keyed by.
    pub provider_prompt_cache_key: Option<String>,
}

impl NewSession {
    /// A session for this directory.
    pub fn in_cwd(cwd: impl Into<String>) -> Self {
        Self {
            cwd: cwd.into(),
            bucket: None,
            file_name: None,
            id: None,
            parent_session: None,
            provider_prompt_cache_key: None,
        }
    }

    /// The same with its file in this bucket.
    pub fn bucket(self, bucket: StorageKey) -> Self {
        Self { bucket: Some(bucket), ..self }
    }

    /// The same with its file under this name, which is to end in `.jsonl`.
    pub fn file_name(self, name: impl Into<String>) -> Self {
        Self { file_name: Some(name.into()), ..self }
    }

    /// The same with a given id.
    pub fn id(self, id: impl Into<String>) -> Self {
        Self { id: Some(id.into()), ..self }
    }

    /// The same with a record of where it comes from.
    pub fn parent_session(self, parent: impl Into<String>) -> Self {
        Self { parent_session: Some(parent.into()), ..self }
    }

    /// The same with a prompt cache key.
    pub fn provider_prompt_cache_key(self, key: impl Into<String>) -> Self {
        Self { provider_prompt_cache_key: Some(key.into()), ..self }
    }
}
