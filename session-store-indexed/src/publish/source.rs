//! Reading a session's file, in the state that is indexed.

use std::collections::BTreeMap;

use bytes::Bytes;
use memchr::memchr;
use session_model::storage::{
    ReadRange, SessionStorage, StorageError, StorageErrorKind, StorageKey,
};
use sha2::{Digest as _, Sha256};

use crate::index::{Known, fingerprint, identity, samples};
use crate::remote::Digest;

/// How much is read at once to be hashed.
const CHUNK: u64 = 4 << 20;

/// How much before a part is read with it: a reference to a blob may begin there.
const OVERLAP: u64 = 128;

/// A part of a session's file.
#[derive(Debug)]
pub(super) struct Part {
    pub(super) bytes: Bytes,
    /// The same, with some of what is before.
    pub(super) text: Bytes,
}

/// The indexed part of a session's file.
#[derive(Debug)]
pub(super) struct Source<'a> {
    storage: &'a dyn SessionStorage,
    pub(super) key: &'a StorageKey,
    known: Known,
    /// Hashes of beginnings, by their length.
    hashes: BTreeMap<u64, Sha256>,
}

impl<'a> Source<'a> {
    pub(super) fn new(storage: &'a dyn SessionStorage, key: &'a StorageKey, known: Known) -> Self {
        Self { storage, key, known, hashes: BTreeMap::from([(0, Sha256::new())]) }
    }

    /// Tells whether the index has read the file to the end it had; `None` as [`read`](Self::read).
    pub(super) async fn is_whole(&self) -> Result<Option<bool>, StorageError> {
        let (mut at, end) = (self.known.indexed, self.known.size);
        while at < end {
            let stop = end.min(at + CHUNK);
            match self.read(at, stop).await? {
                None => return Ok(None),
                Some(bytes) if memchr(b'\n', &bytes).is_some() => return Ok(Some(false)),
                Some(_) => at = stop,
            }
        }
        Ok(Some(true))
    }

    pub(super) fn generation(&self) -> u64 {
        self.known.generation
    }

    pub(super) fn len(&self) -> u64 {
        self.known.indexed
    }

    /// Gives a hash that is known already.
    pub(super) fn knows(&mut self, length: u64, hash: Sha256) {
        self.hashes.insert(length, hash);
    }

    /// Reads a range; `None` if the file is not in the indexed state any more.
    pub(super) async fn read(&self, start: u64, stop: u64) -> Result<Option<Bytes>, StorageError> {
        let path = self.storage.local_path(self.key);
        let [head, tail] = samples(self.known.indexed);
        let range = ReadRange::Range { offset: start, len: stop - start };
        let (meta, parts) = match self.storage.read(self.key, &[head, tail, range]).await {
            Ok(read) => read,
            Err(error) if error.kind() == StorageErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error),
        };
        let [head, tail, bytes] = <[Bytes; 3]>::try_from(parts).unwrap_or_default();
        let same = meta.size >= self.known.indexed
            && fingerprint(&head, &tail) == self.known.fingerprint
            && identity(path.as_deref()) == self.known.identity;
        Ok(Some(bytes).filter(|bytes| same && bytes.len() as u64 == stop - start))
    }

    /// Reads a range, and with it some of what is before; `None` as [`read`](Self::read).
    pub(super) async fn read_part(
        &self,
        start: u64,
        stop: u64,
    ) -> Result<Option<Part>, StorageError> {
        let from = start.saturating_sub(OVERLAP);
        let text = self.read(from, stop).await?;
        Ok(text.map(|text| Part { bytes: text.slice((start - from) as usize..), text }))
    }

    /// Hashes the first `length` bytes; `None` as [`read`](Self::read).
    pub(super) async fn hash(&mut self, length: u64) -> Result<Option<Sha256>, StorageError> {
        let (mut at, mut hash) = match self.hashes.range(..=length).next_back() {
            Some((&at, hash)) => (at, hash.clone()),
            None => (0, Sha256::new()),
        };
        while at < length {
            let stop = length.min(at + CHUNK);
            let Some(bytes) = self.read(at, stop).await? else { return Ok(None) };
            hash.update(&bytes);
            at = stop;
        }
        self.hashes.insert(length, hash.clone());
        Ok(Some(hash))
    }

    /// Tells whether the file begins with `length` bytes of this digest; `None` as
    /// [`read`](Self::read).
    pub(super) async fn begins_with(
        &mut self,
        length: u64,
        digest: &Digest,
    ) -> Result<Option<bool>, StorageError> {
        if length > self.len() {
            return Ok(Some(false));
        }
        Ok(self.hash(length).await?.map(|hash| digest_of(&hash) == *digest))
    }
}

pub(super) fn digest_of(hash: &Sha256) -> Digest {
    Digest(hash.clone().finalize().into())
}
