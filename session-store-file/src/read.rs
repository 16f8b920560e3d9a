//! Reading parts of objects.

use std::fs::File;
use std::ops::Range;

use bytes::Bytes;
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

const OPERATION: &str = "read";

/// Opens an object for reading and tells its state.
pub(crate) fn open(parents: &mut Parents<'_>, key: &StorageKey) -> Result<(File, State)> {
    let not_found = || StorageError::NotFound { key: key.clone() };
    let dir = parents.of(key).during(OPERATION, key)?.ok_or_else(not_found)?;
    let opened = dir::open(dir, key.file_name(), OFlags::RDONLY);
    let file = opened.during(OPERATION, key)?.ok_or_else(not_found)?;
    match dir::identify(&file).during(OPERATION, key)? {
        Found::Object(_) => {
            let state = state(&file).during(OPERATION, key)?;
            Ok((file, state))
        }
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
