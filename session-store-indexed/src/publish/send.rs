//! Units of several sessions, sent in one go.

use std::collections::{HashMap, HashSet};

use memchr::memrchr;
use session_model::storage::StorageKey;
use sha2::{Digest as _, Sha256};

use super::PublishOptions;
use super::publisher::{Publisher, Result};
use super::source::{Source, digest_of};
use crate::index;
use crate::outbox::{self, Agreed, BlockKind};
use crate::remote::{AppendUnit, Applied, MAX_UNIT_BYTES, Position, RemoteError, SessionMeta};

/// Units to be sent together.
#[derive(Debug, Default)]
pub(super) struct Batch {
    units: Vec<AppendUnit>,
    /// For each unit: the session's hash after it.
    hashes: Vec<Sha256>,
    bytes: usize,
    /// How far sessions get with these units, and their hash then.
    planned: HashMap<StorageKey, (u64, Sha256)>,
    /// Sessions of which nothing more can go with this batch.
    spoiled: HashSet<StorageKey>,
    is_stopped: bool,
}

impl Batch {
    pub(super) fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    pub(super) fn is_full(&self, options: &PublishOptions) -> bool {
        self.bytes >= options.batch_bytes || self.units.len() >= options.batch_units
    }

    /// Leaves a session out, and so all that comes after in it.
    pub(super) fn spoil(&mut self, key: &StorageKey) {
        self.spoiled.insert(key.clone());
    }

    pub(super) fn is_spoiled(&self, key: &StorageKey) -> bool {
        self.spoiled.contains(key)
    }

    /// Lets nothing more in: what comes next needs these units to be through.
    pub(super) fn stop(&mut self) {
        self.is_stopped = true;
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.is_stopped
    }
}

impl Publisher {
    /// Takes a claimed session's bytes up to an offset, or to the batch's bound, into the batch.
    pub(super) async fn fill(
        &mut self,
        batch: &mut Batch,
        source: &Source<'_>,
        stop: u64,
    ) -> Result<bool> {
        let key = source.key;
        let Some(live) = self.live.get(key).cloned() else { return Ok(false) };
        let (mut at, mut hash) =
            batch.planned.remove(key).unwrap_or((live.position.length, live.hash));
        if live.position.length >= stop {
            self.finish_log(key, live.generation, stop)?;
        }
        let meta = self.meta(key)?.to_bytes();
        while at < stop && !batch.is_full(&self.options) {
            let to = stop.min(at + MAX_UNIT_BYTES as u64);
            let Some(part) = source.read_part(at, to).await? else {
                batch.spoil(key);
                self.look_again(key);
                break;
            };
            if !self.put_blobs(key, &part.text).await? {
                batch.spoil(key);
                break;
            }
            let mut bytes = part.bytes;
            // A longer line is cut anywhere.
            if to < stop
                && let Some(end) = memrchr(b'\n', &bytes)
            {
                bytes.truncate(end + 1);
            }
            hash.update(&bytes);
            let start = Position { length: at, ..live.position };
            at += bytes.len() as u64;
            batch.bytes += bytes.len();
            batch.hashes.push(hash.clone());
            batch.units.push(AppendUnit {
                session: key.clone(),
                fence: live.fence.clone(),
                start,
                bytes,
                digest: digest_of(&hash),
                meta: meta.clone(),
            });
        }
        batch.planned.insert(key.clone(), (at, hash));
        Ok(true)
    }

    /// Sends the units and notes what the remote has by then.
    pub(super) async fn send(&mut self, batch: Batch) -> Result<bool> {
        if batch.is_empty() {
            return Ok(false);
        }
        let answers = self.remote.apply(&batch.units).await;
        let mut failed: HashSet<StorageKey> = HashSet::new();
        let mut advanced: HashSet<StorageKey> = HashSet::new();
        let mut error = None;
        let mut bytes = 0;
        for ((unit, hash), answer) in batch.units.iter().zip(batch.hashes).zip(answers) {
            let key = &unit.session;
            if failed.contains(key) {
                continue;
            }
            if let Ok(Applied::Ok | Applied::Dup) = answer {
                if let Some(live) = self.live.get_mut(key) {
                    live.position.length = unit.start.length + unit.bytes.len() as u64;
                    live.hash = hash;
                }
                bytes += unit.bytes.len() as u64;
                advanced.insert(key.clone());
                continue;
            }
            failed.insert(key.clone());
            if let Err(answer) = self.refused(key, answer)? {
                error.get_or_insert(answer);
            }
        }
        self.confirm(advanced)?;
        tracing::debug!(units = batch.units.len(), bytes, "published");
        self.shared.state().published_bytes += bytes;
        error.map_or(Ok(true), |error| Err(error.into()))
    }

    /// Decides what becomes of a session whose unit was not taken; an error stops everything.
    pub(super) fn refused(
        &mut self,
        key: &StorageKey,
        answer: Result<Applied, RemoteError>,
    ) -> Result<Result<(), RemoteError>> {
        match answer {
            // Somebody else changed it, or the remote lost something: compare anew.
            Ok(_) => self.strike(key)?,
            Err(RemoteError::Damaged(_)) => {
                self.damaged.push(key.clone());
                self.strike(key)?;
            }
            Err(error) if error.is_temporary() => {
                if let Some(live) = self.live.get_mut(key) {
                    live.is_sure = false;
                }
                return Ok(Err(error));
            }
            Err(error) => self.block(key, BlockKind::Refused, &error.to_string())?,
        }
        Ok(Ok(()))
    }

    /// Notes what the remote has of sessions, and takes it out of the outbox.
    fn confirm(&mut self, keys: HashSet<StorageKey>) -> Result<()> {
        let live = &self.live;
        let found = keys.iter().filter_map(|key| live.get_key_value(key));
        let done: Vec<_> = found
            .map(|(key, live)| {
                let digest = digest_of(&live.hash);
                let agreed = Agreed { position: live.position, digest, epoch: live.fence.epoch };
                (key, live.generation, agreed)
            })
            .collect();
        if done.is_empty() {
            return Ok(());
        }
        self.database.run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            for (key, generation, agreed) in &done {
                outbox::agree(&transaction, key, agreed)?;
                outbox::finish_log(&transaction, key, *generation, agreed.position.length)?;
            }
            transaction.commit()
        })?;
        for key in &keys {
            self.strikes.remove(key);
        }
        Ok(())
    }

    /// What listings of the remote show of a session.
    pub(super) fn meta(&mut self, key: &StorageKey) -> Result<SessionMeta> {
        let found = self.database.run(|connection| index::session(connection, key))?;
        let writer = Some(self.owner.clone());
        let unknown = SessionMeta { writer: writer.clone(), ..SessionMeta::default() };
        Ok(found.map_or(unknown, |session| SessionMeta {
            id: session.id,
            cwd: session.cwd,
            title: session.title,
            parent_session: session.parent_session,
            created_ms: session.created_ms,
            activity_ms: session.activity_ms,
            leaf: session.leaf,
            entries: Some(session.entries as i64),
            messages: Some(session.messages as i64),
            status: Some(session.status),
            writer,
        }))
    }
}
