//! A session's artifacts: outputs of tools too large for the session, and sessions of child agents.
//!
//! They lie below the session's key without `.jsonl`: outputs as `<number>.<tool>.log`, child
//! sessions as `<agent id>.jsonl`.

mod children;
mod copy;
mod name;

use std::path::PathBuf;
use std::sync::Arc;

use bytes::Bytes;
use session_model::layout::artifacts_key;
use session_model::storage::{
    ListOptions, ObjectMeta, Precondition, PutOptions, SessionStorage, SessionStorageExt,
    StorageError, StorageErrorKind, StorageKey,
};

use crate::error::{Result, SessionError};

pub use children::{ChildSession, child_sessions};
pub use copy::Copied;
pub(crate) use name::agent_file_name;
pub use name::{artifact_number, tool_part};

/// The artifacts of one session.
///
/// Nothing is kept in memory, so several may work on one session, in this process and in others.
///
/// ```
/// use std::sync::Arc;
/// use session_context::artifacts::Artifacts;
/// use session_model::storage::StorageKey;
/// use session_store_memory::MemoryStorage;
///
/// # async fn example() -> Result<(), Box<dyn std::error::Error>> {
/// let session = StorageKey::new("sessions/--w--/a.jsonl")?;
/// let artifacts = Artifacts::of(Arc::new(MemoryStorage::new()), &session)?;
/// let saved = artifacts.save("bash", "output").await?;
/// assert_eq!((saved.number, saved.key.as_str()), (0, "sessions/--w--/a/0.bash.log"));
/// assert_eq!(artifacts.get("0").await?.as_deref(), Some(&b"output"[..]));
/// # Ok(())
/// # }
/// # pollster::block_on(example()).unwrap();
/// ```
#[derive(Clone, Debug)]
pub struct Artifacts {
    storage: Arc<dyn SessionStorage>,
    prefix: StorageKey,
}

/// A number that was claimed, and where its artifact lies.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Artifact {
    /// The number, by which the session's text refers to it.
    pub number: u64,
    /// The object.
    pub key: StorageKey,
}

impl Artifacts {
    /// The artifacts of the session at this key.
    ///
    /// # Errors
    ///
    /// [`SessionError::NoArtifacts`] if the key does not end in `.jsonl`: nothing tells artifacts
    /// from the session then.
    pub fn of(storage: Arc<dyn SessionStorage>, session: &StorageKey) -> Result<Self> {
        let prefix = artifacts_key(session)
            .ok_or_else(|| SessionError::NoArtifacts { key: session.clone() })?;
        Ok(Self { storage, prefix })
    }

    /// Returns the key below which the artifacts lie.
    pub fn prefix(&self) -> &StorageKey {
        &self.prefix
    }

    /// Claims the number after the highest there is and makes an empty artifact of it.
    ///
    /// Two that claim at once, in whatever processes, never get the same number; one of them may
    /// leave a gap then. Of the tool's name only ASCII letters, digits, `-` and `_` are kept, at
    /// most 64.
    ///
    /// # Errors
    ///
    /// [`SessionError::Storage`].
    ///
    /// # Cancel safety
    ///
    /// A cancelled call may leave an empty artifact.
    pub async fn allocate(&self, tool: &str) -> Result<Artifact> {
        let tool = tool_part(tool);
        let mut number = self.next_number().await?;
        loop {
            let key = self.prefix.join(format!("{number}.{tool}.log"))?;
            let absent = PutOptions::when(Precondition::Absent);
            match self.storage.put(&key, Bytes::new().into(), absent).await {
                Err(error) if error.kind() == StorageErrorKind::AlreadyExists => {
                    number = self.next_number().await?.max(number + 1);
                    continue;
                }
                put => put?,
            };
            // Another tool's artifact of the same number has another name, so the put alone does
            // not decide: whoever sees another one beside its own goes on.
            let same: Vec<_> = self.numbered(number).await?;
            if same == [key.clone()] {
                return Ok(Artifact { number, key });
            }
            // All that were too late for this number part ways here.
            let rank = same.iter().take_while(|other| **other < key).count();
            self.storage.remove(&key).await?;
            number = self.next_number().await?.max(number + 1 + rank as u64);
        }
    }

