//! Strings that are too long for a line.

use crate::json::RawJson;
use crate::{Blob, BlobRef};

/// The longest string that is written whole, in UTF-16 units.
pub const MAX_STRING_UNITS: usize = 500_000;

/// What stands at the end of a string that was cut.
pub const NOTICE: &str = "\n\n[Session persistence truncated large content]";

const NOTICE_ESCAPED: &str = "\\n\\n[Session persistence truncated large content]";

/// What stands before and behind the reference to the whole string; all of it is escaped.
const WHOLE_TEXT: (&str, &str) = ("\\n\\n[Whole text: ", "]");

/// Cuts a string that is too long, never inside a surrogate pair; `with_blob` keeps all of it.
pub(super) fn cut(string: &RawJson, with_blob: bool) -> Option<(RawJson, Option<Blob>)> {
    let inner = inside(string)?;
    let rest = NOTICE.len() + if with_blob { reference_units() } else { 0 };
    let room = MAX_STRING_UNITS - rest;
    let (mut units, mut at, mut end) = (0, 0, 0);
    while at < inner.len() {
        let (bytes, more) = character(&inner[at..]);
        (units, at) = (units + more, at + bytes);
        if units <= room {
            end = at;
        }
    }
    if units <= MAX_STRING_UNITS {
        return None;
    }
    let blob = with_blob.then(|| Blob::new(string.as_bytes().clone()));
    let reference = blob.as_ref().map(|blob| reference(blob.id())).unwrap_or_default();
    let text = format!("\"{}{reference}{NOTICE_ESCAPED}\"", &inner[..end]);
    Some((RawJson::trusted(text.into()), blob))
}

/// Returns the blob that holds the whole of a string that was cut, if it names one.
pub(super) fn whole_text(string: &RawJson) -> Option<BlobRef> {
    let kept = inside(string)?.strip_suffix(NOTICE_ESCAPED)?.strip_suffix(WHOLE_TEXT.1)?;
    let (before, id) = kept.split_at_checked(kept.len().checked_sub(BLOB_REF_CHARS)?)?;
    before.strip_suffix(WHOLE_TEXT.0)?;
    id.parse().ok()
}

/// Returns the whole string if a blob's bytes are that of this cut one.
pub(super) fn restored(cut: &RawJson, blob: &[u8]) -> Option<RawJson> {
    let id = whole_text(cut)?;
    let tail = reference(id).len() + NOTICE_ESCAPED.len();
    let inner = inside(cut)?;
    let whole = RawJson::parse(bytes::Bytes::copy_from_slice(blob)).ok()?;
    let begins = inside(&whole)?.starts_with(&inner[..inner.len() - tail]);
    begins.then_some(whole)
}

/// The length of a reference in characters: `blob:sha256:` and 64 digits.
const BLOB_REF_CHARS: usize = 12 + 64;

fn reference(id: BlobRef) -> String {
    format!("{}{id}{}", WHOLE_TEXT.0, WHOLE_TEXT.1)
}

/// How many UTF-16 units a reference takes: its two escapes stand for one each.
fn reference_units() -> usize {
    WHOLE_TEXT.0.len() - 2 + BLOB_REF_CHARS + WHOLE_TEXT.1.len()
}

fn inside(string: &RawJson) -> Option<&str> {
    string.as_str().strip_prefix('"')?.strip_suffix('"')
}

/// The bytes and the UTF-16 units of the first character of a string's inside.
fn character(text: &str) -> (usize, usize) {
    let half = |at: usize| {
        let hex = text.get(at..at + 6)?.strip_prefix("\\u")?;
        u16::from_str_radix(hex, 16).ok()
    };
    match text.chars().next() {
        Some('\\') => match (half(0), half(6)) {
            (Some(0xd800..0xdc00), Some(0xdc00..0xe000)) => (12, 2),
            (Some(_), _) => (6, 1),
            (None, _) => (2, 1),
        },
        Some(c) => (c.len_utf8(), c.len_utf16()),
        None => (1, 0),
    }
}
