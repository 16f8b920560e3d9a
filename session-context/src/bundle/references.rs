//! Which blobs a text names.

use memchr::memmem;
use session_model::BlobRef;

/// What stands before the hash.
const START: &[u8] = b"blob:sha256:";

/// Digits of a hash.
const DIGITS: usize = 64;

/// Returns the blobs that a text names, one after the other.
pub(super) fn blobs_in(text: &[u8]) -> impl Iterator<Item = BlobRef> {
    memmem::find_iter(text, START).filter_map(|at| {
        let from = at + START.len();
        let digits = std::str::from_utf8(text.get(from..from + DIGITS)?).ok()?;
        BlobRef::from_hex(digits).ok()
    })
}
