//! The thread that keeps the index.

use std::collections::BTreeMap;
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use pollster::block_on;
use rusqlite::Connection;
use session_model::env::Clock;
use session_model::layout::{SESSION_SUFFIX, SESSIONS_DIR};
use session_model::storage::{
    ListOptions, ObjectMeta, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};
use tokio::sync::Notify;

use super::apply::{Change, apply, known};
use super::catch_up::CatchUp;
use super::queue::Work;
use super::{IndexError, Mark, Queue};
use crate::outbox::{self, Outgoing};
use crate::sqlite::Database;

/// How much is written in one transaction: bytes of session files, or changes.
const BATCH_BYTES: u64 = 8 << 20;
const BATCH_CHANGES: usize = 256;

/// Sessions lie in folders of the folder of sessions, or in that itself.
const DEPTH: usize = 2;

/// Tells whether a key is that of a session.
pub(crate) fn is_session(key: &StorageKey) -> bool {
    let below = key.as_str().strip_prefix(SESSIONS_DIR).and_then(|rest| rest.strip_prefix('/'));
    below.is_some_and(|below| below.split('/').count() <= DEPTH)
        && key.as_str().ends_with(SESSION_SUFFIX)
        && !key.file_name().starts_with('.')
}

/// Tells whether a key is that of an artifact: something in a session's folder.
pub(crate) fn is_artifact(key: &StorageKey) -> bool {
    let below = key.as_str().strip_prefix(SESSIONS_DIR).and_then(|rest| rest.strip_prefix('/'));
    below.is_some_and(|below| below.split('/').count() > DEPTH)
        && key.segments().all(|segment| !segment.starts_with('.'))
}

/// Lists the files that should be sessions; those that cannot be looked at are left out.
pub(super) async fn session_files(
    storage: &dyn SessionStorage,
) -> Result<Vec<ObjectMeta>, IndexError> {
    let prefix = StorageKey::new(SESSIONS_DIR).ok();
    let options = ListOptions::default().suffix(SESSION_SUFFIX).max_depth(DEPTH);
    let (mut files, errors) = storage.list_all(prefix.as_ref(), options).await;
    for error in errors {
        // One that speaks of one file keeps that from being indexed, and no other.
        if error.key().is_none() && error.kind() != StorageErrorKind::Invalid {
            return Err(error.into());
        }
        tracing::warn!(%error, "a session cannot be indexed");
    }
    files.retain(|meta| is_session(&meta.key));
    Ok(files)
}

/// Starts to index what comes into `queue`; the thread ends when the queue is closed.
pub(crate) fn spawn(
    queue: Arc<Queue>,
    storage: Arc<dyn SessionStorage>,
    database: Database,
    clock: Arc<dyn Clock>,
    written: Arc<Notify>,
) -> io::Result<JoinHandle<()>> {
    Builder::new().name("session-index".to_owned()).spawn(move || {
        let stop = StopOnDrop(&queue);
        let mut worker = Worker { queue: stop.0, storage: &*storage, database, clock };
        while let Some(mut work) = worker.queue.next() {
            let outcome = worker.attempt(&mut work);
            worker.queue.finish(work, outcome);
            written.notify_one();
        }
    })
}

/// Makes an index of all sessions, and returns when it is done.
pub(crate) fn build(
    storage: &dyn SessionStorage,
    database: Database,
    clock: Arc<dyn Clock>,
) -> Result<(), IndexError> {
    let queue = Queue::new(usize::MAX, Duration::ZERO);
    let mut worker = Worker { queue: &queue, storage, database, clock };
    worker.attempt(&mut Work::default())
}

struct Worker<'a> {
    queue: &'a Queue,
    storage: &'a dyn SessionStorage,
    database: Database,
    clock: Arc<dyn Clock>,
}

