//! Opening the root directory.

use std::fs::{self, DirBuilder, File, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::io::Errno;
use session_model::storage::MAX_KEY_BYTES;

use crate::dir::DIRECTORY_MODE;

/// The longest root, in bytes, behind which every key fits into what a system takes as a path.
const MAX_ROOT_BYTES: usize = 4096 - "/\0".len() - MAX_KEY_BYTES;

/// A root directory that could not be opened or created, and why.
#[derive(Debug, thiserror::Error)]
#[error("could not open the storage directory {}", path.display())]
pub struct OpenRootError {
    path: PathBuf,
    source: io::Error,
}

impl OpenRootError {
    /// Returns the directory that was to be opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns what kind of error the system reported.
    pub fn kind(&self) -> io::ErrorKind {
        self.source.kind()
    }
}

/// Returns the absolute path of a root that is there, creating it if it was not.
pub(crate) fn open(path: &Path) -> Result<PathBuf, OpenRootError> {
    prepare(path).map_err(|source| OpenRootError { path: path.to_owned(), source })
}

/// Returns the absolute path of a root that is there.
pub(crate) fn open_existing(path: &Path) -> Result<PathBuf, OpenRootError> {
    let root = std::path::absolute(path).and_then(|root| fs::read_dir(&root).map(|_| root));
    root.map_err(|source| OpenRootError { path: path.to_owned(), source })
}

fn prepare(path: &Path) -> io::Result<PathBuf> {
    let root = std::path::absolute(path)?;
    if root.as_os_str().as_bytes().len() > MAX_ROOT_BYTES {
        return Err(Errno::NAMETOOLONG.into());
    }
    let missing: Vec<_> = root.ancestors().take_while(|dir| !dir.exists()).collect();
    for dir in missing.into_iter().rev() {
        create(dir)?;
    }
    fs::read_dir(&root)?;
    Ok(root)
}

/// Creates a directory for good, with its mode whatever the umask.
fn create(dir: &Path) -> io::Result<()> {
    match DirBuilder::new().mode(DIRECTORY_MODE).create(dir) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Ok(()),
        created => created?,
    }
    fs::set_permissions(dir, Permissions::from_mode(DIRECTORY_MODE))?;
    dir.parent().map_or(Ok(()), |parent| File::open(parent)?.sync_all())
}
