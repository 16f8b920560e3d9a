//! Reading parts of objects.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt;

use bytes::Bytes;
use memmap2::MmapMut;
use rustix::buffer::spare_capacity;
use rustix::fs::OFlags;
use rustix::io::{Errno, retry_on_intr};
use session_model::storage::{Result, StorageError, StorageKey};

use crate::dir::{self, Found};
use crate::error::{During, Fault};
use crate::lock::Courtesy;
use crate::state::State;
use crate::store::Parents;

/// How often a read starts anew because the object was cut meanwhile.
const MAX_ATTEMPTS: usize = 8;

/// From this size on a range is read by several threads.
const MIN_SHARED_BYTES: usize = 32 << 20;

/// The size of a large page on most systems, in bytes.
const LARGE_PAGE: usize = 2 << 20;

const OPERATION: &str = "read";

/// Opens an object for reading and tells its state.
pub(crate) fn open(parents: &mut Parents<'_>, key: &StorageKey) -> Result<(File, State)> {
    let not_found = || StorageError::NotFound { key: key.clone() };
    let dir = parents.of(key).during(OPERATION, key)?.ok_or_else(not_found)?;
    let opened = dir::open(dir, key.file_name(), OFlags::RDONLY);
    let file = opened.during(OPERATION, key)?.ok_or_else(not_found)?;
    let found = {
        let _courtesy = Courtesy::of_reader(&file);
        dir::identify(&file).during(OPERATION, key)?
    };
    match found {
        Found::Object(state) => Ok((file, state)),
        Found::Nothing | Found::Directory => Err(not_found()),
    }
}

/// Reads the ranges that `plan` chooses from the size of an object.
pub(crate) fn read(
    parents: &mut Parents<'_>,
    key: &StorageKey,
    plan: impl Fn(u64) -> Vec<Range<u64>>,
) -> Result<(State, Vec<Bytes>)> {
    let (file, mut state) = open(parents, key)?;
    for _ in 0..MAX_ATTEMPTS {
        let parts = plan(state.size).into_iter().map(|range| read_range(&file, range));
        let parts = parts.collect::<Result<Option<Vec<_>>, _>>().during(OPERATION, key)?;
        if let Some(parts) = parts {
            return Ok((state, parts));
        }
        state = self::state(&file).during(OPERATION, key)?;
    }
    Err(Fault::Shrinking.at(OPERATION, key))
}

/// Returns the state of a file that no change is under way in.
fn state(file: &File) -> Result<State, Fault> {
    let _courtesy = Courtesy::of_reader(file);
    dir::state(file)
}

/// Reads a range; `None` if the file ends before it does.
fn read_range(file: &File, range: Range<u64>) -> Result<Option<Bytes>, Fault> {
    let too_large = |_| Fault::from(Errno::NOMEM);
    let len = usize::try_from(range.end - range.start).map_err(too_large)?;
    if len >= MIN_SHARED_BYTES {
        return read_shared(file, range.start, len);
    }
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|_| Errno::NOMEM)?;
    while bytes.len() < len {
        let offset = range.start + bytes.len() as u64;
        if retry_on_intr(|| rustix::io::pread(file, spare_capacity(&mut bytes), offset))? == 0 {
            return Ok(None);
        }
    }
    // The capacity may be more than was asked for, and the object may have grown.
    bytes.truncate(len);
    Ok(Some(bytes.into()))
}

/// Reads a large range with several threads: most of the time goes into memory that is touched
/// for the first time, which they can do side by side.
fn read_shared(file: &File, start: u64, len: usize) -> Result<Option<Bytes>, Fault> {
    let mut bytes = in_large_pages(len)?;
    let threads = std::thread::available_parallelism().map_or(1, |threads| threads.get());
    let share = len.div_ceil(threads.min(len / (MIN_SHARED_BYTES / 4)));
    let share = share.next_multiple_of(LARGE_PAGE);
    let read = |(part, bytes): (usize, &mut [u8])| {
        file.read_exact_at(bytes, start + (part * share) as u64)
    };
    let done: std::io::Result<()> = std::thread::scope(|scope| {
        let parts = bytes.chunks_mut(share).enumerate();
        let threads: Vec<_> = parts.map(|part| scope.spawn(move || read(part))).collect();
        threads.into_iter().try_for_each(|thread| match thread.join() {
            Ok(result) => result,
            Err(panic) => std::panic::resume_unwind(panic),
        })
    });
    match done {
        Ok(()) => Ok(Some(Bytes::from_owner(bytes))),
        Err(error) if error.kind() == std::io::ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(error.into()),
    }
}

/// Returns memory nobody has touched, in large pages if the system has them: to touch it then
/// takes a small part of the time.
fn in_large_pages(len: usize) -> std::io::Result<MmapMut> {
    let memory = MmapMut::map_anon(len)?;
    // Without large pages it is memory all the same.
    #[cfg(target_os = "linux")]
    let _ = memory.advise(memmap2::Advice::HugePage);
    Ok(memory)
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;
    use std::time::Duration;

    use session_model::storage::StorageErrorKind;

    use super::*;
    use crate::store::Store;

    /// Reads all of an object of 9 bytes that is cut to each of some lengths in turn, each time
    /// between asking for its size and reading it.
    fn read_while_cut(lengths: &[u64]) -> Result<(u64, Vec<Bytes>)> {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::new(dir.path().to_owned(), Duration::from_secs(1));
        let path = dir.path().join("a");
        std::fs::write(&path, "123456789").unwrap();
        let turn = Cell::new(0);
        let plan = |size| {
            if let Some(len) = lengths.get(turn.replace(turn.get() + 1)) {
                File::options().write(true).open(&path).unwrap().set_len(*len).unwrap();
            }
            vec![0..size, size.min(2)..size]
        };
        let key = StorageKey::new("a").unwrap();
        let (state, parts) = read(&mut Parents::new(&store), &key, plan)?;
        Ok((state.size, parts))
    }

    #[test]
    fn a_read_starts_anew_when_the_object_is_cut() {
        let parts = |all: &'static str, rest: &'static str| vec![all.into(), rest.into()];
        assert_eq!(read_while_cut(&[]).unwrap(), (9, parts("123456789", "3456789")));
        assert_eq!(read_while_cut(&[5, 3]).unwrap(), (3, parts("123", "3")));
        assert_eq!(read_while_cut(&[0]).unwrap(), (0, parts("", "")));
    }

    #[test]
    fn a_large_range_is_put_together_in_order() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("large");
        let content: Vec<u8> = (0..MIN_SHARED_BYTES + 12_345).map(|n| (n % 251) as u8).collect();
        std::fs::write(&path, &content).unwrap();
        let file = File::open(&path).unwrap();
        let len = content.len() as u64;
        let read = |range| read_range(&file, range).unwrap_or_else(|_| None);
        assert!(read(0..len).is_some_and(|bytes| bytes == content));
        assert!(read(7..len).is_some_and(|bytes| bytes == content[7..]));
        assert!(read(0..len + 1).is_none());
    }

    #[test]
    fn a_read_does_not_start_anew_for_ever() {
        let error = read_while_cut(&[8, 7, 6, 5, 4, 3, 2, 1]).unwrap_err();
        assert_eq!(error.kind(), StorageErrorKind::Unavailable);
    }
}
