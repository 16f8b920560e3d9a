//! Following removals and moves that were made elsewhere.

use session_model::json::ObjectBuilder;
use session_model::layout::{SESSION_SUFFIX, artifacts_key};
use session_model::storage::{
    ListOptions, ObjectMeta, Precondition, PutOptions, RenameOptions, SessionStorage,
    SessionStorageExt, StorageError, StorageErrorKind, StorageKey,
};
use session_model::time::to_iso;

use super::{Outcome, Replica, Result, found, refused};
use crate::outbox::Agreed;
use crate::remote::{Position, RemoteError, Tombstone};

/// The folder of removed sessions, and the record beside each, as `sessionctl restore` reads them.
const TRASH_DIR: &str = "trash";
const RECORD: &str = "origin.json";

impl Replica {
    /// Does here what was done to a session elsewhere; `None` if it changed meanwhile.
    pub(super) async fn removed(
        &self,
        session: &StorageKey,
        tombstone: &Tombstone,
    ) -> Result<Option<Outcome>> {
        let Some(meta) = found(self.local_head(session).await)? else {
            if !self.is_own(&tombstone.by.owner)? {
                self.local.forget_agreed(session)?;
            }
            return Ok(Some(match &tombstone.moved_to {
                Some(to) if found(self.local_head(to).await)?.is_some() => {
                    Outcome::Moved { to: to.clone(), fork: None }
                }
                _ => Outcome::Removed { trashed: None, fork: None },
            }));
        };
        // It was made here again, and the remote does not know yet.
        if self.is_own(&tombstone.by.owner)? {
            return Ok(Some(Outcome::Ahead));
        }
        let Some(tail) = self.tail(session, &meta).await? else { return Ok(None) };
        let agreed = self.local.agreed(session)?.filter(|agreed| {
            agreed.position.length == tail.length && agreed.digest == tail.digest()
        });
        let fork = match agreed {
            Some(_) => None,
            None => {
                let (now, content) = self.local.read_all(session).await?;
                if now.version != meta.version {
                    return Ok(None);
                }
                let to = self.fork(session, &now, content).await?;
                tracing::warn!(
                    %session, fork = %to,
                    "another host removed the session; the lines of this host are in a fork now"
                );
                Some(to)
            }
        };
        if let Some(to) = &tombstone.moved_to
            && found(self.local_head(to).await)?.is_none()
            && self.is_written(to).await?
        {
            return match self.local.rename_received(session, to, RenameOptions::default()).await {
                Ok(_) => {
                    self.move_artifacts(session, to).await?;
                    // What is at the new place counts as fetched; any newer log replaces it.
                    let position = Position { generation: 0, length: tail.length };
                    let epoch = agreed.map_or(0, |agreed| agreed.epoch);
                    self.local.agree(to, &Agreed { position, digest: tail.digest(), epoch })?;
                    self.local.forget_agreed(session)?;
                    Ok(Some(Outcome::Moved { to: to.clone(), fork }))
                }
                Err(error) => refused(error),
            };
        }
        let trashed = match self.trash(session, &meta).await {
            Ok(trashed) => trashed,
            Err(error) => return refused(error),
        };
        self.local.forget_agreed(session)?;
        Ok(Some(Outcome::Removed { trashed: Some(trashed), fork }))
    }

    /// Returns whether the remote has a session, which a move leaves at its new place.
    async fn is_written(&self, session: &StorageKey) -> Result<bool> {
        let state = match self.remote.state(session).await {
            Err(RemoteError::Malformed { .. }) => None,
            state => state?,
        };
        Ok(state.is_some_and(|state| state.tombstone.is_none() && state.digest.is_some()))
    }

    /// Moves a session and its artifacts to the trash.
    async fn trash(
        &self,
        session: &StorageKey,
        meta: &ObjectMeta,
    ) -> Result<StorageKey, StorageError> {
        let invalid = |error: session_model::storage::InvalidKey| StorageError::Invalid {
            detail: error.to_string(),
        };
        let time = to_iso(self.local.now_ms());
        let name = session.file_name();
        let stem = name.strip_suffix(SESSION_SUFFIX).unwrap_or(name);
        let dashed = time.replace([':', '.'], "-");
        // Two sessions of one name in one millisecond differ in what they hold.
        let stem: String = stem.chars().take(64).collect();
        let folder = format!("{TRASH_DIR}/{dashed}_{stem}-{}", meta.size);
        let folder = StorageKey::new(folder).map_err(invalid)?;
        let trashed = folder.join(name).map_err(invalid)?;
        let record = folder.join(RECORD).map_err(invalid)?;
        let content = ObjectBuilder::new()
            .string("from", session.as_str())
            .string("deletedAt", &time)
            .build();
        let absent = PutOptions::when(Precondition::Absent);
        self.local.put(&record, content.as_bytes().clone().into(), absent).await?;
        match self.local.rename_received(session, &trashed, RenameOptions::default()).await {
            Ok(_) => {}
            Err(error) => {
                // A record without a session is passed over by whoever reads the trash.
                drop(self.local.remove(&record).await);
                return Err(error);
            }
        }
        self.move_artifacts(session, &trashed).await?;
        Ok(trashed)
    }

    /// Moves the artifacts along with their session; what is there already stays.
    async fn move_artifacts(&self, from: &StorageKey, to: &StorageKey) -> Result<(), StorageError> {
        let (Some(from), Some(to)) = (artifacts_key(from), artifacts_key(to)) else {
            return Ok(());
        };
        let (artifacts, errors) = self.local.list_all(Some(&from), ListOptions::default()).await;
        if let Some(error) = errors.into_iter().next() {
            return Err(error);
        }
        for artifact in artifacts {
            let rest = &artifact.key.as_str()[from.as_str().len() + 1..];
            let Ok(target) = to.join(rest) else { continue };
            match self.local.rename(&artifact.key, &target, RenameOptions::default()).await {
                Err(error) if error.kind() != StorageErrorKind::AlreadyExists => return Err(error),
                _ => {}
            }
        }
        Ok(())
    }
}
