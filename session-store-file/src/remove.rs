//! Removing objects, and directories in which no object is left.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir};
use rustix::io::Errno;
use session_model::storage::{Result, StorageError, StorageKey};

use crate::dir::{self, Found};
use crate::error::{During, Fault};
use crate::list::Listing;
use crate::store::{Parents, Store};
use crate::{lease, names, temp};

const OPERATION: &str = "remove";

/// How many objects are removed before other operations get their turn.
const BATCH: usize = 256;

impl Store {
    pub(crate) fn remove(&self, key: &StorageKey) -> Result<()> {
        let not_found = || StorageError::NotFound { key: key.clone() };
        let root = self.root().during(OPERATION, key)?;
        let _locked = self.lock_and_sweep(&root).during(OPERATION, key)?;
        let dir = dir::parent(&root, key).during(OPERATION, key)?.ok_or_else(not_found)?;
        if remove_from(&dir, key)? { Ok(()) } else { Err(not_found()) }
    }

    /// Removes what lies below a prefix; nothing, if any of it is held or cannot be listed.
    pub(crate) fn remove_all(self: &Arc<Self>, prefix: &StorageKey) -> Result<u64> {
        let root = self.root().during(OPERATION, prefix)?;
        let mut parents = Parents::new(self);
        let locked = self.lock_and_sweep(&root).during(OPERATION, prefix)?;
        let mut keys = Vec::new();
        for meta in Listing::locked(self, prefix) {
            let key = meta?.key;
            if let Some(dir) = parents.of(&key).during(OPERATION, &key)? {
                lease::ensure_free(dir, &key)?;
                keys.push(key);
            }
        }
        drop(locked);

        let mut removed = 0;
        for batch in keys.chunks(BATCH) {
            let _locked = self.lock(&root).during(OPERATION, prefix)?;
            for key in batch {
                let Some(dir) = parents.of(key).during(OPERATION, key)? else { continue };
                removed += u64::from(remove_from(dir, key)?);
            }
        }

        let _locked = self.lock(&root).during(OPERATION, prefix)?;
        if let Some(dir) = dir::parent(&root, prefix).during(OPERATION, prefix)?
            && dir::find(&dir, prefix.file_name()).during(OPERATION, prefix)? == Found::Directory
        {
            prune(&dir, prefix.file_name()).during(OPERATION, prefix)?;
        }
        Ok(removed)
    }
}

/// Removes an object from its directory and tells whether it was there; the operation lock must
/// be held.
fn remove_from(dir: &File, key: &StorageKey) -> Result<bool> {
    let Found::Object(state) = dir::find(dir, key.file_name()).during(OPERATION, key)? else {
        return Ok(false);
    };
    lease::ensure_free(dir, key)?;
    state.outlive();
    rustix::fs::unlinkat(dir, key.file_name(), AtFlags::empty()).during(OPERATION, key)?;
    lease::forget(dir, key);
    Ok(true)
}

/// Removes a directory and those below it, as far as nothing of worth lies in them; the operation
/// lock must be held.
///
/// Sidecars nobody has locked and temporary files of dead processes go with their directory.
pub(crate) fn prune(parent: &File, name: &str) -> Result<(), Fault> {
    let name = CString::new(name).map_err(io::Error::from)?;
    let mut levels = Vec::from_iter(Level::open(parent, name)?);
    while let Some(level) = levels.last_mut() {
        if let Some(name) = level.below.pop() {
            let next = Level::open(&level.dir, name)?;
            levels.extend(next);
            continue;
        }
        let Some(empty) = levels.pop() else { break };
        let parent = levels.last().map_or(parent, |level| &level.dir);
        match rustix::fs::unlinkat(parent, &*empty.name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT | Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Ok(())
}

/// A directory that is being emptied.
struct Level {
    dir: File,
    name: CString,
    below: Vec<CString>,
}

impl Level {
    /// Opens a directory and removes the files of no use from it; `None` without one.
    fn open(parent: &File, name: CString) -> Result<Option<Self>, Fault> {
        let Some(dir) = dir::enter(parent, &*name)? else { return Ok(None) };
        let mut below = Vec::new();
        for entry in Dir::read_from(&dir)? {
            let entry = entry?;
            let name = entry.file_name();
            match name.to_bytes() {
                b"." | b".." => {}
                bytes if names::is_sidecar(bytes) => lease::remove_unused(&dir, name)?,
                bytes if names::is_temp(bytes) => temp::remove_dead(&dir, name)?,
                _ if dir::find(&dir, name)? == Found::Directory => below.push(name.to_owned()),
                _ => {}
            }
        }
        Ok(Some(Self { dir, name, below }))
    }
}
