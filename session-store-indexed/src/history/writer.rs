//! The thread that brings prompts into the database.

use std::error::Error;
use std::io;
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

use super::insert::insert;
use super::queue::Queue;
use super::{search_index, segments};
use crate::sqlite::Database;

/// Starts to write what comes into `queue`; the thread ends when the queue is closed.
pub(super) fn spawn(queue: Arc<Queue>, database: Database) -> io::Result<JoinHandle<()>> {
    Builder::new().name("prompt-history".to_owned()).spawn(move || {
        let stop = StopOnDrop(&queue);
        run(stop.0, database);
    })
}

fn run(queue: &Queue, mut database: Database) {
    let mut last = None;
    while let Some(batch) = queue.next_batch() {
        let outcome = database.run(|connection| {
            search_index::healing(connection, |connection| insert(connection, &batch, last))
        });
        match outcome {
            Ok(row) => {
                last = row;
                queue.written(&batch);
                // It is made for later searches; the prompts are safe.
                if let Err(error) = database.run(segments::catch_up) {
                    let source = error.source();
                    tracing::warn!(%error, source, "prompts could not be indexed; later they are");
                }
            }
            Err(error) => queue.failed(batch, error),
        }
    }
}

/// Tells those who wait that the writer has ended, even if it panicked.
struct StopOnDrop<'a>(&'a Queue);

impl Drop for StopOnDrop<'_> {
    fn drop(&mut self) {
        self.0.stopped();
    }
}
