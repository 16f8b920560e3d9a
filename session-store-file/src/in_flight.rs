//! The list of temporary files that are being written, kept in the file of the operation lock.
//!
//! A process that is killed leaves its files where they are, in whatever directory. The list says
//! where, so that the next operation that changes something removes them without a search. All of
//! this is done under that lock.

use std::ffi::CString;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;

use rustix::fs::AtFlags;

use crate::dir;
use crate::error::Fault;
use crate::lock::Locked;
use crate::{names, temp};

/// What ends a place in the list; no name holds it.
const END: u8 = 0;

/// How much of a list is read, in bytes; more than the processes that write at a time can fill.
const MAX_BYTES: u64 = 1 << 20;

/// Puts a place on the list: the path of a file from the root.
pub(crate) fn note(lock: &Locked, place: &str) -> Result<(), Fault> {
    let meta = lock.file().metadata()?;
    if !meta.is_file() {
        return Err(Fault::Special);
    }
    let place = [place.as_bytes(), &[END]].concat();
    Ok(lock.file().write_all_at(&place, meta.len())?)
}

/// Takes a place off the list; one that stays goes with the next [`sweep`].
pub(crate) fn forget(lock: &Locked, place: &str) {
    let _ = retain(lock.file(), |listed| listed != place.as_bytes());
}

/// Removes what dead processes left. A failure is no reason to refuse the operation at hand; what
/// could not be removed stays on the list.
pub(crate) fn sweep(lock: &Locked, root: &File) {
    let _ = retain(lock.file(), |place| is_left(root, place).unwrap_or(true));
}

/// Keeps only these places on the list.
fn retain(list: &File, keep: impl Fn(&[u8]) -> bool) -> io::Result<()> {
    let len = list.metadata()?.len();
    if len == 0 {
        return Ok(());
    }
    let mut old = vec![0; usize::try_from(len.min(MAX_BYTES)).unwrap_or_default()];
    list.read_exact_at(&mut old, 0)?;
    let mut new = Vec::with_capacity(old.len());
    for place in old.split_inclusive(|byte| *byte == END) {
        let path = place.strip_suffix(&[END]).unwrap_or(place);
        if !path.is_empty() && keep(path) {
            new.extend_from_slice(path);
            new.push(END);
        }
    }
    if new.len() as u64 != len {
        // Whoever is killed in between leaves parts of places behind, which name nothing.
        list.write_all_at(&new, 0)?;
        list.set_len(new.len() as u64)?;
    }
    Ok(())
}

/// Removes a file if its maker is dead; returns whether it has to stay on the list.
fn is_left(root: &File, place: &[u8]) -> Result<bool, Fault> {
    let Ok(place) = std::str::from_utf8(place) else { return Ok(false) };
    let (folder, name) = place.rsplit_once('/').unwrap_or(("", place));
    if !names::is_temp(name.as_bytes()) {
        return Ok(false);
    }
    let mut directory = root.try_clone()?;
    for segment in folder.split('/').filter(|segment| !segment.is_empty()) {
        match dir::enter(&directory, segment) {
            Ok(Some(next)) => directory = next,
            Ok(None) | Err(Fault::BelowObject | Fault::Symlink | Fault::Special) => {
                return Ok(false);
            }
            Err(fault) => return Err(fault),
        }
    }
    temp::remove_dead(&directory, &CString::new(name).map_err(io::Error::from)?)?;
    Ok(rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW).is_ok())
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    fn lock(root: &File) -> Locked {
        crate::lock::operation(root, std::time::Duration::from_secs(600)).unwrap()
    }

    #[test]
    fn what_is_listed_and_dead_goes_and_nothing_else() {
        let directory = tempfile::tempdir().unwrap();
        let path = |name: &str| directory.path().join(name);
        let root = File::open(directory.path()).unwrap();
        fs::create_dir_all(path("a/b")).unwrap();
        let [dead, live, unlisted, mine] =
            ["a/b/.~x.1.tmp", "a/.~x.2.tmp", "a/.~x.3.tmp", "a/mine.tmp"];
        for name in [dead, live, unlisted, mine] {
            fs::write(path(name), "half").unwrap();
        }
        std::os::unix::fs::symlink("/etc", path("a/link")).unwrap();
        let alive = Locked::try_new(File::open(path(live)).unwrap()).unwrap().unwrap();
        let locked = lock(&root);
        let odd = ["", "..", "../.~x.4.tmp", "a/link/.~x.tmp", "gone/.~x.tmp", "/", mine];
        for place in odd.into_iter().chain([dead, live]) {
            note(&locked, place).unwrap();
        }
        sweep(&locked, &root);
        assert_eq!(fs::read_to_string(path(".~lock")).unwrap(), format!("{live}\0"));
        let there = [dead, live, unlisted, mine].map(|name| path(name).exists());
        assert_eq!(there, [false, true, true, true]);
        drop(alive);
        sweep(&locked, &root);
        assert!(!path(live).exists());
        assert_eq!(fs::read_to_string(path(".~lock")).unwrap(), "");
    }

    #[test]
    fn a_place_is_taken_off_the_list_among_others() {
        let directory = tempfile::tempdir().unwrap();
        let root = File::open(directory.path()).unwrap();
        let locked = lock(&root);
        for place in ["a\nb/.~1.tmp", ".~2.tmp", "c/.~3.tmp"] {
            note(&locked, place).unwrap();
        }
        forget(&locked, ".~2.tmp");
        let list = || fs::read_to_string(directory.path().join(".~lock")).unwrap();
        assert_eq!(list(), "a\nb/.~1.tmp\0c/.~3.tmp\0");
        forget(&locked, "c/.~3.tmp");
        forget(&locked, "a\nb/.~1.tmp");
        assert_eq!(list(), "");
    }

    #[test]
    fn a_list_longer_than_is_read_shrinks_to_what_is_left() {
        let directory = tempfile::tempdir().unwrap();
        let root = File::open(directory.path()).unwrap();
        let locked = lock(&root);
        fs::write(directory.path().join(".~lock"), "x\0".repeat(1 << 20)).unwrap();
        sweep(&locked, &root);
        assert_eq!(fs::metadata(directory.path().join(".~lock")).unwrap().len(), 0);
    }
}
