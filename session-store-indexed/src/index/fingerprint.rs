//! Telling whether a file still begins with what was indexed of it.

use std::fs;
use std::path::Path;
use std::time::UNIX_EPOCH;

use session_model::storage::ReadRange;

/// How much of the beginning and of the end of the indexed part is compared.
const SAMPLE: u64 = 4096;

/// Returns the two ranges of an indexed part that are compared.
pub(crate) fn samples(indexed: u64) -> [ReadRange; 2] {
    let len = indexed.min(SAMPLE);
    [ReadRange::Range { offset: 0, len }, ReadRange::Range { offset: indexed - len, len }]
}

/// Sums up the two samples (FNV-1a).
pub(crate) fn fingerprint(head: &[u8], tail: &[u8]) -> i64 {
    let step = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
    head.iter().chain(tail).fold(0xcbf2_9ce4_8422_2325, step) as i64
}

/// Tells one file from another at the same path; empty if nothing is known.
///
/// A file that is replaced gets another number, and one that gets an old number again was made at
/// another time.
pub(crate) fn identity(path: Option<&Path>) -> String {
    let Some(metadata) = path.and_then(|path| fs::metadata(path).ok()) else {
        return String::new();
    };
    #[cfg(unix)]
    let number = {
        use std::os::unix::fs::MetadataExt;
        format!("{:x}-{:x}", metadata.dev(), metadata.ino())
    };
    #[cfg(not(unix))]
    let number = "file";
    let made = metadata.created().ok().and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    format!("{number}-{:x}", made.map_or(0, |made| made.as_nanos()))
}
