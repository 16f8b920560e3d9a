//! A summary for programs.

use super::SessionSummary;
use crate::json::{ObjectBuilder, RawJson, to_raw_json};
use crate::time;

/// Stands for the first message where no person said anything in words, as in other tools.
const NO_MESSAGES: &str = "(no messages)";

impl SessionSummary {
    /// Returns the summary as an object.
    ///
    /// The keys `path`, `id`, `cwd`, `title`, `parentSessionPath`, `created`, `modified`,
    /// `messageCount` and `firstMessage` are those other tools of the family use; `created` and
    /// `modified` are `null` if unknown. Ours follow: `messageCountIsExact`, `titleOrigin`,
    /// `lastActivity`, `activityOrigin`, `status`, `size`, `version`, `diagnostics`.
    pub fn to_json(&self, path: &str) -> RawJson {
        let string = |text: Option<&str>| text.map(RawJson::string);
        let iso = |ms: Option<i64>| ms.map(|ms| RawJson::string(&time::to_iso(ms)));
        let number = |n: u64| to_raw_json(&n).unwrap_or_default();
        let no_messages = self.message_count_is_exact.then_some(NO_MESSAGES);
        let diagnostics: Vec<_> = self.diagnostics.iter().map(|d| d.to_json()).collect();
        let title = self.title.as_ref();
        let activity = self.activity;
        ObjectBuilder::new()
            .string("path", path)
            .string("id", &self.id)
            .optional("cwd", string(self.cwd.as_deref()).as_ref())
            .optional("title", string(title.map(|t| t.text.as_str())).as_ref())
            .optional("parentSessionPath", string(self.parent_session.as_deref()).as_ref())
            .raw("created", &iso(self.created_ms).unwrap_or_default())
            .raw("modified", &iso(self.modified_ms).unwrap_or_default())
            .raw("messageCount", &number(self.message_count))
            .optional(
                "firstMessage",
                string(self.first_message.as_deref().or(no_messages)).as_ref(),
            )
            .raw(
                "messageCountIsExact",
                &to_raw_json(&self.message_count_is_exact).unwrap_or_default(),
            )
            .optional("titleOrigin", string(title.map(|t| t.origin.as_str())).as_ref())
            .optional("lastActivity", iso(activity.map(|a| a.at_ms)).as_ref())
            .optional("activityOrigin", string(activity.map(|a| a.origin.as_str())).as_ref())
            .string("status", self.status.as_str())
            .raw("size", &number(self.size))
            .raw("version", &to_raw_json(&self.version).unwrap_or_default())
            .raw("diagnostics", &to_raw_json(&diagnostics).unwrap_or_default())
            .build()
    }
}
