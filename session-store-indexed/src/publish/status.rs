//! How far publishing is behind, and why.

use std::time::Duration;

use session_model::storage::StorageKey;

use super::PublishError;
use crate::outbox::Blocked;

/// Whether the remote answers.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Connection {
    /// It was not asked yet.
    #[default]
    Starting,
    /// It answers.
    Up,
    /// It does not, or refuses everything.
    Down {
        /// Since when, in milliseconds since the epoch.
        since_ms: i64,
        /// How many attempts failed in a row.
        attempts: u32,
    },
    /// Another process of this host publishes.
    Elsewhere,
}

/// A session another host has, which is therefore not published.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Held {
    /// The session.
    pub key: StorageKey,
    /// Who has it.
    pub owner: String,
    /// Until when, unless it is prolonged; in milliseconds since the epoch.
    pub until_ms: i64,
}

/// How far one session, or artifact, is behind.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SessionLag {
    /// Its key.
    pub key: String,
    /// How many entries wait.
    pub entries: u64,
    /// How many bytes wait.
    pub bytes: u64,
    /// How long the oldest of it has waited.
    pub age: Duration,
}

/// The state of publishing.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PublishStatus {
    /// Whether the remote answers, as this process knows.
    pub connection: Connection,
    /// Why the last attempt failed, if it did.
    pub last_error: Option<PublishError>,
    /// What an operator of the remote should change.
    pub warnings: Vec<String>,
    /// How many rows wait in the outbox, without those that are blocked.
    pub rows: u64,
    /// How many entries wait in the sessions of `sessions`.
    pub entries: u64,
    /// How many bytes these rows name.
    pub bytes: u64,
    /// How long the oldest of them has waited.
    pub age: Duration,
    /// What waits, the longest waiting first, up to the number asked for.
    pub sessions: Vec<SessionLag>,
    /// Sessions other hosts have.
    pub held: Vec<Held>,
    /// What is not published until somebody decides.
    pub blocked: Vec<Blocked>,
    /// Bytes published since this process opened the storage.
    pub published_bytes: u64,
}
