//! A directory with an index, or without one that cannot be used.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use session_model::storage::SessionStorage;
use session_store_indexed::index::{IndexError, IndexOptions};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};
use session_store_indexed::{DatabaseDiagnostic, DatabaseError};

use crate::open_remote::RemotePlace;
use crate::open_storage::open_directory;
use crate::{OpenStorageError, WaitingStorage};

/// Opens a directory with its index.
pub(crate) fn indexed(
    path: PathBuf,
    remote: Option<RemotePlace>,
    make_missing: bool,
) -> Result<session_store_indexed::storage::IndexedStorage, OpenStorageError> {
    let files = open_directory(path.clone(), make_missing)?;
    index_of(&files, &path, remote)?
        .map_err(|source| OpenStorageError::Backend { source: source.into() })
}

/// Opens the index in a directory.
pub(crate) fn index_of(
    files: &Arc<dyn SessionStorage>,
    path: &Path,
    remote: Option<RemotePlace>,
) -> Result<Result<IndexedStorage, IndexError>, OpenStorageError> {
    let (files, path) = (Arc::clone(files), path.join(INDEX_FILE));
    let options = IndexOptions::default();
    Ok(match remote {
        None => IndexedStorage::open(files, path, options),
        Some(place) => {
            let (remote, publish) = place.connect()?;
            IndexedStorage::open_shared(files, path, options, remote, publish)
        }
    })
}

/// The files of a directory whose index cannot be used here, with that to be told.
///
/// What is written through a remote's storage goes to its outbox; so one of a newer version is
/// refused there: only for want of access or space, which keeps most from being written, it does
/// without.
pub(crate) fn without_index(
    files: Arc<dyn SessionStorage>,
    path: &Path,
    error: IndexError,
    has_remote: bool,
) -> Result<Arc<dyn SessionStorage>, OpenStorageError> {
    let index = path.join(INDEX_FILE);
    let found = match &error {
        IndexError::Database(DatabaseError::Newer { .. }) if has_remote => None,
        IndexError::Database(why) if why.is_unusable_here() => {
            Some(DatabaseDiagnostic::not_used(index, why).into())
        }
        _ => None,
    };
    match found {
        Some(found) => Ok(Arc::new(WaitingStorage::at_once(files, found))),
        None => Err(OpenStorageError::Backend { source: error.into() }),
    }
}
