//! The parts of a file a summary is made of.

use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::storage::Peek;

/// A file, or its beginning and its end.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct FileParts {
    /// The first bytes.
    pub head: Bytes,
    /// The last bytes, without those in `head`.
    pub tail: Bytes,
    /// The size of the whole file.
    pub size: u64,
    /// When the file was changed, in milliseconds since the epoch.
    pub modified_ms: Option<i64>,
}

impl FileParts {
    /// A file that was read whole.
    pub fn whole(file: impl Into<Bytes>) -> Self {
        let head = file.into();
        Self { size: head.len() as u64, head, tail: Bytes::new(), modified_ms: None }
    }

    /// Tells whether the parts are all there is.
    pub fn is_whole(&self) -> bool {
        (self.head.len() + self.tail.len()) as u64 >= self.size
    }
}

impl From<Peek> for FileParts {
    fn from(peek: Peek) -> Self {
        let modified_ms = Some(epoch_ms(peek.meta.modified));
        Self { head: peek.head, tail: peek.tail, size: peek.meta.size, modified_ms }
    }
}

fn epoch_ms(time: SystemTime) -> i64 {
    let ms = |duration: std::time::Duration| i64::try_from(duration.as_millis());
    match time.duration_since(UNIX_EPOCH) {
        Ok(since) => ms(since).unwrap_or(i64::MAX),
        Err(before) => ms(before.duration()).map_or(i64::MIN, |ms| -ms),
    }
}
