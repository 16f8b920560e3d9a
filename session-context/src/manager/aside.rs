//! Keeping bytes that are no part of a session beside it.

use bytes::Bytes;
use session_model::storage::{
    MAX_SEGMENT_BYTES, Precondition, PutOptions, SessionStorage, StorageErrorKind, StorageKey,
};
use session_model::time::to_iso;
use session_model::{Diagnostic, DiagnosticCode};

use crate::error::Result;

/// Why bytes are put aside.
#[derive(Clone, Copy, Debug)]
pub(super) enum Aside {
    /// The whole file was no session.
    Damaged,
    /// The file ended in part of a record.
    Torn,
}

/// Writes bytes to a new object beside a session, durably, and returns its key.
///
/// It is named `<file>.damaged-<time>` or `<file>.torn-<time>`, with `-2`, `-3`, … if taken.
pub(super) async fn save(
    storage: &dyn SessionStorage,
    key: &StorageKey,
    why: Aside,
    time_ms: i64,
    bytes: Bytes,
) -> Result<StorageKey> {
    let why = match why {
        Aside::Damaged => "damaged",
        Aside::Torn => "torn",
    };
    let time = to_iso(time_ms).replace([':', '.'], "-");
    let mut count = 1;
    loop {
        let number = if count == 1 { String::new() } else { format!("-{count}") };
        let suffix = format!(".{why}-{time}{number}");
        let name = key.file_name();
        let room = name.floor_char_boundary(MAX_SEGMENT_BYTES - suffix.len());
        let aside = key.with_file_name(format!("{}{suffix}", &name[..room.min(name.len())]))?;
        let options = PutOptions::when(Precondition::Absent);
        match storage.put(&aside, bytes.clone().into(), options).await {
            Ok(_) => return Ok(aside),
            Err(error) if error.kind() == StorageErrorKind::AlreadyExists => count += 1,
            Err(error) => return Err(error.into()),
        }
    }
}

pub(super) fn torn_diagnostic(moved: &StorageKey, bytes: usize) -> Diagnostic {
    let detail = format!("{bytes} bytes at the end were no whole record and are now in {moved}");
    Diagnostic::new(DiagnosticCode::TailMovedAside, detail)
}
