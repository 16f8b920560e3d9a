//! The storage contract: what every backend offers, in keys and bytes.
//!
//! A backend stores *objects* under validated [`StorageKey`]s. A session journal, an artifact, a
//! blob and a breadcrumb are all objects; a backend never looks inside one. Implementers write
//! [`SessionStorage`] and [`AppendWriter`]; callers get further conveniences from
//! [`SessionStorageExt`].

mod error;
mod ext;
mod key;
mod object;
mod options;
mod payload;
mod writer;

use std::fmt::{Debug, Display};
use std::ops::Range;
use std::path::PathBuf;
use std::pin::Pin;

use async_trait::async_trait;
use bytes::Bytes;
use futures_core::Stream;

use crate::Diagnostic;

pub use error::{Holder, StorageError, StorageErrorKind};
pub use ext::SessionStorageExt;
pub use key::{InvalidKey, MAX_KEY_BYTES, MAX_SEGMENT_BYTES, RESERVED_PREFIX, StorageKey};
pub use object::{ObjectMeta, Peek, Version};
pub use options::{
    AppendOptions, CopyOptions, Durability, ListOptions, Precondition, PutOptions, ReadRange,
    RenameOptions,
};
pub use payload::Payload;
pub use writer::AppendWriter;

/// The result of a storage operation.
pub type Result<T, E = StorageError> = std::result::Result<T, E>;

/// An owned, sorted listing.
///
/// An `Err` item speaks of one object (its error names the key) and does not end the stream.
pub type ListStream = Pin<Box<dyn Stream<Item = Result<ObjectMeta>> + Send + 'static>>;

