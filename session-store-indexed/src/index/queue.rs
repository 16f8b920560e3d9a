//! What has changed and is not indexed yet.
//!
//! Only names wait here, never contents: what changed is read from the files, so a name that is
//! noted twice costs nothing, and a queue that is full is replaced by a look at every file.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use session_model::storage::StorageKey;

use super::IndexError;

/// How often who waits is told of the progress.
const PROGRESS: Duration = Duration::from_millis(50);

/// How long the thread waits after a failure, unless someone waits for the index.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// What is known of a change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    /// The file grew at its end.
    Grown,
    /// The file is in another state than the index says.
    Differs,
    /// The file was rewritten, moved or removed.
    Rewritten,
}

/// How far the index is behind.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct IndexStatus {
    /// How many sessions wait to be looked at.
    pub waiting: u64,
    /// Whether all sessions are to be compared with their files.
    pub comparing: bool,
    /// How many sessions were looked at since all was done last.
    pub done: u64,
    /// Why the last attempt failed; what waits is tried again.
    pub error: Option<IndexError>,
}

/// The work of one attempt.
#[derive(Debug, Default)]
pub(crate) struct Work {
    pub(crate) compare: bool,
    pub(crate) marks: BTreeMap<StorageKey, Mark>,
    /// Artifacts that changed.
    pub(crate) objects: BTreeSet<StorageKey>,
    /// Where sessions went that were moved.
    pub(crate) moves: BTreeMap<StorageKey, StorageKey>,
}

impl Work {
    fn is_empty(&self) -> bool {
        !self.compare && self.marks.is_empty() && self.objects.is_empty()
    }

    /// Adds other work; of two marks the stronger stays.
    pub(crate) fn add(&mut self, other: Self) {
        self.compare |= other.compare;
        for (key, mark) in other.marks {
            self.mark(key, mark);
        }
        self.objects.extend(other.objects);
        for (from, to) in other.moves {
            self.moves.entry(from).or_insert(to);
        }
    }

    pub(crate) fn mark(&mut self, key: StorageKey, mark: Mark) {
        let noted = self.marks.entry(key).or_insert(mark);
        *noted = mark.max(*noted);
    }
}

/// A queue of names, with the thread that works on it at its other end.
#[derive(Debug)]
pub(crate) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    limit: usize,
    /// How long the first change waits for others, unless someone waits for the index.
    delay: Duration,
}

#[derive(Debug, Default)]
struct State {
    work: Work,
    /// How often something was noted, and how much of that is done.
    noted: u64,
    taken: u64,
    settled: u64,
    /// How much of the attempt in progress is left.
    in_progress: u64,
    is_working: bool,
    comparing: bool,
    done: u64,
    /// How many wait for the index.
    waiters: usize,
    /// Whether somebody waits for the attempt that comes next.
    hurried: bool,
    failures: u64,
    error: Option<IndexError>,
    closing: bool,
    /// Whether an attempt began after `closing`.
    last_attempt: bool,
    stopped: bool,
}

impl State {
    fn is_idle(&self) -> bool {
        self.work.is_empty() && !self.is_working
    }

    fn status(&self) -> IndexStatus {
        IndexStatus {
            waiting: self.work.marks.len() as u64 + self.in_progress,
            comparing: self.work.compare || self.comparing,
            done: self.done,
            error: self.error.clone(),
        }
    }
}

