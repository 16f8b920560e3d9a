//! A place that several hosts share: what it must offer, in sessions and bytes.
//!
//! [`Remote`] is small on purpose: a server with scripts, a bucket with conditional writes and an
//! SQL database can all keep its promises. [`FakeRemote`] keeps them in memory, with faults.

mod checked;
mod error;
mod fake;
mod key;
mod limits;
mod meta;
mod rename;
mod skipped;
mod types;
mod unit;

use std::{fmt::Debug, time::Duration};

use async_trait::async_trait;
use bytes::Bytes;
use session_model::storage::StorageKey;

pub use checked::Checked;
pub use error::RemoteError;
pub use fake::{FakeFaults, FakeRemote};
pub use key::KeyKind;
pub use limits::{MAX_LISTED, MAX_NUMBER, RemoteLimits};
pub use meta::SessionMeta;
pub use rename::rename;
#[cfg(feature = "redis")]
pub(crate) use skipped::shown;
pub use skipped::{Skipped, SkippedRows};
pub use types::{
    Change, Check, Claim, Claimed, Event, Feed, Listed, Names, Page, Part, Put, SessionState,
    Tombstone,
};
pub use unit::{AppendUnit, Applied, Digest, Fence, Position, Rewrite};

/// The result of a call to a remote.
pub type Result<T, E = RemoteError> = std::result::Result<T, E>;

/// The most bytes one [`AppendUnit`] may carry: 1 MiB.
pub const MAX_UNIT_BYTES: usize = 1 << 20;
/// The most bytes of metadata a session may have: 64 KiB.
pub const MAX_META_BYTES: usize = 64 << 10;
/// The most bytes one object may have: 256 MiB.
pub const MAX_OBJECT_BYTES: usize = 256 << 20;
/// The most bytes one [`Remote::read`] answers: 1 MiB.
pub const MAX_READ_BYTES: usize = 1 << 20;

