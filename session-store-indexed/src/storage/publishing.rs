//! Sharing the sessions of a storage through a remote.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use session_model::layout::SESSIONS_DIR;
use session_model::storage::{Durability, PutOptions, Result, SessionStorage, StorageKey};

use super::IndexedStorage;
use super::orders::Orders;
use crate::index::{self, IndexError, IndexOptions, Queue};
use crate::outbox::{self, BlockKind, Blocked};
use crate::publish::{
    Driver, Opened, PublishOptions, PublishStatus, Publisher, SessionLag, Shared, What, Writing,
};
use crate::remote::{Fence, Remote};
use crate::sqlite::{Database, Settings};

/// What a storage knows of its publisher.
#[derive(Debug)]
pub(super) struct Publishing {
    shared: Arc<Shared>,
    timeout: Duration,
    owner: String,
    pub(super) orders: Orders,
    /// The thread, unless the caller steps the publisher.
    driver: Option<Driver>,
}

/// What a writer needs in order to wait for the remote.
#[derive(Debug)]
pub(super) struct Waits {
    shared: Arc<Shared>,
    timeout: Duration,
    pub(super) orders: Orders,
    _opened: Opened,
}

impl Publishing {
    pub(super) fn opened(&self, key: &StorageKey) -> Waits {
        let _opened = self.shared.opened(key);
        let orders = self.orders.clone();
        Waits { shared: Arc::clone(&self.shared), timeout: self.timeout, orders, _opened }
    }

    pub(super) fn writing(&self, key: &StorageKey) -> Option<Writing> {
        self.orders.writing(key)
    }

    pub(super) async fn all(&self, queue: &Queue) -> Result<()> {
        let key = StorageKey::new(SESSIONS_DIR)?;
        self.shared.published(What::All(key), queue.hurry(), self.timeout).await
    }
}

impl Waits {
    pub(super) async fn published(&self, queue: &Queue, key: &StorageKey, len: u64) -> Result<()> {
        published(&self.shared, self.timeout, queue, key, len).await
    }
}

/// Waits for an object that is published; others are never sent.
async fn published(
    shared: &Shared,
    timeout: Duration,
    queue: &Queue,
    key: &StorageKey,
    len: u64,
) -> Result<()> {
    let what = if index::is_session(key) {
        What::Log(key.clone(), len)
    } else if index::is_artifact(key) {
        What::Object(key.clone())
    } else {
        return Ok(());
    };
    shared.published(what, queue.hurry(), timeout).await
}

/// The level asked of the storage below; what is published is durable here first.
pub(super) fn here(publishes: bool, level: Durability) -> Durability {
    if publishes { level.min(Durability::Durable) } else { level }
}

/// # Sharing
///
/// A storage opened with a [`Remote`] publishes its sessions and what they name: in the order of
/// the outbox, each session strictly by offset, each byte once. Everything is written here first
/// and stays here; with the remote away appends go on, and what is missing there follows later.
/// Only sessions, their artifacts and the blobs they name are published; of other objects
/// [`Durability::Published`] asks no more than `Durable`.
///
/// An append that is to be confirmed by the remote before it counts is followed by
/// [`sync`](session_model::storage::AppendWriter::sync) to `Published`. It fails with
/// `Unavailable` after [`timeout`](PublishOptions::timeout), with `Fenced` if another host has gone
/// on with the session, and with `Other` if the remote refuses it; what was appended is durable
/// here in each case.
impl IndexedStorage {
    /// Opens a storage as [`open`](Self::open) does, and publishes from a thread of its own.
    ///
    /// Of several processes with one database one publishes. Dropping the storage publishes what
    /// is left for [`drain`](PublishOptions::drain) at most.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open). A remote that does not answer is no error.
    pub fn open_shared(
        inner: Arc<dyn SessionStorage>,
        path: impl AsRef<Path>,
        options: IndexOptions,
        remote: Arc<dyn Remote>,
        publish: PublishOptions,
    ) -> Result<Self, IndexError> {
        let path = path.as_ref();
        let (mut storage, publisher) =
            Self::open_with_publisher(inner, path, options, remote, publish)?;
        let driver =
            Driver::start(publisher, path).map_err(|error| IndexError::Start(Arc::new(error)))?;
        if let Some(publishing) = &mut storage.publishing {
            publishing.driver = Some(driver);
        }
        Ok(storage)
    }

    /// Opens a storage as [`open`](Self::open) does, and leaves it to the caller to step the
    /// publisher: one at a time for one database.
    ///
    /// # Errors
    ///
    /// As [`open`](Self::open).
    pub fn open_with_publisher(
        inner: Arc<dyn SessionStorage>,
        path: impl AsRef<Path>,
        options: IndexOptions,
        remote: Arc<dyn Remote>,
        publish: PublishOptions,
    ) -> Result<(Self, Publisher), IndexError> {
        let clock = Arc::clone(&options.clock);
        let settings = Settings { busy_timeout: options.busy_timeout, clock: Arc::clone(&clock) };
        let database = Database::open(path.as_ref(), settings, index::prepare)?;
        let shared = Arc::new(Shared::default());
        let ours = database.another()?;
        let wake = Arc::clone(&shared.wake);
        let timeout = publish.timeout;
        // Before the index begins: from the first row on there is an outbox.
        let prepare = |queue| {
            Publisher::new(
                (ours, queue),
                Arc::clone(&inner),
                remote,
                publish,
                clock,
                Arc::clone(&shared),
            )
        };
        let queue = Arc::new(Queue::new(options.queue_sessions, options.delay));
        let publisher = prepare(Arc::clone(&queue))?;
        let mut storage = Self::start(inner, database, queue, options, wake)?;
        let owner = publisher.owner().to_owned();
        let (database, clock) = (Arc::clone(&storage.reader), Arc::clone(&storage.settings.clock));
        let orders = Orders { database, clock, shared: Arc::clone(&shared) };
        storage.publishing = Some(Publishing { shared, timeout, owner, orders, driver: None });
        Ok((storage, publisher))
    }

