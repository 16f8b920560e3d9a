//! The names of files that are not objects.

use std::hash::{BuildHasher, RandomState};

use session_model::storage::RESERVED_PREFIX;

/// The file in the root that every changing operation locks for its duration.
pub(crate) const OPERATION_LOCK: &str = ".~lock";

const LOCK_SUFFIX: &str = ".lock";
const TEMP_SUFFIX: &str = ".tmp";

/// Returns the name of the file that an exclusive writer of the object `name` keeps locked.
pub(crate) fn sidecar(name: &str) -> String {
    format!("{RESERVED_PREFIX}{name}{LOCK_SUFFIX}")
}

/// Returns a fresh name for the object `name` while it is being written.
pub(crate) fn temp(name: &str) -> String {
    let random = RandomState::new().hash_one(name) as u32;
    format!("{RESERVED_PREFIX}{name}.{random:08x}{TEMP_SUFFIX}")
}

/// Tells whether a file is one of the backend's own.
pub(crate) fn is_reserved(name: &[u8]) -> bool {
    name.starts_with(RESERVED_PREFIX.as_bytes())
}

pub(crate) fn is_sidecar(name: &[u8]) -> bool {
    is_reserved(name) && name.ends_with(LOCK_SUFFIX.as_bytes())
}

/// Returns the name of the object a sidecar belongs to.
pub(crate) fn object_of_sidecar(name: &str) -> Option<&str> {
    name.strip_prefix(RESERVED_PREFIX)?.strip_suffix(LOCK_SUFFIX)
}

pub(crate) fn is_temp(name: &[u8]) -> bool {
    is_reserved(name) && name.ends_with(TEMP_SUFFIX.as_bytes())
}

#[cfg(test)]
mod tests {
    use session_model::storage::MAX_SEGMENT_BYTES;

    use super::*;

    #[test]
    fn names_of_the_longest_segment_fit_into_a_directory() {
        let longest = "n".repeat(MAX_SEGMENT_BYTES);
        assert_eq!(temp(&longest).len(), 255);
        assert!(sidecar(&longest).len() <= 255);
    }

    #[test]
    fn own_files_are_told_apart_whatever_the_object_is_called() {
        for name in ["a", "a.lock", "a.tmp"] {
            let (sidecar, temp) = (sidecar(name), temp(name));
            assert!(is_sidecar(sidecar.as_bytes()) && !is_temp(sidecar.as_bytes()), "{sidecar}");
            assert!(is_temp(temp.as_bytes()) && !is_sidecar(temp.as_bytes()), "{temp}");
            assert!(!is_reserved(name.as_bytes()));
        }
        assert!(!is_sidecar(OPERATION_LOCK.as_bytes()) && !is_temp(OPERATION_LOCK.as_bytes()));
    }
}
