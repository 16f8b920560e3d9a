//! Messages, and requests beside them.

use crate::message::{Message, StopReason, Usage};
use crate::record::record;

record! {
    /// An entry of type `message`.
    pub struct MessageEntry {
        /// The message.
        message: Message = "message",
    }
}

impl From<Message> for MessageEntry {
    fn from(message: Message) -> Self {
        Self { message, ..Default::default() }
    }
}

record! {
    /// An entry of type `model_usage`: a request that is no part of the conversation.
    ///
    /// It counts in the usage of the session.
    pub struct ModelUsage {
        /// What the request was for.
        purpose: String = "purpose",
        /// The role the model was chosen for.
        role: Option<String> = "role",
        /// The provider's interface.
        api: String = "api",
        /// The provider.
        provider: String = "provider",
        /// The provider's name of the model.
        model: String = "model",
        /// Tokens and cost; counts as zero if missing.
        usage: Option<Usage> = "usage",
        /// Why the model stopped.
        stop_reason: Option<StopReason> = "stopReason",
        /// What went wrong, where something did.
        error_message: Option<String> = "errorMessage",
    }
}
