//! What a reader found that its caller should know.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::json::{ObjectBuilder, RawJson, to_raw_json};

/// How much a [`Diagnostic`] matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Nothing is wrong; it is said for completeness.
    Info,
    /// Something is odd, and everything could be read.
    Warning,
    /// Something could not be read, found or saved.
    Loss,
}

macro_rules! codes {
    ($($(#[doc = $doc:literal])+ $name:ident = $text:literal, $severity:ident;)+) => {
        /// What a [`Diagnostic`] is about.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        #[non_exhaustive]
        pub enum DiagnosticCode {
            $($(#[doc = $doc])+ $name,)+
        }

        impl DiagnosticCode {
            /// Returns the code as it stands in machine-readable output.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$name => $text,)+ }
            }

            /// Returns how much it matters.
            pub fn severity(self) -> Severity {
                match self { $(Self::$name => Severity::$severity,)+ }
            }
        }
    };
}

codes! {
    /// A line that is no JSON; kept in place, not loaded.
    DamagedLine = "damaged-line", Loss;
    /// The file ends in part of a record; not loaded.
    TornTail = "torn-tail", Loss;
    /// Text behind a complete record on its line; kept, not loaded.
    TrailingText = "trailing-text", Loss;
    /// Several whole records on one line; all are loaded.
    JoinedRecords = "joined-records", Warning;
    /// Two records ran into each other; the complete one is loaded, the rest kept.
    FusedRecords = "fused-records", Loss;
    /// Zero bytes; skipped and kept.
    NulRun = "nul-run", Warning;
    /// Bytes that are no UTF-8, read as U+FFFD and kept.
    InvalidUtf8 = "invalid-utf8", Loss;
    /// A byte order mark; skipped.
    ByteOrderMark = "byte-order-mark", Info;
    /// The last record has no line end; the next append starts a new line.
    NoFinalNewline = "no-final-newline", Info;
    /// A line longer than the limit; kept, not loaded.
    LineTooLong = "line-too-long", Loss;
    /// JSON that is no object with a `type`; kept, not loaded.
    NotAnEntry = "not-an-entry", Warning;
    /// A second session header; kept, not loaded.
    ExtraHeader = "extra-header", Warning;
    /// An entry without an id; it loads and cannot be referred to.
    MissingId = "missing-id", Warning;
    /// An id that an earlier entry has too; look-ups find the later one.
    DuplicateId = "duplicate-id", Warning;
    /// A parent that is nowhere in the file; the entry is a root.
    UnknownParent = "unknown-parent", Warning;
    /// An entry that names itself as parent; it is a root.
    SelfParent = "self-parent", Warning;
    /// Entries that are each other's ancestors; the first of them is offered as a root.
    ParentCycle = "parent-cycle", Warning;
    /// Two branches were written in turn, as by two programs at once; both are loaded.
    InterleavedBranches = "interleaved-branches", Warning;
    /// The file is of a newer format; it can be read and not written.
    NewerVersion = "newer-version", Warning;
    /// The file was of an older format and has been brought up to date.
    Migrated = "migrated", Info;
    /// A compaction keeps from an entry that is not on its path; nothing before it is kept.
    FirstKeptMissing = "first-kept-missing", Warning;
    /// A message that has no usable `message` object; left out of the context.
    UnreadableMessage = "unreadable-message", Warning;
    /// A tool call that never got its result; the model is told that it was interrupted.
    DanglingToolCall = "dangling-tool-call", Info;
    /// A tool result without its call; left out of what a model is sent.
    OrphanToolResult = "orphan-tool-result", Info;
    /// The torn end of the file was moved into a file of its own.
    TailMovedAside = "tail-moved-aside", Loss;
    /// The file was no session and was moved aside.
    FileMovedAside = "file-moved-aside", Loss;
    /// Another program changed the file; its entries were taken over.
    ForeignChange = "foreign-change", Warning;
    /// Another program changed entries in place; how they were is in a file of its own.
    EntryChanged = "entry-changed", Warning;
    /// Another program removed the file; it was written again.
    FileRestored = "file-restored", Warning;
    /// An artifact was not copied, moved or removed with its session; it is where it was.
    ArtifactLeftBehind = "artifact-left-behind", Warning;
    /// A file the session left could not be closed well; its last lines may not be durable.
    NotClosed = "not-closed", Warning;
    /// The file or a folder can be read by other users.
    TooOpen = "too-open", Warning;
    /// A blob that an entry names is not there; the reference stays.
    MissingBlob = "missing-blob", Loss;
    /// A blob's content is not what its name says; it is not used, and the reference stays.
    DamagedBlob = "damaged-blob", Loss;
    /// An object could not be read.
    Unreadable = "unreadable", Loss;
    /// An index beside the sessions was set aside, and is made again.
    IndexSetAside = "index-set-aside", Warning;
    /// An index beside the sessions is not used; the sessions are read instead.
    IndexNotUsed = "index-not-used", Warning;
    /// An index is on a file system without a write-ahead log; one host at a time may use it.
    IndexWithoutLog = "index-without-log", Warning;
    /// An index is a copy of one that is in use elsewhere, and counts as another host's.
    IndexCopied = "index-copied", Warning;
    /// It could not be noted which session a terminal works in.
    BreadcrumbNotWritten = "breadcrumb-not-written", Info;
}

impl fmt::Display for DiagnosticCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One thing a reader found.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Diagnostic {
    /// What it is about.
    pub code: DiagnosticCode,
    /// The line in the file, from 1.
    pub line: Option<u64>,
    /// The bytes of the file it speaks of.
    pub bytes: Option<Range<u64>>,
    /// The id of the entry it speaks of.
    pub entry: Option<String>,
    /// What was found, in words.
    pub detail: String,
}

impl Diagnostic {
    /// A diagnostic that names no place.
    pub fn new(code: DiagnosticCode, detail: impl Into<String>) -> Self {
        Self { code, line: None, bytes: None, entry: None, detail: detail.into() }
    }

    /// The same with a line and the bytes of the file.
    pub fn at(self, line: u64, bytes: Range<u64>) -> Self {
        Self { line: Some(line), bytes: Some(bytes), ..self }
    }

    /// The same with an entry's id.
    pub fn of_entry(self, id: impl Into<String>) -> Self {
        Self { entry: Some(id.into()), ..self }
    }

    /// Returns how much it matters.
    pub fn severity(&self) -> Severity {
        self.code.severity()
    }

    /// Returns it as an object: `code`, `severity`, `line?`, `bytes?` (start and end), `entry?`,
    /// `detail`.
    pub fn to_json(&self) -> RawJson {
        let number = |n: u64| to_raw_json(&n).unwrap_or_else(|_| RawJson::null());
        let severity = match self.severity() {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Loss => "loss",
        };
        let bytes = self.bytes.as_ref().and_then(|b| to_raw_json(&[b.start, b.end]).ok());
        ObjectBuilder::new()
            .string("code", self.code.as_str())
            .string("severity", severity)
            .optional("line", self.line.map(number).as_ref())
            .optional("bytes", bytes.as_ref())
            .optional("entry", self.entry.as_deref().map(RawJson::string).as_ref())
            .string("detail", &self.detail)
            .build()
    }
}

impl fmt::Display for Diagnostic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: ", self.code)?;
        if let Some(line) = self.line {
            write!(f, "line {line}")?;
            if let Some(bytes) = &self.bytes {
                write!(f, " (bytes {}..{})", bytes.start, bytes.end)?;
            }
            f.write_str(": ")?;
        }
        f.write_str(&self.detail)
    }
}
