//! Sessions in the formats of Claude Code and Codex, for these tools to go on with.
//!
//! [`to_claude`] writes the whole tree, [`to_codex`] the path to the leaf. Both are pure, and tell
//! what the format has no place for. Images must be whole: open the session with
//! [`SessionOptions::resolve`](crate::SessionOptions::resolve).

mod blocks;
mod claude;
mod codex;
mod loss;
mod said;

use std::borrow::Cow;

use session_model::json::RawJson;
use session_model::tree::SessionTree;
use session_model::{BlobRef, SessionDocument, time};

use crate::import::{Fate, ImportLimits, LeftOut, Tool, convert};

pub use claude::to_claude;
pub use codex::to_codex;
pub use loss::{Loss, LossReport};

/// What is to be handed to another tool.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Handed<'a> {
    /// The session's id; if it is no UUID, one is made of it.
    pub id: String,
    /// The directory the session works in.
    pub cwd: String,
    /// When the session began, in milliseconds since 1970.
    pub created_ms: i64,
    /// The session's title.
    pub title: Option<String>,
    /// Whether a person gave the title.
    pub titled_by_user: bool,
    /// The entries, and which is the leaf.
    pub tree: &'a SessionTree,
}

impl<'a> Handed<'a> {
    /// Hands on a whole session.
    pub fn of(session: &'a SessionDocument) -> Self {
        Self::new(&session.header().folded_json(), session.title(), session.tree())
    }

    /// Hands on these entries of a session with this header.
    pub fn new(header: &RawJson, title: Option<String>, tree: &'a SessionTree) -> Self {
        let field = |name: &str| header.field(name);
        let text = |name| field(name).and_then(|v| v.as_text().map(Cow::into_owned));
        Self {
            id: text("id").unwrap_or_default(),
            cwd: text("cwd").unwrap_or_default(),
            created_ms: field("timestamp").as_ref().and_then(time::from_json).unwrap_or_default(),
            titled_by_user: text("titleSource").is_some_and(|source| source == "user"),
            title,
            tree,
        }
    }

    /// The session's id as the tools want it.
    fn uuid(&self) -> String {
        match uuid::Uuid::try_parse(&self.id) {
            Ok(id) => id.to_string(),
            Err(_) => uuid_of(&["session", &self.id]),
        }
    }
}

/// A session in another tool's format.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ForeignSession {
    /// The tool.
    pub tool: Tool,
    /// Where in its home the tool looks for the file.
    pub path: String,
    /// The records, one a line.
    pub records: Vec<RawJson>,
    /// What the format has no place for.
    pub loss: LossReport,
}

impl ForeignSession {
    /// Reads the records as an import does, and returns how many it cannot read or does not know.
    pub fn unreadable(&self) -> u64 {
        let limits = ImportLimits::default();
        let back = convert(self.tool, self.to_text().into(), &self.path, &limits);
        back.report.with_fate(|fate| match fate {
            Fate::LeftOut(why) => !matches!(why, LeftOut::Bookkeeping | LeftOut::Duplicate),
            Fate::Unknown => true,
            Fate::Converted => false,
        })
    }

    /// Returns the file's content.
    pub fn to_text(&self) -> String {
        let bytes = self.records.iter().map(|record| record.as_bytes().len() + 1).sum();
        let mut out = String::with_capacity(bytes);
        for record in &self.records {
            out.push_str(record.as_str());
            out.push('\n');
        }
        out
    }
}

/// A UUID that these names always give.
fn uuid_of(names: &[&str]) -> String {
    let digits = BlobRef::of(names.join("\n").as_bytes()).to_hex();
    let number = u128::from_str_radix(&digits[..32], 16).unwrap_or_default();
    uuid::Builder::from_custom_bytes(number.to_be_bytes()).into_uuid().to_string()
}
