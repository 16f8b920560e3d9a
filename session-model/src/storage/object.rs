//! What is known of an object without, or with little of, its content.

use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use bytes::Bytes;

use super::StorageKey;

/// An opaque token that differs between any two states of an object in one backend.
///
/// A state begins with a write: every put, replace and overwriting copy or rename begins one,
/// even with the bytes that were there before, and so does every append or truncation that
/// changes the size. Reading, opening a writer, appending nothing, truncating to the present size
/// and calls that fail begin none. An object that was removed and made again is another object.
///
/// Only equality has a meaning, and only under one key of one backend.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(Arc<str>);

impl Version {
    /// Wraps a backend's token.
    pub fn new(token: impl AsRef<str>) -> Self {
        Self(token.as_ref().into())
    }

    /// Returns the token.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// How long an object must have been as it is before what was found out of it is kept.
const SETTLED: Duration = Duration::from_secs(2);

/// Size, time and version of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ObjectMeta {
    /// The object's key.
    pub key: StorageKey,
    /// The size in bytes.
    pub size: u64,
    /// When the content last changed, by the backend's clock.
    pub modified: SystemTime,
    /// The state of the object.
    pub version: Version,
}

impl ObjectMeta {
    /// Puts the parts together.
    pub fn new(key: StorageKey, size: u64, modified: SystemTime, version: Version) -> Self {
        Self { key, size, modified, version }
    }

    /// Tells whether the object had been in this state for two seconds at a time: longer than a tick
    /// of any clock a file system takes its times from, so that every later change shows.
    pub fn is_settled(&self, now: SystemTime) -> bool {
        now.duration_since(self.modified).is_ok_and(|age| age >= SETTLED)
    }
}

/// The beginning and the end of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Peek {
    /// The object peeked at.
    pub meta: ObjectMeta,
    /// The first bytes.
    pub head: Bytes,
    /// The last bytes, without those already in `head`.
    pub tail: Bytes,
}

impl Peek {
    /// Puts the parts together.
    pub fn new(meta: ObjectMeta, head: Bytes, tail: Bytes) -> Self {
        Self { meta, head, tail }
    }

    /// Tells whether `head` and `tail` together are the whole object.
    pub fn is_whole(&self) -> bool {
        (self.head.len() + self.tail.len()) as u64 == self.meta.size
    }
}