/// Sessions and objects shared by several hosts.
///
/// # The promises of every remote
///
/// - A session's log is a sequence of bytes that only grows within one generation. A rewrite
///   replaces it whole by a log of a higher generation.
/// - Only the holder of the newest claim changes a session: every other call is
///   [`Applied::Fenced`] and changes nothing.
/// - A call changes everything it says or nothing, except that an error of
///   [`RemoteError::Unavailable`] leaves open which. The same call may always be sent again: what
///   is there already is [`Applied::Dup`].
/// - Timestamps are microseconds. Every change has one, no two changes have the same, and a later
///   change has a higher one.
///
/// # What is not promised
///
/// That what is answered is right. [`Checked`] refuses keys, lengths and numbers that nothing of
/// this crate writes; publishers and replicas put it around every remote.
///
/// # Cancel safety
///
/// A cancelled call may or may not have happened, as after [`RemoteError::Unavailable`].
#[async_trait]
pub trait Remote: Debug + Send + Sync + 'static {
    /// Returns how much the remote may make this host take.
    fn limits(&self) -> RemoteLimits {
        RemoteLimits::default()
    }

    /// Connects, and looks whether the server is fit to keep sessions.
    ///
    /// # Errors
    ///
    /// As every call: [`RemoteError`] says whether trying again helps.
    async fn check(&self) -> Result<Check>;

    /// Claims a session for writing, or prolongs the claim the same owner has.
    ///
    /// A new claim raises the session's epoch and so fences the owner before. It is refused while
    /// another owner's lease lasts, unless forced. A claim that answers a higher epoch than the
    /// owner had says that the session was somebody else's in between, or that the remote lost
    /// data: look at [`Remote::state`] before the next unit.
    async fn claim(&self, session: &StorageKey, claim: &Claim) -> Result<Claimed>;

    /// Gives a claim up; does nothing if it is not held any more.
    async fn release(&self, session: &StorageKey, fence: &Fence) -> Result<()>;

    /// Appends units in order and answers one result a unit, in order.
    ///
    /// A unit may overlap what is there: equal bytes are kept and the rest is appended. A unit of
    /// the generation of a begun rewrite goes to that rewrite.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Invalid`] for a unit without bytes or above [`MAX_UNIT_BYTES`] or
    /// [`MAX_META_BYTES`]. An error of one unit does not touch units of other sessions.
    async fn apply(&self, units: &[AppendUnit]) -> Vec<Result<Applied>>;

    /// Begins a rewrite to a higher generation, beside the log that readers see.
    ///
    /// A rewrite begun before and not committed is dropped. [`Applied::Gap`] if the session's
    /// generation is not below `generation`.
    async fn begin_rewrite(
        &self,
        session: &StorageKey,
        fence: &Fence,
        generation: u64,
    ) -> Result<Applied>;

    /// Makes a begun rewrite the session's log, at once for all readers.
    ///
    /// [`Applied::Gap`] unless the begun rewrite has exactly `rewrite.length` bytes,
    /// [`Applied::Conflict`] if it has another digest.
    async fn commit_rewrite(&self, rewrite: &Rewrite) -> Result<Applied>;

    /// Removes a session, leaves a tombstone and gives the claim up.
    ///
    /// The tombstone goes when the session is claimed and written again, from generation 0.
    async fn remove(
        &self,
        session: &StorageKey,
        fence: &Fence,
        moved_to: Option<&StorageKey>,
    ) -> Result<Applied>;

    /// Returns what is known of a session; `None` if it was never claimed.
    async fn state(&self, session: &StorageKey) -> Result<Option<SessionState>>;

    /// Reads a session's bytes from an offset on, at most `limit` and at most [`MAX_READ_BYTES`].
    ///
    /// No bytes are answered only at or past the end. A generation other than that of the call
    /// before says that the log was replaced: read again from 0.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Damaged`] if bytes are missing.
    async fn read(&self, session: &StorageKey, from: u64, limit: usize) -> Result<Option<Part>>;

    /// Lists written and removed sessions, the last active first, `limit` at most.
    ///
    /// `before` is [`Page::next`] of the page before. A session that is written meanwhile moves to
    /// the front and can be missed by a listing under way; the feed tells of it.
    async fn list(&self, before: Option<u64>, limit: usize) -> Result<Page>;

    /// Reads the changes after a timestamp, the oldest first, `limit` at most.
    ///
    /// A change is told once or more often, after it can be seen. Old events are dropped;
    /// [`Feed::complete`] says whether some are missing.
    async fn feed(&self, after: u64, limit: usize) -> Result<Feed>;

    /// Stores an object (a blob, an artifact) unless there is one under this key.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Invalid`] above [`MAX_OBJECT_BYTES`].
    async fn put_object(&self, key: &StorageKey, bytes: Bytes) -> Result<Put>;

    /// Reads an object whole and checks its digest.
    ///
    /// # Errors
    ///
    /// [`RemoteError::Damaged`] if parts are missing or other bytes are there.
    async fn get_object(&self, key: &StorageKey) -> Result<Option<Bytes>>;

    /// Lists the keys of objects below a prefix, sorted, `limit` at most, those after `after` only.
    ///
    /// `after` is [`Names::next`] of the part before.
    ///
    /// An object is listed once it is stored whole. One that is stored or removed meanwhile may be
    /// listed or not.
    async fn list_objects(
        &self,
        prefix: &StorageKey,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Names>;

    /// Tells the digests of objects, in order; `None` for one that is not stored.
    async fn object_digests(&self, keys: &[StorageKey]) -> Result<Vec<Option<Digest>>>;

    /// Removes an object and tells whether there was one.
    async fn remove_object(&self, key: &StorageKey) -> Result<bool>;

    /// Waits until replicas have everything this remote wrote before, and tells how many have.
    ///
    /// Returns after `timeout` with the number reached by then. A remote without replicas of its
    /// own answers 0.
    async fn wait(&self, replicas: u32, timeout: Duration) -> Result<u32>;
}
