//! Looking after a root directory: what was left behind in it, and who else may read it.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags};
use rustix::io::Errno;
use session_model::storage::MAX_SEGMENT_BYTES;

use crate::dir::{self, DIRECTORY_MODE, FILE_MODE};
use crate::error::Fault;
use crate::lock::{Courtesy, Locked};
use crate::names;
use crate::root::{self, OpenRootError};
use crate::state::State;
use crate::storage::FileOptions;
use crate::store::Store;

/// Something odd about a file or directory below a root.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Oddity {
    /// Where, from the root.
    pub path: PathBuf,
    /// What.
    pub kind: OddityKind,
}

/// What is odd.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum OddityKind {
    /// Its mode allows more than it should; `right` is what may stay of it.
    TooOpen {
        /// The mode it has.
        mode: u32,
        /// The mode it should have.
        right: u32,
    },
    /// A temporary file whose maker is gone.
    Leftover,
    /// The sidecar of an object that is gone, and that nobody holds.
    StaleClaim,
    /// A symbolic link or a special file, neither of which the backend touches.
    NotAFile,
    /// The file system has no locks, so the backend can only read.
    NoLocks,
    /// It could not be looked at, for this reason.
    Unreadable(String),
}

/// Looks after the directory of a [`FileStorage`](crate::FileStorage).
///
/// Symbolic links below the root are never followed.
#[derive(Clone, Debug)]
pub struct Upkeep {
    store: Arc<Store>,
}

impl Upkeep {
    /// Works on a root that exists.
    ///
    /// # Errors
    ///
    /// [`OpenRootError`] if it cannot be opened.
    pub fn open(path: impl AsRef<Path>) -> Result<Self, OpenRootError> {
        let root = root::open_existing(path.as_ref())?;
        Ok(Self { store: Arc::new(Store::new(root, FileOptions::default().lock_wait)) })
    }

    /// Looks at these places below the root, and at everything below them; a place that does not
    /// exist has nothing odd. Sorted by path; nothing is changed.
    pub fn inspect(&self, places: &[PathBuf]) -> Vec<Oddity> {
        let mut found = Vec::new();
        // Whoever is just about to lock a file it made holds the operation lock.
        let lock = self.store.present_lock();
        let _courtesy = lock.as_ref().map(Courtesy::of_reader);
        // Where nothing was written yet there is nothing else to see it by.
        if let Ok(root) = self.store.root()
            && matches!(Locked::try_new(root), Err(Fault::NoLocks(_)))
        {
            found.push(Oddity { path: PathBuf::from("."), kind: OddityKind::NoLocks });
        }
        let mut open: Vec<PathBuf> = places.to_vec();
        while let Some(path) = open.pop() {
            match self.look_at(&path, &mut open) {
                Ok(kinds) => {
                    found.extend(kinds.into_iter().map(|kind| Oddity { path: path.clone(), kind }));
                }
                Err(fault) => {
                    let kind = match fault {
                        Fault::NoLocks(_) => OddityKind::NoLocks,
                        Fault::Symlink | Fault::Special => OddityKind::NotAFile,
                        fault => OddityKind::Unreadable(fault.to_string()),
                    };
                    found.push(Oddity { path, kind });
                }
            }
        }
        found.sort_by(|a, b| a.path.cmp(&b.path));
        found.dedup();
        found
    }

