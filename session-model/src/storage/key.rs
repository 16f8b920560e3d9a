//! Validated names of objects.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// The longest key, in bytes.
pub const MAX_KEY_BYTES: usize = 1024;

/// The longest segment of a key, in bytes.
///
/// File systems commonly stop at 255; the rest is left for a backend's own prefixes and suffixes.
pub const MAX_SEGMENT_BYTES: usize = 240;

/// What a segment must not start with: backends name their lock and temporary files so.
pub const RESERVED_PREFIX: &str = ".~";

/// The name of an object: UTF-8 segments separated by `/`.
///
/// No segment is empty, `.` or `..`, holds NUL or a backslash, starts with
/// [`RESERVED_PREFIX`], or is longer than [`MAX_SEGMENT_BYTES`]; the whole is at most
/// [`MAX_KEY_BYTES`] long. Such a key is safe to join to a root directory. Cloning is cheap.
///
/// ```
/// use session_model::storage::StorageKey;
///
/// let key = StorageKey::new("sessions/--work--/2026.jsonl")?;
/// assert_eq!(key.file_name(), "2026.jsonl");
/// assert_eq!(key.parent().unwrap().as_str(), "sessions/--work--");
/// assert!(StorageKey::new("../etc/passwd").is_err());
/// # Ok::<(), session_model::storage::InvalidKey>(())
/// ```
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StorageKey(Arc<str>);

/// A text that is not a valid [`StorageKey`], and why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("invalid storage key {key:?}: {reason}")]
pub struct InvalidKey {
    key: String,
    reason: &'static str,
}

impl InvalidKey {
    /// Returns the rule that is broken.
    pub fn reason(&self) -> &'static str {
        self.reason
    }
}

impl StorageKey {
    /// Checks a text and makes it a key.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] naming the first rule that is broken.
    pub fn new(key: impl AsRef<str>) -> Result<Self, InvalidKey> {
        let key = key.as_ref();
        match check(key) {
            None => Ok(Self(key.into())),
            Some(reason) => Err(InvalidKey { key: key.to_owned(), reason }),
        }
    }

    /// Returns the key as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the segments in order; there is at least one.
    pub fn segments(&self) -> impl DoubleEndedIterator<Item = &str> {
        self.0.split('/')
    }

    /// Returns the last segment.
    pub fn file_name(&self) -> &str {
        self.0.rsplit('/').next().unwrap_or(&self.0)
    }

    /// Returns the key without its last segment, or `None` for a key of one segment.
    pub fn parent(&self) -> Option<Self> {
        self.0.rsplit_once('/').map(|(parent, _)| Self(parent.into()))
    }

    /// Returns this key with `/` and further segments behind it.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] if the result is no valid key.
    pub fn join(&self, rest: impl AsRef<str>) -> Result<Self, InvalidKey> {
        Self::new(format!("{}/{}", self.0, rest.as_ref()))
    }

    /// Returns this key with its last segment replaced.
    ///
    /// # Errors
    ///
    /// [`InvalidKey`] if the result is no valid key.
    pub fn with_file_name(&self, name: impl AsRef<str>) -> Result<Self, InvalidKey> {
        match self.0.rsplit_once('/') {
            Some((parent, _)) => Self::new(format!("{parent}/{}", name.as_ref())),
            None => Self::new(name),
        }
    }

    /// Tells whether this key lies below `prefix`: `a/b` is below `a`, `ab` and `a` are not.
    pub fn is_below(&self, prefix: &Self) -> bool {
        self.0.strip_prefix(prefix.as_str()).is_some_and(|rest| rest.starts_with('/'))
    }
}

fn check(key: &str) -> Option<&'static str> {
    if key.len() > MAX_KEY_BYTES {
        return Some("longer than 1024 bytes");
    }
    key.split('/').find_map(|segment| match segment {
        "" => Some("empty segment"),
        "." | ".." => Some("segment `.` or `..`"),
        _ if segment.len() > MAX_SEGMENT_BYTES => Some("segment longer than 240 bytes"),
        _ if segment.contains(['\0', '\\']) => Some("NUL or backslash"),
        _ if segment.starts_with(RESERVED_PREFIX) => Some("segment starts with `.~`"),
        _ => None,
    })
}

impl fmt::Debug for StorageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(self.as_str(), f)
    }
}

impl fmt::Display for StorageKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for StorageKey {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Borrow<str> for StorageKey {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl FromStr for StorageKey {
    type Err = InvalidKey;

    fn from_str(key: &str) -> Result<Self, InvalidKey> {
        Self::new(key)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accepts_what_sessions_use() {
        for key in
            ["a", "sessions/--w-app--/2026-01-01T00-00-00-000Z_x.jsonl", ".hidden/ü 名", "a~/..b"]
        {
            assert_eq!(StorageKey::new(key).map(|k| k.to_string()), Ok(key.to_owned()));
        }
    }

    #[test]
    fn refuses_each_broken_rule() {
        let long_segment = "s".repeat(241);
        let long_key = ["k".repeat(200).as_str(); 6].join("/");
        for (key, reason) in [
            ("", "empty segment"),
            ("/a", "empty segment"),
            ("a/", "empty segment"),
            ("a//b", "empty segment"),
            ("a/./b", "segment `.` or `..`"),
            ("..", "segment `.` or `..`"),
            ("a\0", "NUL or backslash"),
            ("a\\b", "NUL or backslash"),
            ("a/.~b", "segment starts with `.~`"),
            (&long_segment, "segment longer than 240 bytes"),
            (&long_key, "longer than 1024 bytes"),
        ] {
            assert_eq!(StorageKey::new(key).map_err(|e| e.reason), Err(reason), "{key:?}");
        }
    }

    #[test]
    fn takes_keys_apart() {
        let key = StorageKey::new("a/b/c").unwrap();
        assert_eq!(key.file_name(), "c");
        assert_eq!(key.parent(), Some(StorageKey::new("a/b").unwrap()));
        assert_eq!(StorageKey::new("a").unwrap().parent(), None);
        assert_eq!(key.with_file_name("d").unwrap().as_str(), "a/b/d");
        assert!(key.is_below(&StorageKey::new("a/b").unwrap()));
        assert!(!key.is_below(&key));
        assert!(!StorageKey::new("a/bc").unwrap().is_below(&StorageKey::new("a/b").unwrap()));
    }
}
