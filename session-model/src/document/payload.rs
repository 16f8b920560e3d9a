//! Putting a session file together again.

use bytes::Bytes;

use super::SessionDocument;
use crate::storage::Payload;

impl SessionDocument {
    /// Returns how the file begins: the header, with what stands before it.
    pub fn beginning(&self) -> Payload {
        let mut beginning = Payload::from(self.preamble.clone());
        beginning.extend(self.header.lines().into_iter().cloned());
        beginning
    }

    /// Returns the whole file: what was not changed is the same bytes as were read.
    pub fn to_payload(&self) -> Payload {
        let mut parts = Parts { payload: Payload::default(), source: &self.source, run: None };
        parts.push(&self.preamble);
        self.header.lines().into_iter().for_each(|line| parts.push(line));
        let mut kept = self.kept.iter().peekable();
        for (at, entry) in self.tree.entries().iter().enumerate() {
            while let Some(kept) = kept.next_if(|kept| kept.after <= at) {
                parts.push(&kept.bytes);
            }
            parts.push(entry.line());
        }
        kept.for_each(|kept| parts.push(&kept.bytes));
        parts.push(&self.torn);
        parts.finish()
    }
}

/// Joins neighbours in the source buffer, so that an unchanged file is one chunk.
struct Parts<'a> {
    payload: Payload,
    source: &'a Bytes,
    run: Option<std::ops::Range<usize>>,
}

impl Parts<'_> {
    fn push(&mut self, bytes: &Bytes) {
        if bytes.is_empty() {
            return;
        }
        let start = (bytes.as_ptr() as usize).wrapping_sub(self.source.as_ptr() as usize);
        let inside = start.checked_add(bytes.len()).is_some_and(|end| end <= self.source.len());
        match &mut self.run {
            Some(run) if inside && run.end == start => run.end += bytes.len(),
            _ => {
                self.flush();
                if inside {
                    self.run = Some(start..start + bytes.len());
                } else {
                    self.payload.push(bytes.clone());
                }
            }
        }
    }

    fn flush(&mut self) {
        if let Some(run) = self.run.take() {
            self.payload.push(self.source.slice(run));
        }
    }

    fn finish(mut self) -> Payload {
        self.flush();
        self.payload
    }
}
