//! The files of a database: made private, found by name.
//!
//! An existing database file is never opened here. The system drops all locks a process holds on
//! a file as soon as the process closes any descriptor of it, SQLite's locks included.

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use super::DatabaseError;

/// Held from making a database file to closing it, so that no other thread of this process has
/// locks on it by then.
static CREATING: Mutex<()> = Mutex::new(());

/// Tells one file from another, whatever their names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Identity {
    device: u64,
    file: u64,
}

impl Identity {
    /// Returns the identity of the file at `path`, `None` if it cannot be looked at.
    ///
    /// Where the system tells no identities, all files have the same: there an open file cannot
    /// be replaced either.
    pub(crate) fn of(path: &Path) -> Option<Self> {
        let metadata = fs::metadata(path).ok()?;
        #[cfg(unix)]
        let (device, file) = {
            use std::os::unix::fs::MetadataExt;
            (metadata.dev(), metadata.ino())
        };
        #[cfg(not(unix))]
        let (device, file) = (0, u64::from(metadata.is_file()));
        Some(Self { device, file })
    }
}

/// How often a file is made that others move aside at once.
const ATTEMPTS: usize = 100;

/// Makes sure that a private file is at `path`, with its directories, and returns its real path.
///
/// New files are 0600 and new directories 0700 whatever the umask; an existing file loses the
/// access of group and others, with its write-ahead log.
pub(crate) fn ensure(path: &Path) -> Result<PathBuf, DatabaseError> {
    if let Some(parent) = path.parent() {
        create_directories(parent)
            .map_err(|error| DatabaseError::file("create the directory", parent, error))?;
    }
    let mut attempts = 0..ATTEMPTS;
    let real = loop {
        create(path).map_err(|error| DatabaseError::file("create", path, error))?;
        // SQLite keeps the log beside the file a link leads to.
        match path.canonicalize() {
            // Another process has just moved it aside, for being damaged.
            Err(error) if error.kind() == io::ErrorKind::NotFound && attempts.next().is_some() => {}
            real => {
                break real
                    .map_err(|error| DatabaseError::file("find the real path of", path, error))?;
            }
        }
    };
    for file in parts(&real) {
        tighten(&file).map_err(|error| DatabaseError::file("make private", &file, error))?;
    }
    Ok(real)
}

/// Returns the names of a database's files: log, shared memory, and the database itself last.
pub(crate) fn parts(database: &Path) -> [PathBuf; 3] {
    ["-wal", "-shm", ""].map(|suffix| with_suffix(database, suffix))
}

/// Returns `path` with `suffix` at the end of its file name.
pub(crate) fn with_suffix(path: &Path, suffix: &str) -> PathBuf {
    let mut name = OsString::from(path);
    name.push(suffix);
    PathBuf::from(name)
}

/// Returns the size of the file at `path` in bytes, 0 without one.
pub(crate) fn size(path: &Path) -> Result<u64, DatabaseError> {
    match fs::metadata(path) {
        Ok(metadata) => Ok(metadata.len()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(0),
        Err(error) => Err(DatabaseError::file("look at", path, error)),
    }
}

/// Opens a file that is private from its first moment on.
pub(crate) fn private() -> OpenOptions {
    let mut options = OpenOptions::new();
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options
}

fn create(path: &Path) -> io::Result<()> {
    let _creating = CREATING.lock().unwrap_or_else(PoisonError::into_inner);
    if path.exists() {
        return Ok(());
    }
    match private().write(true).create_new(true).open(path) {
        Ok(file) => {
            #[cfg(unix)]
            file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o600))?;
            drop(file);
            path.parent().map_or(Ok(()), sync_directory)
        }
        // Another process was faster.
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && path.exists() => Ok(()),
        Err(error) => Err(error),
    }
}

fn create_directories(directory: &Path) -> io::Result<()> {
    if directory.as_os_str().is_empty() || directory.is_dir() {
        return Ok(());
    }
    if let Some(parent) = directory.parent() {
        create_directories(parent)?;
    }
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    match builder.create(directory) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && directory.is_dir() => {}
        outcome => outcome?,
    }
    directory.parent().map_or(Ok(()), sync_directory)
}

/// Makes a new name in `directory` survive a loss of power.
fn sync_directory(directory: &Path) -> io::Result<()> {
    #[cfg(unix)]
    {
        use io::ErrorKind::{InvalidInput, PermissionDenied, Unsupported};

        let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
        match File::open(directory).and_then(|directory| directory.sync_all()) {
            // Not every file system knows how to, and not every directory may be read.
            Err(error)
                if !matches!(error.kind(), InvalidInput | Unsupported | PermissionDenied) =>
            {
                return Err(error);
            }
            _ => {}
        }
    }
    Ok(())
}

#[cfg(unix)]
fn tighten(path: &Path) -> io::Result<()> {
    use std::os::unix::fs::PermissionsExt;

    let mode = match fs::metadata(path) {
        Ok(metadata) if metadata.is_file() => metadata.permissions().mode(),
        // Not for SQLite either, which says so.
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    if mode & 0o077 == 0 {
        return Ok(());
    }
    match fs::set_permissions(path, PermissionsExt::from_mode(mode & 0o700)) {
        // The log goes when its last user closes it.
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        outcome => outcome,
    }
}

#[cfg(not(unix))]
fn tighten(_path: &Path) -> io::Result<()> {
    Ok(())
}
