//! Going back to an earlier state in memory.

use std::sync::Arc;

use session_model::document::SessionDocument;
use session_model::message::UsageTotals;

use super::SessionManager;

/// What a session held in memory at some moment.
#[derive(Clone, Debug)]
pub struct SessionState {
    document: Arc<SessionDocument>,
    usage: Option<UsageTotals>,
}

impl SessionManager {
    /// Returns the session's present state, to go back to.
    pub fn capture_state(&self) -> SessionState {
        SessionState { document: self.document.clone(), usage: self.usage }
    }

    /// Goes back to an earlier state of this session.
    ///
    /// In memory only: what was appended since stays in the file as a branch of its own and is
    /// there again after opening.
    pub fn restore_state(&mut self, state: SessionState) {
        self.document = state.document;
        self.usage = state.usage;
    }
}
