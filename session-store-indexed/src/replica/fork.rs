//! Keeping lines that only this host has, as a session of their own.

use std::time::UNIX_EPOCH;

use bytes::Bytes;
use session_model::SessionDocument;
use session_model::document::LoadOptions;
use session_model::json::{ObjectEdit, RawJson};
use session_model::layout::{artifacts_key, session_file_name};
use session_model::storage::{
    CopyOptions, ListOptions, ObjectMeta, Precondition, PutOptions, SessionStorage,
    SessionStorageExt, StorageError, StorageErrorKind, StorageKey,
};
use session_model::time::to_iso;
use sha2::{Digest as _, Sha256};

use super::{Replica, Result};

impl Replica {
    /// Copies a local session to a new one that names it as its parent; a file that is no session
    /// is copied as it is.
    ///
    /// The same content becomes the same fork, so that a fork whose maker was killed is not made
    /// twice.
    pub(super) async fn fork(
        &self,
        session: &StorageKey,
        meta: &ObjectMeta,
        content: Bytes,
    ) -> Result<StorageKey> {
        let hash = Sha256::new().chain_update(session.as_str()).chain_update(&content).finalize();
        let since = meta.modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        let ms = u64::try_from(since.as_millis()).unwrap_or_default();
        let id = time_ordered_id(ms, &hash);
        let time = to_iso(i64::try_from(ms).unwrap_or_default());
        let invalid = |detail: String| StorageError::Invalid { detail };
        let (name, payload) = match SessionDocument::load(content.clone(), &LoadOptions::default())
        {
            Ok(loaded) => {
                let mut document = loaded.document;
                let header = document.header_mut();
                let parent = header.id();
                let cache_key = header.provider_prompt_cache_key().unwrap_or(parent.clone());
                header.edit(
                    &ObjectEdit::new()
                        .set("id", &RawJson::string(&id))
                        .set("timestamp", &RawJson::string(&time))
                        .set("parentSession", &RawJson::string(&parent))
                        .set("providerPromptCacheKey", &RawJson::string(&cache_key))
                        .remove("previousSessionFiles"),
                );
                let name = session_file_name(&time, &id);
                (name.map_err(|error| invalid(error.to_string()))?, document.to_payload())
            }
            Err(_) => (format!("{id}.apart-{}", time.replace([':', '.'], "-")), content.into()),
        };
        let key = session.with_file_name(name).map_err(|error| invalid(error.to_string()))?;
        match self.local.put(&key, payload, PutOptions::when(Precondition::Absent)).await {
            Ok(_) => {}
            Err(error) if error.kind() == StorageErrorKind::AlreadyExists => {}
            Err(error) => return Err(error.into()),
        }
        self.copy_artifacts(session, &key).await;
        Ok(key)
    }

    /// Copies the artifacts as far as that works; those of the session stay.
    async fn copy_artifacts(&self, from: &StorageKey, to: &StorageKey) {
        let (Some(from), Some(to)) = (artifacts_key(from), artifacts_key(to)) else { return };
        let (found, mut errors) = self.local.list_all(Some(&from), ListOptions::default()).await;
        for artifact in found {
            let rest = &artifact.key.as_str()[from.as_str().len() + 1..];
            let Ok(target) = to.join(rest) else { continue };
            match self.local.copy(&artifact.key, &target, CopyOptions::default()).await {
                Err(error) if error.kind() != StorageErrorKind::AlreadyExists => errors.push(error),
                _ => {}
            }
        }
        for error in errors {
            tracing::warn!(%error, "an artifact is missing in the fork");
        }
    }
}

/// A UUID of version 7, the random part of which is taken from a hash.
fn time_ordered_id(ms: u64, hash: &[u8]) -> String {
    let mut bytes = [0; 16];
    bytes[..6].copy_from_slice(&ms.to_be_bytes()[2..]);
    bytes[6..].copy_from_slice(&hash[..10]);
    bytes[6] = 0x70 | (bytes[6] & 0x0f);
    bytes[8] = 0x80 | (bytes[8] & 0x3f);
    let mut id = String::with_capacity(36);
    for (at, byte) in bytes.iter().enumerate() {
        if matches!(at, 4 | 6 | 8 | 10) {
            id.push('-');
        }
        id.push_str(&format!("{byte:02x}"));
    }
    id
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_tells_its_time_and_version() {
        let id = time_ordered_id(0x0198_a7c2_1234, &[0xff; 32]);
        assert_eq!(id, "0198a7c2-1234-7fff-bfff-ffffffffffff");
    }
}
