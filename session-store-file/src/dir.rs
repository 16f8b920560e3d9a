//! Directories and files below the root, reached one name at a time and never through a link.

use std::ffi::CStr;
use std::fs::File;
use std::io;

use rustix::fs::{AtFlags, FileType, Mode, OFlags, Stat};
use rustix::io::{Errno, retry_on_intr};
use rustix::path::Arg;
use session_model::storage::StorageKey;

use crate::error::Fault;
use crate::state::State;

/// The mode of every new file, less what a replaced file did not allow.
pub(crate) const FILE_MODE: u32 = 0o600;
/// The mode of every new directory.
pub(crate) const DIRECTORY_MODE: u32 = 0o700;

/// What lies under a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Found {
    Nothing,
    Directory,
    Object(State),
}

impl Found {
    /// As [`State::outlive`], if there is an object.
    pub(crate) fn outlive(&self) {
        if let Self::Object(state) = self {
            state.outlive();
        }
    }

    /// Tells whether both are one file, in whatever state.
    pub(crate) fn is_same_file(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Object(a), Self::Object(b)) => a.glance().file == b.glance().file,
            _ => false,
        }
    }
}

/// Looks at what lies under a name in a directory.
pub(crate) fn find(dir: &File, name: impl Arg) -> Result<Found, Fault> {
    found(rustix::fs::statat(dir, name, AtFlags::SYMLINK_NOFOLLOW))
}

/// Looks at what lies at a path, which may lead through links.
pub(crate) fn find_at(path: &CStr) -> Result<Found, Fault> {
    found(rustix::fs::lstat(path))
}

fn found(stat: Result<Stat, Errno>) -> Result<Found, Fault> {
    match stat {
        Ok(stat) => classify(&stat),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(Found::Nothing),
        Err(errno) => Err(errno.into()),
    }
}

/// Tells what an open file is, and its present state.
pub(crate) fn identify(file: &File) -> Result<Found, Fault> {
    classify(&rustix::fs::fstat(file)?)
}

fn classify(stat: &Stat) -> Result<Found, Fault> {
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Found::Object(State::from(stat))),
        FileType::Directory => Ok(Found::Directory),
        FileType::Symlink => Err(Fault::Symlink),
        _ => Err(Fault::Special),
    }
}

/// Returns the present state of an open file.
pub(crate) fn state(file: &File) -> Result<State, Fault> {
    Ok(State::from(&rustix::fs::fstat(file)?))
}

/// Opens an existing file; `None` without one.
pub(crate) fn open(
    dir: &File,
    name: impl Arg + Copy,
    flags: OFlags,
) -> Result<Option<File>, Fault> {
    // Without NONBLOCK, opening a pipe that lies under the name would wait for its other end.
    let flags = flags | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    match retry_on_intr(|| rustix::fs::openat(dir, name, flags, Mode::empty())) {
        Ok(fd) => Ok(Some(fd.into())),
        Err(Errno::NOENT) => Ok(None),
        Err(Errno::LOOP) => Err(Fault::Symlink),
        Err(Errno::NXIO) => Err(Fault::Special),
        Err(errno) => Err(errno.into()),
    }
}

/// Creates a file that did not exist, with this mode whatever the umask.
pub(crate) fn create(
    dir: &File,
    name: impl Arg + Copy,
    flags: OFlags,
    mode: u32,
) -> Result<File, Errno> {
    let flags = flags | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(mode as _);
    let file = File::from(retry_on_intr(|| rustix::fs::openat(dir, name, flags, mode))?);
    if !Mode::from_raw_mode(rustix::fs::fstat(&file)?.st_mode).contains(mode) {
        rustix::fs::fchmod(&file, mode)?;
    }
    Ok(file)
}

/// Opens a file of the backend's own, creating it if there is none.
pub(crate) fn open_or_create(dir: &File, name: &str) -> Result<File, Fault> {
    loop {
        if let Some(file) = open(dir, name, OFlags::RDWR)? {
            return Ok(file);
        }
        match create(dir, name, OFlags::RDWR, FILE_MODE) {
            Err(Errno::EXIST) => {}
            created => return Ok(created?),
        }
    }
}

/// Opens a directory; `None` without one.
pub(crate) fn enter(dir: &File, name: impl Arg + Copy) -> Result<Option<File>, Fault> {
    match open(dir, name, OFlags::RDONLY | OFlags::DIRECTORY) {
        // Systems disagree on what a link is in place of a directory.
        Err(Fault::Io(error)) if Errno::from_io_error(&error) == Some(Errno::NOTDIR) => {
            match find(dir, name)? {
                Found::Object(_) => Err(Fault::BelowObject),
                _ => Err(error.into()),
            }
        }
        entered => entered,
    }
}

