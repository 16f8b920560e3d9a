//! The bytes of one object: cheap to append to, cheap to read.

use std::mem::take;
use std::ops::Range;

use bytes::{Bytes, BytesMut};

/// Bytes that readers share, and behind them those appended since.
///
/// An append never moves what is there. A read of most of it joins the parts once, in place if no
/// reader holds the first part any more; reading again is then free.
#[derive(Debug, Default)]
pub(crate) struct Content {
    shared: Bytes,
    tail: Vec<u8>,
}

impl Content {
    pub(crate) fn len(&self) -> u64 {
        (self.shared.len() + self.tail.len()) as u64
    }

    pub(crate) fn append(&mut self, bytes: &[u8]) {
        self.tail.extend_from_slice(bytes);
    }

    pub(crate) fn truncate(&mut self, len: u64) {
        let len = len as usize;
        self.tail.truncate(len.saturating_sub(self.shared.len()));
        self.shared.truncate(len);
    }

    /// Returns a part; the range must lie inside. What is copied for it is never more than about
    /// twice its size.
    pub(crate) fn slice(&mut self, range: Range<u64>) -> Bytes {
        let (start, end, border) = (range.start as usize, range.end as usize, self.shared.len());
        if end > border && (end - start) as u64 * 2 < self.len() {
            let (first, then) = (start.min(border), start.max(border));
            return [&self.shared[first..], &self.tail[then - border..end - border]]
                .concat()
                .into();
        }
        if end > border {
            self.join();
        }
        self.shared.slice(start..end)
    }

    pub(crate) fn whole(&mut self) -> Bytes {
        self.join();
        self.shared.clone()
    }

    fn join(&mut self) {
        if self.tail.is_empty() {
            return;
        }
        let tail = take(&mut self.tail);
        if self.shared.is_empty() {
            self.shared = tail.into();
            return;
        }
        let mut whole = take(&mut self.shared).try_into_mut().unwrap_or_else(|held| {
            let mut copy = BytesMut::with_capacity(held.len() + tail.len());
            copy.extend_from_slice(&held);
            copy
        });
        whole.extend_from_slice(&tail);
        self.shared = whole.freeze();
    }
}

impl From<Bytes> for Content {
    fn from(shared: Bytes) -> Self {
        Self { shared, tail: Vec::new() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_right_wherever_the_border_lies() {
        let all = b"0123456789";
        for border in 0..=all.len() {
            for (start, end) in (0..=10).flat_map(|s| (s..=10).map(move |e| (s, e))) {
                let mut content = Content::from(Bytes::copy_from_slice(&all[..border]));
                content.append(&all[border..]);
                assert_eq!(content.slice(start..end), all[start as usize..end as usize]);
                assert_eq!(content.whole(), &all[..]);
            }
        }
    }

    #[test]
    fn truncating_cuts_either_part() {
        for len in 0..=6 {
            let mut content = Content::from(Bytes::from("abc"));
            content.append(b"def");
            content.truncate(len);
            content.append(b"+");
            assert_eq!(content.len(), len + 1);
            assert_eq!(content.whole(), [&b"abcdef"[..len as usize], b"+"].concat());
        }
    }

    #[test]
    fn what_a_reader_holds_never_changes() {
        let mut content = Content::default();
        content.append(b"one");
        let held = content.whole();
        content.append(b"two");
        content.truncate(4);
        let later = content.whole();
        content.truncate(0);
        content.append(b"xyz");
        assert_eq!((held, later, content.whole()), ("one".into(), "onet".into(), "xyz".into()));
    }

    #[test]
    fn reading_again_copies_nothing() {
        let mut content = Content::from(Bytes::from(vec![1; 100]));
        content.append(&[2; 100]);
        let first = content.whole();
        assert_eq!(first.as_ptr(), content.whole().as_ptr());
        assert_eq!(first[50..].as_ptr(), content.slice(50..200).as_ptr());
    }
}
