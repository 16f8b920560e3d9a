//! What is done when the remote answers again: it may have less than it had.

use std::collections::HashMap;

use rusqlite::Connection as Sqlite;
use session_model::storage::StorageKey;

use super::publisher::{Publisher, Result, is_of};
use crate::index;
use crate::outbox::{self, Agreed};
use crate::remote::{Digest, Listed, Position, RemoteError};

/// How much of a listing is asked for at once.
const PAGE: usize = 1000;

impl Publisher {
    pub(super) async fn connect(&mut self) -> Result<()> {
        let check = self.remote.check().await?;
        for warning in &check.warnings {
            tracing::warn!(warning, "the remote");
        }
        self.shared.state().warnings = check.warnings;
        if !check.writable {
            let reason = "the server says so of itself".to_owned();
            return Err(RemoteError::ReadOnly(reason).into());
        }
        let lost = self.find_lost_sessions().await? + self.find_lost_objects().await?;
        tracing::info!(version = check.version, lost, "connected");
        Ok(())
    }

    /// Puts into the outbox again what the remote had and has no more.
    async fn find_lost_sessions(&mut self) -> Result<usize> {
        let mut there: HashMap<StorageKey, Listed> = HashMap::new();
        let mut before = None;
        loop {
            let page = self.remote.list(before, PAGE).await?;
            there.extend(page.sessions.into_iter().map(|listed| (listed.session.clone(), listed)));
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        let now = self.clock.now_ms();
        let host = self.host.clone();
        let nothing = Agreed { position: Position::default(), digest: Digest::of(b""), epoch: 0 };
        let lost = self.database.run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let mut lost = 0;
            for (key, agreed) in outbox::all_agreed(&transaction)? {
                let state = there.get(&key).map(|listed| &listed.state);
                let position = state.map_or(nothing.position, |state| state.position);
                let digest = state.and_then(|state| state.digest).unwrap_or(nothing.digest);
                // A claim of this host that was cut off before it was noted is no other host's.
                let is_newer = state.is_some_and(|state| {
                    state.fence.epoch > agreed.epoch && !is_of(&host, &state.fence.owner)
                });
                let is_there = state.is_some_and(|state| state.tombstone.is_none());
                let is_same = position == agreed.position && digest == agreed.digest;
                // What was removed here is agreed to be empty.
                let is_back = is_there && agreed.position.length == 0;
                if is_newer || is_same || (position >= agreed.position && !is_back) {
                    continue;
                }
                if requeue(&transaction, &key, now)? {
                    let agreed = Agreed { position, digest, epoch: agreed.epoch };
                    outbox::agree(&transaction, &key, &agreed)?;
                    lost += 1;
                }
            }
            transaction.commit()?;
            Ok(lost)
        })?;
        Ok(lost)
    }

    async fn find_lost_objects(&mut self) -> Result<usize> {
        let wanted = self.database.run(|connection| outbox::object_digests(connection))?;
        let mut lost = Vec::new();
        for page in wanted.chunks(PAGE) {
            let keys: Vec<_> = page.iter().map(|(key, _)| key.clone()).collect();
            let there = self.remote.object_digests(&keys).await?;
            let differ =
                page.iter().zip(there).filter(|((_, wanted), there)| *there != Some(*wanted));
            lost.extend(differ.map(|((key, _), _)| key.clone()));
        }
        let now = self.clock.now_ms();
        self.database.run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            for key in &lost {
                outbox::forget_object(&transaction, key)?;
                outbox::add_object(&transaction, key, now)?;
            }
            transaction.commit()
        })?;
        Ok(lost.len())
    }
}

/// Has a session published from where the remote is; false if nothing is known of it here.
fn requeue(connection: &Sqlite, key: &StorageKey, now: i64) -> rusqlite::Result<bool> {
    if outbox::blocked_key(connection, key)?.is_some() {
        return Ok(false);
    }
    match index::known(connection, key)? {
        Some(known) if known.indexed > 0 => {
            outbox::add_log(connection, key, known.generation, (0, known.indexed), now)?;
        }
        Some(_) => return Ok(false),
        None => outbox::add_gone(connection, key, None, now)?,
    }
    Ok(true)
}
