//! What people and the program around the agent say.

use crate::record::{record, string_enum};

use super::Content;

string_enum! {
    /// Who is behind a message.
    pub enum Attribution {
        /// A person.
        User = "user",
        /// The agent or one of its extensions.
        Agent = "agent",
    }
}

record! {
    /// A message of role `user` or `developer`.
    pub struct UserMessage {
        /// Text, or text and image blocks.
        content: Content = "content",
        /// Who is behind the message.
        attribution: Option<Attribution> = "attribution",
        /// Milliseconds since the epoch.
        timestamp: Option<i64> = "timestamp",
    }
}

impl UserMessage {
    /// A message; `timestamp` in milliseconds since the epoch.
    pub fn new(content: impl Into<Content>, timestamp: i64) -> Self {
        Self { content: content.into(), timestamp: Some(timestamp), ..Default::default() }
    }
}
