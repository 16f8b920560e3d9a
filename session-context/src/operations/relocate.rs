//! Taking a session's file to another place, with its artifacts and what was put aside of it.
//!
//! What goes along is copied first, then the file is renamed, then the old objects are renamed over
//! the copies. So the session is whole at the old place until the one rename, and whole at the
//! new one from then on, whatever happens in between; what is left behind is a copy too many.

use std::future::poll_fn;
use std::sync::Arc;

use session_model::layout::artifacts_key;
use session_model::storage::{
    AppendWriter, CopyOptions, ListOptions, RenameOptions, SessionStorage, SessionStorageExt,
    StorageError, StorageErrorKind, StorageKey,
};

use crate::artifacts::child_sessions;
use crate::error::Result;
use crate::manager::{aside, claim_existing};

/// What others see who find a session in use by one of the operations.
pub(crate) const OWNER: &str = "session-context";

/// Moves a session; `claim` is held until the file is renamed.
///
/// Returns what could not be taken away: of objects there are copies at the new place; what is no
/// object, such as a pipe among the artifacts, stays where it is.
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
    let mut copies = Vec::new();
    if let Err(error) = copy_all(&**storage, from, to, &mut copies).await {
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
    Ok(bring_rest(&**storage, from, to, Over::Copies).await)
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
    claim_existing(storage, key, OWNER).await
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

/// What may be at the new place of an object already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Over {
    /// A copy that was just made.
    Copies,
    /// A copy an attempt left that was cut off, or something else, which stays.
    Unknown,
}

/// Takes what goes along with a session to where that is; returns what stayed.
pub(crate) async fn bring_rest(
    storage: &dyn SessionStorage,
    from: &StorageKey,
    to: &StorageKey,
    over: Over,
) -> Vec<StorageError> {
    let (found, mut failed) = companions(storage, from).await;
    for old in found {
        match bring(storage, &old, &moved_key(&old, from, to), over).await {
            // Another process that finishes the same was faster.
            Err(error)
                if error.kind() == StorageErrorKind::NotFound && error.key() == Some(&old) => {}
            Err(error) => {
                tracing::warn!(key = %old, error = %error, "it stays behind");
                failed.push(error);
            }
            Ok(()) => {}
        }
    }
    failed
}

async fn bring(
    storage: &dyn SessionStorage,
    old: &StorageKey,
    new: &Result<StorageKey, StorageError>,
    over: Over,
) -> Result<(), StorageError> {
    let new = new.as_ref().map_err(Clone::clone)?;
    if over == Over::Copies {
        return storage.rename(old, new, RenameOptions::overwriting()).await.map(drop);
    }
    match storage.rename(old, new, RenameOptions::default()).await {
        Err(error) if error.kind() == StorageErrorKind::AlreadyExists => {
            if are_same(storage, old, new).await? { storage.remove(old).await } else { Err(error) }
        }
        renamed => renamed.map(drop),
    }
}

/// Copies what goes along with a session; `copies` are the new objects, also on failure.
async fn copy_all(
    storage: &dyn SessionStorage,
    from: &StorageKey,
    to: &StorageKey,
    copies: &mut Vec<StorageKey>,
) -> Result<(), StorageError> {
    let (found, errors) = companions(storage, from).await;
    // What is no object cannot be taken along, and is told at the end.
    if let Some(error) = errors.into_iter().find(|error| !error.is_no_object()) {
        return Err(error);
    }
    for old in found {
        let new = moved_key(&old, from, to)?;
        match storage.copy(&old, &new, CopyOptions::default()).await {
            // An earlier attempt that was cut off left it.
            Err(error) if error.kind() == StorageErrorKind::AlreadyExists => {
                if !are_same(storage, &old, &new).await? {
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

/// Returns whether nothing is left to bring of what can be brought: what is no object stays.
pub(super) fn is_all(left_behind: &[StorageError]) -> bool {
    left_behind.iter().all(StorageError::is_no_object)
}

/// Finds what goes along with a session: its artifacts, and what was put aside of it.
pub(super) async fn companions(
    storage: &dyn SessionStorage,
    session: &StorageKey,
) -> (Vec<StorageKey>, Vec<StorageError>) {
    let (mut found, mut errors) = match artifacts_key(session) {
        Some(artifacts) => storage.list_all(Some(&artifacts), ListOptions::default()).await,
        None => Default::default(),
    };
    let folder = session.parent();
    // Names that can be no key are none of those that are given here.
    let matters = |error: &StorageError| match error.key() {
        Some(key) => aside::is_of(key, session) || Some(key) == folder.as_ref(),
        None => error.kind() != StorageErrorKind::Invalid,
    };
    let options = ListOptions::default().max_depth(1).start_after(session.clone());
    let mut beside = storage.list(folder.as_ref(), options);
    while let Some(item) = poll_fn(|cx| beside.as_mut().poll_next(cx)).await {
        match item {
            Ok(meta) if aside::is_of(&meta.key, session) => found.push(meta),
            // What follows in the order of keys is no longer called as the session.
            Ok(meta) if !meta.key.as_str().starts_with(session.as_str()) => break,
            Err(error) if matters(&error) => errors.push(error),
            // Another file beside the session.
            Ok(_) | Err(_) => {}
        }
    }
    (found.into_iter().map(|meta| meta.key).collect(), errors)
}

async fn are_same(
    storage: &dyn SessionStorage,
    one: &StorageKey,
    other: &StorageKey,
) -> Result<bool, StorageError> {
    let sizes = (storage.head(one).await?.size, storage.head(other).await?.size);
    Ok(sizes.0 == sizes.1 && storage.read_all(one).await?.1 == storage.read_all(other).await?.1)
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

/// Where something that goes along with the session `from` belongs when that is at `to`.
fn moved_key(
    key: &StorageKey,
    from: &StorageKey,
    to: &StorageKey,
) -> Result<StorageKey, StorageError> {
    if let Some((from, to)) = artifacts_key(from).zip(artifacts_key(to))
        && key.is_below(&from)
    {
        return Ok(to.join(&key.as_str()[from.as_str().len() + 1..])?);
    }
    let suffix = &key.as_str()[from.as_str().len()..];
    Ok(to.with_file_name(format!("{}{suffix}", to.file_name()))?)
}
