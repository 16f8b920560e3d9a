//! Which keys a remote may name: those of sessions, of their artifacts and of blobs, and no other.
//!
//! A key that comes from a remote becomes the name of a file on this host, so all of them pass
//! here. What one host's file system could read in another way is refused on every host.

use session_model::BlobRef;
use session_model::layout::{BLOBS_DIR, SESSIONS_DIR};
use session_model::storage::StorageKey;

use crate::index::{is_artifact, is_session};

/// What a key of a remote names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KeyKind {
    /// A session: `sessions/<name>.jsonl`, or one folder deeper.
    Session,
    /// What lies in a session's folder, sessions of child agents among it.
    Artifact,
    /// A blob: `blobs/<sha256 in hex>`.
    Blob,
}

impl KeyKind {
    /// Returns what a key names.
    ///
    /// # Errors
    ///
    /// The rule that the key breaks, as the end of a sentence.
    pub fn of(key: &StorageKey) -> Result<Self, &'static str> {
        if let Some(reason) = key.segments().find_map(unsafe_name) {
            return Err(reason);
        }
        let blob = key.as_str().strip_prefix(BLOBS_DIR).and_then(|rest| rest.strip_prefix('/'));
        match blob {
            Some(hex) if BlobRef::from_hex(hex).is_ok_and(|blob| blob.to_hex() == hex) => {
                Ok(Self::Blob)
            }
            Some(_) => Err("a blob is named by 64 hex digits"),
            None if is_session(key) => Ok(Self::Session),
            None if is_artifact(key) => Ok(Self::Artifact),
            None if key.as_str().starts_with(SESSIONS_DIR) => Err("it is no session's name"),
            None => Err("it is neither a session, nor an artifact, nor a blob"),
        }
    }

    /// Checks that a key is of this kind.
    ///
    /// # Errors
    ///
    /// As [`of`](Self::of).
    pub(crate) fn check(self, key: &StorageKey) -> Result<(), &'static str> {
        match (Self::of(key)?, self) {
            (is, wanted) if is == wanted => Ok(()),
            (_, Self::Session) => Err("it is no session's key"),
            (_, Self::Artifact) => Err("it is no artifact's key"),
            (_, Self::Blob) => Err("it is no blob's key"),
        }
    }
}

/// Names that stand for devices on Windows, whatever ending they have.
const DEVICES: [&str; 4] = ["con", "prn", "aux", "nul"];

fn unsafe_name(segment: &str) -> Option<&'static str> {
    let stem = segment.split('.').next().unwrap_or_default().trim_end().to_lowercase();
    let numbered = stem.strip_prefix("com").or_else(|| stem.strip_prefix("lpt"));
    let is_port = numbered.is_some_and(|rest| {
        let mut digits = rest.chars();
        let digit = digits.next();
        digits.next().is_none()
            && digit.is_some_and(|digit| digit.is_ascii_digit() || "¹²³".contains(digit))
    });
    match () {
        () if segment.starts_with('.') => Some("a hidden name"),
        () if segment.contains(char::is_control) => Some("a control character in a name"),
        () if segment.contains(':') => Some("`:` in a name"),
        () if segment.ends_with(['.', ' ']) => Some("a name that ends with a dot or a space"),
        () if is_port || DEVICES.contains(&&*stem) => Some("the name of a device"),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(key: &str) -> Result<KeyKind, &'static str> {
        KeyKind::of(&StorageKey::new(key).unwrap())
    }

    #[test]
    fn sessions_artifacts_and_blobs_are_told_apart() {
        let hex = "0".repeat(64);
        for (key, expected) in [
            ("sessions/a.jsonl", KeyKind::Session),
            ("sessions/--work--/2026-01-01T00-00-00-000Z_x.jsonl", KeyKind::Session),
            ("sessions/b/s/1.bash.log", KeyKind::Artifact),
            ("sessions/b/s/0198a7c2.jsonl", KeyKind::Artifact),
            ("sessions/b/s/0198a7c2/1.read.log", KeyKind::Artifact),
            (&format!("blobs/{hex}"), KeyKind::Blob),
        ] {
            assert_eq!(kind(key), Ok(expected), "{key}");
        }
    }

    #[test]
    fn every_other_key_is_refused() {
        let upper = format!("blobs/{}", "A".repeat(64));
        let short = format!("blobs/{}", "a".repeat(63));
        for (key, reason) in [
            ("extensions/evil.ts", "it is neither a session, nor an artifact, nor a blob"),
            ("history.db", "it is neither a session, nor an artifact, nor a blob"),
            ("trash/x/s.jsonl", "it is neither a session, nor an artifact, nor a blob"),
            ("sessions/b/evil.ts", "it is no session's name"),
            ("sessions", "it is no session's name"),
            ("sessions/.b/s.jsonl", "a hidden name"),
            ("sessions/b/.s.jsonl", "a hidden name"),
            ("sessions/b/s/.ssh/config", "a hidden name"),
            (&upper, "a blob is named by 64 hex digits"),
            (&short, "a blob is named by 64 hex digits"),
            ("blobs/../s", "segment `.` or `..`"),
            ("sessions/b/\u{1b}[2J.jsonl", "a control character in a name"),
            ("sessions/b/a:b.jsonl", "`:` in a name"),
            ("C:/b/a.jsonl", "`:` in a name"),
            ("sessions/b./a.jsonl", "a name that ends with a dot or a space"),
            ("sessions/b/s/a ", "a name that ends with a dot or a space"),
            ("sessions/NUL/a.jsonl", "the name of a device"),
            ("sessions/b/con.jsonl", "the name of a device"),
            ("sessions/b/s/COM1.log", "the name of a device"),
        ] {
            let found = StorageKey::new(key).map_err(|e| e.reason()).and_then(|k| KeyKind::of(&k));
            assert_eq!(found, Err(reason), "{key}");
        }
        assert_eq!(kind("sessions/b/console.jsonl"), Ok(KeyKind::Session));
        assert_eq!(kind("sessions/b/com10.jsonl"), Ok(KeyKind::Session));
    }

    #[test]
    fn a_key_must_be_of_the_kind_that_is_asked_for() {
        let check = |kind: KeyKind, key: &str| kind.check(&StorageKey::new(key).unwrap());
        assert_eq!(check(KeyKind::Session, "sessions/s.jsonl"), Ok(()));
        assert_eq!(check(KeyKind::Session, "sessions/b/s/x"), Err("it is no session's key"));
        assert_eq!(check(KeyKind::Artifact, "sessions/s.jsonl"), Err("it is no artifact's key"));
        assert_eq!(check(KeyKind::Blob, "sessions/s.jsonl"), Err("it is no blob's key"));
    }
}
