//! Reading a session back from a remote.

use session_model::storage::{ReadRange, SessionStorage, StorageErrorKind, StorageKey};
use sha2::{Digest as _, Sha256};

use super::PublishError;
use super::source::digest_of;
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
    /// The remote has lost bytes, or has other ones than were written.
    Damaged {
        /// Whether the file has all that was written, and can be written anew.
        here: bool,
    },
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
            Err(RemoteError::Damaged(_)) => {
                let here = has_what_was_written(storage, remote, session, size).await?;
                return Ok(Verified::Damaged { here });
            }
            Err(error) => return Err(error.into()),
        };
        let theirs = part.map(|part| part.bytes).unwrap_or_default();
        let range = ReadRange::Range { offset: at, len: theirs.len() as u64 };
        let ours = match size {
            0 => Default::default(),
            _ => storage.read(session, &[range]).await?.1.pop().unwrap_or_default(),
        };
        if let Some(differs) = ours.iter().zip(&theirs).position(|(ours, theirs)| ours != theirs) {
            if is_what_was_written(remote, session).await? {
                return Ok(Verified::Differs { at: at + differs as u64 });
            }
            let here = has_what_was_written(storage, remote, session, size).await?;
            return Ok(Verified::Damaged { here });
        }
        at += ours.len() as u64;
        if theirs.len() > ours.len() {
            return Ok(match read_rest(remote, session, at).await? {
                Some(end) => Verified::Ahead { bytes: end - at },
                None => Verified::Damaged { here: false },
            });
        }
        if theirs.is_empty() {
            return Ok(match size.saturating_sub(at) {
                0 => Verified::Same,
                bytes => Verified::Behind { bytes },
            });
        }
    }
}

/// Reads a log to its end, and returns where that is; `None` if bytes are missing.
async fn read_rest(
    remote: &dyn Remote,
    session: &StorageKey,
    from: u64,
) -> Result<Option<u64>, PublishError> {
    let mut at = from;
    loop {
        match remote.read(session, at, MAX_READ_BYTES).await {
            Ok(Some(part)) if !part.bytes.is_empty() => at += part.bytes.len() as u64,
            Ok(_) => return Ok(Some(at)),
            Err(RemoteError::Damaged(_)) => return Ok(None),
            Err(error) => return Err(error.into()),
        }
    }
}

/// Tells whether a log has the digest it was written with.
async fn is_what_was_written(
    remote: &dyn Remote,
    session: &StorageKey,
) -> Result<bool, PublishError> {
    let Some(state) = remote.state(session).await? else { return Ok(true) };
    let (mut at, mut hash) = (0, Sha256::new());
    while at < state.position.length {
        let limit = (state.position.length - at).min(MAX_READ_BYTES as u64);
        match remote.read(session, at, limit as usize).await {
            Ok(Some(part)) if !part.bytes.is_empty() => {
                hash.update(&part.bytes);
                at += part.bytes.len() as u64;
            }
            Ok(_) | Err(RemoteError::Damaged(_)) => return Ok(false),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(state.digest.is_none_or(|digest| digest_of(&hash) == digest))
}

/// Tells whether a file begins with the log as its writers meant it, whatever the remote has.
async fn has_what_was_written(
    storage: &dyn SessionStorage,
    remote: &dyn Remote,
    session: &StorageKey,
    size: u64,
) -> Result<bool, PublishError> {
    let Some(state) = remote.state(session).await? else { return Ok(false) };
    let (length, Some(digest)) = (state.position.length, state.digest) else { return Ok(false) };
    if size < length {
        return Ok(false);
    }
    let mut hash = Sha256::new();
    let mut offset = 0;
    while offset < length {
        let len = (length - offset).min(MAX_READ_BYTES as u64);
        let parts = storage.read(session, &[ReadRange::Range { offset, len }]).await?.1;
        parts.iter().for_each(|part| hash.update(part));
        offset += len;
    }
    Ok(digest_of(&hash) == digest)
}
