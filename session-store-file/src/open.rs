//! The file an open writer is at: writing at its end, cutting, syncing.

use std::fs::File;
use std::io::{self, Write};
use std::time::{Duration, Instant};

use rustix::fs::OFlags;
use rustix::io::Errno;
use session_model::storage::{Durability, StorageKey};

use crate::dir::{self, FILE_MODE, Found};
use crate::error::Fault;
use crate::lock::Courtesy;
use crate::remove;
use crate::replace::Placed;
use crate::state::{self, Glance, State};

/// How soon after a write the next one comes without a look at the file's place and times.
const HASTE: Duration = Duration::from_micros(100);

/// Tells whether a reader sees all or nothing of a write without being asked to wait.
///
/// Linux copies into one page after another and moves the file's end behind each, so what lies
/// within a page appears at once. A page is never smaller than this.
fn appears_at_once(start: u64, len: usize) -> bool {
    const PAGE: u64 = 4096;
    cfg!(target_os = "linux") && start % PAGE + len as u64 <= PAGE
}

/// The object a writer is at.
#[derive(Debug)]
pub(crate) struct Open {
    pub(crate) dir: File,
    pub(crate) file: File,
    /// The file and its size as this writer knows them.
    pub(crate) at: Glance,
    /// When the file was last written, if this writer looked since.
    modified: Option<i128>,
    /// When this writer last began to write to it.
    wrote: Option<Instant>,
    /// Whether the entry in the directory is known to be durable.
    entry_is_durable: bool,
}

impl Open {
    /// Opens what was found, or creates it; the operation lock must be held.
    pub(crate) fn new(dir: File, key: &StorageKey, found: Found) -> Result<Self, Fault> {
        let (name, flags) = (key.file_name(), OFlags::WRONLY | OFlags::APPEND);
        let file = match found {
            Found::Object(_) => dir::open(&dir, name, flags)?.ok_or(Errno::NOENT)?,
            Found::Nothing => dir::create(&dir, name, flags, FILE_MODE)?,
            Found::Directory => {
                remove::prune(&dir, name)?;
                dir::create(&dir, name, flags, FILE_MODE)?
            }
        };
        let state = dir::state(&file)?;
        Ok(Self::at(state, dir, file, false))
    }

    /// Goes on in a file that has just become the object.
    pub(crate) fn placed(placed: Placed, durability: Durability) -> Result<Self, Fault> {
        let Placed { file, dir, state } = placed;
        rustix::fs::fcntl_setfl(&file, OFlags::APPEND)?;
        let entry_is_durable = durability >= Durability::Durable;
        if entry_is_durable {
            dir.sync_all()?;
        }
        Ok(Self::at(state, dir, file, entry_is_durable))
    }

    fn at(state: State, dir: File, file: File, entry_is_durable: bool) -> Self {
        let (at, modified) = (state.glance(), Some(state.modified));
        Self { dir, file, at, modified, wrote: None, entry_is_durable }
    }

    /// Tells whether the file is as this writer left it, as far as that is cheap to tell.
    ///
    /// That a file was moved away or edited in place is not seen here.
    pub(crate) fn seems_unchanged(&self) -> Result<bool, Fault> {
        Ok(state::is_named_and_has(&self.file, self.at.size)?)
    }

    /// Tells whether what is found at the object's place is the file as this writer left it.
    pub(crate) fn is_as_left(&self, found: &State) -> bool {
        found.glance() == self.at && self.modified.is_none_or(|known| known == found.modified)
    }

    /// Tells whether this writer wrote a moment before `now`.
    pub(crate) fn is_in_haste(&self, now: Instant) -> bool {
        self.wrote.is_some_and(|wrote| now.duration_since(wrote) < HASTE)
    }

    /// Remembers when the file was last written; if that cannot be told, the next look does without.
    pub(crate) fn note_time(&mut self) {
        self.modified = dir::state(&self.file).ok().map(|state| state.modified);
    }

    /// Writes at the end, all or nothing, and returns where; `now` is the time, which costs to tell.
    pub(crate) fn append(&mut self, bytes: &[u8], now: Instant) -> Result<u64, Fault> {
        let start = self.at.size;
        let _courtesy =
            (!appears_at_once(start, bytes.len())).then(|| Courtesy::of_writer(&self.file));
        self.modified = None;
        let mut written = 0;
        while written < bytes.len() {
            match (&self.file).write(&bytes[written..]) {
                Ok(0) => {
                    return Err(self.cut_back(start, written, io::ErrorKind::WriteZero.into()));
                }
                Ok(n) => written += n,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(self.cut_back(start, written, error)),
            }
        }
        self.at.size += bytes.len() as u64;
        self.wrote = Some(now);
        Ok(start)
    }

    /// Takes away what a failed append wrote and returns why it failed.
    fn cut_back(&self, start: u64, written: usize, write: io::Error) -> Fault {
        let cut = || {
            let size = self.file.metadata()?.len();
            match size.checked_sub(written as u64) {
                _ if written == 0 => Ok(()),
                Some(rest) if rest == start => self.file.set_len(start),
                // Cutting would take what somebody else wrote behind.
                _ => Err(io::Error::other("the object was changed meanwhile")),
            }
        };
        match cut() {
            Ok(()) => write.into(),
            Err(cut) => Fault::Torn { write, cut },
        }
    }

    pub(crate) fn truncate(&mut self, len: u64) -> Result<(), Fault> {
        if len < self.at.size {
            dir::state(&self.file)?.outlive();
            let _courtesy = Courtesy::of_writer(&self.file);
            self.file.set_len(len)?;
            self.at.size = len;
            self.modified = None;
        }
        Ok(())
    }

    pub(crate) fn sync(&mut self) -> Result<(), Fault> {
        self.file.sync_data()?;
        if !self.entry_is_durable {
            self.dir.sync_all()?;
            self.entry_is_durable = true;
        }
        Ok(())
    }
}
