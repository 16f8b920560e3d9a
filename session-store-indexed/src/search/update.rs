//! Bringing the index up to date with the session files.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use std::{io, thread};

use pollster::block_on;
use session_model::layout::{SESSION_SUFFIX, SESSIONS_DIR};
use session_model::storage::{
    ListOptions, ObjectMeta, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};

use super::batch::Batch;
use super::error::run;
use super::merge;
use super::read::SessionReader;
use super::state::{SkippedSession, State, problems, states};
use super::write::{remove, write};
use crate::DatabaseError;
use crate::index::IndexError;
use crate::sqlite::Database;

/// A batch is written when it was made from so many bytes of files.
const BATCH_BYTES: u64 = 32 << 20;

/// So many threads read sessions at most.
const MAX_THREADS: usize = 4;

/// How often progress is told.
const TOLD_EVERY: Duration = Duration::from_millis(50);

/// How far an update has come.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct UpdateProgress {
    /// How many changed sessions were read.
    pub done: u64,
    /// How many changed.
    pub total: u64,
}

/// What an update came to.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchUpdate {
    /// How many sessions are in the index.
    pub sessions: u64,
    /// How many bytes of files were read.
    pub read: u64,
    /// How many changed sessions are not in the index as they are now, since the update was ended.
    pub left: u64,
    /// What is no session or could not be read.
    pub skipped: Vec<SkippedSession>,
}

/// A session that changed.
type Changed = (StorageKey, Option<State>);

pub(super) fn update(
    database: &mut Database,
    storage: &dyn SessionStorage,
    mut progress: impl FnMut(UpdateProgress) -> bool,
) -> Result<SearchUpdate, IndexError> {
    let (files, mut skipped) = block_on(files(storage))?;
    let mut known = database.run(|connection| states(connection))?;
    let mut changed: Vec<(u64, Changed)> = Vec::new();
    let sessions = files.len() as u64;
    for meta in files {
        let state = known.remove(meta.key.as_str());
        let new = match &state {
            Some(state) if state.version == meta.version.as_str() && state.size == meta.size => {
                continue;
            }
            Some(state) => meta.size.saturating_sub(state.indexed),
            None => meta.size,
        };
        changed.push((new, (meta.key, state)));
    }
    let gone: Vec<StorageKey> =
        known.into_keys().filter_map(|key| StorageKey::new(key).ok()).collect();
    if database.is_read_only() && !(gone.is_empty() && changed.is_empty()) {
        let path = database.path().to_owned();
        let source = Arc::new(io::Error::other("sessions changed since they were indexed"));
        return Err(DatabaseError::Denied { path, source }.into());
    }
    if !gone.is_empty() {
        database.run(|connection| {
            let transaction = connection.transaction()?;
            gone.iter().try_for_each(|key| remove(&transaction, key))?;
            transaction.commit()
        })?;
    }
    // The longest first, so that all threads are done at about the same time.
    changed.sort_by_key(|(new, _)| std::cmp::Reverse(*new));
    let total = changed.len() as u64;
    let (read, left) = match total {
        0 => (0, 0),
        _ => {
            let changed = changed.into_iter().map(|(_, changed)| changed);
            let work = Work::new(storage, changed.collect());
            let outcome = work.run(database, &mut progress, total);
            let left = total - work.done.load(Ordering::Relaxed);
            (outcome?, left)
        }
    };
    merge::tidy(database)?;
    let problems = database.run(|connection| problems(connection))?;
    let searched = sessions.saturating_sub(left).saturating_sub(problems.len() as u64);
    skipped.extend(problems.into_iter().filter(|session| !is_artifact(&session.key)));
    Ok(SearchUpdate { sessions: searched, read, left, skipped })
}