    /// Returns the name this storage's publisher claims sessions by; `None` without a remote.
    pub fn owner(&self) -> Option<&str> {
        self.publishing.as_ref().map(|publishing| publishing.owner.as_str())
    }

    /// Returns whether a claim's owner is this host: a publisher, of now or before, of this database.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`].
    pub fn is_own(&self, owner: &str) -> Result<bool, IndexError> {
        Ok(self.reader().run(|connection| outbox::is_owner(connection, owner))?)
    }

    /// Tells how far publishing is behind, with the `sessions` that have waited longest one by one;
    /// `None` without a remote.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`].
    pub fn publish_status(&self, sessions: usize) -> Result<Option<PublishStatus>, IndexError> {
        let Some(publishing) = &self.publishing else { return Ok(None) };
        let now = self.settings.clock.now_ms();
        let age = |since: i64| Duration::from_millis(u64::try_from(now - since).unwrap_or(0));
        let (backlog, lag, blocked) = self.reader().run(|connection| {
            // One state of the database for all answers.
            let transaction = connection.transaction()?;
            Ok((
                outbox::backlog(&transaction)?,
                outbox::lag(&transaction, sessions)?,
                outbox::blocked(&transaction)?,
            ))
        })?;
        let sessions: Vec<_> = lag
            .into_iter()
            .map(|(key, entries, bytes, since)| SessionLag { key, entries, bytes, age: age(since) })
            .collect();
        let status = PublishStatus {
            rows: backlog.rows,
            entries: sessions.iter().map(|lag| lag.entries).sum(),
            bytes: backlog.bytes,
            age: backlog.since_ms.map(age).unwrap_or_default(),
            sessions,
            blocked,
            ..publishing.shared.status()
        };
        Ok(Some(status))
    }

    /// Returns what is not published until somebody decides, by key.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`].
    pub fn blocked(&self) -> Result<Vec<Blocked>, IndexError> {
        Ok(self.reader().run(|connection| outbox::blocked(connection))?)
    }

    /// Has something blocked published again; false if it is not blocked.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`].
    pub fn retry(&self, key: &StorageKey) -> Result<bool, IndexError> {
        let now = self.settings.clock.now_ms();
        let found = self.reader().run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let found = outbox::unblock(&transaction, key)?;
            if found && index::is_session(key) {
                if let Some(known) = index::known(&transaction, key)? {
                    let range = (0, known.indexed);
                    outbox::add_log(&transaction, key, known.generation, range, now)?;
                }
            } else if found {
                outbox::add_object(&transaction, key, now)?;
            }
            transaction.commit()?;
            Ok(found)
        })?;
        self.wake_publisher();
        Ok(found)
    }

    /// Decides that something is not published: a session from here on, until it is
    /// [retried](Self::retry); lines that name an object go without it. False if it is not blocked.
    ///
    /// # Errors
    ///
    /// [`IndexError::Database`].
    pub fn skip(&self, key: &StorageKey) -> Result<bool, IndexError> {
        let now = self.settings.clock.now_ms();
        let found = self.reader().run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let blocked = outbox::blocked_key(&transaction, key)?;
            if let Some(blocked) = &blocked {
                let reason = &blocked.reason;
                outbox::block(&transaction, key, BlockKind::Skipped, reason, now)?;
                outbox::drop_rows(&transaction, key)?;
            }
            transaction.commit()?;
            Ok(blocked.is_some())
        })?;
        self.wake_publisher();
        Ok(found)
    }

    /// Notes that a session is about to be opened, until the returned value is dropped.
    pub(crate) fn opening(&self, key: &StorageKey) -> Option<Opened> {
        self.publishing.as_ref().map(|publishing| publishing.shared.opened(key))
    }

    /// Notes a claim that was made for a writer, to be given up after it.
    pub(crate) fn took(&self, key: &StorageKey, fence: Fence) {
        if let Some(publishing) = &self.publishing {
            publishing.shared.took(key, fence);
        }
    }

    pub(super) fn wake_publisher(&self) {
        if let Some(publishing) = &self.publishing {
            publishing.shared.wake.notify_one();
        }
    }

    /// What the storage below is asked for, and whether to wait for the remote then.
    pub(super) fn here(&self, options: PutOptions) -> (PutOptions, bool) {
        let level = here(self.publishing.is_some(), options.durability);
        let waits = level != options.durability;
        (options.durability(level), waits)
    }

    pub(super) async fn published(&self, key: &StorageKey, len: u64) -> Result<()> {
        match &self.publishing {
            Some(publishing) => {
                published(&publishing.shared, publishing.timeout, &self.queue, key, len).await
            }
            None => Ok(()),
        }
    }
}
