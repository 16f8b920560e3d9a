//! Finding what refers to blobs, whatever the file.

use std::collections::{BTreeSet, HashSet};

use session_model::BlobRef;
use session_model::storage::{ReadRange, SessionStorage, StorageError, StorageKey};

/// How much of a file is held at a time, in bytes.
const CHUNK: u64 = 4 * 1024 * 1024;

/// Digits of a hash.
const DIGITS: usize = 64;

/// Which of the blobs `known` an object mentions.
///
/// Every run of digits that is a blob's hash counts, with or without `blob:sha256:` before it,
/// whatever stands around it: the file may be damaged, or written by another program.
pub(super) async fn mentioned(
    storage: &dyn SessionStorage,
    key: &StorageKey,
    known: &HashSet<BlobRef>,
    found: &mut BTreeSet<BlobRef>,
) -> Result<(), StorageError> {
    let (mut offset, mut kept) = (0, Vec::new());
    loop {
        let range = ReadRange::Range { offset, len: CHUNK };
        let (_, parts) = storage.read(key, &[range]).await?;
        let part = parts.into_iter().next().unwrap_or_default();
        if part.is_empty() {
            return Ok(());
        }
        offset += part.len() as u64;
        kept.extend_from_slice(&part);
        in_bytes(&kept, known, found);
        // A hash may go on in the next part.
        kept.drain(..kept.len().saturating_sub(DIGITS - 1));
    }
}

fn in_bytes(bytes: &[u8], known: &HashSet<BlobRef>, found: &mut BTreeSet<BlobRef>) {
    let mut at = 0;
    while at + DIGITS <= bytes.len() {
        // The last byte of the window that is no digit rules out all windows that hold it.
        match bytes[at..at + DIGITS].iter().rposition(|byte| !byte.is_ascii_hexdigit()) {
            Some(other) => at += other + 1,
            None => {
                let hex = String::from_utf8_lossy(&bytes[at..at + DIGITS]).to_ascii_lowercase();
                found.extend(BlobRef::from_hex(&hex).ok().filter(|id| known.contains(id)));
                at += 1;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_found_wherever_it_stands() {
        let ids = [BlobRef::of(b"a"), BlobRef::of(b"b")];
        let known: HashSet<_> = ids.into_iter().collect();
        let [a, b] = ids.map(BlobRef::to_hex);
        for text in [
            format!("{a}{b}"),
            format!("f{a} \0\u{fffd}{}", b.to_uppercase()),
            format!("\"blob\\u003asha256:{a}\" torn blob:sha256:{b}"),
        ] {
            let mut found = BTreeSet::new();
            in_bytes(text.as_bytes(), &known, &mut found);
            assert_eq!(found, ids.into_iter().collect(), "{text}");
        }
        let mut found = BTreeSet::new();
        in_bytes(&a.as_bytes()[1..], &known, &mut found);
        in_bytes(format!("{} {}", &a[..32], &a[32..]).as_bytes(), &known, &mut found);
        assert_eq!(found, BTreeSet::new());
    }
}
