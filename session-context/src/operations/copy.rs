//! Copying a session without opening it.

use std::ops::Range;
use std::sync::Arc;

use bytes::Bytes;
use session_model::document::{LoadError, LoadOptions, Loaded};
use session_model::json::{ObjectEdit, RawJson};
use session_model::layout::session_file_name;
use session_model::storage::{SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey};
use session_model::summary::HEAD_BYTES;
use session_model::time::to_iso;
use session_model::{CURRENT_VERSION, Diagnostic, DiagnosticCode, SessionDocument, SessionHeader};

use crate::error::{Result, SessionError};
use crate::manager::copy::{Copy, Written};
use crate::manager::fork::forked_header;
use crate::manager::{ForkFrom, SessionManager, SessionOptions, bucket_of};

/// The longest beginning that is searched for a header before the whole file is read.
const MAX_HEAD_BYTES: u64 = 1 << 20;

/// A copy that was made of a session.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CopiedSession {
    /// Its file.
    pub key: StorageKey,
    /// Its header.
    pub header: SessionHeader,
    /// What was found on the way.
    pub diagnostics: Vec<Diagnostic>,
}

/// Copies a session as [`SessionManager::fork_from`] does, and leaves the copy closed.
///
/// Of a session of the present format only the header is read; everything else goes from file to
/// file as it is, without passing through memory where the storage can spare that.
///
/// # Errors
///
/// [`SessionError::NotFound`]; otherwise as [`SessionManager::fork_from`].
///
/// # Cancel safety
///
/// A cancelled call may leave a whole copy.
pub async fn copy_session(
    storage: &Arc<dyn SessionStorage>,
    fork: ForkFrom,
    mut options: SessionOptions,
) -> Result<CopiedSession> {
    let is_plain = |beginning: &Beginning| {
        let version = beginning.document.header().version();
        beginning.ends_line && version == f64::from(CURRENT_VERSION)
    };
    let beginning = Beginning::read(&**storage, &fork.source).await?.filter(is_plain);
    let Some(beginning) = beginning else { return open_copy(storage, fork, options).await };
    let (id, time) = (options.ids.session_id(), to_iso(options.clock.now_ms()));
    let bucket = match &fork.bucket {
        Some(bucket) => bucket.clone(),
        None => bucket_of(&fork.cwd)?,
    };
    let key = bucket.join(session_file_name(&time, &id)?)?;
    let pinned = fork.provider_prompt_cache_key.as_deref();
    let rest = beginning.rest();
    let mut document = beginning.document;
    let mut header = forked_header(document.header(), &id, &time, pinned);
    header.edit(&ObjectEdit::new().set("cwd", &RawJson::string(&fork.cwd)));
    document.begin_with(header.clone());
    let copy = Copy { storage, from: &fork.source, to: &key, owner: &options.owner };
    match copy.write(&document, Some(rest)).await {
        Ok(Written { writer, left_behind: mut diagnostics }) => {
            // The copy is whole and on the disk.
            if let Err(error) = writer.close().await {
                let detail = format!("the copy is whole, but its claim may stay: {error}");
                diagnostics.push(Diagnostic::new(DiagnosticCode::NotClosed, detail));
            }
            Ok(CopiedSession { key, header, diagnostics })
        }
        // It was cut since.
        Err(SessionError::Storage(error))
            if error.kind() == StorageErrorKind::Conflict && error.key() == Some(&fork.source) =>
        {
            open_copy(storage, fork, options).await
        }
        Err(error) => Err(error),
    }
}

async fn open_copy(
    storage: &Arc<dyn SessionStorage>,
    fork: ForkFrom,
    options: SessionOptions,
) -> Result<CopiedSession> {
    let manager = SessionManager::fork_from(Arc::clone(storage), fork, options).await?;
    let copied = CopiedSession {
        key: manager.key().clone(),
        header: manager.header().clone(),
        diagnostics: manager.diagnostics().to_vec(),
    };
    manager.close().await?;
    Ok(copied)
}

/// Reads the header of a session.
///
/// # Errors
///
/// [`SessionError::NotFound`], or [`SessionError::NotASession`] with the reason.
pub async fn session_header(
    storage: &dyn SessionStorage,
    key: &StorageKey,
) -> Result<SessionHeader> {
    if let Some(beginning) = Beginning::read(storage, key).await? {
        return Ok(beginning.document.header().clone());
    }
    let (_, file) = storage.read_all(key).await?;
    Ok(load(key, file)?.document.header().clone())
}

/// How a session file begins and ends.
struct Beginning {
    /// The header alone, with what stands before it.
    document: SessionDocument,
    /// The size of the file.
    size: u64,
    /// Whether the file ends in a line end.
    ends_line: bool,
}

impl Beginning {
    /// Reads the header; `None` if it is not wholly as usual, or very long.
    async fn read(storage: &dyn SessionStorage, key: &StorageKey) -> Result<Option<Self>> {
        let mut head = HEAD_BYTES;
        while head <= MAX_HEAD_BYTES {
            let peek = match storage.peek(std::slice::from_ref(key), head, 1).await.pop() {
                Some(Ok(peek)) => peek,
                Some(Err(error)) if error.kind() != StorageErrorKind::NotFound => {
                    return Err(error.into());
                }
                _ => return Err(SessionError::NotFound { key: key.clone() }),
            };
            let lines = peek.head.iter().enumerate().filter(|(_, byte)| **byte == b'\n');
            // A title slot and blank lines may come first.
            for end in lines.map(|(at, _)| at + 1) {
                let lines = peek.head.slice(..end);
                match SessionDocument::load(lines.clone(), &LoadOptions::default()) {
                    Err(LoadError::Empty) => {}
                    Err(_) => return Ok(None),
                    Ok(Loaded { document, .. }) => {
                        let last = peek.tail.last().or(peek.head.last());
                        let (size, ends_line) = (peek.meta.size, last == Some(&b'\n'));
                        let is_usual = document.beginning().to_bytes() == lines;
                        return Ok(is_usual.then_some(Self { document, size, ends_line }));
                    }
                }
            }
            if peek.is_whole() {
                break;
            }
            head *= 4;
        }
        Ok(None)
    }

    /// Where what follows the header lies.
    fn rest(&self) -> Range<u64> {
        self.document.beginning().len()..self.size
    }
}

fn load(key: &StorageKey, file: Bytes) -> Result<Loaded> {
    SessionDocument::load(file, &LoadOptions::default())
        .map_err(|source| SessionError::NotASession { key: key.clone(), source })
}
