//! Advisory locks, given up on drop.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::dir;
use crate::error::Fault;
use crate::names::OPERATION_LOCK;

/// How long readers and writers of an object wait for each other.
const PATIENCE: Duration = Duration::from_secs(1);

/// Tries again and again until something comes of it or time is up.
fn wait<T, E>(
    limit: Duration,
    mut attempt: impl FnMut() -> Result<Option<T>, E>,
) -> Result<Option<T>, E> {
    let mut deadline = None;
    let mut pause = Duration::from_micros(10);
    loop {
        if let Some(outcome) = attempt()? {
            return Ok(Some(outcome));
        }
        if Instant::now() >= *deadline.get_or_insert_with(|| Instant::now() + limit) {
            return Ok(None);
        }
        thread::sleep(pause);
        pause = (pause * 2).min(Duration::from_millis(1));
    }
}

/// A file this process has locked.
#[derive(Debug)]
pub(crate) struct Locked(File);

impl Locked {
    /// Locks a file, or gives it back if somebody else has locked it.
    pub(crate) fn try_new(file: File) -> Result<Result<Self, File>, Fault> {
        match file.try_lock() {
            Ok(()) => Ok(Ok(Self(file))),
            Err(TryLockError::WouldBlock) => Ok(Err(file)),
            Err(TryLockError::Error(error)) => match Errno::from_io_error(&error) {
                Some(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => {
                    Err(Fault::NoLocks(error))
                }
                _ => Err(error.into()),
            },
        }
    }

    pub(crate) fn file(&self) -> &File {
        &self.0
    }
}

impl Drop for Locked {
    fn drop(&mut self) {
        // Closing alone would leave the lock to a child process that is just being started and
        // still shares this descriptor. If unlocking fails, closing is all that can be done.
        let _ = self.0.unlock();
    }
}

/// Locks the store for one operation, waiting at most `limit` for the operations of others.
pub(crate) fn operation(root: &File, limit: Duration) -> Result<Locked, Fault> {
    let locked = wait(limit, || {
        let file = dir::open_or_create(root, OPERATION_LOCK)?;
        Locked::try_new(file).map(Result::ok)
    })?;
    locked.ok_or(Fault::LockHeld(limit))
}

/// Keeps readers from seeing half of a change.
///
/// Writers hold it alone for one change, readers together while they look. It is no more than a
/// courtesy: whoever has waited [`PATIENCE`] for a process that was stopped in between, or cannot
/// lock at all, goes on without.
pub(crate) struct Courtesy<'a>(Option<&'a File>);

impl<'a> Courtesy<'a> {
    pub(crate) fn of_writer(file: &'a File) -> Self {
        Self::new(file, File::try_lock)
    }

    pub(crate) fn of_reader(file: &'a File) -> Self {
        Self::new(file, File::try_lock_shared)
    }

    fn new(file: &'a File, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Self {
        let locked = wait(PATIENCE, || match lock(file) {
            Ok(()) => Ok(Some(file)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(error),
        });
        Self(locked.ok().flatten())
    }
}

impl Drop for Courtesy<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            let _ = file.unlock();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_ends_although_a_child_may_still_share_its_descriptor() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("lock");
        let file = File::create(&path).unwrap();
        let _shared = file.try_clone().unwrap();
        let locked = Locked::try_new(file).unwrap().unwrap();
        let other = || File::open(&path).unwrap();
        assert!(Locked::try_new(other()).unwrap().is_err());
        drop(locked);
        assert!(Locked::try_new(other()).unwrap().is_ok());
    }

    #[test]
    fn nobody_waits_for_ever_out_of_courtesy() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("object");
        let stopped = File::create(&path).unwrap();
        stopped.lock().unwrap();
        let file = File::open(&path).unwrap();
        assert!(Courtesy::of_reader(&file).0.is_none());
        assert!(Courtesy::of_writer(&file).0.is_none());
        stopped.unlock().unwrap();
        let (reader, other) = (File::open(&path).unwrap(), File::open(&path).unwrap());
        let readers = (Courtesy::of_reader(&reader), Courtesy::of_reader(&other));
        assert!(readers.0.0.is_some() && readers.1.0.is_some());
        drop(readers);
        assert!(Courtesy::of_writer(&file).0.is_some());
    }
}
