//! What was found, and what is to be done about it.

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::{Diagnostic, DiagnosticCode, Severity};

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum FindingCode {
    /// What reading the session reported.
    Record(DiagnosticCode),
    /// A file called `.jsonl` that is no session.
    NotASession,
    /// A session of an older format; opening it for writing brings it up to date.
    OlderVersion,
    /// An entry refers to one that is nowhere in the file.
    DanglingReference,
    /// The session has become so large that loading it takes much memory, or one of its records
    /// will soon be too long to be read.
    Oversized,
    /// Another session has the same id.
    SharedId,
    /// The file's name has another id than the header.
    OtherName,
    /// The session lies in another bucket than that of its directory.
    OtherBucket,
    /// Sessions of several directories lie in one bucket.
    SharedBucket,
    /// Several artifacts have one number.
    SharedNumber,
    /// A file among artifacts that is none.
    StrayArtifact,
    /// Artifacts without their session.
    OrphanedArtifacts,
    /// A blob that a session refers to is not there.
    MissingBlob,
    /// A blob whose content is not what its name says.
    DamagedBlob,
    /// A file among blobs whose name is that of none.
    StrayBlob,
    /// A blob no session refers to.
    UnusedBlob,
    /// Bytes that a repair put aside.
    SetAside,
    /// A session that was being taken to the trash or back when its process ended; what goes along
    /// with it may lie at both places.
    CutOff,
    /// A file or directory that others can read or write.
    TooOpen,
    /// A temporary file of a writer that is gone.
    Leftover,
    /// A claim on a session that is gone.
    StaleClaim,
    /// A symbolic link or special file, which is not followed or read.
    NotAFile,
    /// The file system has no locks.
    NoLocks,
    /// The storage's own directory is a symbolic link.
    LinkedRoot,
    /// Something that could not be read.
    Unreadable,
}

impl FindingCode {
    /// Returns the code as it stands in machine-readable output.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Record(code) => code.as_str(),
            Self::NotASession => "not-a-session",
            Self::OlderVersion => "older-version",
            Self::DanglingReference => "dangling-reference",
            Self::Oversized => "oversized",
            Self::SharedId => "shared-id",
            Self::OtherName => "other-name",
            Self::OtherBucket => "other-bucket",
            Self::SharedBucket => "shared-bucket",
            Self::SharedNumber => "shared-number",
            Self::StrayArtifact => "stray-artifact",
            Self::OrphanedArtifacts => "orphaned-artifacts",
            Self::MissingBlob => "missing-blob",
            Self::DamagedBlob => "damaged-blob",
            Self::StrayBlob => "stray-blob",
            Self::UnusedBlob => "unused-blob",
            Self::SetAside => "set-aside",
            Self::CutOff => "cut-off",
            Self::TooOpen => "too-open",
            Self::Leftover => "leftover",
            Self::StaleClaim => "stale-claim",
            Self::NotAFile => "not-a-file",
            Self::NoLocks => "no-locks",
            Self::LinkedRoot => "linked-root",
            Self::Unreadable => "unreadable",
        }
    }

    /// Returns how much it matters.
    pub fn severity(self) -> Severity {
        match self {
            Self::Record(code) => code.severity(),
            Self::NotASession | Self::MissingBlob | Self::DamagedBlob | Self::Unreadable => {
                Severity::Loss
            }
            Self::OlderVersion
            | Self::OtherName
            | Self::OtherBucket
            | Self::SharedBucket
            | Self::StrayArtifact
            | Self::UnusedBlob
            | Self::SetAside
            | Self::Leftover
            | Self::StaleClaim
            | Self::LinkedRoot => Severity::Info,
            _ => Severity::Warning,
        }
    }
}

/// What is to be done about a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Need {
    /// Nothing.
    Nothing,
    /// A repair can do it.
    Repair(Remedy),
    /// Only the user can do it: this.
    User(&'static str),
}

/// What a repair does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Remedy {
    /// Every record gets a line of its own; what is none is moved into a file beside.
    Rewrite,
    /// Others lose their rights.
    Tighten,
    /// It is moved into the trash.
    Retire,
    /// What was cut off is finished.
    Finish,
}

impl Remedy {
    /// Returns what would be done, in words.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rewrite => {
                "give every record a line of its own, and move what is none into a file beside"
            }
            Self::Tighten => "take the rights of others",
            Self::Retire => "move it into the trash",
            Self::Finish => "take what goes along with the session to where it is",
        }
    }
}

/// What came of a repair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// None was made.
    Found,
    /// It was made, and this was done.
    Repaired(String),
    /// It could not be made, for this reason.
    Failed(String),
}

/// One thing that is odd.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Finding {
    /// What it is about.
    pub code: FindingCode,
    /// Where, below the storage.
    pub path: String,
    /// What was found, in words.
    pub detail: String,
    /// What is to be done.
    pub need: Need,
    /// What was done.
    pub outcome: Outcome,
}

impl Finding {
    pub(super) fn new(
        code: FindingCode,
        path: impl Into<String>,
        detail: impl Into<String>,
        need: Need,
    ) -> Self {
        let (path, detail) = (path.into(), detail.into());
        Self { code, path, detail, need, outcome: Outcome::Found }
    }

    pub(super) fn of_record(path: &str, found: &Diagnostic, need: Need) -> Self {
        let text = found.to_string();
        let prefix = format!("{}: ", found.code);
        let detail = text.strip_prefix(&prefix).unwrap_or(&text);
        Self::new(FindingCode::Record(found.code), path, detail, need)
    }

    /// Tells whether the user has to do something: nothing can repair it, or the repair failed.
    pub fn needs_user(&self) -> bool {
        matches!(self.need, Need::User(_)) || matches!(self.outcome, Outcome::Failed(_))
    }

    /// Returns the finding as an object: `code`, `severity`, `path`, `detail`, then `repair?`
    /// (what can be done) or `advice?` (what the user can do), and `done?` or `failed?`.
    pub fn to_json(&self) -> RawJson {
        let severity = match self.code.severity() {
            Severity::Info => "info",
            Severity::Warning => "warning",
            Severity::Loss => "loss",
        };
        let (repair, advice) = match &self.need {
            Need::Nothing => (None, None),
            Need::Repair(remedy) => (Some(remedy.as_str()), None),
            Need::User(advice) => (None, Some(*advice)),
        };
        let (done, failed) = match &self.outcome {
            Outcome::Found => (None, None),
            Outcome::Repaired(done) => (Some(done), None),
            Outcome::Failed(why) => (None, Some(why)),
        };
        let text = |text: &str| to_raw_json(text).unwrap_or_default();
        ObjectBuilder::new()
            .string("code", self.code.as_str())
            .string("severity", severity)
            .string("path", &self.path)
            .string("detail", &self.detail)
            .optional("repair", repair.map(text).as_ref())
            .optional("advice", advice.map(text).as_ref())
            .optional("done", done.map(|t| text(t)).as_ref())
            .optional("failed", failed.map(|t| text(t)).as_ref())
            .build()
    }
}
