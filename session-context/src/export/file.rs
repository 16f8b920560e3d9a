//! Files for people, beside sessions.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Writes a file that only its owner can read whole, or leaves nothing of it: nobody sees a part of
/// it under its name.
///
/// # Errors
///
/// Of kind [`AlreadyExists`](io::ErrorKind::AlreadyExists) if something has that name, unless it is
/// to be replaced; otherwise why it could not be written.
pub fn write_file(path: &Path, bytes: &[u8], replace: bool) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    // What is refused at the end all the same is refused before a large file is written.
    if !replace && path.symlink_metadata().is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    let (beside, file) = beside(path)?;
    let name = |()| if replace { fs::rename(&beside, path) } else { publish(&beside, path) };
    fill(file, bytes).and_then(name).inspect_err(|_| {
        // The failure to write tells more than one to clean up.
        let _ = fs::remove_file(&beside);
    })
}

/// Gives a file a name that nothing has.
fn publish(beside: &Path, path: &Path) -> io::Result<()> {
    match fs::hard_link(beside, path) {
        Ok(()) => fs::remove_file(beside),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Err(error),
        // Not every file system has links.
        Err(_) if path.symlink_metadata().is_err() => fs::rename(beside, path),
        Err(_) => Err(io::ErrorKind::AlreadyExists.into()),
    }
}

/// Makes a file next to another under a name that is free.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The name with all around it is no longer than a system takes.
    let name: String = name.chars().take(40).collect();
    for number in 0..1_000 {
        let beside = path.with_file_name(format!(".{name}.{}-{number}.part", std::process::id()));
        match create(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return Ok((beside, made?)),
        }
    }
    Err(io::Error::other("no name is free beside it"))
}

fn create(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)
}

fn fill(mut file: File, bytes: &[u8]) -> io::Result<()> {
    file.write_all(bytes)?;
    file.sync_all()
}
