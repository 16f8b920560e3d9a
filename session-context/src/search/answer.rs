//! What a search finds.

use std::path::PathBuf;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::search::{Snippet, TextKind};
use session_model::storage::StorageKey;
use session_model::time::to_iso;

/// A session in which something was found.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchedSession {
    /// Which of the searched places it lies in, counted from 0.
    pub place: usize,
    /// The key of its file.
    pub key: StorageKey,
    /// Where the file is, if it is one on this machine.
    pub path: Option<PathBuf>,
    /// Its id.
    pub id: Option<String>,
    /// Its title.
    pub title: Option<String>,
    /// The directory it works in.
    pub cwd: Option<String>,
}

impl SearchedSession {
    /// Returns the file's path, or its key if it has none, as text.
    pub fn location(&self) -> String {
        match &self.path {
            Some(path) => path.display().to_string(),
            None => self.key.to_string(),
        }
    }
}

/// An entry that was found.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SearchHit {
    /// The session it is of.
    pub session: SearchedSession,
    /// Its id; `None` for the title in the header, and in files that give no ids.
    pub entry: Option<String>,
    /// Who speaks: the role of a message, the `type` of any other entry, or `title`.
    pub role: String,
    /// Whether it was said or thought.
    pub kind: TextKind,
    /// The tools it calls or has the result of.
    pub tools: Vec<String>,
    /// The model that wrote it, as `provider/model`.
    pub model: Option<String>,
    /// When it was written, in milliseconds since the epoch.
    pub written_ms: Option<i64>,
    /// Which line of the file it is, counted from 1.
    pub line: u64,
    /// Where in the file that line begins, in bytes.
    pub offset: u64,
    /// The part of the text that shows what was found.
    pub snippet: Snippet,
    /// How well it answers; the higher the better, within one search only.
    pub score: f64,
}

impl SearchHit {
    /// Returns the hit as an object.
    pub fn to_json(&self) -> RawJson {
        let Self { session, snippet, .. } = self;
        let text = |text: &Option<String>| text.as_deref().map(RawJson::string);
        let number = |n: u64| to_raw_json(&n).unwrap_or_default();
        let tools: Vec<_> = self.tools.iter().map(|tool| RawJson::string(tool)).collect();
        let highlights: Vec<_> = snippet
            .highlights
            .iter()
            .map(|range| {
                let chars = |end: usize| snippet.text[..end].encode_utf16().count() as u64;
                RawJson::array(&[number(chars(range.start)), number(chars(range.end))])
            })
            .collect();
        ObjectBuilder::new()
            .optional("session", text(&session.id).as_ref())
            .optional("entry", text(&self.entry).as_ref())
            .optional("title", text(&session.title).as_ref())
            .string("path", &session.location())
            .optional("cwd", text(&session.cwd).as_ref())
            .raw("line", &number(self.line))
            .raw("offset", &number(self.offset))
            .string("role", &self.role)
            .raw("thinking", &to_raw_json(&(self.kind == TextKind::Thinking)).unwrap_or_default())
            .raw("tools", &RawJson::array(&tools))
            .optional("model", text(&self.model).as_ref())
            .optional("timestamp", text(&self.written_ms.map(to_iso)).as_ref())
            .string("snippet", &snippet.text)
            .raw("highlights", &RawJson::array(&highlights))
            .raw("score", &to_raw_json(&self.score).unwrap_or_default())
            .build()
    }
}

/// What a search found.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct SearchResults {
    /// The best, as many as were asked for.
    pub hits: Vec<SearchHit>,
    /// How many entries answer the request.
    pub total: u64,
    /// Whether the number is exact; else there are at most so many.
    pub total_is_exact: bool,
    /// How much was searched.
    pub coverage: SearchCoverage,
}

/// A session that could not be searched.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UnreadableSession {
    /// The path or key of its file.
    pub location: String,
    /// Why it could not be searched.
    pub reason: String,
}

/// How much was searched.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchCoverage {
    /// How many sessions were searched.
    pub sessions: u64,
    /// Sessions, and files that should be some, that could not be read or searched.
    pub unreadable: Vec<UnreadableSession>,
    /// How many sessions were left out since the time was up.
    pub not_reached: u64,
    /// Of how many entries only the first 64 KiB of text were searched.
    pub cut_entries: u64,
    /// Whether entries that may be answers were not looked at.
    pub candidates_left: bool,
    /// Whether the query has more words than count.
    pub query_is_cut: bool,
    /// Why the index that was asked for could not be used; sessions were read in its place.
    pub index_unusable: Option<String>,
    /// What there is to know of the indexes, as that a damaged one is kept under another name.
    pub index_notes: Vec<String>,
}

impl SearchCoverage {
    /// Tells whether all that was asked for was searched; the ends of very long entries do not
    /// count.
    pub fn is_complete(&self) -> bool {
        self.unreadable.is_empty()
            && self.not_reached == 0
            && !self.candidates_left
            && !self.query_is_cut
    }

    /// Returns the coverage as an object.
    pub fn to_json(&self) -> RawJson {
        let number = |n: u64| to_raw_json(&n).unwrap_or_default();
        let flag = |flag: bool| to_raw_json(&flag).unwrap_or_default();
        let unreadable = self.unreadable.iter().map(|session| {
            ObjectBuilder::new()
                .string("path", &session.location)
                .string("error", &session.reason)
                .build()
        });
        let notes: Vec<_> = self.index_notes.iter().map(|text| RawJson::string(text)).collect();
        let notes = (!notes.is_empty()).then(|| RawJson::array(&notes));
        ObjectBuilder::new()
            .raw("complete", &flag(self.is_complete()))
            .raw("sessions", &number(self.sessions))
            .raw("unreadable", &RawJson::array(&unreadable.collect::<Vec<_>>()))
            .raw("notReached", &number(self.not_reached))
            .raw("cutEntries", &number(self.cut_entries))
            .raw("candidatesLeft", &flag(self.candidates_left))
            .raw("queryIsCut", &flag(self.query_is_cut))
            .optional("indexUnusable", self.index_unusable.as_deref().map(RawJson::string).as_ref())
            .optional("indexNotes", notes.as_ref())
            .build()
    }
}
