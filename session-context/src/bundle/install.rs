//! Putting what a bundle holds into a storage.

use std::collections::BTreeSet;
use std::sync::Arc;

use bytes::Bytes;
use session_model::Blob;
use session_model::layout::{BLOBS_DIR, artifacts_key};
use session_model::storage::{
    Precondition, PutOptions, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};

use super::{Bundle, BundleError, BundledSession};
use crate::blobs::BlobStore;

/// What became of the sessions of a bundle.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Installed {
    /// Those that are new here.
    pub new: Vec<BundledSession>,
    /// Those that were here already, just so.
    pub equal: Vec<BundledSession>,
    /// How many artifacts and child sessions were written.
    pub artifacts: u64,
    /// How many blobs were written.
    pub blobs: u64,
}

impl Bundle {
    /// Puts everything into an agent directory: all of it or, if anything is there already with
    /// other content, nothing.
    ///
    /// What is there already just so is left. A session appears last, once everything it needs is
    /// there. If writing fails midway, what was written is removed again but for blobs, which
    /// nothing names then.
    ///
    /// # Errors
    ///
    /// [`BundleError::Conflict`], [`BundleError::Storage`].
    ///
    /// # Cancel safety
    ///
    /// A cancelled call may leave artifacts without their session; installing again takes them up.
    pub async fn install(
        &self,
        storage: &Arc<dyn SessionStorage>,
        mut progress: impl FnMut(u64, u64),
    ) -> Result<Installed, BundleError> {
        let absent = self.absent(storage).await?;
        let missing: BTreeSet<_> = absent.iter().copied().collect();
        let blobs = BlobStore::new(Arc::clone(storage))?;
        let mut done = Installed::default();
        for session in &self.sessions {
            let list = if missing.contains(&session.key) { &mut done.new } else { &mut done.equal };
            list.push(session.clone());
        }
        let mut written = Vec::new();
        for (at, key) in absent.iter().enumerate() {
            progress(at as u64, absent.len() as u64);
            let Some(bytes) = self.members.get(*key) else { continue };
            if is_blob(key) {
                blobs.put(&Blob::new(bytes.clone())).await?;
                done.blobs += 1;
                continue;
            }
            if let Err(error) = put(storage, key, bytes).await {
                for key in written.into_iter().rev() {
                    storage.remove(key).await?;
                }
                return Err(error);
            }
            written.push(*key);
        }
        done.artifacts = written.len() as u64 - done.new.len() as u64;
        Ok(done)
    }

    /// What is not there yet, in the order it is to be written: blobs, artifacts, sessions.
    async fn absent(
        &self,
        storage: &Arc<dyn SessionStorage>,
    ) -> Result<Vec<&StorageKey>, BundleError> {
        let (mut absent, mut conflicts) = (Vec::new(), Vec::new());
        for (key, bytes) in &self.members {
            match storage.read_all(key).await {
                Ok((_, there)) if there == *bytes => {}
                // The name of a blob says what it holds: another content is damage, which is mended.
                Ok(_) if is_blob(key) => absent.push(key),
                Ok(_) => conflicts.push(key.clone()),
                Err(error) if error.kind() == StorageErrorKind::NotFound => absent.push(key),
                Err(error) => return Err(error.into()),
            }
        }
        if !conflicts.is_empty() {
            return Err(BundleError::Conflict { keys: conflicts });
        }
        let sessions: BTreeSet<_> = self.sessions.iter().map(|session| &session.key).collect();
        absent.sort_by_key(|key| {
            let is_child = artifacts_key(key).is_some();
            (!is_blob(key), sessions.contains(key), is_child, *key)
        });
        Ok(absent)
    }
}

fn is_blob(key: &StorageKey) -> bool {
    key.segments().next() == Some(BLOBS_DIR)
}

async fn put(
    storage: &Arc<dyn SessionStorage>,
    key: &StorageKey,
    bytes: &Bytes,
) -> Result<(), BundleError> {
    let options = PutOptions::when(Precondition::Absent);
    match storage.put(key, bytes.clone().into(), options).await {
        Err(error) if error.kind() == StorageErrorKind::AlreadyExists => {
            Err(BundleError::Conflict { keys: vec![key.clone()] })
        }
        put => Ok(put.map(drop)?),
    }
}
