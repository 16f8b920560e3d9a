//! Leaving one session for another.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use session_model::document::SessionDocument;
use session_model::env::IdSource;
use session_model::storage::{AppendWriter, SessionStorageExt, StorageKey};

use super::open::claim_existing;
use super::{FileState, SessionManager, SessionOptions};
use crate::env::RandomIds;
use crate::error::{Result, SessionError};
use crate::navigation::{BeforeSwitch, HostError, MissingCwd, SessionHooks};

impl SessionManager {
    /// Leaves this session for another one of the same storage, and tells whether it did: a hook
    /// may say no.
    ///
    /// What is in the old file is flushed first, and the claim on it given up last; a session
    /// nothing was written of yet is forgotten. The other session is opened for writing and
    /// brought up to date. Switching to the present session only saves it.
    ///
    /// # Errors
    ///
    /// [`SessionError::NotFound`], [`SessionError::NotASession`], [`SessionError::MissingCwd`] if
    /// the hook refuses a session without its directory, [`SessionError::Host`] if a hook fails,
    /// [`SessionError::Unsaved`] if this session is not wholly saved, and what the storage
    /// reports. In every case this session is as it was, its claim included.
    ///
    /// # Cancel safety
    ///
    /// If the future is dropped, the manager holds one of the two sessions, which can be used.
    pub async fn switch_session(
        &mut self,
        key: &StorageKey,
        hooks: &dyn SessionHooks,
    ) -> Result<bool> {
        let asked = hooks.before_switch(&self.key, key).await;
        if asked.map_err(before)? == BeforeSwitch::Cancel {
            return Ok(false);
        }
        self.flush().await?;
        if *key == self.key && self.read_only_reason().is_none() {
            let from = key.clone();
            hooks.after_switch(self, &from).await.map_err(after)?;
            return Ok(true);
        }
        let other = self.open_other(key, hooks).await?;
        let mut old = std::mem::replace(self, other);
        std::mem::swap(&mut self.ids, &mut old.ids);
        let told = hooks.after_switch(self, &old.key).await;
        if let Err(source) = told {
            std::mem::swap(&mut self.ids, &mut old.ids);
            let other = std::mem::replace(self, old);
            // The switch has failed already; what was appended to the other session is latched
            // nowhere, so at least it is told.
            if let Err(error) = other.close().await {
                tracing::warn!(session = %key, %error, "closing after a failed switch");
            }
            return Err(after(source));
        }
        if let FileState::Open(writer) | FileState::Pending(Some(writer)) = old.file {
            // All of it is on disk, and the claim is given up whatever closing says.
            drop(writer.close().await);
        }
        Ok(true)
    }

    /// Opens another session; this one lends its ids meanwhile.
    async fn open_other(
        &mut self,
        key: &StorageKey,
        hooks: &dyn SessionHooks,
    ) -> Result<SessionManager> {
        let writer = claim_existing(&*self.storage, key, &self.owner).await?;
        let ids: Box<dyn IdSource> = Box::new(RandomIds);
        let lent = Lent(Arc::new(Mutex::new(std::mem::replace(&mut self.ids, ids))));
        let opened = self.take_up_other(key, writer, lent.clone(), hooks).await;
        self.ids = lent.give_back();
        opened
    }

    async fn take_up_other(
        &mut self,
        key: &StorageKey,
        writer: Box<dyn AppendWriter>,
        ids: Lent,
        hooks: &dyn SessionHooks,
    ) -> Result<SessionManager> {
        let (meta, bytes) = self.storage.read_all(key).await?;
        let loaded = SessionDocument::load(bytes, &self.load)
            .map_err(|source| SessionError::NotASession { key: key.clone(), source })?;
        let cwd = loaded.document.header().cwd().filter(|cwd| !cwd.is_empty());
        let mut new_cwd = None;
        if let Some(cwd) = cwd
            && !hooks.cwd_exists(&cwd).await.map_err(before)?
        {
            match hooks.missing_cwd(key, &cwd).await.map_err(before)? {
                MissingCwd::OpenAnyway => {}
                MissingCwd::ReRoot(new) => new_cwd = Some(new),
                MissingCwd::Refuse => {
                    return Err(SessionError::MissingCwd { key: key.clone(), cwd });
                }
            }
        }
        let options = SessionOptions {
            clock: self.clock.clone(),
            ids: Box::new(ids),
            owner: self.owner.clone(),
            eager: self.eager,
            durability: self.durability,
            observers: self.observers.clone(),
            load: self.load.clone(),
            persist: self.persist,
            filter: self.filter.clone(),
            blobs: self.blobs.clone(),
            resolve: self.resolve,
            // The storage waits already, if this session's was to.
            wait: Duration::ZERO,
        };
        let mut other = Self::take_up(self.storage.clone(), meta, loaded, writer, options).await?;
        other.persistent = self.persistent;
        if let Some(cwd) = new_cwd {
            other.move_to(&cwd).await?;
        }
        Ok(other)
    }

    /// Begins anew for the model: the context starts behind a boundary, while identity, file and
    /// history stay.
    ///
    /// # Errors
    ///
    /// As [`append`](Self::append).
    pub async fn clear(&mut self) -> Result<String> {
        self.append_reset_boundary().await
    }

    /// Begins anew for the provider: the session gets another identity there, so that its prompt
    /// caches start afresh, and returns it.
    ///
    /// In memory only, and for as long as this session is open; the file is not touched.
    pub fn fresh(&mut self) -> String {
        let identity = self.ids.session_id();
        self.provider_identity = Some(identity.clone());
        identity
    }

    /// Returns what the provider's prompt cache is keyed by: what [`fresh`](Self::fresh) gave, else
    /// the header's key, else the session's id.
    pub fn provider_identity(&self) -> String {
        self.provider_identity
            .clone()
            .or_else(|| self.header().provider_prompt_cache_key())
            .unwrap_or_else(|| self.session_id())
    }
}

fn before(source: HostError) -> SessionError {
    SessionError::host("the hook before switching", source)
}

fn after(source: HostError) -> SessionError {
    SessionError::host("the hook after switching", source)
}

/// A source of ids that goes back to its owner, however opening a session ends.
#[derive(Clone, Debug)]
struct Lent(Arc<Mutex<Box<dyn IdSource>>>);

impl Lent {
    fn give_back(self) -> Box<dyn IdSource> {
        let mut ids = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *ids, Box::new(RandomIds))
    }
}

impl IdSource for Lent {
    fn entry_id(&mut self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).entry_id()
    }

    fn session_id(&mut self) -> String {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).session_id()
    }
}
