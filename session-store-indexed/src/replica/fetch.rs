//! Reading a session from the remote, and checking that it is what was written.

use bytes::Bytes;
use memchr::memrchr;
use session_model::document::Scan;
use session_model::storage::StorageKey;
use sha2::{Digest as _, Sha256};

use super::{Replica, Result};
use crate::remote::{Digest, MAX_READ_BYTES, Position, RemoteError, SessionState};

/// Whole lines of a session, from where they were asked for.
#[derive(Debug)]
pub(super) struct Lines {
    pub(super) bytes: Bytes,
    /// The hash of the log up to their end.
    pub(super) hasher: Sha256,
    /// Where they end.
    pub(super) position: Position,
}

/// What fetching came to.
#[derive(Debug)]
pub(super) enum Fetched {
    Lines(Lines),
    /// The log does not have the digest it was written with, or does not go on from these bytes.
    Differs,
    /// It was replaced meanwhile.
    Changed,
}

impl Lines {
    pub(super) fn digest(&self) -> Digest {
        Digest(self.hasher.clone().finalize().into())
    }
}

impl Replica {
    /// Reads the log from `from`, where `hasher` is at, to the end that `state` names.
    ///
    /// A record that is not there to its end yet is left out.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Malformed`] if what the log begins with is no session's header.
    pub(super) async fn fetch(
        &self,
        session: &StorageKey,
        state: &SessionState,
        from: u64,
        hasher: Sha256,
    ) -> Result<Fetched> {
        let Position { generation, length } = state.position;
        // It grows with what comes: a length is only what the remote says.
        let mut bytes = Vec::new();
        while from + (bytes.len() as u64) < length {
            let at = from + bytes.len() as u64;
            let limit = usize::try_from(length - at).unwrap_or(usize::MAX).min(MAX_READ_BYTES);
            let part = self.remote.read(session, at, limit).await?;
            let Some(part) = part.filter(|part| part.position.generation == generation) else {
                return Ok(Fetched::Changed);
            };
            // A remote that lost its last bytes has a shorter log of the same generation.
            if part.bytes.is_empty() {
                return Ok(Fetched::Changed);
            }
            bytes.extend_from_slice(&part.bytes);
        }
        let whole = hasher.clone().chain_update(&bytes);
        if Some(Digest(whole.finalize().into())) != state.digest {
            return Ok(Fetched::Differs);
        }
        bytes.truncate(memrchr(b'\n', &bytes).map_or(0, |last| last + 1));
        let hasher = hasher.chain_update(&bytes);
        let position = Position { generation, length: from + bytes.len() as u64 };
        let bytes = Bytes::from(bytes);
        if from == 0 && !bytes.is_empty() {
            Scan::header(&bytes).map_err(|error| RemoteError::Malformed {
                key: session.clone(),
                reason: format!("it is no session: {error}"),
            })?;
        }
        Ok(Fetched::Lines(Lines { bytes, hasher, position }))
    }
}