/// Opens the directory an object lies in; `None` if it cannot have that object.
pub(crate) fn parent(root: &File, key: &StorageKey) -> Result<Option<File>, Fault> {
    match key.parent() {
        Some(parent) => descend(root, &parent),
        None => Ok(Some(root.try_clone()?)),
    }
}

/// Opens the directory under a key; `None` without one.
pub(crate) fn descend(root: &File, key: &StorageKey) -> Result<Option<File>, Fault> {
    let mut dir = None;
    for name in key.segments() {
        match enter(dir.as_ref().unwrap_or(root), name) {
            Ok(Some(next)) => dir = Some(next),
            Ok(None) | Err(Fault::BelowObject) => return Ok(None),
            Err(fault) => return Err(fault),
        }
    }
    Ok(dir)
}

/// Directories that got a new directory in them.
///
/// They are to be made durable before anything in the new ones is said to be, but not while a
/// lock is held.
#[must_use]
pub(crate) struct Grown(Vec<File>);

impl Grown {
    pub(crate) fn sync(&self) -> io::Result<()> {
        self.0.iter().try_for_each(File::sync_all)
    }
}

/// Opens the directory an object lies in, creating what is missing.
pub(crate) fn make_parent(root: &File, key: &StorageKey) -> Result<(File, Grown), Fault> {
    let (mut dir, mut grown) = (root.try_clone()?, Vec::new());
    let parent = key.parent();
    for name in parent.iter().flat_map(StorageKey::segments) {
        let next = match enter(&dir, name)? {
            Some(next) => next,
            None => {
                let made = make_dir(&dir, name)?;
                grown.push(dir);
                made
            }
        };
        dir = next;
    }
    Ok((dir, Grown(grown)))
}

/// Opens a directory, creating it if it is missing.
pub(crate) fn enter_or_make(dir: &File, name: &str) -> Result<File, Fault> {
    match enter(dir, name)? {
        Some(there) => Ok(there),
        None => make_dir(dir, name),
    }
}

fn make_dir(dir: &File, name: &str) -> Result<File, Fault> {
    match rustix::fs::mkdirat(dir, name, Mode::from_raw_mode(DIRECTORY_MODE as _)) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(errno.into()),
    }
    let made = enter(dir, name)?.ok_or(Errno::NOENT)?;
    let mode = state(&made)?.mode;
    if mode & DIRECTORY_MODE != DIRECTORY_MODE {
        rustix::fs::fchmod(&made, Mode::from_raw_mode((mode | DIRECTORY_MODE) as _))?;
    }
    Ok(made)
}

/// Puts the file `from` at the place `to`; without `overwrite` only if nothing is there.
pub(crate) fn place(from: (&File, &str), to: (&File, &str), overwrite: bool) -> Result<(), Errno> {
    if !overwrite {
        #[cfg(any(target_os = "linux", target_os = "android", target_vendor = "apple"))]
        match rustix::fs::renameat_with(
            from.0,
            from.1,
            to.0,
            to.1,
            rustix::fs::RenameFlags::NOREPLACE,
        ) {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
            done => return done,
        }
        // The file system cannot refuse to replace, but the operation lock keeps others away.
        match rustix::fs::statat(to.0, to.1, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(_) => return Err(Errno::EXIST),
            Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
    }
    rustix::fs::renameat(from.0, from.1, to.0, to.1)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn nothing_is_placed_over_another_unless_told() {
        let root = tempfile::tempdir().unwrap();
        let dir = File::open(root.path()).unwrap();
        fs::write(root.path().join("new"), "new").unwrap();
        fs::write(root.path().join("old"), "old").unwrap();
        let read = |name: &str| fs::read_to_string(root.path().join(name)).ok();
        assert_eq!(place((&dir, "new"), (&dir, "old"), false), Err(Errno::EXIST));
        assert_eq!((read("new"), read("old")), (Some("new".into()), Some("old".into())));
        place((&dir, "new"), (&dir, "old"), true).unwrap();
        assert_eq!((read("new"), read("old")), (None, Some("new".into())));
        place((&dir, "old"), (&dir, "free"), false).unwrap();
        assert_eq!((read("old"), read("free")), (None, Some("new".into())));
    }
}
