//! What holds at the leaf.

use super::SessionManager;
use crate::context::{ContextOptions, LeafChoice, SessionContext, build_session_context};

impl SessionManager {
    /// Builds what a model is to see at the leaf: messages in force, models, thinking level, mode.
    ///
    /// The messages are in the form that is safe to send; see [`ContextOptions`] for others.
    pub fn build_session_context(&self) -> SessionContext {
        self.session_context(LeafChoice::Current, &ContextOptions::default())
    }

    /// Builds what holds at a leaf, in a form of choice.
    pub fn session_context(
        &self,
        leaf: LeafChoice<'_>,
        options: &ContextOptions,
    ) -> SessionContext {
        build_session_context(self.tree(), leaf, options)
    }
}
