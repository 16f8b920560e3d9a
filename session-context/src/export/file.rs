//! Files for people, beside sessions.

use std::fs::{self, File, Metadata, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use session_model::SessionDocument;
use session_model::document::LoadOptions;

/// How much of a file is read to see whether it is a session, in bytes.
const HEAD_BYTES: u64 = 64 * 1024;

/// How the name of a file ends that is being written.
const PART_SUFFIX: &str = ".part";

/// Why a file was not written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum WriteFileError {
    /// Something has its name, and is not to be replaced.
    #[error("{} is there already", path.display())]
    Exists {
        /// The file.
        path: PathBuf,
    },
    /// A directory has its name.
    #[error("{} is a directory; name a file in it", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
    },
    /// What has its name is no regular file.
    #[error(
        "{} is {what}, and nothing but a regular file is replaced; write to standard output and \
         lead that there",
        path.display()
    )]
    NotAFile {
        /// What has the name.
        path: PathBuf,
        /// What it is.
        what: &'static str,
    },
    /// It is a link to what is not there.
    #[error("{} is a link to what is not there; remove it, or name the file it leads to", path.display())]
    BrokenLink {
        /// The link.
        path: PathBuf,
    },
    /// A session has its name.
    #[error("{} is a session, which nothing else replaces; name another file", path.display())]
    Session {
        /// The session.
        path: PathBuf,
    },
    /// The system reported an error.
    #[error("{} cannot be written", path.display())]
    Failed {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

/// Writes a file whole and durably, or leaves nothing of it: no reader sees a part of it under its
/// name, and once this returns it survives a power cut.
///
/// Only its owner can read the file. With `replace` a regular file of that name is replaced; other
/// names it has (hard links) keep the old content. A symbolic link to such a file stays, and what it
/// leads to is replaced. What an attempt left that was killed is removed.
///
/// # Errors
///
/// [`WriteFileError`]. A directory, pipe, socket or device, and a session, are never replaced.
pub fn write_file(path: &Path, bytes: &[u8], replace: bool) -> Result<(), WriteFileError> {
    let failed = |source| WriteFileError::Failed { path: path.to_owned(), source };
    // What is refused at the end all the same is refused before a large file is written.
    let (place, old) = place_of(path, replace)?;
    let mut part = Part::beside(&place).map_err(failed)?;
    part.fill(bytes, old.as_ref()).map_err(failed)?;
    if place_of(path, replace)?.0 != place {
        return Err(failed(io::Error::other("the link was changed meanwhile")));
    }
    match part.publish(&place, replace) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists && !replace => {
            Err(WriteFileError::Exists { path: path.to_owned() })
        }
        published => published.map_err(failed),
    }
}

/// Where a file is to be, behind a link if there is one, and what it replaces.
fn place_of(path: &Path, replace: bool) -> Result<(PathBuf, Option<Metadata>), WriteFileError> {
    let failed = |source| WriteFileError::Failed { path: path.to_owned(), source };
    let path_of = || path.to_owned();
    let found = match path.symlink_metadata() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok((path_of(), None)),
        found => found.map_err(failed)?,
    };
    let (place, found) = if found.is_symlink() {
        let found = match path.metadata() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                return Err(WriteFileError::BrokenLink { path: path_of() });
            }
            found => found.map_err(failed)?,
        };
        (path.canonicalize().map_err(failed)?, found)
    } else {
        (path_of(), found)
    };
    if found.is_dir() {
        return Err(WriteFileError::Directory { path: path_of() });
    }
    if !found.is_file() {
        return Err(WriteFileError::NotAFile { path: path_of(), what: kind_of(&found) });
    }
    if !replace {
        return Err(WriteFileError::Exists { path: path_of() });
    }
    if is_session(&place).map_err(failed)? {
        return Err(WriteFileError::Session { path: path_of() });
    }
    Ok((place, Some(found)))
}

/// What something is that is no regular file.
fn kind_of(found: &Metadata) -> &'static str {
    #[cfg(unix)]
    {
        use std::os::unix::fs::FileTypeExt;

        let kind = found.file_type();
        if kind.is_fifo() {
            return "a pipe";
        }
        if kind.is_socket() {
            return "a socket";
        }
        if kind.is_block_device() || kind.is_char_device() {
            return "a device";
        }
    }
    "no regular file"
}