impl Queue {
    pub(crate) fn new(limit: usize, delay: Duration) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), limit, delay }
    }

    /// Notes that a file has changed.
    pub(crate) fn mark(&self, key: &StorageKey, mark: Mark) {
        let mut state = self.lock();
        let was_empty = state.work.is_empty();
        state.noted += 1;
        let marks = &mut state.work.marks;
        if let Some(noted) = marks.get_mut(key) {
            *noted = mark.max(*noted);
        } else if marks.len() < self.limit {
            marks.insert(key.clone(), mark);
        } else {
            marks.clear();
            state.work.compare = true;
        }
        if was_empty {
            self.changed.notify_all();
        }
    }

    /// Notes that an artifact has changed.
    pub(crate) fn mark_object(&self, key: &StorageKey) {
        let mut state = self.lock();
        let was_empty = state.work.is_empty();
        state.noted += 1;
        if state.work.objects.len() < self.limit {
            state.work.objects.insert(key.clone());
        } else {
            state.work.objects.clear();
            state.work.compare = true;
        }
        if was_empty {
            self.changed.notify_all();
        }
    }

    /// Notes where a session is moved, before it is.
    pub(crate) fn mark_move(&self, from: &StorageKey, to: &StorageKey) {
        let mut state = self.lock();
        if state.work.moves.len() < self.limit {
            state.work.moves.insert(from.clone(), to.clone());
        }
    }

    /// The artifacts that changed until now, as work of the attempt in progress.
    pub(super) fn take_objects(&self) -> BTreeSet<StorageKey> {
        std::mem::take(&mut self.lock().work.objects)
    }

    /// Asks for all sessions to be compared with their files.
    pub(crate) fn compare(&self) {
        let mut state = self.lock();
        state.noted += 1;
        state.work.compare = true;
        self.changed.notify_all();
    }

    /// Has the index brought up to date soon, and tells which [settled](Self::is_settled) state has
    /// all that was noted by now.
    pub(crate) fn hurry(&self) -> u64 {
        let mut state = self.lock();
        state.hurried = true;
        self.changed.notify_all();
        state.noted
    }

    /// Tells whether everything noted up to then is in the index.
    pub(crate) fn is_settled(&self, noted: u64) -> bool {
        let state = self.lock();
        state.settled >= noted || state.is_idle()
    }

    /// Tells whether everything that was noted is in the index.
    pub(crate) fn is_idle(&self) -> bool {
        self.lock().is_idle()
    }

    /// Waits until all that was noted is indexed, or an attempt fails; tells of the progress.
    pub(crate) fn wait(&self, mut progress: impl FnMut(IndexStatus)) -> Result<(), IndexError> {
        let mut state = self.lock();
        let failures = state.failures;
        state.waiters += 1;
        self.changed.notify_all();
        while !state.is_idle() && state.failures == failures && !state.stopped {
            let status = state.status();
            drop(state);
            progress(status);
            state = self.lock();
            if state.is_idle() || state.failures != failures || state.stopped {
                break;
            }
            // The bound is for the progress alone.
            state = self
                .changed
                .wait_timeout(state, PROGRESS)
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
        state.waiters -= 1;
        match &state.error {
            _ if state.is_idle() => Ok(()),
            Some(error) => Err(error.clone()),
            None => Err(IndexError::Stopped),
        }
    }

    pub(crate) fn status(&self) -> IndexStatus {
        self.lock().status()
    }

    /// Asks the thread to end.
    pub(crate) fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    pub(super) fn is_closing(&self) -> bool {
        self.lock().closing
    }

    /// Waits for work; `None` when the thread shall end.
    pub(super) fn next(&self) -> Option<Work> {
        let state = self.lock();
        let state = self.wait_while(state, |state| state.work.is_empty() && !state.closing);
        let delay = if state.error.is_some() { RETRY_DELAY } else { self.delay };
        let (mut state, _) = self
            .changed
            .wait_timeout_while(state, delay, |state| {
                !state.closing && state.waiters == 0 && !state.hurried
            })
            .unwrap_or_else(PoisonError::into_inner);
        // What is left is found when the index is opened again.
        let nothing = state.work.marks.is_empty() && state.work.objects.is_empty();
        let is_done = nothing || state.error.is_some() || state.last_attempt;
        if state.closing && is_done {
            return None;
        }
        state.last_attempt = state.closing;
        state.hurried = false;
        state.taken = state.noted;
        let mut work = std::mem::take(&mut state.work);
        work.compare &= !state.closing;
        state.is_working = true;
        state.comparing = work.compare;
        Some(work)
    }

    /// Notes how much of the attempt is left.
    pub(super) fn progress(&self, left: usize) {
        let mut state = self.lock();
        let left = left as u64;
        state.done += state.in_progress.saturating_sub(left);
        state.in_progress = left;
    }

    /// Ends an attempt; what it leaves is tried again.
    pub(super) fn finish(&self, left: Work, outcome: Result<(), IndexError>) {
        let mut state = self.lock();
        if left.is_empty() && outcome.is_ok() {
            state.settled = state.taken;
        }
        state.work.add(left);
        (state.is_working, state.comparing, state.in_progress) = (false, false, 0);
        if state.work.is_empty() {
            state.done = 0;
        }
        match outcome {
            Ok(()) => state.error = None,
            Err(error) => {
                if state.error.is_none() {
                    let source = std::error::Error::source(&error);
                    tracing::warn!(%error, source, "the index is behind; it is tried again");
                }
                state.failures += 1;
                state.error = Some(error);
            }
        }
        self.changed.notify_all();
    }

    pub(super) fn stopped(&self) {
        self.lock().stopped = true;
        self.changed.notify_all();
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wait_while<'a>(
        &self,
        state: MutexGuard<'a, State>,
        condition: impl FnMut(&mut State) -> bool,
    ) -> MutexGuard<'a, State> {
        self.changed.wait_while(state, condition).unwrap_or_else(PoisonError::into_inner)
    }
}
