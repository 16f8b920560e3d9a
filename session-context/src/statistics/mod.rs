//! What sessions cost, and what they were spent on.

mod json;

use std::collections::BTreeMap;

use session_model::body::EntryBody;
use session_model::document::SessionDocument;
use session_model::message::{Message, Usage, UsageTotals};
use session_model::time::to_iso;
use session_model::{Entry, EntryKind};

use crate::import::IMPORT_ENTRY;

/// What stands where a session does not tell.
pub const UNKNOWN: &str = "unknown";

/// What the work of child agents, as results of the tool `task` report it, is counted under among
/// the models: they do not tell which model did it.
pub const TASK: &str = "task";

/// Sums over sessions.
///
/// Memory grows with the number of days, models, tools and directories, not with that of sessions.
/// A fork counts what it copied once more. In an imported session, answers that cost nothing are
/// parts of others and no requests of their own.
///
/// ```
/// use session_context::statistics::Statistics;
/// use session_model::document::{LoadOptions, SessionDocument};
///
/// let file = concat!(
///     r#"{"type":"session","version":3,"id":"s","cwd":"/w"}"#, "\n",
///     r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T23:00:00.000Z","#,
///     r#""message":{"role":"assistant","provider":"p","model":"m","content":[],"#,
///     r#""usage":{"input":5,"output":2}}}"#, "\n",
/// );
/// let loaded = SessionDocument::load(file.into(), &LoadOptions::default())?;
/// let mut statistics = Statistics::default();
/// statistics.add(&loaded.document);
/// assert_eq!(statistics.models["p/m"].usage.input, 5);
/// assert_eq!(statistics.days["2026-01-01"].tokens(), 7);
/// # Ok::<(), session_model::document::LoadError>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct Statistics {
    /// How many sessions.
    pub sessions: u64,
    /// How many entries, of all branches.
    pub entries: u64,
    /// How many messages of each role.
    pub messages: BTreeMap<String, u64>,
    /// All requests.
    pub total: Spent,
    /// The requests to each model, as `provider/model`, and [`TASK`].
    pub models: BTreeMap<String, Spent>,
    /// The calls of each tool.
    pub tools: BTreeMap<String, ToolUse>,
    /// The requests of each day, as `2026-01-31` in UTC, or [`UNKNOWN`].
    pub days: BTreeMap<String, Spent>,
    /// What was done in each directory, or in one that is [`UNKNOWN`].
    pub projects: BTreeMap<String, ProjectUse>,
}

/// What requests to models cost.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Spent {
    /// How many requests.
    pub requests: u64,
    /// Tokens and cost.
    pub usage: UsageTotals,
}

/// How often a tool was called.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ToolUse {
    /// How often a model called it.
    pub calls: u64,
    /// How many of its results say that it failed.
    pub errors: u64,
}

/// What was done in a directory.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProjectUse {
    /// How many sessions.
    pub sessions: u64,
    /// What they cost.
    pub spent: Spent,
}

impl Spent {
    /// Returns all tokens: sent, received, and those of caches.
    pub fn tokens(&self) -> u64 {
        let UsageTotals { input, output, cache_read, cache_write, .. } = self.usage;
        [input, output, cache_read, cache_write].into_iter().fold(0, u64::saturating_add)
    }

    fn add(&mut self, usage: &Usage) {
        self.requests += 1;
        self.usage.add(usage);
    }
}

impl Statistics {
    /// Adds a session, all of its branches.
    pub fn add(&mut self, session: &SessionDocument) {
        let cwd = session.header().cwd().filter(|cwd| !cwd.is_empty());
        let cwd = cwd.unwrap_or_else(|| UNKNOWN.to_owned());
        self.sessions += 1;
        self.projects.entry(cwd.clone()).or_default().sessions += 1;
        let entries = session.tree().entries();
        let is_import = entries.iter().any(marks_import);
        for entry in entries {
            self.add_entry(entry, &cwd, is_import);
        }
    }

    fn add_entry(&mut self, entry: &Entry, cwd: &str, is_import: bool) {
        self.entries += 1;
        let body = entry.body();
        let model = match &body {
            EntryBody::Message(entry) => match self.add_message(&entry.message) {
                Some(model) => model,
                None => return,
            },
            EntryBody::ModelUsage(usage) => format!("{}/{}", usage.provider, usage.model),
            _ => return,
        };
        let usage = body.counted_usage().unwrap_or_default();
        // Other tools keep one answer as several messages, and what it cost beside one of them.
        if is_import && costs_nothing(&usage) {
            return;
        }
        let time = entry.timestamp_ms().or_else(|| body.message()?.timestamp());
        let day = time.and_then(|time| to_iso(time).get(..10).map(str::to_owned));
        let day = day.unwrap_or_else(|| UNKNOWN.to_owned());
        self.total.add(&usage);
        self.models.entry(model).or_default().add(&usage);
        self.days.entry(day).or_default().add(&usage);
        self.projects.entry(cwd.to_owned()).or_default().spent.add(&usage);
    }

    /// Counts a message and the tools in it; returns what its usage is counted under, if any.
    fn add_message(&mut self, message: &Message) -> Option<String> {
        *self.messages.entry(message.role().to_owned()).or_default() += 1;
        match message {
            Message::Assistant(answer) => {
                for call in answer.tool_calls() {
                    self.tools.entry(call.name.clone()).or_default().calls += 1;
                }
                Some(answer.model_ref().unwrap_or_else(|| UNKNOWN.to_owned()))
            }
            Message::ToolResult(result) => {
                if result.is_error {
                    self.tools.entry(result.tool_name.clone()).or_default().errors += 1;
                }
                let usage = result.details.as_ref().and_then(|details| details.field("usage"));
                (result.tool_name == TASK && usage.is_some()).then(|| TASK.to_owned())
            }
            _ => None,
        }
    }
}

fn costs_nothing(usage: &Usage) -> bool {
    let mut totals = UsageTotals::default();
    totals.add(usage);
    totals == UsageTotals::default()
}

fn marks_import(entry: &Entry) -> bool {
    entry.kind() == EntryKind::Custom
        && matches!(entry.body(), EntryBody::Custom(custom) if custom.custom_type == IMPORT_ENTRY)
}
