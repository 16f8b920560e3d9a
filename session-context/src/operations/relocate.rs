//! Taking a session's file and artifacts to another place, as one.
//!
//! The artifacts are copied first, then the file is renamed, then the old artifacts are renamed
//! over the copies. So the session is whole at the old place until the one rename, and whole at the
//! new one from then on, whatever happens in between; what is left behind is a copy too many.

use std::sync::Arc;

use session_model::layout::artifacts_key;
use session_model::storage::{
    AppendOptions, AppendWriter, CopyOptions, ListOptions, Precondition, RenameOptions,
    SessionStorage, SessionStorageExt, StorageError, StorageErrorKind, StorageKey,
};

use crate::artifacts::child_sessions;
use crate::error::{Result, SessionError};

/// What others see who find a session in use by one of the operations.
pub(crate) const OWNER: &str = "session-context";

/// Moves a session; `claim` is held until the file is renamed.
///
/// Returns what of the old artifacts could not be taken away; copies of it are at the new place.
///
/// # Errors
///
/// The session is where it was. Only if the storage cannot even tell where the file is, it may be
/// at either place.
pub(crate) async fn relocate(
    storage: &Arc<dyn SessionStorage>,
    from: &StorageKey,
    to: &StorageKey,
    claim: Option<Box<dyn AppendWriter>>,
) -> Result<Vec<StorageError>> {
    if storage.exists(to).await? {
        return Err(StorageError::AlreadyExists { key: to.clone() }.into());
    }
    let children = claim_children(storage, from).await?;
    let places = artifacts_key(from).zip(artifacts_key(to));
    let mut copies = Vec::new();
    if let Some((from, to)) = &places
        && let Err(error) = copy_all(&**storage, from, to, &mut copies).await
    {
        take_back(&**storage, &copies).await;
        return Err(error.into());
    }
    drop(claim);
    if let Err(error) = storage.rename(from, to, RenameOptions::default()).await {
        match storage.exists(from).await {
            Ok(true) => {
                take_back(&**storage, &copies).await;
                return Err(error.into());
            }
            // The answer was lost, not the rename.
            Ok(false) if storage.exists(to).await? => {}
            _ => return Err(error.into()),
        }
    }
    drop(children);
    Ok(match &places {
        Some((from, to)) => bring_rest(&**storage, from, to).await,
        None => Vec::new(),
    })
}

/// Claims a session nobody writes to.
///
/// # Errors
///
/// [`SessionError::NotFound`], or `Busy` naming the holder.
pub(crate) async fn claim(
    storage: &dyn SessionStorage,
    key: &StorageKey,
) -> Result<Box<dyn AppendWriter>> {
    let found = match storage.head(key).await {
        Err(error) if error.kind() == StorageErrorKind::NotFound => {
            return Err(SessionError::NotFound { key: key.clone() });
        }
        found => found?,
    };
    let unchanged = Precondition::Version(found.version);
    Ok(storage.open_append(key, AppendOptions::exclusive(OWNER).when(unchanged)).await?)
}

/// Claims the sessions of child agents, so that none is written to between copy and rename.
pub(crate) async fn claim_children(
    storage: &Arc<dyn SessionStorage>,
    session: &StorageKey,
) -> Result<Vec<Box<dyn AppendWriter>>> {
    let mut claims = Vec::new();
    if artifacts_key(session).is_some() {
        for child in child_sessions(&**storage, session).await? {
            claims.push(claim(&**storage, &child.key).await?);
        }
    }
    Ok(claims)
}

/// Renames everything below one prefix to another, over what is there; returns what stayed.
pub(crate) async fn bring_rest(
    storage: &dyn SessionStorage,
    from: &StorageKey,
    to: &StorageKey,
) -> Vec<StorageError> {
    let (found, mut failed) = storage.list_all(Some(from), ListOptions::default()).await;
    for old in found.into_iter().map(|meta| meta.key) {
        let renamed = match moved_key(&old, from, to) {
            Ok(new) => storage.rename(&old, &new, RenameOptions::overwriting()).await.map(|_| ()),
            Err(error) => Err(error),
        };
        if let Err(error) = renamed {
            tracing::warn!(artifact = %old, error = %error, "an artifact stays behind");
            failed.push(error);
        }
    }
    failed
}

/// Copies everything below one prefix to another; `copies` are the new objects, also on failure.
async fn copy_all(
    storage: &dyn SessionStorage,
    from: &StorageKey,
    to: &StorageKey,
    copies: &mut Vec<StorageKey>,
) -> Result<(), StorageError> {
    let (found, errors) = storage.list_all(Some(from), ListOptions::default()).await;
    if let Some(error) = errors.into_iter().next() {
        return Err(error);
    }
    for old in found.into_iter().map(|meta| meta.key) {
        let new = moved_key(&old, from, to)?;
        match storage.copy(&old, &new, CopyOptions::default()).await {
            // An earlier attempt that was cut off left it.
            Err(error) if error.kind() == StorageErrorKind::AlreadyExists => {
                if storage.read_all(&old).await?.1 != storage.read_all(&new).await?.1 {
                    return Err(error);
                }
            }
            copied => {
                copies.push(new);
                copied?;
            }
        }
    }
    Ok(())
}

/// Removes copies; the failure that made them useless is reported.
async fn take_back(storage: &dyn SessionStorage, copies: &[StorageKey]) {
    for copy in copies {
        if let Err(error) = storage.remove(copy).await
            && error.kind() != StorageErrorKind::NotFound
        {
            tracing::warn!(key = %copy, error = %error, "a copy stays that nothing refers to");
        }
    }
}

fn moved_key(
    key: &StorageKey,
    from: &StorageKey,
    to: &StorageKey,
) -> Result<StorageKey, StorageError> {
    Ok(to.join(&key.as_str()[from.as_str().len() + 1..])?)
}
