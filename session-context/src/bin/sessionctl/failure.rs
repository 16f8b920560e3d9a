//! Why a command failed, and the exit code that tells so.

use std::error::Error;
use std::io;
use std::process::ExitCode;
use std::sync::Arc;

use session_context::bundle::BundleError;
use session_context::export::WriteFileError;
use session_context::{OpenStorageError, SessionError};
use session_model::json::InvalidJson;
use session_model::storage::{InvalidKey, StorageErrorKind};

/// What is told of exit codes in the help of the command.
pub(crate) const EXIT_CODES: &str = "\
Exit codes:
  0  done
  1  failed; standard error says why
  2  wrong usage
  3  verify found something lost or unreadable, or with --strict a warning; doctor, or
     remote status, found something that needs you
  4  the session is in use by another writer, whom the message names; with --wait, still so
     when the time was up
  5  doctor repaired something, or could with --fix; remote status found one side behind";

/// A failed command.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Failure {
    #[error(transparent)]
    Session(#[from] SessionError),
    #[error(
        "entry {entry} could not be saved; once the cause is gone, look with `sessionctl show` \
         whether it is there, and give the command again if not"
    )]
    NotSaved { entry: String, source: Arc<SessionError> },
    #[error("entry {entry} is saved, at a second attempt; do not give the command again")]
    SavedLate { entry: String },
    #[error(transparent)]
    OpenStorage(#[from] OpenStorageError),
    #[error(transparent)]
    Bundle(#[from] BundleError),
    #[cfg(feature = "indexed")]
    #[error(transparent)]
    Index(#[from] session_store_indexed::index::IndexError),
    #[error(transparent)]
    Import(#[from] session_context::import::ImportError),
    /// Some sources of many could not be imported, each of which was told.
    #[error("{text}")]
    Imports { text: String, busy: bool },
    #[cfg(feature = "indexed")]
    #[error(transparent)]
    History(#[from] session_store_indexed::history::HistoryError),
    #[cfg(feature = "redis")]
    #[error(transparent)]
    Replica(#[from] session_store_indexed::replica::ReplicaError),
    /// Another host has the session.
    #[cfg(feature = "redis")]
    #[error("{0}")]
    Held(String),
    #[cfg(feature = "redis")]
    #[error(transparent)]
    Publish(#[from] session_store_indexed::publish::PublishError),
    #[error("a session cannot have this name; give its file another")]
    Key(#[from] InvalidKey),
    #[error("this program cannot start")]
    Start(#[source] io::Error),
    #[error("the output cannot be written")]
    Output(#[from] io::Error),
    #[error("{0}")]
    Usage(String),
    #[error("{0}")]
    Refused(String),
    #[error("there is no session {session}")]
    Missing { session: String },
    #[error("{session} was removed or moved meanwhile; nothing was written")]
    Gone { session: String },
    #[error("{what} cannot be read")]
    Input { what: String, source: io::Error },
    #[error(transparent)]
    Write(#[from] WriteFileError),
    #[error("what is to be appended cannot be read")]
    Json(#[from] InvalidJson),
    #[error("{0}")]
    ProblemsFound(String),
    #[error("{0}")]
    Repairs(String),
    /// This host and the remote are not in step, and will be.
    #[cfg(feature = "redis")]
    #[error("{0}")]
    Behind(String),
    #[error("the terminal cannot be drawn on")]
    Screen(#[source] io::Error),
    #[error("ended by signal {0}")]
    Signal(u8),
}

impl Failure {
    /// Tells whether whoever reads the output has gone, which is no failure.
    pub(crate) fn is_broken_pipe(&self) -> bool {
        matches!(self, Self::Output(error) if error.kind() == io::ErrorKind::BrokenPipe)
    }

    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Self::Usage(_) => 2,
            Self::ProblemsFound(_) => 3,
            Self::Repairs(_) => 5,
            #[cfg(feature = "redis")]
            Self::Behind(_) => 5,
            Self::Imports { busy: true, .. } => 4,
            // As a shell tells of it.
            Self::Signal(number) => number.saturating_add(128),
            #[cfg(feature = "redis")]
            Self::Held(_) => 4,
            _ if self.is_busy() => 4,
            _ => 1,
        }
        .into()
    }

    fn is_busy(&self) -> bool {
        let error = match self {
            Self::Session(error) => error,
            Self::NotSaved { source, .. } => source,
            _ => return false,
        };
        error.storage_error().is_some_and(|error| error.kind() == StorageErrorKind::Busy)
    }
}

/// Returns an error with its causes, in one line.
pub(crate) fn chain(error: &dyn Error) -> String {
    causes(error).join(": ")
}

/// Returns what an error and its causes say, each once.
pub(crate) fn causes(error: &dyn Error) -> Vec<String> {
    let mut texts = vec![error.to_string()];
    let mut next = error.source();
    while let Some(cause) = next {
        let text = cause.to_string();
        if !texts.last().is_some_and(|last| last.contains(&text)) {
            texts.push(text);
        }
        next = cause.source();
    }
    texts
}
