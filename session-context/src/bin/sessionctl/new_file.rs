//! Files that a command makes beside sessions: only their owner can read them, and none takes the
//! place of another unless that was asked for.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::failure::Failure;

/// Writes a file whole, or leaves nothing of it.
pub(crate) fn write_file(path: &Path, bytes: &[u8], replace: bool) -> Result<(), Failure> {
    let done = if replace { replace_file(path, bytes) } else { make_file(path, bytes) };
    done.map_err(|source| match source.kind() {
        io::ErrorKind::AlreadyExists if !replace => {
            let path = path.display();
            Failure::Refused(format!("{path} is there already; --force replaces it"))
        }
        _ => Failure::Write { what: path.display().to_string(), source },
    })
}

fn make_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let file = create(path)?;
    fill(file, bytes).inspect_err(|_| {
        // The failure to write tells more than one to clean up.
        let _ = fs::remove_file(path);
    })
}

fn replace_file(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if path.is_dir() {
        return Err(io::Error::new(io::ErrorKind::IsADirectory, "it is a directory"));
    }
    let (beside, file) = beside(path)?;
    let done = fill(file, bytes).and_then(|()| fs::rename(&beside, path));
    done.inspect_err(|_| {
        let _ = fs::remove_file(&beside);
    })
}

/// Makes a file next to another under a name that is free.
fn beside(path: &Path) -> io::Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    for number in 0..1_000 {
        let beside = path.with_file_name(format!(".{name}.{}-{number}.part", std::process::id()));
        match create(&beside) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return Ok((beside, made?)),
        }
    }
    Err(io::Error::new(io::ErrorKind::AlreadyExists, "no name is free beside it"))
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
