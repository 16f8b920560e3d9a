//! Blobs and artifacts, fetched before the lines that name them.

use std::sync::PoisonError;

use bytes::Bytes;
use memchr::memmem::Finder;
use session_model::BlobRef;
use session_model::layout::{BLOBS_DIR, SESSION_SUFFIX, artifacts_key};
use session_model::storage::{
    Precondition, PutOptions, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};

use super::{Replica, Result, found};
use crate::index::is_artifact;
use crate::remote::{KeyKind, RemoteError, Skipped, SkippedRows};

/// Digits of a blob's name.
const DIGITS: usize = 64;

/// Why a blob is left out whose bytes are others.
const OTHER_BYTES: &str = "its bytes are not those it is named by";

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
            match self.object(session, &key).await? {
                Some(bytes) if BlobRef::of(&bytes) == blob => {
                    self.store(&key, bytes, Precondition::Absent).await?;
                }
                other => {
                    if other.is_some() {
                        self.refuse(session, [Skipped::new(key.as_str(), OTHER_BYTES)]);
                    }
                    missing.push(key);
                }
            }
        }
        self.fetch_artifacts(session).await
    }

    /// Fetches artifacts that are missing here, and what child agents' sessions grew by.
    pub(super) async fn fetch_artifacts(&self, session: &StorageKey) -> Result<()> {
        let Some(folder) = artifacts_key(session) else { return Ok(()) };
        let mut after: Option<String> = None;
        loop {
            let page = self.remote.list_objects(&folder, after.as_deref(), PAGE).await?;
            self.refuse(session, page.skipped);
            for key in &page.keys {
                let here = found(self.local.head(key).await)?;
                if here.is_some() && !key.as_str().ends_with(SESSION_SUFFIX) {
                    continue;
                }
                if here.is_none() && self.local.is_removed_object(key)? {
                    continue;
                }
                let Some(bytes) = self.object(session, key).await? else { continue };
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
            let Some(next) = page.next else { return Ok(()) };
            after = Some(next);
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
        KeyKind::of(key).map_err(|reason| RemoteError::Invalid { key: key.clone(), reason })?;
        let Some(bytes) = self.remote.get_object(key).await?.filter(is_right) else {
            return Ok(false);
        };
        self.store(key, bytes, Precondition::Absent).await?;
        Ok(true)
    }

    /// Reads an object of a session; one that is damaged or above a limit is left out, and told.
    async fn object(&self, session: &StorageKey, key: &StorageKey) -> Result<Option<Bytes>> {
        match self.remote.get_object(key).await {
            Ok(object) => Ok(object),
            Err(RemoteError::Damaged(_)) => {
                self.refuse(session, [Skipped::new(key.as_str(), "the remote lost bytes of it")]);
                Ok(None)
            }
            Err(RemoteError::Malformed { reason, .. }) => {
                self.refuse(session, [Skipped::new(key.as_str(), reason)]);
                Ok(None)
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Notes what is left out of a session, for whoever pulls it.
    fn refuse(&self, session: &StorageKey, left_out: impl IntoIterator<Item = Skipped>) {
        let left_out = left_out.into_iter().collect::<Vec<_>>();
        if left_out.is_empty() {
            return;
        }
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.entry(session.clone()).or_default().add(left_out);
    }

    /// Returns what was left out of a session since it was last asked.
    pub(super) fn take_refused(&self, session: &StorageKey) -> SkippedRows {
        let mut refused = self.refused.lock().unwrap_or_else(PoisonError::into_inner);
        refused.remove(session).unwrap_or_default()
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
