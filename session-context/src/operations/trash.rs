//! Deleting sessions so that they can be brought back, and for good.
//!
//! ```text
//! trash/<time>_<session>/origin.json       where it was, and when it was deleted
//! trash/<time>_<session>/<session>.jsonl   the session
//! trash/<time>_<session>/<session>/        its artifacts
//! trash/<time>_<session>/unfinished.json   as origin.json, while it is taken there or back
//! ```

use std::sync::Arc;

use session_model::env::Clock;
use session_model::json::{ObjectBuilder, RawJson};
use session_model::layout::SESSION_SUFFIX;
use session_model::storage::{
    ListOptions, MAX_SEGMENT_BYTES, Payload, Precondition, PutOptions, SessionStorage,
    SessionStorageExt, StorageError, StorageErrorKind, StorageKey,
};
use session_model::time::to_iso;

use super::relocate::{claim, claim_children, companions, is_all, relocate};
use super::unfinished::finish_others;
use crate::error::{Result, SessionError};
use crate::manager::aside::cut;

/// The folder of deleted sessions.
pub const TRASH_DIR: &str = "trash";

/// The record of where a deleted session was.
pub(super) const RECORD: &str = "origin.json";

/// The same while the session is taken to the trash or back.
pub(super) const UNFINISHED: &str = "unfinished.json";

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
    /// What could not be taken away from where it was, and why: artifacts, and what lies among them
    /// and is no file.
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
    finish_others(&**storage).await;
    let held = claim(&**storage, key).await?;
    let (record, trashed) = make_record(&**storage, key, clock).await?;
    let relocated = match begin(&**storage, &trashed).await {
        Ok(()) => relocate(storage, key, &trashed.key, Some(held)).await,
        Err(error) => Err(error),
    };
    match relocated {
        Ok(left_behind) => {
            // Whoever took this for cut off, between claim and rename, took the record away.
            if matches!(storage.exists(&record).await, Ok(false)) {
                storage.put(&record, content_of(&trashed), PutOptions::default()).await?;
            }
            end(&**storage, &trashed.key, &left_behind).await;
            Ok(Deleted { key: trashed.key, left_behind })
        }
        Err(error) => {
            // Without a session the record is of no use; with one it is what brings it back.
            if matches!(storage.exists(&trashed.key).await, Ok(false)) {
                end(&**storage, &trashed.key, &[]).await;
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
    let (others, mut left_behind) = companions(&**storage, key).await;
    for other in others {
        left_behind.extend(storage.remove(&other).await.err());
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
    let mut found = Vec::new();
    for (_, trashed) in records(storage, RECORD).await? {
        // A record without a session is what a deletion that was cut off left.
        if storage.exists(&trashed.key).await? {
            found.push(trashed);
        }
    }
    found.sort_by(|a, b| b.deleted_at.cmp(&a.deleted_at).then_with(|| a.key.cmp(&b.key)));
    Ok(found)
}

/// The objects of this name that tell where sessions in the trash were, and what they tell.
pub(super) async fn records(
    storage: &dyn SessionStorage,
    name: &str,
) -> Result<Vec<(StorageKey, Trashed)>> {
    let trash = StorageKey::new(TRASH_DIR)?;
    let options = ListOptions::default().suffix(format!("/{name}")).max_depth(2);
    let (records, errors) = storage.list_all(Some(&trash), options).await;
    // What is no object is no record, whatever its name.
    if let Some(error) = errors.into_iter().find(|error| !error.is_no_object()) {
        return Err(error.into());
    }
    let mut found = Vec::new();
    for record in records.into_iter().map(|meta| meta.key) {
        let read = match storage.read_all(&record).await {
            // Whoever made it is done with it.
            Err(error) if error.kind() == StorageErrorKind::NotFound => continue,
            read => read?.1,
        };
        if let Some((from, deleted_at)) = read_record(&read) {
            let key = record.with_file_name(from.file_name())?;
            found.push((record, Trashed { key, from, deleted_at }));
        }
    }
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
    finish_others(&**storage).await;
    let held = claim(&**storage, &trashed.key).await?;
    begin(&**storage, trashed).await?;
    match relocate(storage, &trashed.key, &trashed.from, Some(held)).await {
        Ok(left_behind) => {
            if is_all(&left_behind)
                && let Some(record) = record_beside(&trashed.key)
            {
                remove_record(&**storage, &record).await;
            }
            end(&**storage, &trashed.key, &left_behind).await;
            Ok(Deleted { key: trashed.from.clone(), left_behind })
        }
        Err(error) => {
            if matches!(storage.exists(&trashed.key).await, Ok(true)) {
                end(&**storage, &trashed.key, &[]).await;
            }
            Err(error)
        }
    }
}

/// Writes where a session was; returns the record's key and what it tells.
async fn make_record(
    storage: &dyn SessionStorage,
    key: &StorageKey,
    clock: &dyn Clock,
) -> Result<(StorageKey, Trashed)> {
    let time = to_iso(clock.now_ms());
    let name = key.file_name();
    let stem = name.strip_suffix(SESSION_SUFFIX).unwrap_or(name);
    let dashed = time.replace([':', '.'], "-");
    for count in 1_u64.. {
        let suffix = if count == 1 { String::new() } else { format!("-{count}") };
        let room = MAX_SEGMENT_BYTES - dashed.len() - suffix.len() - 1;
        let stem = cut(stem, room);
        let folder = StorageKey::new(format!("{TRASH_DIR}/{dashed}_{stem}{suffix}"))?;
        let (from, deleted_at) = (key.clone(), time.clone());
        let (record, trashed) =
            (folder.join(RECORD)?, Trashed { key: folder.join(name)?, from, deleted_at });
        let absent = PutOptions::when(Precondition::Absent);
        match storage.put(&record, content_of(&trashed), absent).await {
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

fn content_of(trashed: &Trashed) -> Payload {
    let record = ObjectBuilder::new().string("from", trashed.from.as_str());
    record.string("deletedAt", &trashed.deleted_at).build().as_bytes().clone().into()
}

/// Notes that a session is about to be taken to the trash or back, so that whoever comes later can
/// finish it.
async fn begin(storage: &dyn SessionStorage, trashed: &Trashed) -> Result<()> {
    let note = trashed.key.with_file_name(UNFINISHED)?;
    storage.put(&note, content_of(trashed), PutOptions::default()).await?;
    Ok(())
}

/// Removes the note of [`begin`], unless something is left to finish.
async fn end(storage: &dyn SessionStorage, key: &StorageKey, left_behind: &[StorageError]) {
    if is_all(left_behind)
        && let Ok(note) = key.with_file_name(UNFINISHED)
    {
        remove_record(storage, &note).await;
    }
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
pub(super) async fn remove_record(storage: &dyn SessionStorage, record: &StorageKey) {
    if let Err(error) = storage.remove(record).await
        && error.kind() != StorageErrorKind::NotFound
    {
        tracing::warn!(key = %record, error = %error, "a record in the trash stays");
    }
}
