//! Sessions that two hosts went on with: both histories stay.

use session_model::storage::{
    AppendOptions, Payload, PutOptions, SessionStorage, SessionStorageExt, StorageKey,
};

use super::{Outcome, Replica, Result, refused};
use crate::remote::SessionState;

impl Replica {
    /// Makes a fork of the local lines, and then brings the session to the remote's state.
    pub(super) async fn part_ways(
        &self,
        session: &StorageKey,
        state: &SessionState,
        missing: &mut Vec<StorageKey>,
    ) -> Result<Option<Outcome>> {
        // Nobody of this host adds a line from here on that the fork would not have.
        let claim = AppendOptions::exclusive(&self.owner);
        let mut writer = match self.local.open_append(session, claim).await {
            Ok(writer) => writer,
            Err(error) => return refused(error),
        };
        let Some(lines) = self.fetch_whole(session, state).await? else { return Ok(None) };
        self.fetch_objects(session, &lines.bytes, missing).await?;
        let (meta, ours) = self.local.read_all(session).await?;
        let to = self.fork(session, &meta, ours).await?;
        tracing::warn!(
            %session, fork = %to,
            "another host went on with the session; the lines of this host are in a fork now"
        );
        let payload = Payload::from(lines.bytes.clone());
        match writer.replace(payload, PutOptions::default()).await {
            Ok(_) => self.took(session, state, lines, &writer.close().await?)?,
            Err(error) => return refused(error),
        }
        Ok(Some(Outcome::Forked { to }))
    }
}
