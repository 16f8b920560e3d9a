//! Deleting sessions so that they can be brought back, and for good.
//!
//! ```text
//! trash/<time>_<session>/origin.json       where it was, and when it was deleted
//! trash/<time>_<session>/<session>.jsonl   the session
//! trash/<time>_<session>/<session>/        its artifacts
//! ```

use std::sync::Arc;

use session_model::env::Clock;
use session_model::json::{ObjectBuilder, RawJson};
use session_model::layout::{SESSION_SUFFIX, artifacts_key};
use session_model::storage::{
    ListOptions, MAX_SEGMENT_BYTES, Precondition, PutOptions, SessionStorage, SessionStorageExt,
    StorageError, StorageErrorKind, StorageKey,
};
use session_model::time::to_iso;

use super::relocate::{claim, claim_children, relocate};
use crate::error::{Result, SessionError};
use crate::manager::aside::cut;

/// The folder of deleted sessions.
pub const TRASH_DIR: &str = "trash";

/// The record of where a deleted session was.
const RECORD: &str = "origin.json";

/// A deleted session that can be brought back.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Trashed {
    /// Where the session is now.
    pub key: StorageKey,
    /// Where it was.
    pub from: StorageKey,
    /// When it was deleted, in ISO 8601.
    pub deleted_at: String,
}

/// What came of deleting or restoring a session.
#[derive(Debug)]
#[non_exhaustive]
pub struct Deleted {
    /// Where the session is now; where it was, if it was deleted for good.
    pub key: StorageKey,
    /// Artifacts that could not be taken away from where they were, and why.
    pub left_behind: Vec<StorageError>,
}

/// Moves a session and its artifacts to the trash, together.
///
/// # Errors
///
/// [`SessionError::NotFound`], or [`SessionError::Storage`], of kind `Busy` naming the holder while
/// the session or one of its child agents' is in use. The session is where it was.
///
/// # Cancel safety
///
/// A cancelled call leaves the session whole where it was, or whole in the trash.
pub async fn delete_session(
    storage: &Arc<dyn SessionStorage>,
    key: &StorageKey,
    clock: &dyn Clock,
) -> Result<Deleted> {
    let held = claim(&**storage, key).await?;
    let (record, trashed) = make_record(&**storage, key, clock).await?;
    match relocate(storage, key, &trashed, Some(held)).await {
        Ok(left_behind) => Ok(Deleted { key: trashed, left_behind }),
        Err(error) => {
            // Without a session the record is of no use; with one it is what brings it back.
            if matches!(storage.exists(&trashed).await, Ok(false)) {
                remove_record(&**storage, &record).await;
            }
            Err(error)
        }
    }
}

/// Removes a session and its artifacts for good; also one in the trash.
///
/// # Errors
///
/// As [`delete_session`].
pub async fn delete_session_forever(
    storage: &Arc<dyn SessionStorage>,
    key: &StorageKey,
) -> Result<Deleted> {
    let children = claim_children(storage, key).await?;
    match storage.remove(key).await {
        Ok(()) => {}
        Err(error) if error.kind() == StorageErrorKind::NotFound => {
            return Err(SessionError::NotFound { key: key.clone() });
        }
        // The answer may have been lost, not the removal.
        Err(error) => match storage.exists(key).await {
            Ok(false) => {}
            _ => return Err(error.into()),
        },
    }
    drop(children);
    let mut left_behind = Vec::new();
    if let Some(artifacts) = artifacts_key(key) {
        left_behind.extend(storage.remove_all(&artifacts).await.err());
    }
    if let Some(record) = record_beside(key) {
        remove_record(&**storage, &record).await;
    }
    Ok(Deleted { key: key.clone(), left_behind })
}

