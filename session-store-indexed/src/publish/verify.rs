//! Reading a session back from a remote.

use session_model::storage::{ReadRange, SessionStorage, StorageErrorKind, StorageKey};

use super::PublishError;
use crate::remote::{MAX_READ_BYTES, Remote, RemoteError};

/// How the remote's copy of a session compares with the file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Verified {
    /// They are the same.
    Same,
    /// The remote has the beginning of it, or nothing.
    Behind {
        /// How much it lacks.
        bytes: u64,
    },
    /// The remote has it, and more.
    Ahead {
        /// How much more.
        bytes: u64,
    },
    /// They differ.
    Differs {
        /// The first byte that does.
        at: u64,
    },
    /// The remote has lost bytes.
    Damaged,
}

/// Compares every byte a remote has of a session with the local file's.
///
/// # Errors
///
/// [`PublishError::Remote`] and [`PublishError::Storage`].
pub async fn verify(
    storage: &dyn SessionStorage,
    remote: &dyn Remote,
    session: &StorageKey,
) -> Result<Verified, PublishError> {
    let size = match storage.head(session).await {
        Ok(meta) => meta.size,
        Err(error) if error.kind() == StorageErrorKind::NotFound => 0,
        Err(error) => return Err(error.into()),
    };
    let mut at = 0;
    loop {
        let part = match remote.read(session, at, MAX_READ_BYTES).await {
            Ok(part) => part,
            Err(RemoteError::Damaged(_)) => return Ok(Verified::Damaged),
            Err(error) => return Err(error.into()),
        };
        let theirs = part.map(|part| part.bytes).unwrap_or_default();
        let range = ReadRange::Range { offset: at, len: theirs.len() as u64 };
        let ours = match size {
            0 => Default::default(),
            _ => storage.read(session, &[range]).await?.1.pop().unwrap_or_default(),
        };
        if let Some(differs) = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs) {
            return Ok(Verified::Differs { at: at + differs as u64 });
        }
        at += ours.len() as u64;
        if theirs.len() > ours.len() {
            let state = remote.state(session).await?;
            let length = state.map_or(at, |state| state.position.length);
            return Ok(Verified::Ahead { bytes: length.saturating_sub(at) });
        }
        if theirs.is_empty() {
            return Ok(match size.saturating_sub(at) {
                0 => Verified::Same,
                bytes => Verified::Behind { bytes },
            });
        }
    }
}