impl Worker<'_> {
    /// Does the work; what stays in `work` is not done.
    fn attempt(&mut self, work: &mut Work) -> Result<(), IndexError> {
        let is_new = !self.database.run(|connection| super::is_complete(connection))?;
        let compares = work.compare || (is_new && !self.queue.is_closing());
        if compares {
            work.compare = true;
            self.find_differences(work)?;
        }
        let mut batch = Batch::default();
        let mut overtaken = Work::default();
        let mut removed = Vec::new();
        let order: Vec<_> = work.marks.iter().map(|(key, mark)| (key.clone(), *mark)).collect();
        for (done, (key, mark)) in order.into_iter().enumerate() {
            if work.compare && self.queue.is_closing() {
                break;
            }
            let known = self.database.run(|connection| known(connection, &key))?;
            let mut catch_up = CatchUp::new(self.storage, key.clone(), mark, known);
            while let Some(change) = block_on(catch_up.step()) {
                // After all others: a session that was moved is published at one of its places at
                // every moment.
                if let Change::Remove(key, _) = change {
                    let moved_to = work.moves.remove(&key);
                    removed.push((key.clone(), Change::Remove(key, moved_to)));
                    break;
                }
                batch.push(change);
                if batch.is_full() {
                    self.write(&mut batch, work, &mut overtaken)?;
                    self.queue.progress(work.marks.len());
                    if work.compare && self.queue.is_closing() {
                        break;
                    }
                }
            }
            if removed.last().is_none_or(|(gone, _)| *gone != key) {
                batch.finished.push(key);
            }
            if done % 64 == 0 {
                self.queue.progress(work.marks.len() - batch.finished.len());
            }
        }
        for (key, change) in removed {
            batch.push(change);
            batch.finished.push(key);
        }
        self.write(&mut batch, work, &mut overtaken)?;
        if compares && work.marks.is_empty() {
            self.database
                .run(|connection| connection.execute("UPDATE state SET complete = 1", []))?;
            work.compare = false;
        }
        work.add(overtaken);
        Ok(())
    }

    fn write(
        &mut self,
        batch: &mut Batch,
        work: &mut Work,
        overtaken: &mut Work,
    ) -> Result<(), IndexError> {
        let Batch { changes, finished, .. } = std::mem::take(batch);
        // An artifact is noted before a line can name it, and so before the line was read here.
        work.objects.extend(self.queue.take_objects());
        if !changes.is_empty() || !work.objects.is_empty() {
            let objects = work.objects.iter().cloned().collect();
            let outgoing = Outgoing { now_ms: self.clock.now_ms(), objects };
            let apply = |connection: &mut Connection| apply(connection, &changes, &outgoing);
            let behind = self.database.run(apply)?;
            work.objects.clear();
            for key in behind {
                let mark = work.marks.get(&key).copied().unwrap_or(Mark::Differs);
                overtaken.mark(key, mark.max(Mark::Differs));
            }
        }
        for key in &finished {
            work.marks.remove(key);
        }
        Ok(())
    }

    /// Marks every session whose row does not say what its file is.
    fn find_differences(&mut self, work: &mut Work) -> Result<(), IndexError> {
        let files = block_on(session_files(self.storage))?;
        let mut rows: BTreeMap<String, (String, u64, bool)> = self.database.run(|connection| {
            connection
                .prepare_cached(
                    "SELECT key, s.version, size, s.version IS m.version
                     FROM session AS s LEFT JOIN summary AS m USING (key)",
                )?
                .query_map([], |row| {
                    let size = row.get::<_, i64>(2)? as u64;
                    Ok((row.get(0)?, (row.get(1)?, size, row.get(3)?)))
                })?
                .collect()
        })?;
        for meta in files {
            let row = rows.remove(meta.key.as_str());
            if row.is_none_or(|(version, size, has_summary)| {
                version != meta.version.as_str() || size != meta.size || !has_summary
            }) {
                work.mark(meta.key, Mark::Differs);
            }
        }
        if self.database.run(|connection| outbox::is_publishing(connection))? {
            work.objects.extend(self.find_objects()?);
        }
        for gone in rows.into_keys().filter_map(|key| StorageKey::new(key).ok()) {
            work.mark(gone, Mark::Differs);
        }
        self.queue.progress(work.marks.len());
        Ok(())
    }
}

impl Worker<'_> {
    /// Artifacts that are published in another state than they have, or not at all.
    fn find_objects(&mut self) -> Result<Vec<StorageKey>, IndexError> {
        let mut published: BTreeMap<_, _> =
            self.database.run(|connection| outbox::objects(connection))?.into_iter().collect();
        let prefix = StorageKey::new(SESSIONS_DIR).ok();
        // One that cannot be looked at is found again when it can.
        let (files, _) = block_on(self.storage.list_all(prefix.as_ref(), ListOptions::default()));
        let mut found: Vec<_> = files
            .into_iter()
            .filter(|meta| is_artifact(&meta.key))
            .filter(|meta| {
                published
                    .remove(meta.key.as_str())
                    .is_none_or(|there| there != meta.version.as_str())
            })
            .map(|meta| meta.key)
            .collect();
        let gone = published.into_keys().filter_map(|key| StorageKey::new(key).ok());
        found.extend(gone.filter(is_artifact));
        Ok(found)
    }
}

/// Changes that are written together.
#[derive(Debug, Default)]
struct Batch {
    changes: Vec<Change>,
    bytes: u64,
    /// The sessions that are done once the changes are written.
    finished: Vec<StorageKey>,
}

impl Batch {
    fn push(&mut self, change: Change) {
        if let Change::Advance(advance) = &change {
            self.bytes += advance.entries.iter().map(|entry| entry.length).sum::<u64>();
        }
        self.changes.push(change);
    }

    fn is_full(&self) -> bool {
        self.bytes >= BATCH_BYTES || self.changes.len() >= BATCH_CHANGES
    }
}

/// Tells those who wait that the thread has ended, even if it panicked.
struct StopOnDrop<'a>(&'a Queue);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stopped();
    }
}
