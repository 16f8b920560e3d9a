//! Data and messages of extensions.

use crate::json::RawJson;
use crate::message::{Attribution, Content};
use crate::record::record;

record! {
    /// An entry of type `custom`: data of an extension, no part of the conversation.
    pub struct CustomEntry {
        /// What the extension calls it.
        custom_type: String = "customType",
        /// Any value.
        data: Option<RawJson> = "data",
    }
}

record! {
    /// An entry of type `custom_message`: a message of an extension.
    pub struct CustomMessageEntry {
        /// What the extension calls it.
        custom_type: String = "customType",
        /// Text, or text and image blocks.
        content: Content = "content",
        /// Whether people see it.
        display: bool = "display",
        /// What the extension keeps with it, not for the model.
        details: Option<RawJson> = "details",
        /// Who is behind the message.
        attribution: Option<Attribution> = "attribution",
    }
}

impl CustomMessageEntry {
    /// A message that the agent is behind.
    pub fn new(
        custom_type: impl Into<String>,
        content: impl Into<Content>,
        display: bool,
        details: Option<RawJson>,
    ) -> Self {
        Self {
            custom_type: custom_type.into(),
            content: content.into(),
            display,
            details,
            attribution: Some(Attribution::Agent),
            ..Default::default()
        }
    }
}
