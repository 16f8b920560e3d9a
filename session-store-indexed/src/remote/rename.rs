//! Renaming a session, by steps that can all be taken again.

use session_model::storage::StorageKey;
use sha2::{Digest as _, Sha256};

use super::{
    AppendUnit, Applied, Digest, Fence, MAX_READ_BYTES, Position, Remote, RemoteError, Result,
    Rewrite, SessionMeta, SessionState,
};

/// Moves a session to another key; it is whole at one of the two at every moment.
///
/// Both sessions must be claimed. What is at `to` is replaced by a log of a higher generation, and
/// `from` becomes a tombstone that names it. Metadata goes along. After an error the same call can
/// be made again. An answer other than [`Applied::Ok`] or [`Applied::Dup`] is that of the step
/// that was refused; the source stays then.
///
/// # Errors
///
/// [`RemoteError::Damaged`] if the source has lost bytes.
pub async fn rename(
    remote: &dyn Remote,
    (from, from_fence): (&StorageKey, &Fence),
    (to, to_fence): (&StorageKey, &Fence),
) -> Result<Applied> {
    let source = remote.state(from).await?.filter(|state| state.tombstone.is_none());
    if let Some(source) = source {
        let copied = copy(remote, from, source, (to, to_fence)).await?;
        if !matches!(copied, Applied::Ok | Applied::Dup) {
            return Ok(copied);
        }
    }
    remote.remove(from, from_fence, Some(to)).await
}

async fn copy(
    remote: &dyn Remote,
    from: &StorageKey,
    source: SessionState,
    (to, fence): (&StorageKey, &Fence),
) -> Result<Applied> {
    let target = remote.state(to).await?.map_or(0, |state| state.position.generation);
    let generation = source.position.generation.max(target).saturating_add(1);
    let begun = remote.begin_rewrite(to, fence, generation).await?;
    if begun != Applied::Ok {
        return Ok(begun);
    }
    let meta = SessionMeta::written_by(&source.meta, &fence.owner);
    let mut hasher = Sha256::new();
    let mut length = 0;
    while length < source.position.length {
        let part = remote.read(from, length, MAX_READ_BYTES).await?;
        let part = part
            .filter(|part| part.position == source.position && !part.bytes.is_empty())
            .ok_or_else(|| RemoteError::Damaged(from.clone()))?;
        hasher.update(&part.bytes);
        let end = length + part.bytes.len() as u64;
        let unit = AppendUnit {
            session: to.clone(),
            fence: fence.clone(),
            start: Position { generation, length },
            bytes: part.bytes,
            digest: Digest(hasher.clone().finalize().into()),
            meta: meta.clone(),
        };
        for answer in remote.apply(&[unit]).await {
            let answer = answer?;
            if !matches!(answer, Applied::Ok | Applied::Dup) {
                return Ok(answer);
            }
        }
        length = end;
    }
    let digest = Digest(hasher.finalize().into());
    if source.digest.is_some_and(|expected| expected != digest) {
        return Err(RemoteError::Damaged(from.clone()));
    }
    let rewrite = Rewrite {
        session: to.clone(),
        fence: fence.clone(),
        position: Position { generation, length },
        digest,
        meta,
    };
    remote.commit_rewrite(&rewrite).await
}
