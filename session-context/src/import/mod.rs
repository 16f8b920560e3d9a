//! Sessions of Claude Code and Codex as sessions of ours.
//!
//! [`convert`] is pure: bytes of a source become a [`Conversion`], which holds the entries and a
//! [`ConversionReport`] that counts every record. [`Importer`] writes it as a session, and
//! finds the session of an earlier import again: what the source has grown by is added.
//! [`find_sources`] finds the files of a tool.
//!
//! `docs/import.md` tells what becomes of which record.

mod builder;
mod claude;
mod codex;
mod importer;
mod limits;
mod records;
mod report;
mod source;

use bytes::Bytes;
use session_model::BlobRef;
use session_model::json::RawJson;
use session_model::message::Content;

pub use builder::IMPORT_ENTRY;
#[cfg(feature = "export")]
pub(crate) use codex::ITEM_TYPE;
pub use importer::{ImportOptions, ImportOutcome, Imported, Importer};
pub use limits::{
    DEFAULT_MAX_DEPTH, DEFAULT_MAX_RECORD_BYTES, DEFAULT_MAX_SOURCE_BYTES, ImportLimits,
};
pub use report::{ConversionReport, Fate, LeftOut, Note};
pub use source::{
    FoundSources, GLIMPSE_BYTES, Glimpse, ImportError, Source, find_sources, glimpse, home_of,
};

/// A tool whose sessions can be imported.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Tool {
    /// Claude Code.
    Claude,
    /// Codex.
    Codex,
}

impl Tool {
    /// Returns the tool's name, as import entries and commands have it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Codex => "codex",
        }
    }
}

impl std::fmt::Display for Tool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Self::Claude => "Claude Code",
            Self::Codex => "Codex",
        })
    }
}

/// A title that a source gives its session.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SourceTitle {
    /// The title.
    pub text: String,
    /// Whether a person gave it.
    pub by_user: bool,
    /// The titles the session had before.
    pub earlier: Vec<String>,
}

/// What a source becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Conversion {
    /// The tool the source is of.
    pub tool: Tool,
    /// The id the session has there.
    pub source_id: String,
    /// The id the session gets here; the same source always gets the same.
    pub session_id: String,
    /// The directory the session works in, if the source tells.
    pub cwd: Option<String>,
    /// When the session began, in milliseconds since 1970; 0 if the source does not tell.
    pub created_ms: i64,
    /// The session's title.
    pub title: Option<SourceTitle>,
    /// The entries in file order, the [`IMPORT_ENTRY`] first.
    ///
    /// A source that has only grown gives the same entries, and those that are new.
    pub entries: Vec<RawJson>,
    /// What became of the records.
    pub report: ConversionReport,
}

impl Conversion {
    /// Tells whether the source holds no conversation.
    pub fn is_empty(&self) -> bool {
        self.entries.len() <= 1
    }

    /// Returns the session's title, else what a person said first.
    pub fn title_or_first_words(&self) -> Option<String> {
        let words = |entry: &RawJson| {
            let message = entry.field("message")?.as_object()?;
            message.text("role").filter(|role| role == "user")?;
            let content = Content::from_json(message.get("content")?);
            let text = content.text().trim().to_owned();
            (!text.is_empty()).then_some(text)
        };
        let title = self.title.as_ref().map(|title| title.text.clone());
        title.or_else(|| self.entries.iter().find_map(words))
    }
}

/// Converts a source; `path` is its path, whose last part may name the session.
///
/// Never fails: what cannot be read or is not known is counted in the report.
///
/// # Examples
///
/// ```
/// use session_context::import::{ImportLimits, Tool, convert};
///
/// let source = r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"hi"}}"#;
/// let converted = convert(Tool::Claude, source.into(), "0001.jsonl", &ImportLimits::default());
/// assert_eq!(converted.entries.len(), 2);
/// assert_eq!(converted.report.records(), 1);
/// ```
pub fn convert(tool: Tool, source: Bytes, path: &str, limits: &ImportLimits) -> Conversion {
    match tool {
        Tool::Claude => claude::convert(&source, path, limits),
        Tool::Codex => codex::convert(&source, path, limits),
    }
}

/// A UUIDv7 of the session's time whose other bits come from what it is called in its tool.
fn source_session_id(tool: Tool, source_id: &str, created_ms: i64) -> String {
    let name = BlobRef::of(format!("{} {source_id}", tool.as_str()).as_bytes()).to_hex();
    let mut random = [0; 10];
    for (byte, digits) in random.iter_mut().zip(name.as_bytes().chunks_exact(2)) {
        let digits = std::str::from_utf8(digits).unwrap_or_default();
        *byte = u8::from_str_radix(digits, 16).unwrap_or_default();
    }
    let ms = u64::try_from(created_ms).unwrap_or_default();
    uuid::Builder::from_unix_timestamp_millis(ms, &random).into_uuid().to_string()
}

/// A role's content as a message for a person's or a program's words.
fn said(role: &str, content: &RawJson, by_program: bool, time_ms: i64) -> RawJson {
    let out =
        session_model::json::ObjectBuilder::new().string("role", role).raw("content", content);
    let out = if by_program { out.string("attribution", "agent") } else { out };
    out.raw("timestamp", &RawJson::from(time_ms)).build()
}