/// Lists the files that should be sessions, those of child agents included, and those that cannot
/// be looked at.
async fn files(
    storage: &dyn SessionStorage,
) -> Result<(Vec<ObjectMeta>, Vec<SkippedSession>), IndexError> {
    let prefix = StorageKey::new(SESSIONS_DIR).ok();
    let options = ListOptions::default().suffix(SESSION_SUFFIX);
    let (mut files, errors) = storage.list_all(prefix.as_ref(), options).await;
    let mut skipped = Vec::new();
    for error in errors {
        // One that speaks of one file keeps that from being indexed, and no other.
        if error.key().is_none() && error.kind() != StorageErrorKind::Invalid {
            return Err(error.into());
        }
        let problem = error.to_string();
        let key = error.key().or(prefix.as_ref()).cloned();
        skipped.extend(key.map(|key| SkippedSession { key, problem }));
    }
    files.retain(|meta| !meta.key.file_name().starts_with('.'));
    Ok((files, skipped))
}

/// Tells whether a file lies where artifacts do, which may have any name.
fn is_artifact(key: &StorageKey) -> bool {
    key.segments().count() > 3
}

/// Sessions that are read by several threads.
struct Work<'a> {
    storage: &'a dyn SessionStorage,
    changed: Mutex<std::vec::IntoIter<Changed>>,
    done: AtomicU64,
    is_ended: AtomicBool,
}

impl<'a> Work<'a> {
    fn new(storage: &'a dyn SessionStorage, changed: Vec<Changed>) -> Self {
        let changed = Mutex::new(changed.into_iter());
        Self { storage, changed, done: AtomicU64::new(0), is_ended: AtomicBool::new(false) }
    }

    /// Writes what the threads read; returns how many bytes that were.
    fn run(
        &self,
        database: &mut Database,
        progress: &mut impl FnMut(UpdateProgress) -> bool,
        total: u64,
    ) -> Result<u64, IndexError> {
        let cores = thread::available_parallelism().map_or(1, usize::from);
        let threads = cores.min(MAX_THREADS).min(total as usize);
        thread::scope(|scope| {
            let (sender, batches) = sync_channel(1);
            for _ in 0..threads {
                let sender = sender.clone();
                scope.spawn(move || self.read(&sender));
            }
            drop(sender);
            // Dropping the receiver, on an error too, ends the threads.
            let (batches, mut read) = (batches, 0);
            loop {
                match batches.recv_timeout(TOLD_EVERY) {
                    Ok(batch) => {
                        let mut batch: Batch = batch;
                        let written = run(database, |connection| write(connection, &mut batch));
                        if written.is_err() {
                            self.is_ended.store(true, Ordering::Relaxed);
                        }
                        written?;
                        read += batch.bytes;
                    }
                    Err(RecvTimeoutError::Timeout) => {}
                    Err(RecvTimeoutError::Disconnected) => return Ok(read),
                }
                let done = self.done.load(Ordering::Relaxed);
                if !progress(UpdateProgress { done, total }) {
                    self.is_ended.store(true, Ordering::Relaxed);
                }
            }
        })
    }

    /// Reads sessions one after the other until there are no more.
    fn read(&self, batches: &SyncSender<Batch>) {
        let mut batch = Batch::default();
        let is_ended = || self.is_ended.load(Ordering::Relaxed);
        while let Some((key, state)) = self.next() {
            let mut reader = SessionReader::new(self.storage, key, state);
            while !reader.is_done {
                if is_ended() {
                    let _ = batches.send(batch);
                    return;
                }
                block_on(reader.step(&mut batch));
                if batch.bytes >= BATCH_BYTES && batches.send(std::mem::take(&mut batch)).is_err() {
                    return;
                }
            }
            self.done.fetch_add(1, Ordering::Relaxed);
        }
        if !batch.is_empty() {
            // It fails only if what was read before could not be written.
            let _ = batches.send(batch);
        }
    }

    fn next(&self) -> Option<Changed> {
        if self.is_ended.load(Ordering::Relaxed) {
            return None;
        }
        self.changed.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
}
