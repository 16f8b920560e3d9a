//! Keeping bytes that are no part of a session beside it.

use bytes::Bytes;
use session_model::storage::{
    AppendWriter, MAX_SEGMENT_BYTES, Precondition, PutOptions, SessionStorage, StorageErrorKind,
    StorageKey,
};
use session_model::time::to_iso;
use session_model::{Diagnostic, DiagnosticCode};

use crate::error::Result;

/// Tells whether an object was put aside of a session.
pub(crate) fn is_of(key: &StorageKey, session: &StorageKey) -> bool {
    let why = key.as_str().strip_prefix(session.as_str()).and_then(|rest| rest.strip_prefix('.'));
    why.is_some_and(|why| WORDS.iter().any(|word| why.starts_with(&format!("{word}-"))))
}

const WORDS: [&str; 3] = ["damaged", "torn", "changed"];

/// Why bytes are put aside.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Aside {
    /// The whole file was no session.
    Damaged,
    /// The file ended in part of a record.
    Torn,
    /// Another program changed entries; this is how they were.
    Changed,
}

/// Writes bytes to a new object beside a session, durably, and returns its key.
///
/// It is named `<file>.damaged-<time>`, `<file>.torn-<time>` or `<file>.changed-<time>`, with `-2`, `-3`, … if taken.
pub(crate) async fn save(
    storage: &dyn SessionStorage,
    key: &StorageKey,
    why: Aside,
    time_ms: i64,
    bytes: Bytes,
) -> Result<StorageKey> {
    let why = match why {
        Aside::Damaged => "damaged",
        Aside::Torn => "torn",
        Aside::Changed => "changed",
    };
    let time = to_iso(time_ms).replace([':', '.'], "-");
    let mut count = 1;
    loop {
        let number = if count == 1 { String::new() } else { format!("-{count}") };
        let suffix = format!(".{why}-{time}{number}");
        let name = key.file_name();
        let aside =
            key.with_file_name(format!("{}{suffix}", cut(name, MAX_SEGMENT_BYTES - suffix.len())))?;
        let options = PutOptions::when(Precondition::Absent);
        match storage.put(&aside, bytes.clone().into(), options).await {
            Ok(_) => {
                // Said at once: what comes next may fail, and the bytes must be findable all the same.
                tracing::warn!(session = %key, kept_in = %aside, "bytes were put aside");
                return Ok(aside);
            }
            Err(error) if error.kind() == StorageErrorKind::AlreadyExists => count += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

/// Moves the torn end of a session into an object of its own and cuts it off.
pub(super) async fn cut_tail(
    storage: &dyn SessionStorage,
    key: &StorageKey,
    writer: &mut dyn AppendWriter,
    time_ms: i64,
    tail: &Bytes,
) -> Result<StorageKey> {
    let moved = save(storage, key, Aside::Torn, time_ms, tail.clone()).await?;
    writer.truncate(writer.len() - tail.len() as u64).await?;
    Ok(moved)
}

/// At most so many bytes of a name, cut at a character.
pub(crate) fn cut(name: &str, room: usize) -> &str {
    let end = name.char_indices().map(|(at, c)| at + c.len_utf8()).take_while(|&end| end <= room);
    &name[..end.last().unwrap_or(0)]
}

pub(super) fn torn_diagnostic(moved: &StorageKey, bytes: usize) -> Diagnostic {
    let detail = format!("{bytes} bytes at the end were no whole record and are now in {moved}");
    Diagnostic::new(DiagnosticCode::TailMovedAside, detail)
}
