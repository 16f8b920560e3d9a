//! Blobs and artifacts, fetched before the lines that name them.

use bytes::Bytes;
use memchr::memmem::Finder;
use session_model::BlobRef;
use session_model::layout::{BLOBS_DIR, SESSION_SUFFIX, artifacts_key};
use session_model::storage::{
    Precondition, PutOptions, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};

use super::{Replica, Result, found};
use crate::index::is_artifact;
use crate::remote::RemoteError;

/// Digits of a blob's name.
const DIGITS: usize = 64;

/// How many artifacts are asked for at once.
const PAGE: usize = 1000;

impl Replica {
    /// Fetches the blobs that lines name, and the session's artifacts.
    pub(super) async fn fetch_objects(
        &self,
        session: &StorageKey,
        lines: &[u8],
        missing: &mut Vec<StorageKey>,
    ) -> Result<()> {
        for blob in blobs_in(lines) {
            let Ok(key) = StorageKey::new(format!("{BLOBS_DIR}/{}", blob.to_hex())) else {
                continue;
            };
            if found(self.local.head(&key).await)?.is_some() || missing.contains(&key) {
                continue;
            }
            match self.object(&key).await?.filter(|bytes| BlobRef::of(bytes) == blob) {
                Some(bytes) => self.store(&key, bytes, Precondition::Absent).await?,
                None => missing.push(key),
            }
        }
        self.fetch_artifacts(session).await
    }

    /// Fetches artifacts that are missing here, and what child agents' sessions grew by.
    pub(super) async fn fetch_artifacts(&self, session: &StorageKey) -> Result<()> {
        let Some(folder) = artifacts_key(session) else { return Ok(()) };
        let mut after = None;
        loop {
            let page = self.remote.list_objects(&folder, after.as_ref(), PAGE).await?;
            for key in &page {
                let here = found(self.local.head(key).await)?;
                if here.is_some() && !key.as_str().ends_with(SESSION_SUFFIX) {
                    continue;
                }
                if here.is_none() && self.local.is_removed_object(key)? {
                    continue;
                }
                let Some(bytes) = self.object(key).await? else { continue };
                let when = match here {
                    None => Precondition::Absent,
                    Some(_) => {
                        let (meta, ours) = self.local.read_all(key).await?;
                        if ours.len() >= bytes.len() || !bytes.starts_with(&ours) {
                            continue;
                        }
                        Precondition::Version(meta.version)
                    }
                };
                self.store(key, bytes, when).await?;
            }
            if page.len() < PAGE {
                return Ok(());
            }
            after = page.last().cloned();
        }
    }

    /// Fetches one blob or artifact that is missing here; tells whether the remote has it.
    pub(super) async fn fetch_object(&self, key: &StorageKey) -> Result<bool> {
        let is_right = |bytes: &Bytes| match key.as_str().strip_prefix("blobs/") {
            Some(hex) => BlobRef::from_hex(hex).is_ok_and(|blob| BlobRef::of(bytes) == blob),
            None => true,
        };
        if is_artifact(key) && self.local.is_removed_object(key)? {
            return Ok(false);
        }
        let Some(bytes) = self.object(key).await?.filter(is_right) else { return Ok(false) };
        self.store(key, bytes, Precondition::Absent).await?;
        Ok(true)
    }

    /// Reads an object; one that is damaged counts as none.
    async fn object(&self, key: &StorageKey) -> Result<Option<Bytes>> {
        match self.remote.get_object(key).await {
            Ok(object) => Ok(object),
            Err(RemoteError::Damaged(_)) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Stores an object unless somebody of this host wrote it meanwhile.
    async fn store(&self, key: &StorageKey, bytes: Bytes, when: Precondition) -> Result<()> {
        match self.local.put(key, bytes.into(), PutOptions::when(when)).await {
            Ok(_) => Ok(()),
            Err(error)
                if matches!(
                    error.kind(),
                    StorageErrorKind::AlreadyExists
                        | StorageErrorKind::Conflict
                        | StorageErrorKind::NotFound
                        | StorageErrorKind::Busy
                ) =>
            {
                Ok(())
            }
            Err(error) => Err(error.into()),
        }
    }
}

/// The blobs that lines refer to, each once.
fn blobs_in(lines: &[u8]) -> Vec<BlobRef> {
    let prefix = b"blob:sha256:";
    let mut found: Vec<_> = Finder::new(prefix)
        .find_iter(lines)
        .filter_map(|at| {
            let digits = lines.get(at + prefix.len()..at + prefix.len() + DIGITS)?;
            BlobRef::from_hex(std::str::from_utf8(digits).ok()?).ok()
        })
        .collect();
    found.sort_unstable();
    found.dedup();
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blobs_are_found_once_and_only_whole() {
        let (a, b) = (BlobRef::of(b"a"), BlobRef::of(b"b"));
        let cut = &b.to_string()[..70];
        let text = format!("{{\"data\":\"{a}\"}}\n{{\"data\":\"{a}\",\"x\":\"{cut}");
        assert_eq!(blobs_in(text.as_bytes()), [a]);
        assert_eq!(blobs_in(format!("{a}{b}").as_bytes()).len(), 2);
    }
}
