//! The content of an object to be written.

use bytes::Bytes;

/// Bytes to be written, in chunks that need not be copied together.
///
/// ```
/// use session_model::storage::Payload;
///
/// let payload: Payload = ["a\n", "b\n"].into_iter().map(bytes::Bytes::from).collect();
/// assert_eq!(payload.len(), 4);
/// assert_eq!(payload.to_bytes(), "a\nb\n");
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Payload {
    chunks: Vec<Bytes>,
    len: u64,
}

impl Payload {
    /// Adds bytes at the end.
    pub fn push(&mut self, chunk: impl Into<Bytes>) {
        let chunk = chunk.into();
        if !chunk.is_empty() {
            self.len += chunk.len() as u64;
            self.chunks.push(chunk);
        }
    }

    /// Returns the size of all chunks in bytes.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Tells whether there is nothing to write.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Returns the chunks in order; none is empty.
    pub fn chunks(&self) -> &[Bytes] {
        &self.chunks
    }

    /// Returns the content in one piece, copying only if there are several chunks.
    pub fn to_bytes(&self) -> Bytes {
        match self.chunks.as_slice() {
            [] => Bytes::new(),
            [one] => one.clone(),
            many => many.concat().into(),
        }
    }
}

impl<B: Into<Bytes>> From<B> for Payload {
    fn from(bytes: B) -> Self {
        let mut payload = Self::default();
        payload.push(bytes);
        payload
    }
}

impl<B: Into<Bytes>> FromIterator<B> for Payload {
    fn from_iter<I: IntoIterator<Item = B>>(chunks: I) -> Self {
        let mut payload = Self::default();
        payload.extend(chunks);
        payload
    }
}

impl<B: Into<Bytes>> Extend<B> for Payload {
    fn extend<I: IntoIterator<Item = B>>(&mut self, chunks: I) {
        chunks.into_iter().for_each(|chunk| self.push(chunk));
    }
}
