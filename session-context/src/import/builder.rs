//! The session that records become, put together entry by entry.

use std::collections::{HashMap, HashSet};

use session_model::BlobRef;
use session_model::json::{ObjectBuilder, RawJson, to_raw_json};
use session_model::time::to_iso;

use super::{Conversion, ConversionReport, SourceTitle, Tool, source_session_id};

/// The type of the `custom` entry that every imported session begins with.
pub const IMPORT_ENTRY: &str = "foreign_session_import";

/// What an entry hangs from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum From {
    /// The beginning of the session.
    Start,
    /// An entry, by the order in which they were added.
    Entry(usize),
    /// The last entry of a record, which may yet come.
    Record(usize),
}

/// Where a compaction begins to keep entries.
#[derive(Clone, Copy, Debug)]
pub(super) enum Kept {
    /// Nothing before it is kept.
    Nothing,
    /// From the first entry of a record on.
    FromRecord(usize),
}

/// An entry, still without the ids of others.
struct Draft {
    id: String,
    from: From,
    time_ms: i64,
    entry_type: &'static str,
    fields: Vec<(&'static str, RawJson)>,
    kept: Option<Kept>,
}

/// Entries in the order in which they will be in the file.
pub(super) struct Builder {
    tool: Tool,
    drafts: Vec<Draft>,
    ids: HashSet<String>,
    /// How many copies of a key were tried, by its hash, so that none is tried again.
    copies: HashMap<BlobRef, u32>,
    /// The first and the last entry of each record.
    records: Vec<Option<(usize, usize)>>,
    pub(super) report: ConversionReport,
}

/// What is known of a source beside its conversation.
#[derive(Default)]
pub(super) struct About {
    pub(super) source_id: Option<String>,
    pub(super) cwd: Option<String>,
    pub(super) created_ms: Option<i64>,
    pub(super) title: Option<SourceTitle>,
}

impl Builder {
    pub(super) fn new(tool: Tool, report: ConversionReport) -> Self {
        Self {
            tool,
            drafts: Vec::new(),
            ids: HashSet::new(),
            copies: HashMap::new(),
            records: Vec::new(),
            report,
        }
    }

    /// Adds an entry; `key` is what tells it from others of its source, however that grows.
    pub(super) fn push(
        &mut self,
        key: &str,
        from: From,
        time_ms: i64,
        entry_type: &'static str,
        fields: Vec<(&'static str, RawJson)>,
    ) -> usize {
        let id = self.free_id(key);
        self.drafts.push(Draft { id, from, time_ms, entry_type, fields, kept: None });
        self.drafts.len() - 1
    }

    /// Adds a compaction with these fields.
    pub(super) fn push_compaction(
        &mut self,
        key: &str,
        from: From,
        time_ms: i64,
        fields: Vec<(&'static str, RawJson)>,
        kept: Kept,
    ) -> usize {
        let at = self.push(key, from, time_ms, "compaction", fields);
        self.drafts[at].kept = Some(kept);
        at
    }

    /// Says that these entries are what a record became.
    pub(super) fn record_is(&mut self, record: usize, first: usize, last: usize) {
        if self.records.len() <= record {
            self.records.resize(record + 1, None);
        }
        self.records[record] = Some((first, last));
    }

    /// How many entries there are.
    pub(super) fn len(&self) -> usize {
        self.drafts.len()
    }

    /// The same key gives the same id in every conversion; of equal ones each gets its own.
    fn free_id(&mut self, key: &str) -> String {
        let whole = BlobRef::of(key.as_bytes());
        let mut id = short_id(whole);
        if self.ids.insert(id.clone()) {
            return id;
        }
        // Ids are never given back, so what was tried for this key is taken.
        let copy = self.copies.entry(whole).or_default();
        while !self.ids.insert(id.clone()) {
            *copy += 1;
            id = short_id(BlobRef::of(format!("{key}#{copy}").as_bytes()));
        }
        id
    }

    pub(super) fn finish(mut self, about: About, path: &str) -> Conversion {
        let About { source_id, cwd, created_ms, title } = about;
        let source_id = source_id.unwrap_or_else(|| stem_of(path).to_owned());
        let created_ms = created_ms.unwrap_or_default();
        let root = self.free_id("import");
        let mut data = ObjectBuilder::new()
            .string("source", self.tool.as_str())
            .string("sourceId", &source_id)
            .string("sourcePath", path);
        if let Some(cwd) = &cwd {
            data = data.string("sourceCwd", cwd);
        }
        let mut entries = Vec::with_capacity(self.drafts.len() + 1);
        entries.push(
            ObjectBuilder::new()
                .string("type", "custom")
                .string("customType", IMPORT_ENTRY)
                .raw("data", &data.build())
                .string("id", &root)
                .raw("parentId", &RawJson::null())
                .string("timestamp", &to_iso(created_ms))
                .build(),
        );
        entries.extend(self.drafts.iter().map(|draft| self.entry(draft, &root)));
        Conversion {
            tool: self.tool,
            session_id: source_session_id(self.tool, &source_id, created_ms),
            source_id,
            cwd,
            created_ms,
            title,
            entries,
            report: self.report,
        }
    }

    fn entry(&self, draft: &Draft, root: &str) -> RawJson {
        let parent = match draft.from {
            From::Start => root,
            From::Entry(at) => &self.drafts[at].id,
            From::Record(record) => match self.records.get(record).copied().flatten() {
                Some((_, last)) => &self.drafts[last].id,
                None => root,
            },
        };
        let mut out = ObjectBuilder::new().string("type", draft.entry_type);
        let is_late = matches!(draft.entry_type, "custom" | "custom_message");
        let envelope = |out: ObjectBuilder| {
            out.string("id", &draft.id)
                .string("parentId", parent)
                .string("timestamp", &to_iso(draft.time_ms))
        };
        if !is_late {
            out = envelope(out);
        }
        for (name, value) in &draft.fields {
            out = out.raw(name, value);
        }
        if let Some(kept) = draft.kept {
            let first = match kept {
                Kept::Nothing => None,
                Kept::FromRecord(record) => self.records.get(record).copied().flatten(),
            };
            let first = first.map_or(&draft.id, |(first, _)| &self.drafts[first].id);
            out = out.string("firstKeptEntryId", first);
        }
        if is_late { envelope(out).build() } else { out.build() }
    }
}

/// Eight hexadecimal digits that stand for a text of this hash.
fn short_id(hash: BlobRef) -> String {
    let mut id = hash.to_hex();
    id.truncate(8);
    id
}

/// A file's name without folders and ending.
pub(super) fn stem_of(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
    name.strip_suffix(".jsonl").unwrap_or(name)
}

/// A whole number as JSON.
pub(super) fn number(value: u64) -> RawJson {
    to_raw_json(&value).unwrap_or_default()
}