fn is_session(path: &Path) -> io::Result<bool> {
    let mut head = Vec::new();
    match File::open(path) {
        Ok(file) => file.take(HEAD_BYTES).read_to_end(&mut head)?,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
        Err(error) => return Err(error),
    };
    Ok(SessionDocument::load(head.into(), &LoadOptions::default()).is_ok())
}

/// A file while it is written, beside its place; it stays locked, so that others can tell it from
/// one that a killed process left.
struct Part {
    path: PathBuf,
    file: File,
    is_published: bool,
}

impl Part {
    fn beside(place: &Path) -> io::Result<Self> {
        let name = place.file_name().unwrap_or_default().to_string_lossy();
        // The name with all around it is no longer than a system takes.
        let start: String = name.chars().take(40).collect();
        let start = format!(".{start}.");
        remove_dead(directory_of(place), &start);
        for number in 0..1_000 {
            let name = format!("{start}{}-{number}{PART_SUFFIX}", std::process::id());
            let path = place.with_file_name(name);
            match create(&path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                made => {
                    let part = Self { path, file: made?, is_published: false };
                    // Whoever removes what is dead may have come before the lock; then this name is
                    // free again.
                    if part.file.try_lock().is_err() || part.path.exists() {
                        return Ok(part);
                    }
                }
            }
        }
        Err(io::Error::other("no name is free beside it"))
    }

    fn fill(&mut self, bytes: &[u8], old: Option<&Metadata>) -> io::Result<()> {
        self.file.write_all(bytes)?;
        keep_owner(&self.file, old)?;
        self.file.sync_all()
    }

    /// Gives the file its name, and makes sure that it keeps it.
    fn publish(mut self, place: &Path, replace: bool) -> io::Result<()> {
        let path = &self.path;
        if replace {
            fs::rename(path, place)?;
        } else {
            match fs::hard_link(path, place) {
                Ok(()) => fs::remove_file(path)?,
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => return Err(error),
                // Not every file system has links.
                Err(_) if place.symlink_metadata().is_err() => fs::rename(path, place)?,
                Err(_) => return Err(io::ErrorKind::AlreadyExists.into()),
            }
        }
        self.is_published = true;
        #[cfg(unix)]
        File::open(directory_of(place))?.sync_all()?;
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if !self.is_published {
            // The failure to write tells more than one to clean up; the next attempt removes it.
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn directory_of(place: &Path) -> &Path {
    place.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Removes what attempts left to write files whose names begin like this, if they were killed.
///
/// What stays, because it is in use or may not be touched, is tried again the next time.
fn remove_dead(directory: &Path, start: &str) {
    let Ok(items) = fs::read_dir(directory) else { return };
    for item in items.flatten() {
        let name = item.file_name();
        let name = name.to_string_lossy();
        let number = name.strip_prefix(start).and_then(|rest| rest.strip_suffix(PART_SUFFIX));
        let is_part = number.is_some_and(|number| {
            number.contains('-') && number.chars().all(|c| c.is_ascii_digit() || c == '-')
        });
        if is_part
            && item.file_type().is_ok_and(|kind| kind.is_file())
            && let Ok(file) = OpenOptions::new().write(true).open(item.path())
            && file.try_lock().is_ok()
        {
            let _ = fs::remove_file(item.path());
        }
    }
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

/// Gives a file to the owner of the one it replaces, if this process may.
#[cfg(unix)]
fn keep_owner(file: &File, old: Option<&Metadata>) -> io::Result<()> {
    use std::os::unix::fs::{MetadataExt, fchown};

    let Some(old) = old.filter(|old| file.metadata().is_ok_and(|new| new.uid() != old.uid()))
    else {
        return Ok(());
    };
    match fchown(file, Some(old.uid()), Some(old.gid())) {
        // Only root can give files away.
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => Ok(()),
        given => given,
    }
}

#[cfg(not(unix))]
fn keep_owner(_: &File, _: Option<&Metadata>) -> io::Result<()> {
    Ok(())
}
