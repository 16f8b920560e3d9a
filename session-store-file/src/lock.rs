//! Advisory locks, given up on drop.

use std::fs::{File, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::io::Errno;

use crate::dir;
use crate::error::Fault;
use crate::names::OPERATION_LOCK;

const SHORTEST_PAUSE: Duration = Duration::from_micros(20);
const LONGEST_PAUSE: Duration = Duration::from_millis(5);

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
    let deadline = Instant::now() + limit;
    let mut pause = SHORTEST_PAUSE;
    loop {
        let file = dir::open_or_create(root, OPERATION_LOCK)?;
        if let Ok(locked) = Locked::try_new(file)? {
            return Ok(locked);
        }
        if Instant::now() >= deadline {
            return Err(Fault::LockHeld(limit));
        }
        thread::sleep(pause);
        pause = (pause * 2).min(LONGEST_PAUSE);
    }
}

/// How long readers and writers of an object wait for each other.
const PATIENCE: Duration = Duration::from_millis(100);

/// Keeps reads of an object from seeing half of a change to it.
///
/// Writers hold it alone for one change, readers together while they look at the size. It is a
/// courtesy among processes that use this backend: whoever waited [`PATIENCE`] for one that was
/// stopped in between, or cannot lock at all, goes on without.
pub(crate) struct Courtesy<'a>(Option<&'a File>);

impl<'a> Courtesy<'a> {
    pub(crate) fn of_writer(file: &'a File) -> Self {
        Self::wait(file, File::try_lock)
    }

    pub(crate) fn of_reader(file: &'a File) -> Self {
        Self::wait(file, File::try_lock_shared)
    }

    fn wait(file: &'a File, lock: impl Fn(&File) -> Result<(), TryLockError>) -> Self {
        let mut started = None;
        loop {
            match lock(file) {
                Ok(()) => return Self(Some(file)),
                Err(TryLockError::Error(_)) => return Self(None),
                Err(TryLockError::WouldBlock) => {}
            }
            if started.get_or_insert_with(Instant::now).elapsed() >= PATIENCE {
                return Self(None);
            }
            thread::yield_now();
        }
    }
}

impl Drop for Courtesy<'_> {
    fn drop(&mut self) {
        if let Some(file) = self.0 {
            let _ = file.unlock();
        }
    }
}
