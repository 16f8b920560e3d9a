//! What is done when the remote answers again: it may have less than it had.

use std::collections::HashMap;

use rusqlite::Connection as Sqlite;
use session_model::storage::StorageKey;

use super::publisher::{Publisher, Result};
use crate::index;
use crate::outbox::{self, Agreed, Order};
use crate::remote::{Listed, RemoteError, SessionState};

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
        let agreed = self.database.run(|connection| outbox::all_agreed(connection))?;
        let mut lacking = Vec::new();
        for (key, agreed) in agreed {
            if self.lacks(&agreed, there.get(&key).map(|there| &there.state))? {
                lacking.push((key, agreed));
            }
        }
        let lost = self.database.run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            let mut lost = Vec::new();
            for (key, agreed) in &lacking {
                if requeue(&transaction, key, agreed, now)? {
                    lost.push(key.clone());
                }
            }
            transaction.commit()?;
            Ok(lost)
        })?;
        let count = lost.len();
        self.set_back.extend(lost);
        Ok(count)
    }

    /// Tells whether a remote has less of a session than it once had.
    fn lacks(&mut self, agreed: &Agreed, state: Option<&SessionState>) -> Result<bool> {
        let Some(state) = state else { return Ok(agreed.position.length > 0) };
        // What was removed here is agreed to be empty.
        let was_removed = agreed.position.length == 0;
        Ok(match state.tombstone {
            Some(_) => !was_removed && self.wrote(state)?,
            None if was_removed => self.wrote(state)?,
            None => state.position < agreed.position,
        })
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

/// Has a session published from where the remote is; false if nothing is known of it here, or all
/// of it came from the remote: that is sent when somebody asks for it.
fn requeue(
    connection: &Sqlite,
    key: &StorageKey,
    agreed: &Agreed,
    now: i64,
) -> rusqlite::Result<bool> {
    if outbox::blocked_key(connection, key)?.is_some() {
        return Ok(false);
    }
    let received = outbox::received(connection, key)?;
    match index::known(connection, key)? {
        Some(known) if received.is_some_and(|received| received.length == known.indexed) => {
            tracing::warn!(
                %key, "the remote has less of it than was fetched; `remote push` sends it again"
            );
            return Ok(false);
        }
        Some(known) if known.indexed > 0 => {
            outbox::add_log(connection, key, known.generation, (0, known.indexed), now)?;
        }
        Some(_) => return Ok(false),
        None => {
            if agreed.position.length == 0 {
                outbox::order(connection, key, Order::Written, now)?;
            }
            outbox::add_gone(connection, key, None, now)?;
        }
    }
    Ok(true)
}
