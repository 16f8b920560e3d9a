//! What belongs to a session beside its file.

use std::sync::Arc;

use super::{NewSession, SessionManager};
use crate::artifacts::{Artifacts, agent_file_name};
use crate::error::{Result, SessionError};

impl SessionManager {
    /// Returns the session's artifacts.
    ///
    /// # Errors
    ///
    /// [`SessionError::NoArtifacts`] if the session's key does not end in `.jsonl`.
    pub fn artifacts(&self) -> Result<Artifacts> {
        Artifacts::of(Arc::clone(&self.storage), &self.key)
    }

    /// Returns what to make the session of a child agent of: its place is among this session's
    /// artifacts, and it records this session as its parent.
    ///
    /// It is made by [`create`](Self::create), in the same storage.
    ///
    /// # Errors
    ///
    /// [`SessionError::InvalidAgent`], and as [`artifacts`](Self::artifacts).
    pub fn child_session(&self, agent: &str) -> Result<NewSession> {
        let name = agent_file_name(agent)
            .ok_or_else(|| SessionError::InvalidAgent { agent: agent.to_owned() })?;
        Ok(NewSession::in_cwd(self.cwd().unwrap_or_default())
            .bucket(self.artifacts()?.prefix().clone())
            .file_name(name)
            .parent_session(self.session_id()))
    }
}
