//! Messages of extensions.

use crate::json::RawJson;
use crate::record::record;

use super::{Attribution, Content};

record! {
    /// A message of role `custom`, or `hookMessage` before version 3.
    pub struct CustomMessage {
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
        /// Milliseconds since the epoch.
        timestamp: Option<i64> = "timestamp",
    }
}
