//! Appending to an object.

use std::fmt::Debug;

use async_trait::async_trait;
use bytes::Bytes;

use super::{Durability, ObjectMeta, Payload, PutOptions, Result, StorageError};

/// An open object that grows at its end.
///
/// `&mut self` is the order: what one call wrote lies before what the next call writes. After a
/// call returned an error the writer is closed, [`error`](Self::error) tells why, and every
/// further call but `close` returns [`Closed`](super::StorageErrorKind::Closed), unless the call's
/// documentation says otherwise. Dropping a writer gives up its claim and loses nothing accepted.
///
/// A writer belongs to a key, not to the object that was there when it was opened. One that is
/// not exclusive holds no claim: it may be opened beside others, others may write, replace or
/// remove the object, and an exclusive writer may be opened beside it and shuts it out.
///
/// # Cancel safety
///
/// No method is cancel safe: a call that was not awaited to its end leaves open whether it
/// happened, and the writer should be dropped.
#[async_trait]
pub trait AppendWriter: Debug + Send {
    /// Returns the size of the object as this writer knows it, in bytes.
    fn len(&self) -> u64;

    /// Tells whether the object is empty as this writer knows it.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Appends bytes, all or nothing, and returns the offset at which they begin.
    ///
    /// Once it returns, the bytes are accepted and every read through the same store sees them.
    /// The chunks of two writers never interleave. Appending nothing changes nothing. A writer
    /// that is not exclusive creates the object again if it was removed.
    ///
    /// # Errors
    ///
    /// [`Busy`](super::StorageErrorKind::Busy) from a writer that is not exclusive while an
    /// exclusive writer holds the object; it stays open and can try again.
    ///
    /// [`Conflict`](super::StorageErrorKind::Conflict) from an exclusive writer if somebody who
    /// ignores the claim replaced, removed or changed the object: nothing was appended and the
    /// writer stays open, so that its owner can look and call [`replace`](Self::replace) or
    /// [`adopt`](Self::adopt). A writer that is not exclusive goes on at the new object's end.
    async fn append(&mut self, lines: Bytes) -> Result<u64>;

    /// Cuts the object to `len` bytes; nothing happens if it has that size already.
    ///
    /// # Errors
    ///
    /// [`Invalid`](super::StorageErrorKind::Invalid) if `len` is more than the size, or the
    /// writer is not exclusive, and [`Conflict`](super::StorageErrorKind::Conflict) as in
    /// [`append`](Self::append); the writer stays open then.
    async fn truncate(&mut self, len: u64) -> Result<()>;

    /// Replaces the whole object atomically and goes on at the end of the new one.
    ///
    /// As [`put`](super::SessionStorage::put), but under this writer's claim if it has one. The
    /// precondition speaks of the object as it is now, also if somebody changed it who ignores
    /// the claim.
    ///
    /// # Errors
    ///
    /// As `put`. The old object stays as it was, and the writer stays open on it.
    async fn replace(&mut self, body: Payload, options: PutOptions) -> Result<ObjectMeta>;

    /// Accepts the object as somebody else left it and goes on at its present end.
    ///
    /// # Errors
    ///
    /// [`NotFound`](super::StorageErrorKind::NotFound) if the object was removed; the writer
    /// stays open, so that its owner can [`replace`](Self::replace) it.
    async fn adopt(&mut self) -> Result<ObjectMeta>;

    /// Waits until everything appended has reached `level`.
    ///
    /// # Errors
    ///
    /// [`Unsupported`](super::StorageErrorKind::Unsupported) if the backend cannot give `level`, and
    /// [`Conflict`](super::StorageErrorKind::Conflict) as in [`append`](Self::append) for a level
    /// above `Accepted`, although what was appended may have reached it; the writer stays open
    /// then. Any other failure is final for this writer: what it appended
    /// since the last success may be lost, and only a rewrite brings certainty.
    async fn sync(&mut self, level: Durability) -> Result<()>;

    /// Returns the error that closed this writer, if any.
    fn error(&self) -> Option<&StorageError>;

    /// Gives up the claim and returns the object's final state.
    ///
    /// # Errors
    ///
    /// The error that closed this writer before, or what went wrong now:
    /// [`NotFound`](super::StorageErrorKind::NotFound) if the object was removed. The claim is
    /// given up in any case.
    async fn close(self: Box<Self>) -> Result<ObjectMeta>;
}
