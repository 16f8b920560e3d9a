//! Writing what came from the remote: it is not this host's, and is not published.

use std::sync::Arc;

use session_model::storage::{
    AppendOptions, AppendWriter, ObjectMeta, Payload, PutOptions, RenameOptions, Result, StorageKey,
};

use super::IndexedStorage;
use super::writer::IndexedWriter;
use crate::index::{self, IndexError, Mark};
use crate::outbox::{self, Received};

impl IndexedStorage {
    /// Notes what a session's file will be, before it is written.
    pub(crate) fn receive(
        &self,
        session: &StorageKey,
        received: &Received,
    ) -> Result<(), IndexError> {
        Ok(self.reader().run(|connection| outbox::receive(connection, session, received))?)
    }

    /// What was last noted to come from the remote.
    pub(crate) fn received(&self, session: &StorageKey) -> Result<Option<Received>, IndexError> {
        Ok(self.reader().run(|connection| outbox::received(connection, session))?)
    }

    /// Puts a session that was fetched.
    pub(crate) async fn put_received(
        &self,
        key: &StorageKey,
        body: Payload,
        options: PutOptions,
    ) -> Result<ObjectMeta> {
        let _marking = self.marking(key, Mark::Rewritten);
        self.inner.put(key, body, options).await
    }

    /// Opens a session for lines that were fetched.
    pub(crate) async fn open_received(
        &self,
        key: &StorageKey,
        options: AppendOptions,
    ) -> Result<Box<dyn AppendWriter>> {
        let inner = self.inner.open_append(key, options).await?;
        Ok(Box::new(IndexedWriter::new(inner, key, Arc::clone(&self.queue), None)))
    }

    /// Moves a session that was moved or removed elsewhere.
    pub(crate) async fn rename_received(
        &self,
        from: &StorageKey,
        to: &StorageKey,
        options: RenameOptions,
    ) -> Result<ObjectMeta> {
        let _markings = (self.marking(from, Mark::Rewritten), self.marking(to, Mark::Rewritten));
        let meta = self.inner.rename(from, to, options).await?;
        if index::is_session(from) && index::is_session(to) {
            self.queue.mark_move(from, to);
        }
        Ok(meta)
    }

    /// Has all of a session published that the remote lacks, wherever it comes from, unless
    /// somebody has to decide about it.
    pub(crate) fn publish_told(&self, session: &StorageKey) -> Result<(), IndexError> {
        self.reader().run(|connection| outbox::forget_received(connection, session))?;
        self.publish_again(session)
    }

    /// Has what the remote lost of a session written anew from this host's copy.
    pub(crate) fn repair(&self, session: &StorageKey) -> Result<(), IndexError> {
        let now = self.now_ms();
        self.reader().run(|connection| {
            let transaction =
                connection.transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)?;
            outbox::order(&transaction, session, outbox::Order::Repair, now)?;
            outbox::unblock(&transaction, session)?;
            transaction.commit()
        })?;
        self.publish_again(session)
    }

    /// Tells whether a program of this host replaced a session, which the remote is still to be
    /// told.
    pub(crate) fn is_rewritten(&self, session: &StorageKey) -> Result<bool, IndexError> {
        let order = self.reader().run(|connection| outbox::ordered(connection, session))?;
        Ok(order == Some(outbox::Order::Written))
    }

    /// Tells whether somebody has to decide about a session before it is published.
    pub(crate) fn is_fenced(&self, session: &StorageKey) -> Result<bool, IndexError> {
        let blocked = self.reader().run(|connection| outbox::blocked_key(connection, session))?;
        Ok(blocked.is_some_and(|blocked| blocked.kind == outbox::BlockKind::Fenced))
    }
}