/// Lists the sessions in the trash, the latest deleted first.
///
/// # Errors
///
/// [`SessionError::Storage`] if anything could not be listed or read.
pub async fn list_trash(storage: &dyn SessionStorage) -> Result<Vec<Trashed>> {
    let trash = StorageKey::new(TRASH_DIR)?;
    let options = ListOptions::default().suffix(RECORD).max_depth(2);
    let (records, errors) = storage.list_all(Some(&trash), options).await;
    if let Some(error) = errors.into_iter().next() {
        return Err(error.into());
    }
    let mut found = Vec::new();
    for record in records.into_iter().map(|meta| meta.key) {
        let Some((from, deleted_at)) = read_record(&storage.read_all(&record).await?.1) else {
            continue;
        };
        let key = record.with_file_name(from.file_name())?;
        // A record without a session is what a deletion that was cut off left.
        if storage.exists(&key).await? {
            found.push(Trashed { key, from, deleted_at });
        }
    }
    found.sort_by(|a, b| b.deleted_at.cmp(&a.deleted_at).then_with(|| a.key.cmp(&b.key)));
    Ok(found)
}

/// Brings a session back from the trash to where it was, with its artifacts.
///
/// # Errors
///
/// [`SessionError::Storage`], of kind `AlreadyExists` if something is there now; the session stays
/// in the trash.
///
/// # Cancel safety
///
/// As [`delete_session`].
pub async fn restore_session(
    storage: &Arc<dyn SessionStorage>,
    trashed: &Trashed,
) -> Result<Deleted> {
    let held = claim(&**storage, &trashed.key).await?;
    let left_behind = relocate(storage, &trashed.key, &trashed.from, Some(held)).await?;
    if left_behind.is_empty()
        && let Some(record) = record_beside(&trashed.key)
    {
        remove_record(&**storage, &record).await;
    }
    Ok(Deleted { key: trashed.from.clone(), left_behind })
}

/// Writes where a session was; returns the record's key and the session's in the trash.
async fn make_record(
    storage: &dyn SessionStorage,
    key: &StorageKey,
    clock: &dyn Clock,
) -> Result<(StorageKey, StorageKey)> {
    let time = to_iso(clock.now_ms());
    let content =
        ObjectBuilder::new().string("from", key.as_str()).string("deletedAt", &time).build();
    let name = key.file_name();
    let stem = name.strip_suffix(SESSION_SUFFIX).unwrap_or(name);
    let dashed = time.replace([':', '.'], "-");
    for count in 1_u64.. {
        let suffix = if count == 1 { String::new() } else { format!("-{count}") };
        let room = MAX_SEGMENT_BYTES - dashed.len() - suffix.len() - 1;
        let stem = cut(stem, room);
        let folder = StorageKey::new(format!("{TRASH_DIR}/{dashed}_{stem}{suffix}"))?;
        let (record, trashed) = (folder.join(RECORD)?, folder.join(name)?);
        let absent = PutOptions::when(Precondition::Absent);
        match storage.put(&record, content.as_bytes().clone().into(), absent).await {
            Ok(_) => return Ok((record, trashed)),
            Err(error) if error.kind() == StorageErrorKind::AlreadyExists => {}
            Err(error) => {
                remove_record(storage, &record).await;
                return Err(error.into());
            }
        }
    }
    Err(StorageError::Invalid { detail: "no name in the trash is free".to_owned() }.into())
}

fn read_record(bytes: &[u8]) -> Option<(StorageKey, String)> {
    let record = RawJson::parse(bytes.to_vec()).ok()?;
    let from = StorageKey::new(record.field("from")?.as_text()?).ok()?;
    Some((from, record.field("deletedAt")?.as_text()?.into_owned()))
}

/// The record of a session in the trash.
fn record_beside(key: &StorageKey) -> Option<StorageKey> {
    let in_trash = key.segments().count() == 3 && key.segments().next() == Some(TRASH_DIR);
    in_trash.then(|| key.with_file_name(RECORD).ok()).flatten()
}

/// Removes a record; one that stays is passed over, since there is no session beside it.
async fn remove_record(storage: &dyn SessionStorage, record: &StorageKey) {
    if let Err(error) = storage.remove(record).await
        && error.kind() != StorageErrorKind::NotFound
    {
        tracing::warn!(key = %record, error = %error, "a record in the trash stays");
    }
}
