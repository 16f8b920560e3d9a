//! What all operations share: the root, the operation lock, and who may change an object.

use std::collections::HashSet;
use std::fs::File;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::fs::{Mode, OFlags};
use rustix::io::Errno;
use session_model::storage::{Durability, Precondition, Result, StorageError, StorageKey};

use crate::dir::{self, Found};
use crate::error::{During, Fault};
use crate::list::Listing;
use crate::lock::{self, Locked};
use crate::names::OPERATION_LOCK;
use crate::{in_flight, lease, temp};

/// A root directory and how to work in it.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) root: PathBuf,
    lock_wait: Duration,
    /// The directories that were searched for files left behind, by key; the root has none.
    swept: Mutex<HashSet<Option<StorageKey>>>,
}

impl Store {
    pub(crate) fn new(root: PathBuf, lock_wait: Duration) -> Self {
        Self { root, lock_wait, swept: Mutex::default() }
    }

    /// Opens the root directory anew, so that a moved or removed root is noticed.
    pub(crate) fn root(&self) -> Result<File, Fault> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(&self.root, flags, Mode::empty()) {
            Ok(fd) => Ok(fd.into()),
            Err(errno @ (Errno::NOENT | Errno::NOTDIR)) => Err(Fault::RootGone(errno.into())),
            Err(errno) => Err(errno.into()),
        }
    }

    /// Where the object lies, or would lie.
    pub(crate) fn path_of(&self, key: &StorageKey) -> PathBuf {
        self.root.join(key.as_str())
    }

    /// Says that something failed that concerns no single object.
    pub(crate) fn root_failed(&self, operation: &str, fault: &Fault) -> StorageError {
        StorageError::Invalid {
            detail: format!("cannot {operation} the root {}: {fault}", self.root.display()),
        }
    }

    /// Makes everything durable that was changed up to now.
    pub(crate) fn sync_all(&self) -> Result<()> {
        let synced = self.root().and_then(|root| Ok(sync_file_system(&root)?));
        synced.map_err(|fault| self.root_failed("make durable", &fault))
    }

    /// Keeps every other operation that changes something away.
    pub(crate) fn lock(&self, root: &File) -> Result<Locked, Fault> {
        lock::operation(root, self.lock_wait)
    }

    /// As [`lock`](Self::lock), and removes the temporary files that dead processes left.
    pub(crate) fn lock_and_sweep(&self, root: &File) -> Result<Locked, Fault> {
        let lock = self.lock(root)?;
        in_flight::sweep(&lock, root);
        Ok(lock)
    }

    /// Opens the file of the operation lock, if there is one that this process may read.
    pub(crate) fn present_lock(&self) -> Option<File> {
        dir::open(&self.root().ok()?, OPERATION_LOCK, OFlags::RDONLY).ok().flatten()
    }

    /// Looks at an object and makes sure that it may be changed; the operation lock must be held.
    ///
    /// `claimed` says that the caller holds the lease.
    pub(crate) fn admit(
        self: &Arc<Self>,
        root: &File,
        key: &StorageKey,
        precondition: &Precondition,
        claimed: bool,
    ) -> Result<Found> {
        let operation = "write";
        let dir = dir::parent(root, key).during(operation, key)?;
        let found = match &dir {
            Some(dir) => dir::find(dir, key.file_name()).during(operation, key)?,
            None => Found::Nothing,
        };
        if found == Found::Directory && self.is_occupied(key) {
            return Err(Fault::Directory.at(operation, key));
        }
        check(precondition, key, found)?;
        if let (Some(dir), false) = (&dir, claimed) {
            lease::ensure_free(dir, key)?;
        }
        Ok(found)
    }

    /// Tells whether anything lies below a key, also what cannot be listed.
    pub(crate) fn is_occupied(self: &Arc<Self>, key: &StorageKey) -> bool {
        Listing::locked(self, key).next().is_some()
    }

    /// Removes the temporary files of dead processes from the directory of an object.
    ///
    /// Done once a directory. A failure is no reason to refuse the operation at hand.
    pub(crate) fn sweep(&self, root: &File, key: &StorageKey) {
        if !self.swept.lock().unwrap_or_else(PoisonError::into_inner).insert(key.parent()) {
            return;
        }
        let Ok(Some(dir)) = dir::parent(root, key) else { return };
        let Ok(names) = temp::present(&dir) else { return };
        if names.is_empty() {
            return;
        }
        let Ok(_lock) = self.lock(root) else { return };
        for name in &names {
            let _ = temp::remove_dead(&dir, name);
        }
    }
}

/// Opens the directories of objects, one after the other.
pub(crate) struct Parents<'a> {
    store: &'a Store,
    last: Option<(Option<StorageKey>, Option<File>)>,
}

impl<'a> Parents<'a> {
    pub(crate) fn new(store: &'a Store) -> Self {
        Self { store, last: None }
    }

    /// As [`dir::parent`], at no cost for an object beside the one before.
    pub(crate) fn of(&mut self, key: &StorageKey) -> Result<Option<&File>, Fault> {
        let parent = key.parent();
        if self.last.as_ref().is_none_or(|(last, _)| *last != parent) {
            let dir = dir::parent(&self.store.root()?, key)?;
            self.last = Some((parent, dir));
        }
        Ok(self.last.as_ref().and_then(|(_, dir)| dir.as_ref()))
    }
}

/// Tells whether a change has to survive a loss of power.
pub(crate) fn is_durable(level: Durability) -> Result<bool> {
    match level {
        Durability::Accepted => Ok(false),
        Durability::Durable => Ok(true),
        _ => Err(StorageError::Unsupported { what: format!("durability {level:?}") }),
    }
}

fn check(precondition: &Precondition, key: &StorageKey, found: Found) -> Result<()> {
    let current = match found {
        Found::Object(state) => Some(state.meta(key)),
        Found::Nothing | Found::Directory => None,
    };
    let conflict = |detail| Err(StorageError::Conflict { key: key.clone(), detail });
    match (precondition, current) {
        (Precondition::None, _)
        | (Precondition::Absent, None)
        | (Precondition::Present, Some(_)) => Ok(()),
        (Precondition::Absent, Some(_)) => Err(StorageError::AlreadyExists { key: key.clone() }),
        (Precondition::Present | Precondition::Version(_) | Precondition::Length(_), None) => {
            Err(StorageError::NotFound { key: key.clone() })
        }
        (Precondition::Version(want), Some(meta)) if meta.version != *want => {
            conflict("it was changed since it was read".to_owned())
        }
        (Precondition::Length(want), Some(meta)) if meta.size != *want => {
            conflict(format!("its size is {} bytes, not {want}", meta.size))
        }
        (Precondition::Version(_) | Precondition::Length(_), Some(_)) => Ok(()),
        _ => Err(StorageError::Unsupported { what: format!("precondition {precondition:?}") }),
    }
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn sync_file_system(root: &File) -> Result<(), Errno> {
    rustix::fs::syncfs(root)
}

#[cfg(not(any(target_os = "linux", target_os = "android")))]
fn sync_file_system(_: &File) -> Result<(), Errno> {
    rustix::fs::sync();
    Ok(())
}