    /// Saves bytes as a new artifact.
    ///
    /// # Errors
    ///
    /// As [`allocate`](Self::allocate).
    ///
    /// # Cancel safety
    ///
    /// As [`allocate`](Self::allocate).
    pub async fn save(&self, tool: &str, bytes: impl Into<Bytes>) -> Result<Artifact> {
        let artifact = self.allocate(tool).await?;
        self.storage.put(&artifact.key, bytes.into().into(), PutOptions::default()).await?;
        Ok(artifact)
    }

    /// Finds an artifact by its number as text: `7` finds `7.bash.log`, and `7.txt` for want of
    /// such a one.
    ///
    /// # Errors
    ///
    /// [`SessionError::Storage`].
    pub async fn find(&self, id: &str) -> Result<Option<StorageKey>> {
        let begins = |meta: &ObjectMeta| {
            meta.key.file_name().strip_prefix(id).is_some_and(|rest| rest.starts_with('.'))
        };
        let found: Vec<_> = self.list().await?.into_iter().filter(begins).collect();
        let best = found.iter().find(|meta| artifact_number(meta.key.file_name()).is_some());
        Ok(best.or(found.first()).map(|meta| meta.key.clone()))
    }

    /// Returns the path of an artifact's file, if there is such an artifact and it is a file.
    ///
    /// # Errors
    ///
    /// [`SessionError::Storage`].
    pub async fn path_of(&self, id: &str) -> Result<Option<PathBuf>> {
        Ok(self.find(id).await?.and_then(|key| self.storage.local_path(&key)))
    }

    /// Reads an artifact; `None` if there is none of this number.
    ///
    /// # Errors
    ///
    /// [`SessionError::Storage`].
    pub async fn get(&self, id: &str) -> Result<Option<Bytes>> {
        match self.find(id).await? {
            Some(key) => Ok(Some(self.storage.read_all(&key).await?.1)),
            None => Ok(None),
        }
    }

    /// Lists what lies directly among the artifacts but child sessions, by number, then by name.
    ///
    /// What is no file or has no name a key can have is left out; [`strays`](Self::strays) tells it.
    ///
    /// # Errors
    ///
    /// [`SessionError::Storage`] if anything else could not be listed.
    pub async fn list(&self) -> Result<Vec<ObjectMeta>> {
        let options = ListOptions::default().max_depth(1);
        let (found, errors) = self.storage.list_all(Some(&self.prefix), options).await;
        let mut found = without_strays(&self.prefix, found, errors)?;
        found.retain(|meta| artifacts_key(&meta.key).is_none());
        found.sort_by_key(|meta| artifact_number(meta.key.file_name()).map_or(u64::MAX, |n| n));
        Ok(found)
    }

    /// Returns what lies among the artifacts, at any depth, and is no file or has no name a key can
    /// have, which [`list`](Self::list) leaves out.
    pub async fn strays(&self) -> Vec<StorageError> {
        let (_, errors) = self.storage.list_all(Some(&self.prefix), ListOptions::default()).await;
        errors.into_iter().filter(StorageError::is_no_object).collect()
    }

    /// Removes all artifacts, child sessions too, and returns how many objects there were.
    ///
    /// # Errors
    ///
    /// [`SessionError::Storage`], of kind `Busy` while a child session is in use.
    pub async fn remove_all(&self) -> Result<u64> {
        Ok(self.storage.remove_all(&self.prefix).await?)
    }

    async fn next_number(&self) -> Result<u64> {
        let numbers = self.list().await?;
        let numbers = numbers.iter().filter_map(|meta| artifact_number(meta.key.file_name()));
        Ok(numbers.max().map_or(0, |highest| highest + 1))
    }

    async fn numbered(&self, number: u64) -> Result<Vec<StorageKey>> {
        let mut found = self.list().await?;
        found.retain(|meta| artifact_number(meta.key.file_name()) == Some(number));
        Ok(found.into_iter().map(|meta| meta.key).collect())
    }
}

/// What was listed, if all that was not is no object: links, special files, names no key can have.
fn without_strays(
    prefix: &StorageKey,
    found: Vec<ObjectMeta>,
    errors: Vec<StorageError>,
) -> Result<Vec<ObjectMeta>> {
    for error in errors {
        if !error.is_no_object() {
            return Err(error.into());
        }
        tracing::warn!(%prefix, %error, "what is no artifact lies among artifacts");
    }
    Ok(found)
}
