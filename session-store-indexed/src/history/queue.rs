//! The prompts on their way from the callers to the writer.

use std::collections::VecDeque;
use std::error::Error;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use super::HistoryError;
use super::insert::NewPrompt;
use crate::DatabaseError;

/// How long the first prompt of a batch waits for others.
const BATCH_DELAY: Duration = Duration::from_millis(100);

/// How long the writer waits after a failure, unless someone asks for a flush.
const RETRY_DELAY: Duration = Duration::from_secs(1);

/// A queue that keeps every prompt until it is in the database.
pub(super) struct Queue {
    state: Mutex<State>,
    changed: Condvar,
    limit: usize,
}

#[derive(Default)]
struct State {
    waiting: VecDeque<NewPrompt>,
    /// The size of what waits and of the batch that is being written.
    bytes: usize,
    /// How many prompts there were since the start.
    accepted: u64,
    /// How many of them are in the database.
    written: u64,
    /// Up to which prompt someone waits for a flush.
    wanted: u64,
    /// How many attempts to write failed.
    failures: u64,
    /// Why the last attempt failed; none once a later one succeeded.
    error: Option<DatabaseError>,
    /// Whether the writer shall end when all is written, or the next attempt fails.
    closing: bool,
    /// Whether an attempt began after `closing`.
    last_attempt: bool,
    /// Whether the writer has ended.
    stopped: bool,
}

impl State {
    fn is_urgent(&self) -> bool {
        self.closing || self.wanted > self.written
    }

    /// Says whether all accepted so far is written or can still be.
    fn outcome(&self) -> Result<(), HistoryError> {
        let pending = (self.accepted - self.written) as usize;
        match &self.error {
            Some(source) => Err(HistoryError::NotSaved { pending, source: source.clone() }),
            None if self.stopped && pending > 0 => Err(HistoryError::WriterStopped),
            None => Ok(()),
        }
    }
}

impl Queue {
    /// An empty queue for `limit` bytes.
    pub(super) fn new(limit: usize) -> Self {
        Self { state: Mutex::default(), changed: Condvar::new(), limit }
    }

    /// Takes a prompt in, at once; reports a failure to write earlier ones.
    pub(super) fn push(&self, prompt: NewPrompt) -> Result<(), HistoryError> {
        let mut state = self.lock();
        if state.stopped {
            return Err(HistoryError::WriterStopped);
        }
        let bytes = prompt.bytes();
        // One of any size fits into an empty queue.
        if state.bytes > 0 && state.bytes + bytes > self.limit {
            return Err(HistoryError::QueueFull { limit: self.limit });
        }
        state.waiting.push_back(prompt);
        state.bytes += bytes;
        state.accepted += 1;
        self.changed.notify_all();
        state.outcome()
    }

    /// Waits until all prompts taken in so far are written, or an attempt fails.
    pub(super) fn flush(&self) -> Result<(), HistoryError> {
        let mut state = self.lock();
        let (target, failures) = (state.accepted, state.failures);
        state.wanted = target;
        self.changed.notify_all();
        let state = self.wait_while(state, |state| {
            state.written < target && state.failures == failures && !state.stopped
        });
        if state.written >= target { Ok(()) } else { state.outcome() }
    }

    /// Asks the writer to end.
    pub(super) fn close(&self) {
        self.lock().closing = true;
        self.changed.notify_all();
    }

    /// Says whether all prompts are written.
    pub(super) fn outcome(&self) -> Result<(), HistoryError> {
        self.lock().outcome()
    }

    /// Waits for a batch to write; `None` when the writer shall end.
    pub(super) fn next_batch(&self) -> Option<VecDeque<NewPrompt>> {
        let state = self.lock();
        let state = self.wait_while(state, |state| state.waiting.is_empty() && !state.closing);
        let delay = if state.error.is_some() { RETRY_DELAY } else { BATCH_DELAY };
        let (mut state, _) = self
            .changed
            .wait_timeout_while(state, delay, |state| !state.is_urgent())
            .unwrap_or_else(PoisonError::into_inner);
        if state.waiting.is_empty() || state.last_attempt {
            return None;
        }
        state.last_attempt = state.closing;
        Some(std::mem::take(&mut state.waiting))
    }

    /// Notes that a batch is in the database.
    pub(super) fn written(&self, batch: &VecDeque<NewPrompt>) {
        let mut state = self.lock();
        state.bytes -= batch.iter().map(NewPrompt::bytes).sum::<usize>();
        state.written += batch.len() as u64;
        if state.error.take().is_some() {
            tracing::info!("the prompts that waited are saved");
        }
        self.changed.notify_all();
    }

    /// Takes back a batch that could not be written.
    pub(super) fn failed(&self, mut batch: VecDeque<NewPrompt>, error: DatabaseError) {
        let mut state = self.lock();
        if state.error.is_none() {
            let source = error.source();
            tracing::error!(%error, source, "prompts could not be saved; they stay queued");
        }
        batch.append(&mut state.waiting);
        state.waiting = batch;
        state.wanted = state.written;
        state.failures += 1;
        state.error = Some(error);
        self.changed.notify_all();
    }

    /// Notes that the writer has ended.
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