    fn look_at(&self, path: &Path, open: &mut Vec<PathBuf>) -> Result<Vec<OddityKind>, Fault> {
        let Some((dir, name)) = self.enter_parent(path)? else { return Ok(Vec::new()) };
        let stat = match rustix::fs::statat(&dir, &*name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => stat,
            Err(Errno::NOENT | Errno::NOTDIR) => return Ok(Vec::new()),
            Err(errno) => return Err(errno.into()),
        };
        let mut kinds = Vec::new();
        let right = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => {
                if let Some(below) = dir::enter(&dir, &*name)? {
                    for entry in Dir::read_from(&below)? {
                        let entry = entry?;
                        match std::str::from_utf8(entry.file_name().to_bytes()) {
                            Ok("." | "..") => {}
                            Ok(name) => open.push(path.join(name)),
                            Err(_) => kinds.push(OddityKind::Unreadable(format!(
                                "the name {:?} in it is no UTF-8",
                                entry.file_name()
                            ))),
                        }
                    }
                }
                DIRECTORY_MODE
            }
            FileType::RegularFile => {
                kinds.extend(left_behind(&dir, &name)?);
                if name.len() > MAX_SEGMENT_BYTES && !names::is_sidecar(name.as_bytes()) {
                    kinds.push(OddityKind::Unreadable(format!(
                        "its name has more than {MAX_SEGMENT_BYTES} bytes"
                    )));
                }
                FILE_MODE
            }
            _ => return Err(Fault::Special),
        };
        let mode = State::from(&stat).mode & 0o7777;
        if mode & !right != 0 {
            kinds.push(OddityKind::TooOpen { mode, right: mode & right });
        }
        Ok(kinds)
    }

    /// Takes from the mode of a file or directory what others than its owner may do, and returns
    /// whether it was there.
    ///
    /// # Errors
    ///
    /// Why it could not be changed, in words.
    pub fn tighten(&self, path: &Path) -> Result<bool, String> {
        self.try_to_tighten(path).map_err(|fault| fault.to_string())
    }

    fn try_to_tighten(&self, path: &Path) -> Result<bool, Fault> {
        let Some((dir, name)) = self.enter_parent(path)? else { return Ok(false) };
        let Some(file) = dir::open(&dir, &*name, OFlags::RDONLY)? else { return Ok(false) };
        let stat = rustix::fs::fstat(&file)?;
        let right = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => DIRECTORY_MODE,
            FileType::RegularFile => FILE_MODE,
            _ => return Err(Fault::Special),
        };
        let mode = State::from(&stat).mode & right;
        rustix::fs::fchmod(&file, Mode::from_raw_mode(mode as _))?;
        if dir::state(&file)?.mode & 0o7777 & !right != 0 {
            return Err(Fault::FixedModes);
        }
        Ok(true)
    }

    /// Moves a leftover or a stale claim to another place below the root, and tells whether it
    /// was still one.
    ///
    /// # Errors
    ///
    /// Why it could not be moved, in words; also if something is at the other place.
    pub fn retire(&self, path: &Path, to: &Path) -> Result<bool, String> {
        self.try_to_retire(path, to).map_err(|fault| fault.to_string())
    }

    fn try_to_retire(&self, path: &Path, to: &Path) -> Result<bool, Fault> {
        let root = self.store.root()?;
        let _locked = self.store.lock(&root)?;
        let Some((dir, name)) = self.enter_parent(path)? else { return Ok(false) };
        if left_behind(&dir, &name)?.is_none() {
            return Ok(false);
        }
        let mut target = root.try_clone()?;
        for part in to.parent().into_iter().flat_map(Path::components) {
            target = dir::enter_or_make(&target, &part.as_os_str().to_string_lossy())?;
        }
        let new = to.file_name().unwrap_or_default().to_string_lossy();
        dir::place((&dir, &name), (&target, &new), false)?;
        target.sync_all()?;
        dir.sync_all()?;
        Ok(true)
    }

    /// Opens the directory that holds a path; the root itself is `.` in it.
    fn enter_parent(&self, path: &Path) -> Result<Option<(File, String)>, Fault> {
        let mut dir = self.store.root()?;
        let Some(name) = path.file_name() else { return Ok(Some((dir, ".".to_owned()))) };
        for part in path.parent().into_iter().flat_map(Path::components) {
            match dir::enter(&dir, &*part.as_os_str().to_string_lossy()) {
                Ok(Some(next)) => dir = next,
                Ok(None) | Err(Fault::BelowObject) => return Ok(None),
                Err(fault) => return Err(fault),
            }
        }
        Ok(Some((dir, name.to_string_lossy().into_owned())))
    }
}

/// Tells whether a file is one of the backend's own that nobody needs any more; the operation
/// lock must be held or shared.
fn left_behind(dir: &File, name: &str) -> Result<Option<OddityKind>, Fault> {
    let kind = match name.as_bytes() {
        name if names::is_temp(name) => OddityKind::Leftover,
        name if names::is_sidecar(name) => OddityKind::StaleClaim,
        _ => return Ok(None),
    };
    if let Some(object) = names::object_of_sidecar(name)
        && rustix::fs::statat(dir, object, AtFlags::SYMLINK_NOFOLLOW).is_ok()
    {
        return Ok(None);
    }
    let Some(file) = dir::open(dir, name, OFlags::RDONLY)? else { return Ok(None) };
    Ok(Locked::try_new(file)?.is_ok().then_some(kind))
}
