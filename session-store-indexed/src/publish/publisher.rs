//! One step of publishing: what can be sent now is sent, and what the remote has is noted.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use session_model::env::Clock;
use session_model::storage::{SessionStorage, StorageKey};
use uuid::Uuid;

use super::live::{Live, Ready};
use super::send::Batch;
use super::source::Source;
use super::{Connection, Held, PublishError, PublishOptions, Shared};
use crate::index::{self, Mark, Queue};
use crate::outbox::{self, Agreed, BlockKind, Item, Row};
use crate::remote::{Checked, Remote, RemoteError, SessionState};
use crate::sqlite::Database;
use crate::{DatabaseDiagnostic, DatabaseError};

pub(super) type Result<T, E = PublishError> = std::result::Result<T, E>;

/// How many rows are looked at in one go.
const ROWS: usize = 256;

/// How often a session may change under the publisher's hands before it counts as refused.
const MAX_STRIKES: u32 = 32;

/// What a step came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Progress {
    /// There is nothing that could be published now.
    Idle,
    /// Something was done; there may be more.
    Worked,
}

/// Sends what the outbox names to a remote.
///
/// Made by [`IndexedStorage::open_with_publisher`], whose caller [steps](Self::step) it;
/// [`IndexedStorage::open_shared`] runs it on a thread of its own. There may be one at a time for
/// one database: that thread sees to it, callers of `step` have to themselves.
///
/// [`IndexedStorage::open_with_publisher`]: crate::storage::IndexedStorage::open_with_publisher
/// [`IndexedStorage::open_shared`]: crate::storage::IndexedStorage::open_shared
#[derive(Debug)]
pub struct Publisher {
    pub(super) database: Database,
    pub(super) storage: Arc<dyn SessionStorage>,
    pub(super) remote: Arc<dyn Remote>,
    pub(super) options: PublishOptions,
    pub(super) queue: Arc<Queue>,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) shared: Arc<Shared>,
    /// What the names of all publishers of this database begin with.
    pub(super) host: String,
    /// The name this one claims by.
    pub(super) owner: String,
    pub(super) live: HashMap<StorageKey, Live>,
    pub(super) held: HashMap<StorageKey, Held>,
    /// How often something unexpected came of a session since it last got on.
    pub(super) strikes: HashMap<StorageKey, u32>,
    /// Sessions of which the remote lost bytes.
    pub(super) damaged: Vec<StorageKey>,
    /// Sessions of which the remote has less than it had; they are looked at anew.
    pub(super) set_back: HashSet<StorageKey>,
    pub(super) is_connected: bool,
    /// Whether a copy of this database was found to be in use elsewhere.
    knows_copy: bool,
}

