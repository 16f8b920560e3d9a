//! Blobs and artifacts, sent before the lines that name them.

use std::sync::Arc;

use bytes::Bytes;
use memchr::memmem;
use session_model::BlobRef;
use session_model::layout::{BLOBS_DIR, SESSION_SUFFIX};
use session_model::storage::{SessionStorageExt, StorageErrorKind, StorageKey};

use super::PublishError;
use super::publisher::{Publisher, Result};
use crate::outbox::{self, BlockKind, Row};
use crate::remote::{Digest, Put};

/// Segments of a session's key.
const SESSION_DEPTH: usize = 3;
const PREFIX: &[u8] = b"blob:sha256:";
const REFERENCE: usize = PREFIX.len() + 64;

impl Publisher {
    /// Sends an artifact that changed, or removes one that is gone.
    pub(super) async fn put_row(&mut self, row: &Row) -> Result<bool> {
        self.put(&row.key).await?;
        self.database.run(|connection| outbox::finish(connection, row.seq))?;
        Ok(true)
    }

    /// Sends the blobs that lines of a session name; false if one of them is refused.
    pub(super) async fn put_blobs(&mut self, session: &StorageKey, text: &Bytes) -> Result<bool> {
        for at in memmem::find_iter(text, PREFIX) {
            let Some(hex) = text.get(at + PREFIX.len()..at + REFERENCE) else { continue };
            let blob = std::str::from_utf8(hex).ok().and_then(|hex| BlobRef::from_hex(hex).ok());
            let key = blob.map(|blob| StorageKey::new(format!("{BLOBS_DIR}/{}", blob.to_hex())));
            let Some(Ok(key)) = key else { continue };
            if !self.is_put(&key)? {
                self.put(&key).await?;
            }
            let blocked = self.database.run(|connection| outbox::blocked_key(connection, &key))?;
            if blocked.is_some_and(|blocked| blocked.kind == BlockKind::Refused) {
                let reason = format!("it names {key}, which is refused");
                self.block(session, BlockKind::Refused, &reason)?;
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Whether a blob is on the remote, or is not to go there.
    fn is_put(&mut self, key: &StorageKey) -> Result<bool> {
        Ok(self.database.run(|connection| {
            Ok(outbox::object_version(connection, key)?.is_some()
                || outbox::blocked_key(connection, key)?.is_some())
        })?)
    }

    /// Brings an object on the remote to the state it has here.
    async fn put(&mut self, key: &StorageKey) -> Result<()> {
        let storage = Arc::clone(&self.storage);
        let (meta, bytes) = match storage.read_all(key).await {
            Ok(read) => read,
            Err(error) if error.kind() == StorageErrorKind::NotFound => {
                return self.unput(key).await;
            }
            Err(error) => return Err(error.into()),
        };
        let digest = Digest::of(&bytes);
        match self.store(key, bytes).await {
            Ok(true) => {}
            Ok(false) => {
                tracing::debug!(%key, "another host has written it since; it stays there");
                return Ok(());
            }
            Err(PublishError::Remote(error)) if !error.is_temporary() => {
                return self.block(key, BlockKind::Refused, &error.to_string());
            }
            Err(error) => return Err(error),
        }
        let version = meta.version.as_str();
        let note = |connection: &mut _| outbox::note_object(connection, key, version, &digest);
        Ok(self.database.run(note)?)
    }

    /// False if the remote has other bytes that another host may have written.
    async fn store(&mut self, key: &StorageKey, bytes: Bytes) -> Result<bool> {
        if self.remote.put_object(key, bytes.clone()).await? != Put::Differs {
            return Ok(true);
        }
        if !self.wrote_last(key).await? {
            return Ok(false);
        }
        // Until the second call it is missing there, as before it was published first.
        self.remote.remove_object(key).await?;
        Ok(self.remote.put_object(key, bytes).await? != Put::Differs)
    }

    /// Tells whether an artifact's session was this host's last.
    async fn wrote_last(&mut self, artifact: &StorageKey) -> Result<bool> {
        let folders = artifact.segments().take(SESSION_DEPTH).collect::<Vec<_>>().join("/");
        let Ok(session) = StorageKey::new(folders + SESSION_SUFFIX) else { return Ok(false) };
        let Some(state) = self.remote.state(&session).await? else { return Ok(true) };
        Ok(self.wrote(&state)? || self.is_ours(&state.fence.owner)?)
    }

    async fn unput(&mut self, key: &StorageKey) -> Result<()> {
        let known = self.database.run(|connection| outbox::object_version(connection, key))?;
        // A blob may be named by sessions of other hosts.
        if key.as_str().strip_prefix(BLOBS_DIR).is_some() {
            if known.is_none() {
                tracing::warn!(%key, "a line names it, and it is missing here too");
            }
        } else if known.is_some() || self.wrote_last(key).await? {
            // One that is not known may have been sent without an answer.
            self.remote.remove_object(key).await?;
        }
        Ok(self.database.run(|connection| outbox::forget_object(connection, key))?)
    }
}
