//! What a host has a say in.

use std::error::Error;

use async_trait::async_trait;
use session_model::Entry;
use session_model::json::RawJson;
use session_model::storage::StorageKey;

use super::Navigation;
use crate::SessionManager;

/// Why a host's own code failed.
pub type HostError = Box<dyn Error + Send + Sync>;

/// What a host does before and after a session moves; by default nothing.
///
/// An error before a move keeps everything as it is.
#[async_trait]
pub trait SessionHooks: Send + Sync {
    /// Is asked before a session moves in its tree.
    async fn before_navigate(&self, plan: &NavigationPlan) -> Result<BeforeNavigate, HostError> {
        let _ = plan;
        Ok(BeforeNavigate::Proceed)
    }

    /// Is told after a session moved in its tree, and may append to it.
    ///
    /// An error is handed on; the move stays.
    async fn after_navigate(
        &self,
        session: &mut SessionManager,
        done: &Navigation,
    ) -> Result<(), HostError> {
        let _ = (session, done);
        Ok(())
    }

    /// Is asked before one session is left for another.
    async fn before_switch(
        &self,
        from: &StorageKey,
        to: &StorageKey,
    ) -> Result<BeforeSwitch, HostError> {
        let _ = (from, to);
        Ok(BeforeSwitch::Proceed)
    }

    /// Decides about a session whose directory is no longer there; by default it is opened.
    async fn missing_cwd(&self, session: &StorageKey, cwd: &str) -> Result<MissingCwd, HostError> {
        let _ = (session, cwd);
        Ok(MissingCwd::OpenAnyway)
    }

    /// Tells whether a session's directory is there; by default this machine's disk is asked.
    async fn cwd_exists(&self, cwd: &str) -> Result<bool, HostError> {
        Ok(std::path::Path::new(cwd).is_dir())
    }

    /// Is told after one session was left for another, `session`.
    ///
    /// An error undoes the switch.
    async fn after_switch(
        &self,
        session: &mut SessionManager,
        from: &StorageKey,
    ) -> Result<(), HostError> {
        let _ = (session, from);
        Ok(())
    }
}

/// Nobody: every move is carried out.
impl SessionHooks for () {}

/// A navigation about to be carried out.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NavigationPlan {
    /// The entry that was asked for.
    pub target: String,
    /// The leaf now; `None` if it is above all entries.
    pub old_leaf: Option<String>,
    /// Where the session goes; `None` is above all entries. A new answer or summary is appended
    /// there.
    pub new_leaf: Option<String>,
    /// What is left, oldest first.
    pub abandoned: Vec<Entry>,
    /// Whether the model is to be told of what is left.
    pub summarize: bool,
    /// What the summary is to pay attention to.
    pub instructions: Option<String>,
}

/// What a hook says to a navigation.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum BeforeNavigate {
    /// Go on.
    #[default]
    Proceed,
    /// Stay.
    Cancel,
    /// Go on with this summary, if one was asked for.
    Summary(SuppliedSummary),
}

/// A summary a hook supplies.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct SuppliedSummary {
    /// The summary; none is written if it is empty.
    pub summary: String,
    /// What is kept with it; default: the files of the abandoned entries.
    pub details: Option<RawJson>,
}

/// What a hook says to a switch of sessions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum BeforeSwitch {
    /// Go on.
    #[default]
    Proceed,
    /// Stay.
    Cancel,
}

/// What becomes of a session whose directory is no longer there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum MissingCwd {
    /// It is opened as it is.
    #[default]
    OpenAnyway,
    /// It is taken to this directory, as [`SessionManager::move_to`] does, and opened there. It
    /// stays there if the hook after the switch fails.
    ReRoot(String),
    /// It is not opened.
    Refuse,
}

/// Somebody who sums up what a session leaves behind, commonly a model.
#[async_trait]
pub trait BranchSummarizer: Send + Sync {
    /// Sums up a branch.
    ///
    /// Until this returns nothing has moved, so a host may also drop the navigation.
    async fn summarize(&self, request: BranchSummaryRequest<'_>) -> Result<Summarized, HostError>;
}

/// What is to be summed up.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct BranchSummaryRequest<'a> {
    /// The branch that is left, oldest entry first; never empty.
    pub abandoned: &'a [Entry],
    /// What to pay attention to.
    pub instructions: Option<&'a str>,
}

/// What came of a summary.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Summarized {
    /// The summary; none is written if it is empty.
    Summary(String),
    /// It was called off; nothing moves.
    Aborted,
}
