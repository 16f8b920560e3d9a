//! Statistics as JSON.

use std::collections::BTreeMap;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};

use super::{ProjectUse, Spent, Statistics, ToolUse};

impl Statistics {
    /// Returns the sums as an object: `sessions`, `entries`, `messages`, `total`, `models`,
    /// `tools`, `days` and `projects`.
    pub fn to_json(&self) -> RawJson {
        ObjectBuilder::new()
            .raw("sessions", &number(self.sessions))
            .raw("entries", &number(self.entries))
            .raw("messages", &map(&self.messages, |count| number(*count)))
            .raw("total", &self.total.to_json())
            .raw("models", &map(&self.models, |spent| spent.to_json()))
            .raw("tools", &map(&self.tools, |used| used.to_json()))
            .raw("days", &map(&self.days, |spent| spent.to_json()))
            .raw("projects", &map(&self.projects, |used| used.to_json()))
            .build()
    }
}

impl Spent {
    fn to_json(self) -> RawJson {
        let object = ObjectBuilder::new().raw("requests", &number(self.requests));
        object.raw("usage", &to_raw_json(&self.usage).unwrap_or_default()).build()
    }
}

impl ToolUse {
    fn to_json(self) -> RawJson {
        let object = ObjectBuilder::new().raw("calls", &number(self.calls));
        object.raw("errors", &number(self.errors)).build()
    }
}

impl ProjectUse {
    fn to_json(self) -> RawJson {
        let object = ObjectBuilder::new().raw("sessions", &number(self.sessions));
        object.raw("spent", &self.spent.to_json()).build()
    }
}

fn number(number: u64) -> RawJson {
    to_raw_json(&number).unwrap_or_default()
}

fn map<T>(map: &BTreeMap<String, T>, to_json: impl Fn(&T) -> RawJson) -> RawJson {
    let object = map.iter();
    object.fold(ObjectBuilder::new(), |all, (name, value)| all.raw(name, &to_json(value))).build()
}
