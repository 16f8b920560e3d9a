//! An object while it is being written, beside the place it will take.

use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::os::unix::fs::fchown;

use rustix::fs::{AtFlags, Dir, OFlags};
use rustix::io::Errno;
use session_model::storage::{Payload, StorageKey};

use crate::dir::{self, FILE_MODE, Found};
use crate::error::Fault;
use crate::lock::Locked;
use crate::state::State;
use crate::{in_flight, names};

/// Small chunks are gathered to writes of this size.
const BUFFER_BYTES: usize = 128 << 10;

/// A file of its own name that becomes the object, or is removed on drop.
///
/// It stays locked while it lives, so that others can tell it from one that was left behind.
#[derive(Debug)]
pub(crate) struct Temp {
    dir: File,
    name: String,
    locked: Locked,
    /// The path from the root, under which it is listed.
    place: String,
}

impl Temp {
    /// Creates an empty file for an object in place of `old`, which hands its owner on, and its mode
    /// as far as it is stricter; `lock` is the operation lock.
    pub(crate) fn create(
        lock: &Locked,
        dir: File,
        key: &StorageKey,
        old: Found,
    ) -> Result<Self, Fault> {
        let mode = match old {
            Found::Object(old) => old.mode & FILE_MODE,
            Found::Nothing | Found::Directory => FILE_MODE,
        };
        let folder = key.parent().map(|parent| format!("{parent}/")).unwrap_or_default();
        let (name, place, file) = loop {
            let name = names::temp(key.file_name());
            let place = format!("{folder}{name}");
            in_flight::note(lock, &place)?;
            match dir::create(&dir, &*name, OFlags::WRONLY, mode) {
                Err(Errno::EXIST) => {}
                created => break (name, place, created?),
            }
        };
        let locked = Locked::try_new(file)?.map_err(|_| Errno::AGAIN)?;
        let temp = Self { dir, name, locked, place };
        if let Found::Object(old) = old {
            keep_owner(temp.file(), &old)?;
        }
        Ok(temp)
    }

    pub(crate) fn dir(&self) -> &File {
        &self.dir
    }

    pub(crate) fn file(&self) -> &File {
        self.locked.file()
    }

    /// Puts the file at the place of the object `name` and returns it and its directory; `lock` is
    /// the operation lock.
    pub(crate) fn place(
        self,
        lock: &Locked,
        name: &str,
        overwrite: bool,
    ) -> Result<(File, File), Fault> {
        let parts = (self.locked.file().try_clone()?, self.dir.try_clone()?);
        dir::place((&self.dir, &self.name), (&self.dir, name), overwrite)?;
        in_flight::forget(lock, &self.place);
        Ok(parts)
    }
}

impl Drop for Temp {
    fn drop(&mut self) {
        // Nothing has this name any more if the file is in its place. What cannot be removed now
        // is swept later.
        let _ = rustix::fs::unlinkat(&self.dir, &*self.name, AtFlags::empty());
    }
}

/// Gives a file to the owner of the one it replaces, if this process may.
fn keep_owner(file: &File, old: &State) -> Result<(), Fault> {
    let (user, group) = old.owner;
    if dir::state(file)?.owner.0 == user {
        return Ok(());
    }
    match fchown(file, Some(user), Some(group)) {
        // Only root can give files away. Whoever else may replace this one keeps the new one.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        given => Ok(given?),
    }
}

/// Writes a payload to an empty file.
pub(crate) fn write(file: &File, body: &Payload) -> io::Result<()> {
    let mut writer = BufWriter::with_capacity(BUFFER_BYTES, file);
    for chunk in body.chunks() {
        writer.write_all(chunk)?;
    }
    writer.flush()
}

/// Returns the names of temporary files in a directory, live ones too.
pub(crate) fn present(dir: &File) -> Result<Vec<CString>, Errno> {
    let mut names = Vec::new();
    for entry in Dir::read_from(dir)? {
        let entry = entry?;
        if names::is_temp(entry.file_name().to_bytes()) {
            names.push(entry.file_name().to_owned());
        }
    }
    Ok(names)
}

/// Removes a temporary file whose maker is gone; the operation lock must be held.
///
/// Under that lock nobody can be between creating such a file and locking it.
pub(crate) fn remove_dead(dir: &File, name: &CStr) -> Result<(), Fault> {
    let Some(file) = dir::open(dir, name, OFlags::RDONLY)? else { return Ok(()) };
    // What is no file is not of the backend's making, whatever its name.
    let is_file = matches!(dir::identify(&file), Ok(Found::Object(_)));
    if is_file && Locked::try_new(file)?.is_ok() {
        rustix::fs::unlinkat(dir, name, AtFlags::empty())?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_that_is_being_written_is_not_taken_for_one_left_behind() {
        let root = tempfile::tempdir().unwrap();
        let dir = File::open(root.path()).unwrap();
        let lock = crate::lock::operation(&dir, std::time::Duration::from_secs(600)).unwrap();
        let key = StorageKey::new("a").unwrap();
        let temp = Temp::create(&lock, dir.try_clone().unwrap(), &key, Found::Nothing).unwrap();
        let names = present(&dir).unwrap();
        assert_eq!(names, [CString::new(temp.name.clone()).unwrap()]);
        remove_dead(&dir, &names[0]).unwrap();
        assert_eq!(present(&dir).unwrap(), names);
        drop(temp);
        assert_eq!(present(&dir).unwrap(), Vec::<CString>::new());
    }
}
