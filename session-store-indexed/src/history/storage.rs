//! The prompt history as its users see it.

use std::error::Error;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;

use session_model::env::Clock;

use super::insert::NewPrompt;
use super::queue::Queue;
use super::words::Words;
use super::{
    HistoryEntry, HistoryError, HistoryOptions, HistoryScope, read, schema, search_index, segments,
    writer,
};
use crate::sqlite::{Database, Settings};
use crate::{DatabaseDiagnostic, DatabaseError};

/// A prompt history in an SQLite database.
///
/// Many processes may have the same database open. Dropping the history saves what waits, like
/// [`close`](Self::close), but can only log a failure.
pub struct HistoryStorage {
    path: PathBuf,
    clock: Arc<dyn Clock>,
    queue: Arc<Queue>,
    writer: Option<JoinHandle<()>>,
    reader: Mutex<Database>,
    diagnostics: Arc<Mutex<Vec<DatabaseDiagnostic>>>,
}

impl HistoryStorage {
    /// Opens the history at `path`, or makes it there, directories included.
    ///
    /// A database of an older tool gets what it lacks, in one transaction. A database that is
    /// damaged, or is none, is moved aside whole; what can be read of it is taken over. See
    /// [`diagnostics`](Self::diagnostics). One of a newer version with other tables is left alone.
    ///
    /// # Errors
    ///
    /// [`HistoryError::Database`]. In particular a lock that outlasts
    /// [`busy_timeout`](HistoryOptions::busy_timeout) is [`DatabaseError::Busy`].
    pub fn open(path: impl AsRef<Path>, options: HistoryOptions) -> Result<Self, HistoryError> {
        let path = path.as_ref().to_owned();
        let settings =
            Settings { busy_timeout: options.busy_timeout, clock: options.clock.clone() };
        schema::refuse_newer(&path)?;
        let database = Database::open(&path, settings, schema::prepare)?;
        let reader = Mutex::new(database.another()?);
        let diagnostics = database.diagnostics();
        let queue = Arc::new(Queue::new(options.queue_bytes));
        let writer = writer::spawn(Arc::clone(&queue), database)
            .map_err(|error| DatabaseError::file("start to write", &path, error))?;
        Ok(Self { path, clock: options.clock, queue, writer: Some(writer), reader, diagnostics })
    }

    /// Returns what was found since opening that the user should be told.
    pub fn diagnostics(&self) -> Vec<DatabaseDiagnostic> {
        self.diagnostics.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Adds a prompt, without waiting for the disk.
    ///
    /// It is stored without white space around it, within about 100 ms; a blank one is not
    /// stored at all. A prompt that equals the one before it, in this process or the newest of
    /// all processes, is stored once. In a database where another tool keeps every text once, an
    /// older row with the same text becomes the newest.
    ///
    /// # Errors
    ///
    /// [`HistoryError::NotSaved`] speaks of prompts that were accepted earlier; this one is
    /// accepted too, and all are tried again. With [`HistoryError::QueueFull`] and
    /// [`HistoryError::WriterStopped`] this one is not accepted.
    pub fn add(
        &self,
        prompt: &str,
        cwd: Option<&str>,
        session_id: Option<&str>,
    ) -> Result<(), HistoryError> {
        // A byte order mark is white space to the other tools.
        let prompt = prompt.trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        if prompt.is_empty() {
            return Ok(());
        }
        self.queue.push(NewPrompt {
            prompt: prompt.to_owned(),
            created_at: self.clock.now_ms().div_euclid(1000),
            cwd: cwd.map(str::to_owned),
            session_id: session_id.map(str::to_owned),
        })
    }

    /// Waits until every prompt added so far is on the disk.
    ///
    /// # Errors
    ///
    /// [`HistoryError::NotSaved`] if an attempt fails; the prompts stay queued.
    pub fn flush(&self) -> Result<(), HistoryError> {
        self.queue.flush()
    }

    /// Saves what waits and closes the history.
    ///
    /// # Errors
    ///
    /// [`HistoryError::NotSaved`] if that fails; the prompts it counts are lost then. To be able
    /// to try again, call [`flush`](Self::flush) first.
    pub fn close(mut self) -> Result<(), HistoryError> {
        self.end_writer()
    }

    /// Returns the newest prompts, newest first, at most `limit` and at most 1,000.
    ///
    /// Prompts that still wait to be written are not among them; [`flush`](Self::flush) first
    /// where that matters.
    ///
    /// # Errors
    ///
    /// [`HistoryError::Database`].
    pub fn recent(&self, limit: usize) -> Result<Vec<HistoryEntry>, HistoryError> {
        Ok(self.reader().run(|connection| read::recent(connection, limit))?)
    }

    /// Finds prompts that hold all words of `query`, newest first, at most `limit` and at most
    /// 1,000.
    ///
    /// Any text is a query; nothing in it has a special meaning. Words are what white space
    /// separates, in any order. Upper and lower case are the same.
    ///
    /// - A word must begin a word of the prompt: `pro` finds `prompt`. Punctuation inside it
    ///   separates words that must follow each other: `foo_bar` finds `foo-bar`. Accents do not
    ///   count: `cafe` finds `café`.
    /// - A word with letters of a script without spaces (Chinese, Japanese, Thai and the like)
    ///   is found anywhere in the prompt.
    /// - A word of punctuation or symbols only is passed over, unless the query has no other;
    ///   then it is found anywhere.
    ///
    /// A blank query finds nothing. Prompts that still wait to be written are not found;
    /// [`flush`](Self::flush) first where that matters.
    ///
    /// # Errors
    ///
    /// [`HistoryError::Database`], never because of what `query` is.
    pub fn search(
        &self,
        query: &str,
        limit: usize,
        scope: HistoryScope<'_>,
    ) -> Result<Vec<HistoryEntry>, HistoryError> {
        let words = Words::new(query);
        if words.is_empty() || limit == 0 {
            return Ok(Vec::new());
        }
        let found = self.reader().run(|connection| {
            search_index::healing(connection, |connection| {
                segments::search(connection, &words, limit, scope)
            })
        });
        Ok(found?)
    }

    fn reader(&self) -> MutexGuard<'_, Database> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end_writer(&mut self) -> Result<(), HistoryError> {
        let Some(writer) = self.writer.take() else { return Ok(()) };
        self.queue.close();
        match writer.join() {
            Ok(()) => self.queue.outcome(),
            Err(_panic) => Err(HistoryError::WriterStopped),
        }
    }
}

impl Drop for HistoryStorage {
    fn drop(&mut self) {
        if let Err(error) = self.end_writer() {
            let path = self.path.display();
            tracing::error!(%path, %error, source = error.source(), "prompts are lost");
        }
    }
}

impl fmt::Debug for HistoryStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HistoryStorage").field("path", &self.path).finish_non_exhaustive()
    }
}
