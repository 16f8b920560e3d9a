//! Sessions of child agents.

use session_model::layout::{SESSION_SUFFIX, artifacts_key};
use session_model::storage::{ListOptions, SessionStorage, SessionStorageExt, StorageKey};

use super::without_strays;
use crate::error::{Result, SessionError};

/// A session below another one.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ChildSession {
    /// The session's file.
    pub key: StorageKey,
    /// The id of the agent whose session it is: the file's name without `.jsonl`.
    pub agent: String,
    /// The file of the session it is a child of, which need not exist.
    pub parent: StorageKey,
    /// How far below it lies: 1 for a child, 2 for a child's child.
    pub depth: usize,
}

/// Finds the sessions of child agents below a session, at any depth; a parent comes before its
/// children, and siblings are in the order of their names. What cannot be followed is left out, as
/// in [`Artifacts::list`](super::Artifacts::list).
///
/// # Errors
///
/// [`SessionError::NoArtifacts`] if the key is not that of a session, and
/// [`SessionError::Storage`].
pub async fn child_sessions(
    storage: &dyn SessionStorage,
    session: &StorageKey,
) -> Result<Vec<ChildSession>> {
    let top =
        artifacts_key(session).ok_or_else(|| SessionError::NoArtifacts { key: session.clone() })?;
    let options = ListOptions::default().suffix(SESSION_SUFFIX);
    let (found, errors) = storage.list_all(Some(&top), options).await;
    let found = without_strays(&top, found, errors)?;
    let outer = top.segments().count();
    let mut children = Vec::with_capacity(found.len());
    for key in found.into_iter().map(|meta| meta.key) {
        let (Some(folder), Some(own)) = (key.parent(), artifacts_key(&key)) else { continue };
        children.push(ChildSession {
            agent: own.file_name().to_owned(),
            parent: StorageKey::new(format!("{folder}{SESSION_SUFFIX}"))?,
            depth: key.segments().count() - outer,
            key,
        });
    }
    // As keys a child's child may come between siblings; segment by segment it cannot.
    children.sort_by(|a, b| path(a).cmp(path(b)));
    Ok(children)
}

/// The names on the way to a session, without endings.
fn path(child: &ChildSession) -> impl Iterator<Item = &str> {
    let key = child.key.as_str();
    key.strip_suffix(SESSION_SUFFIX).unwrap_or(key).split('/')
}
