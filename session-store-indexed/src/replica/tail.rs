//! The hash of a local file, carried on as it grows.

use std::sync::PoisonError;

use session_model::storage::{
    ObjectMeta, ReadRange, SessionStorage, StorageError, StorageKey, Version,
};
use sha2::{Digest as _, Sha256};

use super::{Replica, Result, found};
use crate::remote::Digest;

/// How much of a file is read at once.
pub(super) const CHUNK: u64 = 1 << 20;

/// Of how many files the hash is kept.
const KEPT: usize = 1024;

/// A local file, hashed to its end.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    pub(super) version: Version,
    pub(super) length: u64,
    pub(super) hasher: Sha256,
}

impl Tail {
    pub(super) fn digest(&self) -> Digest {
        Digest(self.hasher.clone().finalize().into())
    }
}

impl Replica {
    pub(super) async fn local_head(
        &self,
        session: &StorageKey,
    ) -> Result<ObjectMeta, StorageError> {
        self.local.head(session).await
    }

    /// Hashes a local file; `None` if it changed meanwhile.
    pub(super) async fn tail(
        &self,
        session: &StorageKey,
        meta: &ObjectMeta,
    ) -> Result<Option<Tail>> {
        let kept = self.kept_tail(session).filter(|tail| tail.version == meta.version);
        if kept.is_some() {
            return Ok(kept);
        }
        let mut hasher = Sha256::new();
        let mut offset = 0;
        while offset < meta.size {
            let range = ReadRange::Range { offset, len: CHUNK };
            let Some((now, parts)) = found(self.local.read(session, &[range]).await)? else {
                return Ok(None);
            };
            if now.version != meta.version {
                return Ok(None);
            }
            parts.iter().for_each(|part| hasher.update(part));
            offset = (offset + CHUNK).min(meta.size);
        }
        let tail = Tail { version: meta.version.clone(), length: meta.size, hasher };
        self.keep_tail(session, tail.clone());
        Ok(Some(tail))
    }

    pub(super) fn keep_tail(&self, session: &StorageKey, tail: Tail) {
        let mut tails = self.tails.lock().unwrap_or_else(PoisonError::into_inner);
        if tails.len() >= KEPT {
            tails.clear();
        }
        tails.insert(session.clone(), tail);
    }

    fn kept_tail(&self, session: &StorageKey) -> Option<Tail> {
        self.tails.lock().unwrap_or_else(PoisonError::into_inner).get(session).cloned()
    }
}
