//! Taking over a log that does not go on from the local file; nothing of that is lost.

use std::collections::HashSet;

use bytes::Bytes;
use session_model::document::{LoadOptions, Scan};
use session_model::storage::{
    AppendOptions, ObjectMeta, Payload, Precondition, PutOptions, SessionStorageExt, StorageKey,
};

use super::{Outcome, Replica, Result, refused};
use crate::remote::SessionState;

impl Replica {
    /// Replaces the local file by the remote's log.
    ///
    /// The file becomes a fork first, unless it is in the state `clean`, in which this host has
    /// nothing of its own, and the new log has all of its entries.
    pub(super) async fn replace(
        &self,
        session: &StorageKey,
        state: &SessionState,
        clean: Option<&ObjectMeta>,
        missing: &mut Vec<StorageKey>,
    ) -> Result<Option<Outcome>> {
        let precondition =
            clean.map_or(Precondition::None, |meta| Precondition::Version(meta.version.clone()));
        let Some(lines) = self.fetch_whole(session, state).await? else { return Ok(None) };
        self.fetch_objects(session, &lines.bytes, missing).await?;
        // Nobody of this host adds a line from here on that the fork would not have.
        let claim = AppendOptions::exclusive(&self.owner).when(precondition);
        let mut writer = match self.local.open_received(session, claim).await {
            Ok(writer) => writer,
            Err(error) => return refused(error),
        };
        let (meta, ours) = self.local.read_all(session).await?;
        let outcome = if clean.is_some() && has_entries_of(&lines.bytes, &ours) {
            Outcome::Replaced
        } else {
            let to = self.fork(session, &meta, ours).await?;
            tracing::warn!(
                %session, fork = %to,
                "another host went on with the session; the lines of this host are in a fork now"
            );
            Outcome::Forked { to }
        };
        self.receive(session, &lines)?;
        let payload = Payload::from(lines.bytes.clone());
        match writer.replace(payload, PutOptions::default()).await {
            Ok(_) => self.took(session, state, lines, &writer.close().await?)?,
            Err(error) => return refused(error),
        }
        Ok(Some(outcome))
    }
}

/// Tells whether a log has all entries of another, by their ids.
///
/// A rewrite edits entries or the header. One that leaves entries out may come from a host that
/// never had them, after the remote lost data.
fn has_entries_of(new: &Bytes, old: &Bytes) -> bool {
    let ids = |log: &Bytes| {
        let scan = Scan::beginning(log, &LoadOptions::default()).ok()?;
        let ids = scan.entries.iter().filter_map(|(_, entry)| Some(entry.id()?.into_owned()));
        Some(ids.collect::<HashSet<_>>())
    };
    match (ids(new), ids(old)) {
        (Some(new), Some(old)) => old.is_subset(&new),
        _ => false,
    }
}