impl Publisher {
    pub(crate) fn new(
        (mut database, queue): (Database, Arc<Queue>),
        storage: Arc<dyn SessionStorage>,
        remote: Arc<dyn Remote>,
        options: PublishOptions,
        clock: Arc<dyn Clock>,
        shared: Arc<Shared>,
    ) -> Result<Self, DatabaseError> {
        let now = clock.now_ms();
        let new_host = Uuid::new_v4().simple().to_string();
        let run = Uuid::new_v4().simple().to_string();
        // Without the number of its device, which is another after each start of some systems.
        let place = index::identity(Some(database.path()));
        let place = place.split_once('-').map_or("", |(_, place)| place).to_owned();
        let (host, owner, is_copy) = database.run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let is_copy = outbox::rename_copy(&transaction, &place, &new_host)?;
            outbox::fill(&transaction, &new_host, now)?;
            let host = outbox::host(&transaction)?.unwrap_or(new_host);
            let owner = format!("{host}/{run}");
            outbox::add_owner(&transaction, &owner)?;
            transaction.commit()?;
            Ok((host, owner, is_copy))
        })?;
        if is_copy {
            database.report(DatabaseDiagnostic::Copied { path: database.path().to_owned() });
        }
        Ok(Self {
            database,
            storage,
            remote: Arc::new(Checked::new(remote)),
            options,
            queue,
            clock,
            shared,
            host,
            owner,
            live: HashMap::new(),
            held: HashMap::new(),
            strikes: HashMap::new(),
            damaged: Vec::new(),
            set_back: HashSet::new(),
            is_connected: false,
            knows_copy: false,
        })
    }

    /// Returns the name sessions are claimed by: new for each publisher.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// Does a bounded part of what is to be done.
    ///
    /// # Errors
    ///
    /// Any [`PublishError`]. What was done stays done; the next step goes on, after a pause.
    ///
    /// # Cancel safety
    ///
    /// Can be cancelled at any point, as by a kill.
    pub async fn step(&mut self) -> Result<Progress> {
        let outcome = self.attempt().await;
        self.note(&outcome);
        self.answer_waiters().await;
        outcome
    }

    async fn attempt(&mut self) -> Result<Progress> {
        if !self.is_connected {
            self.connect().await?;
            self.is_connected = true;
            self.live.values_mut().for_each(|live| live.is_sure = false);
        }
        let now = self.clock.now_ms();
        self.held.retain(|_, held| held.until_ms > now);
        self.keep_claims().await?;
        let mut batch = Batch::default();
        let mut worked = false;
        let mut after = 0;
        'rows: loop {
            let rows = self.database.run(|connection| outbox::rows(connection, after, ROWS))?;
            let Some(last) = rows.last() else { break };
            after = last.seq;
            for row in rows {
                if self.held.contains_key(&row.key) || batch.is_spoiled(&row.key) {
                    continue;
                }
                if batch.is_full(&self.options) {
                    break 'rows;
                }
                let done = match &row.item {
                    Item::Log { generation, stop } => {
                        self.add(&mut batch, &row, *generation, *stop).await
                    }
                    // What the outbox has before it goes first.
                    _ if !batch.is_empty() => break 'rows,
                    Item::Gone { moved_to } => self.remove(&row, moved_to).await,
                    Item::Object => self.put_row(&row).await,
                };
                worked |= match done {
                    // What is wrong with one holds up nothing else.
                    Err(PublishError::Remote(error @ RemoteError::Malformed { .. })) => {
                        batch.spoil(&row.key);
                        self.block(&row.key, BlockKind::Refused, &error.to_string())?;
                        true
                    }
                    done => done?,
                };
                if batch.is_stopped() {
                    break 'rows;
                }
            }
        }
        worked |= self.send(batch).await?;
        self.give_up_claims().await?;
        if !worked {
            self.drop_orders()?;
        }
        Ok(if worked { Progress::Worked } else { Progress::Idle })
    }

    /// Takes a session's row into the batch; tells whether something came of it.
    async fn add(
        &mut self,
        batch: &mut Batch,
        row: &Row,
        generation: u64,
        stop: u64,
    ) -> Result<bool> {
        let key = &row.key;
        let known = self.database.run(|connection| index::known(connection, key))?;
        // A row that the index has gone past: another one came with that.
        let Some(known) = known.filter(|known| known.generation == generation) else {
            self.database.run(|connection| outbox::finish(connection, row.seq))?;
            return Ok(true);
        };
        let storage = Arc::clone(&self.storage);
        let mut source = Source::new(&*storage, key, known);
        let is_ready =
            self.live.get(key).is_some_and(|live| live.is_sure && live.generation == generation);
        if !is_ready {
            // Compared, a file that is read in batches would look cut.
            match source.is_whole().await? {
                Some(true) => {}
                Some(false) => return Ok(false),
                None => {
                    batch.spoil(key);
                    self.look_again(key);
                    return Ok(false);
                }
            }
            let ready = match self.prepare(&mut source, stop, batch.is_empty()).await {
                Err(PublishError::Remote(error @ RemoteError::Damaged(_))) => {
                    let reason = format!("{error}; `remote push --repair` does that");
                    self.block(key, BlockKind::Fenced, &reason)?;
                    return Ok(true);
                }
                ready => ready?,
            };
            if matches!(ready, Ready::Live | Ready::Nothing | Ready::Diverged) {
                self.set_back.remove(key);
            }
            match ready {
                Ready::Live => {}
                Ready::Nothing => {
                    self.finish_log(key, generation, stop)?;
                    self.fulfil(key)?;
                    return Ok(true);
                }
                Ready::Held => return Ok(false),
                Ready::Diverged => {
                    let reason = "another host has gone on with it";
                    self.block(key, BlockKind::Fenced, reason)?;
                    return Ok(true);
                }
                Ready::Foreign => {
                    let reason = "the file was replaced by one that lacks what the remote has, and \
                                  not through its storage; `remote pull` keeps both";
                    self.block(key, BlockKind::Fenced, reason)?;
                    return Ok(true);
                }
                Ready::Changed => {
                    batch.spoil(key);
                    self.look_again(key);
                    return Ok(false);
                }
                Ready::Again if !batch.is_empty() => {
                    batch.stop();
                    return Ok(true);
                }
                Ready::Again => {
                    batch.spoil(key);
                    self.strike(key)?;
                    return Ok(true);
                }
            }
        }
        self.fill(batch, &source, stop).await
    }

    pub(super) fn finish_log(&mut self, key: &StorageKey, generation: u64, to: u64) -> Result<()> {
        self.strikes.remove(key);
        let finish = |connection: &mut _| outbox::finish_log(connection, key, generation, to);
        Ok(self.database.run(finish)?)
    }

    /// Has the index look at a file that is not as it was.
    pub(super) fn look_again(&mut self, key: &StorageKey) {
        self.live.remove(key);
        self.queue.mark(key, Mark::Differs);
    }

    /// Has a session compared anew; one that never gets on counts as refused.
    pub(super) fn strike(&mut self, key: &StorageKey) -> Result<()> {
        self.live.remove(key);
        let strikes = self.strikes.entry(key.clone()).or_default();
        *strikes += 1;
        if *strikes <= MAX_STRIKES {
            return Ok(());
        }
        self.strikes.remove(key);
        self.block(key, BlockKind::Refused, "what the remote has of it changes all the time")
    }

    pub(super) fn block(&mut self, key: &StorageKey, kind: BlockKind, reason: &str) -> Result<()> {
        tracing::warn!(%key, reason, kind = kind.as_str(), "not published until somebody decides");
        self.live.remove(key);
        let now = self.clock.now_ms();
        Ok(self.database.run(|connection| outbox::block(connection, key, kind, reason, now))?)
    }

    /// Tells whether a claim was made from this database. One that has its host's name and is not
    /// known here was made from a copy of it.
    pub(super) fn is_ours(&mut self, owner: &str) -> Result<bool> {
        if !is_of(&self.host, owner) {
            return Ok(false);
        }
        if self.database.run(|connection| outbox::is_owner(connection, owner))? {
            return Ok(true);
        }
        if !self.knows_copy {
            self.knows_copy = true;
            self.database.run(|connection| outbox::note_copy(connection))?;
            let path = self.database.path().to_owned();
            self.database.report(DatabaseDiagnostic::CopyInUse { path, owner: owner.to_owned() });
        }
        Ok(false)
    }

    /// Tells whether this host made the last change of a session: what is here comes from that.
    pub(super) fn wrote(&mut self, state: &SessionState) -> Result<bool> {
        match state.writer() {
            Some(writer) => self.is_ours(&writer),
            None => Ok(false),
        }
    }

    /// Tells whether nothing is lost with what the remote has of a session: this host has had it.
    ///
    /// Epochs do not tell that. A remote that was set back gives them again, to others.
    pub(super) fn is_known(
        &mut self,
        agreed: Option<&Agreed>,
        state: &SessionState,
    ) -> Result<bool> {
        let is_agreed = agreed.is_some_and(|agreed| {
            state.position == agreed.position && state.digest == Some(agreed.digest)
        });
        Ok(is_agreed || self.wrote(state)?)
    }

    fn note(&mut self, outcome: &Result<Progress>) {
        let now = self.clock.now_ms();
        let mut state = self.shared.state();
        state.held = self.held.values().cloned().collect();
        match outcome {
            Ok(_) => {
                state.connection = Connection::Up;
                state.last_error = None;
            }
            Err(error) => {
                self.is_connected = false;
                state.connection = match state.connection {
                    Connection::Down { since_ms, attempts } => {
                        Connection::Down { since_ms, attempts: attempts.saturating_add(1) }
                    }
                    _ => {
                        tracing::warn!(%error, "publishing stopped; it is tried again");
                        Connection::Down { since_ms: now, attempts: 1 }
                    }
                };
                state.last_error = Some(error.clone());
            }
        }
    }
}

/// Tells whether an owner is a publisher, of now or before, of this host's database.
fn is_of(host: &str, owner: &str) -> bool {
    owner.strip_prefix(host).is_some_and(|rest| rest.starts_with('/'))
}
