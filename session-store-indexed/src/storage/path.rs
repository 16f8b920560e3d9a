//! Reading one path of a session, and no more.

use bytes::Bytes;
use session_model::SessionDocument;
use session_model::document::{LoadOptions, Scan};
use session_model::entry::Entry;
use session_model::storage::{ObjectMeta, ReadRange, SessionStorageExt, StorageKey};

use super::IndexedStorage;
use crate::index::{self, IndexError, Mark, Place};

/// The entries from a root of a session to one of its entries.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SessionPath {
    /// The state of the file they were read from.
    pub meta: ObjectMeta,
    /// The entries, the root first; none of an empty session.
    pub entries: Vec<Entry>,
    /// Whether all of the file was read, as the index could not tell the path.
    pub read_whole: bool,
}

impl IndexedStorage {
    /// Reads the entries from a root to the entry `leaf`, or to the last of the file.
    ///
    /// Only these are read, where the index is up to date or can be brought so; else, and for
    /// files in which ids are missing, shared or name later entries as parents, all of the file.
    /// The answer is that of
    /// [`SessionTree::path_to`](session_model::SessionTree::path_to) in either case.
    ///
    /// # Errors
    ///
    /// [`IndexError::NoEntry`] if there is no such entry, [`IndexError::NotASession`], and
    /// [`IndexError::Storage`]: what is wrong with the index only makes it slower.
    ///
    /// # Cancel safety
    ///
    /// Cancel safe: it only reads.
    pub async fn path(
        &self,
        key: &StorageKey,
        leaf: Option<&str>,
    ) -> Result<SessionPath, IndexError> {
        for is_caught_up in [false, true] {
            if let Some(path) = self.indexed_path(key, leaf).await? {
                return Ok(path);
            }
            if is_caught_up {
                break;
            }
            self.queue.mark(key, Mark::Differs);
            if let Err(error) = self.catch_up(|_| {}) {
                tracing::warn!(%error, %key, "the index is behind; the file is read whole");
                break;
            }
        }
        self.loaded_path(key, leaf).await
    }

    /// `None` if the index does not know the file as it is now.
    async fn indexed_path(
        &self,
        key: &StorageKey,
        leaf: Option<&str>,
    ) -> Result<Option<SessionPath>, IndexError> {
        if !index::is_session(key) {
            return Ok(None);
        }
        let found = self.reader().run(|connection| index::path_places(connection, key, leaf));
        let Ok(Some(found)) = found else { return Ok(None) };
        let Some(places) = found.places.filter(|_| found.regular && found.is_whole) else {
            return Ok(None);
        };
        let ranges = ranges(&places);
        let (meta, parts) = self.inner.read(key, &ranges).await?;
        if meta.version.as_str() != found.version {
            return Ok(None);
        }
        let entries = entries(&places, &ranges, &parts);
        Ok(entries.map(|entries| SessionPath { meta, entries, read_whole: false }))
    }

    async fn loaded_path(
        &self,
        key: &StorageKey,
        leaf: Option<&str>,
    ) -> Result<SessionPath, IndexError> {
        let (meta, file) = self.inner.read_all(key).await?;
        let options = LoadOptions::default();
        let loaded = SessionDocument::load(file, &options)
            .map_err(|source| IndexError::NotASession { key: key.clone(), source })?;
        let tree = loaded.document.tree();
        let end = match leaf {
            None => tree.leaf(),
            Some(id) => Some(
                tree.find(id)
                    .ok_or_else(|| IndexError::NoEntry { key: key.clone(), id: id.to_owned() })?,
            ),
        };
        let nodes = end.map(|node| tree.path_to(node)).unwrap_or_default();
        let entries = nodes.into_iter().map(|node| tree.entry(node).clone()).collect();
        Ok(SessionPath { meta, entries, read_whole: true })
    }
}

/// Joins places that follow each other.
fn ranges(places: &[Place]) -> Vec<ReadRange> {
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for place in places {
        match joined.last_mut() {
            Some((offset, len)) if *offset + *len == place.offset => *len += place.length,
            _ => joined.push((place.offset, place.length)),
        }
    }
    joined.into_iter().map(|(offset, len)| ReadRange::Range { offset, len }).collect()
}

/// Takes the entries out of what was read; `None` if they are not what the index says.
fn entries(places: &[Place], ranges: &[ReadRange], parts: &[Bytes]) -> Option<Vec<Entry>> {
    let mut places = places.iter();
    let mut entries = Vec::with_capacity(places.len());
    for (range, part) in ranges.iter().zip(parts) {
        let ReadRange::Range { len, .. } = *range else { return None };
        if part.len() as u64 != len {
            return None;
        }
        let mut at = 0;
        while at < part.len() {
            let place = places.next()?;
            let end = at + usize::try_from(place.length).ok()?;
            let mut scan = Scan::lines(&part.slice(at..end), &LoadOptions::default());
            let (_, entry) = scan.entries.pop().filter(|_| scan.entries.is_empty())?;
            if entry.id().as_deref() != place.id.as_deref() {
                return None;
            }
            entries.push(entry);
            at = end;
        }
    }
    Some(entries)
}
