//! What became of the records of a source.

use std::collections::BTreeMap;

use session_model::json::{ObjectBuilder, RawJson, to_raw_json};

/// Kinds that are told apart; a file may make up as many as it likes.
const MAX_KINDS: usize = 500;

/// Characters of a kind's name that are told.
const MAX_KIND_CHARS: usize = 80;

const OTHER_KINDS: &str = "(other kinds)";

/// Why a record is not in the session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum LeftOut {
    /// It is of another agent, which worked for this one.
    Sidechain,
    /// The tool put it in for itself.
    Meta,
    /// It is state of the tool and no conversation.
    Bookkeeping,
    /// The same is there already.
    Duplicate,
    /// A later record takes its place.
    Superseded,
    /// It has no message, or what makes it one of its kind.
    Incomplete,
    /// It is no JSON object.
    Unreadable,
    /// It is the last one, and not whole.
    Torn,
    /// It is longer than an import takes.
    TooLong,
    /// It is nested deeper than an import takes.
    TooDeep,
}

impl LeftOut {
    /// Returns the reason as a word of `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Sidechain => "sidechain",
            Self::Meta => "meta",
            Self::Bookkeeping => "bookkeeping",
            Self::Duplicate => "duplicate",
            Self::Superseded => "superseded",
            Self::Incomplete => "incomplete",
            Self::Unreadable => "unreadable",
            Self::Torn => "torn",
            Self::TooLong => "tooLong",
            Self::TooDeep => "tooDeep",
        }
    }

    /// Returns the reason in words for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::Sidechain => "of another agent",
            Self::Meta => "put in by the tool",
            Self::Bookkeeping => "state of the tool",
            Self::Duplicate => "there already",
            Self::Superseded => "replaced by a later one",
            Self::Incomplete => "without what makes it one",
            Self::Unreadable => "unreadable",
            Self::Torn => "torn",
            Self::TooLong => "too long",
            Self::TooDeep => "nested too deep",
        }
    }
}

/// What became of a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Fate {
    /// What it says is in the session.
    Converted,
    /// It is left out for a known reason.
    LeftOut(LeftOut),
    /// It is of a kind that is not known here, and left out.
    Unknown,
}

/// Something about a conversion that counts of records do not tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Note {
    /// A record hangs from one that is not in the file; it hangs from the beginning now.
    ParentMissing,
    /// Records hang from each other in a circle; it is cut open.
    CycleCut,
    /// A record of parallel tool calls stood on a branch of its own; it is in line now.
    ParallelJoined,
    /// A block is of a kind that is not known here; it is kept as it is.
    BlockKept,
    /// A result names a call that is not in the file.
    CallMissing,
    /// An image is named by an address, or by nothing; a text stands in its place.
    ImageNamed,
    /// A second copy of an image that the content holds was left out.
    ImageCopyDropped,
    /// The history of a compaction that a later one replaces was left out.
    OldHistoryDropped,
}

impl Note {
    /// Returns the note as a word of `--json`.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::ParentMissing => "parentMissing",
            Self::CycleCut => "cycleCut",
            Self::ParallelJoined => "parallelJoined",
            Self::BlockKept => "blockKept",
            Self::CallMissing => "callMissing",
            Self::ImageNamed => "imageNamed",
            Self::ImageCopyDropped => "imageCopyDropped",
            Self::OldHistoryDropped => "oldHistoryDropped",
        }
    }

    /// Returns the note in words for people.
    pub fn text(self) -> &'static str {
        match self {
            Self::ParentMissing => "records whose parent is not there hang from the beginning",
            Self::CycleCut => "circles of records are cut open",
            Self::ParallelJoined => {
                "records of parallel tool calls are in line, which stood on branches"
            }
            Self::BlockKept => "blocks of unknown kinds are kept as they are",
            Self::CallMissing => "results name a tool call that is not there",
            Self::ImageNamed => "images are only named, and a text stands in their place",
            Self::ImageCopyDropped => "second copies of images are left out",
            Self::OldHistoryDropped => "histories of replaced compactions are left out",
        }
    }
}

/// Counts of the records of a source, by kind and by what became of them.
///
/// Every line that is not blank is counted once.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConversionReport {
    kinds: BTreeMap<String, BTreeMap<Fate, u64>>,
    notes: BTreeMap<Note, u64>,
}

impl ConversionReport {
    pub(super) fn count(&mut self, kind: &str, fate: Fate) {
        let kind: String = kind.chars().take(MAX_KIND_CHARS).collect();
        let has_room = self.kinds.len() < MAX_KINDS || self.kinds.contains_key(&kind);
        let kind = if has_room { kind } else { OTHER_KINDS.to_owned() };
        *self.kinds.entry(kind).or_default().entry(fate).or_default() += 1;
    }

    pub(super) fn note(&mut self, note: Note) {
        *self.notes.entry(note).or_default() += 1;
    }

    /// Returns the counts, by kind.
    pub fn kinds(&self) -> &BTreeMap<String, BTreeMap<Fate, u64>> {
        &self.kinds
    }

    /// Returns what else there is to tell, and how often.
    pub fn notes(&self) -> &BTreeMap<Note, u64> {
        &self.notes
    }

    /// Returns how many records there are.
    pub fn records(&self) -> u64 {
        self.kinds.values().flat_map(BTreeMap::values).sum()
    }

    /// Returns how many records are of a fate.
    pub fn with_fate(&self, is_meant: impl Fn(Fate) -> bool) -> u64 {
        let all = self.kinds.values().flatten();
        all.filter(|(fate, _)| is_meant(**fate)).map(|(_, count)| count).sum()
    }

    /// Adds the counts of another source.
    pub fn add(&mut self, other: &Self) {
        for (kind, fates) in &other.kinds {
            let to = self.kinds.entry(kind.clone()).or_default();
            for (fate, count) in fates {
                *to.entry(*fate).or_default() += count;
            }
        }
        for (note, count) in &other.notes {
            *self.notes.entry(*note).or_default() += count;
        }
    }

    /// Returns the report as an object: `kinds`, each with `kind`, `converted`, `leftOut` (by
    /// reason) and `unknown`, and `notes`.
    pub fn to_json(&self) -> RawJson {
        let number = |n: &u64| to_raw_json(n).unwrap_or_default();
        let kinds = self.kinds.iter().map(|(kind, fates)| {
            let of = |fate| number(fates.get(&fate).unwrap_or(&0));
            let left_out =
                fates.iter().fold(ObjectBuilder::new(), |out, (fate, count)| match fate {
                    Fate::LeftOut(why) => out.raw(why.as_str(), &number(count)),
                    _ => out,
                });
            ObjectBuilder::new()
                .string("kind", kind)
                .raw("converted", &of(Fate::Converted))
                .raw("leftOut", &left_out.build())
                .raw("unknown", &of(Fate::Unknown))
                .build()
        });
        let kinds: Vec<_> = kinds.collect();
        let notes = self.notes.iter().fold(ObjectBuilder::new(), |out, (note, count)| {
            out.raw(note.as_str(), &number(count))
        });
        ObjectBuilder::new()
            .raw("kinds", &RawJson::array(&kinds))
            .raw("notes", &notes.build())
            .build()
    }
}