/// A place where objects are kept under keys.
///
/// # The promises of every backend
///
/// - A key that one backend accepts, all accept; nothing outside the backend's root is reachable.
/// - An object cannot lie below another object: while `a` is an object, writing `a/b` is an
///   error of kind [`StorageErrorKind::Invalid`], and so is writing `a` while `a/b` exists. Only
///   objects count: once nothing lies below `a` any more, `a` can be written, and a key that is
///   merely the prefix of others is [`StorageErrorKind::NotFound`].
/// - Readers see an object whole: before or after a [`put`](Self::put), never between.
/// - What a call changed is visible to every later call through the same store once it returns.
/// - A call that returns an error changed nothing, unless its documentation says otherwise. Where
///   several errors apply, any one of them is returned. The error names the object it is about.
/// - Files of the backend's own (locks, temporary files) are never listed or readable as objects.
///
/// The conformance suite (feature `conformance`) checks these promises on any backend.
///
/// # Cancel safety
///
/// Calls that only read are cancel safe. A cancelled write may or may not have happened, but is
/// never half done.
#[async_trait]
pub trait SessionStorage: Debug + Display + Send + Sync + 'static {
    /// Returns size, time and version of an object without reading it.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::NotFound`] if there is no such object.
    async fn head(&self, key: &StorageKey) -> Result<ObjectMeta>;

    /// Reads parts of one object, all from the same state of it.
    ///
    /// Answers one [`Bytes`] a range, in order; none without ranges. A range that reaches past the
    /// end is cut short.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::NotFound`] if there is no such object.
    async fn read(
        &self,
        key: &StorageKey,
        ranges: &[ReadRange],
    ) -> Result<(ObjectMeta, Vec<Bytes>)>;

    /// Reads the first `head` and the last `tail` bytes of many objects.
    ///
    /// Answers one result a key, in order. The tail never repeats bytes of the head, and both are
    /// from the same state of the object. One key's error does not touch the others.
    async fn peek(&self, keys: &[StorageKey], head: u64, tail: u64) -> Vec<Result<Peek>>;

    /// Replaces an object atomically, or creates it.
    ///
    /// Readers see the old or the new object whole. Of two racing puts with the same
    /// [`Precondition::Version`] or [`Precondition::Absent`] exactly one wins.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::AlreadyExists`], [`StorageErrorKind::NotFound`] or
    /// [`StorageErrorKind::Conflict`] when the precondition fails, [`StorageErrorKind::Busy`]
    /// while an exclusive writer holds the object (its owner uses [`AppendWriter::replace`]),
    /// [`StorageErrorKind::Unsupported`] if the backend cannot give `options.durability`; nothing
    /// is changed then.
    async fn put(&self, key: &StorageKey, body: Payload, options: PutOptions)
    -> Result<ObjectMeta>;

    /// Replaces an object as [`put`](Self::put) does, with these bytes and behind them a part of an
    /// object, which may be the one that is replaced.
    ///
    /// For a copy with another beginning: a backend that can spares the way through memory. This
    /// one reads the part and puts both.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::NotFound`] naming the source if there is none,
    /// [`StorageErrorKind::Conflict`] naming it if it ends before the part does; otherwise as
    /// [`put`](Self::put).
    async fn put_joined(
        &self,
        key: &StorageKey,
        head: Payload,
        source: &StorageKey,
        part: Range<u64>,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        let len = part.end.saturating_sub(part.start);
        let range = ReadRange::Range { offset: part.start, len };
        let (meta, parts) = self.read(source, &[range]).await?;
        if meta.size < part.end {
            return Err(StorageError::ends_before(source, &part));
        }
        let mut body = head;
        body.extend(parts);
        self.put(key, body, options).await
    }

    /// Opens an object for appending, creating it empty if it does not exist.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::Busy`] naming the holder while another live exclusive writer, in any
    /// process, holds the object. The claim of a dead holder is taken over.
    /// [`StorageErrorKind::AlreadyExists`], [`StorageErrorKind::NotFound`] or
    /// [`StorageErrorKind::Conflict`] when `options.precondition` fails. A failed call creates no
    /// object and leaves no claim.
    async fn open_append(
        &self,
        key: &StorageKey,
        options: AppendOptions,
    ) -> Result<Box<dyn AppendWriter>>;

    /// Copies an object; the copy appears whole.
    ///
    /// An overwriting copy of an object onto itself leaves its content as it is.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::NotFound`] naming the source if there is none,
    /// [`StorageErrorKind::AlreadyExists`] naming the target if it exists and
    /// `options.overwrite` is off, [`StorageErrorKind::Busy`] while an exclusive writer holds the
    /// target. A held source is no hindrance.
    async fn copy(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: CopyOptions,
    ) -> Result<ObjectMeta>;

    /// Moves an object; at every moment it is at one of the two keys.
    ///
    /// An overwriting rename of an object onto itself leaves its content as it is.
    ///
    /// # Errors
    ///
    /// As [`copy`](Self::copy), and [`StorageErrorKind::Busy`] naming it while an exclusive writer
    /// holds either object.
    async fn rename(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: RenameOptions,
    ) -> Result<ObjectMeta>;

    /// Removes an object.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::NotFound`] if there is none, [`StorageErrorKind::Busy`] while an
    /// exclusive writer holds it.
    async fn remove(&self, key: &StorageKey) -> Result<()>;

    /// Removes every object below a prefix and returns how many there were.
    ///
    /// The object at the prefix itself, if any, stays. No objects below is no error: 0 is
    /// returned. Not atomic: an error can leave some objects removed and some not.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::Busy`] while an exclusive writer holds one of the objects; found out
    /// before the first is removed.
    async fn remove_all(&self, prefix: &StorageKey) -> Result<u64>;

    /// Lists the objects below a prefix (or all), sorted by key as bytes.
    ///
    /// A prefix with nothing below it lists nothing. An object that cannot be looked at is an
    /// `Err` item that names its key; the listing goes on. An object that is there from before the
    /// first item to after the last is listed exactly once, whatever happens to others meanwhile.
    fn list(&self, prefix: Option<&StorageKey>, options: ListOptions) -> ListStream;

    /// Waits until everything handed over has reached `level`.
    ///
    /// # Errors
    ///
    /// [`StorageErrorKind::Unsupported`] if the backend cannot give `level`.
    async fn drain(&self, level: Durability) -> Result<()>;

    /// Returns the path of a file that holds the object, for backends that have one, or would hold
    /// it if it existed.
    fn local_path(&self, key: &StorageKey) -> Option<PathBuf>;

    /// Returns what was found of the storage itself since it was opened that its user should be
    /// told: something beside the objects was set aside, or is not used. Default: nothing.
    ///
    /// The objects are whole and can be used all the same.
    fn diagnostics(&self) -> Vec<Diagnostic> {
        Vec::new()
    }
}
