//! The format of Claude Code: a record for each message, hanging from the one before.

use std::collections::{HashMap, HashSet};

use session_model::json::{JsonKind, ObjectBuilder, ObjectView, RawJson};
use session_model::time::to_iso;
use session_model::tree::{NodeId, TreeOptions};

use super::blocks::{self, Block, blocks, image_data, tokens};
use super::loss::{Loss, LossReport};
use super::said::Said;
use super::{ForeignSession, Handed, uuid_of};
use crate::import::Tool;

/// The version of the tool whose records these are like.
const VERSION: &str = "2.1.0";

/// Writes a session as Claude Code does, all branches of it.
///
/// The tool finds the file under [`ForeignSession::path`] in its home and lists it with
/// `claude --resume` in the session's directory.
pub fn to_claude(session: &Handed<'_>) -> ForeignSession {
    let tree = session.tree;
    let mut writer = Writer {
        session,
        id: session.uuid(),
        now_ms: session.created_ms,
        tips: HashMap::new(),
        way: Vec::new(),
        depths: vec![0; tree.len()],
        heads: Vec::new(),
        loss: LossReport::default(),
    };
    let mut written: Vec<(NodeId, Vec<RawJson>)> = Vec::with_capacity(tree.len());
    for row in tree.rows(TreeOptions::with_archived()).iter() {
        writer.go_to(row.node, row.depth as usize);
        let records = writer.records(row.node);
        writer.note(row.node, !records.is_empty());
        written.push((row.node, records));
    }
    // The tool goes on from the last record, and branches read best as they were written.
    let path = tree.leaf().map(|leaf| tree.path_to(leaf)).unwrap_or_default();
    written.sort_by_key(|(node, _)| *node);
    let path: HashSet<NodeId> = path.into_iter().collect();
    let last = written.iter().rfind(|(_, records)| !records.is_empty());
    if last.is_some_and(|(node, _)| !path.contains(node)) {
        written.sort_by_key(|(node, _)| (path.contains(node), *node));
    }
    let mut records: Vec<RawJson> = written.into_iter().flat_map(|(_, records)| records).collect();
    if let Some(title) = &session.title {
        let (kind, field) = match session.titled_by_user {
            true => ("custom-title", "customTitle"),
            false => ("ai-title", "aiTitle"),
        };
        let title = ObjectBuilder::new().string("type", kind).string(field, title);
        records.push(title.string("sessionId", &writer.id).build());
    }
    let folder: String =
        session.cwd.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let path = format!("projects/{folder}/{}.jsonl", writer.id);
    ForeignSession { tool: Tool::Claude, path, records, loss: writer.loss }
}

struct Writer<'a> {
    session: &'a Handed<'a>,
    id: String,
    now_ms: i64,
    /// The first and the last record at each entry: its own, or that of what it hangs from.
    tips: HashMap<NodeId, Option<(String, String)>>,
    /// The entries above the one that is written, from its root on.
    way: Vec<NodeId>,
    /// How many entries are above each that was written.
    depths: Vec<usize>,
    /// The first records of those on the way that have any, with their places in it.
    heads: Vec<(usize, String)>,
    loss: LossReport,
}

impl Writer<'_> {
    /// Goes to the next entry of the rows, so many others being above it.
    fn go_to(&mut self, node: NodeId, depth: usize) {
        self.way.truncate(depth);
        self.heads.truncate(self.heads.partition_point(|(at, _)| *at < depth));
        self.depths[node.index()] = depth;
    }

    /// Notes that an entry is written, for those below it.
    fn note(&mut self, node: NodeId, has_records: bool) {
        if let Some(Some((head, _))) = self.tips.get(&node).filter(|_| has_records) {
            self.heads.push((self.way.len(), head.clone()));
        }
        self.way.push(node);
    }

    /// The records of an entry; those of what it hangs from are known.
    fn records(&mut self, node: NodeId) -> Vec<RawJson> {
        let tree = self.session.tree;
        let entry = tree.entry(node);
        self.now_ms = entry.timestamp_ms().unwrap_or(self.now_ms);
        let above = tree.parent_of(node).and_then(|parent| self.tips.get(&parent).cloned());
        let above = above.flatten();
        let parent = above.as_ref().map(|(_, last)| last.clone());
        let place = node.index().to_string();
        let uuid = uuid_of(&[&self.id, &entry.id().unwrap_or_default(), &place]);
        let said = Said::by(entry, &mut self.loss);
        let (records, tip) = match said {
            Said::Words(content, _) => {
                let content = self.content(Some(&content));
                let message = ObjectBuilder::new().string("role", "user").raw("content", &content);
                let record = self.record("user", &uuid, parent.as_deref());
                (vec![record.raw("message", &message.build()).build()], Some(uuid))
            }
            Said::Answer(message) => match self.answer(&message, &uuid) {
                Some(told) => {
                    let mut record = self.record("assistant", &uuid, parent.as_deref());
                    record = record.raw("message", &told);
                    record = match message.text("stopReason").as_deref() {
                        Some("error") => record.raw("isApiErrorMessage", &true.into()),
                        Some("aborted") => record.raw("isAbortedMidStream", &true.into()),
                        _ => record,
                    };
                    (vec![record.build()], Some(uuid))
                }
                None => (Vec::new(), None),
            },
            Said::Result(message) => {
                let result = RawJson::array(&[self.result(&message)]);
                let told = ObjectBuilder::new().string("role", "user").raw("content", &result);
                let record = self.record("user", &uuid, parent.as_deref());
                let record = record
                    .raw("message", &told.build())
                    .optional("toolUseResult", message.get("details"));
                (vec![record.build()], Some(uuid))
            }
            Said::Compaction(fields) => (self.compaction(node, &fields, &uuid, parent), Some(uuid)),
            Said::Reset => {
                self.tips.insert(node, None);
                return Vec::new();
            }
            Said::Model(_) | Said::Level(_) | Said::Usage(_) => {
                self.loss.add(Loss::State);
                (Vec::new(), None)
            }
            Said::Nothing => (Vec::new(), None),
        };
        let tip = tip.map(|uuid| (uuid.clone(), uuid)).or(above);
        self.tips.insert(node, tip);
        records
    }

    fn record(&self, kind: &str, uuid: &str, parent: Option<&str>) -> ObjectBuilder {
        ObjectBuilder::new()
            .raw("parentUuid", &parent.map_or_else(RawJson::null, RawJson::string))
            .raw("isSidechain", &false.into())
            .string("userType", "external")
            .string("cwd", &self.session.cwd)
            .string("sessionId", &self.id)
            .string("version", VERSION)
            .string("gitBranch", "")
            .string("type", kind)
            .string("uuid", uuid)
            .string("timestamp", &to_iso(self.now_ms))
    }

    fn answer(&mut self, message: &ObjectView, uuid: &str) -> Option<RawJson> {
        let is_own = message.text("provider").is_some_and(|provider| provider == "anthropic");
        let mut content = Vec::new();
        for block in blocks(message.get("content")) {
            content.extend(self.answered(block, is_own));
        }
        let stop = match message.text("stopReason").as_deref() {
            Some("toolUse") => RawJson::string("tool_use"),
            Some("length") => RawJson::string("max_tokens"),
            Some("aborted") => RawJson::null(),
            Some("error") => RawJson::string("stop_sequence"),
            _ => RawJson::string("end_turn"),
        };
        if content.is_empty() {
            // What went wrong is all there is to say.
            let error = message.get("errorMessage").filter(|e| e.kind() == JsonKind::String)?;
            content.push(blocks::text("text", error));
        }
        let usage = message.get("usage");
        let usage = [
            ("input_tokens", "input"),
            ("output_tokens", "output"),
            ("cache_read_input_tokens", "cacheRead"),
            ("cache_creation_input_tokens", "cacheWrite"),
        ]
        .into_iter()
        .fold(ObjectBuilder::new(), |out, (theirs, ours)| out.raw(theirs, &tokens(usage, ours)));
        let unknown = RawJson::string("unknown");
        let told = ObjectBuilder::new()
            .string("id", &format!("msg_{}", uuid.replace('-', "")))
            .string("type", "message")
            .string("role", "assistant")
            .raw("model", message.get("model").unwrap_or(&unknown))
            .raw("content", &RawJson::array(&content))
            .raw("stop_reason", &stop)
            .raw("stop_sequence", &RawJson::null())
            .raw("usage", &usage.build());
        Some(told.build())
    }

    fn answered(&mut self, block: Block, is_own: bool) -> Option<RawJson> {
        match block {
            Block::Text(text) => Some(blocks::text("text", &text)),
            Block::Thinking(fields) => {
                let signature = fields.get("thinkingSignature").filter(|_| is_own);
                let Some(signature) = signature else { return self.lost(Loss::Thinking) };
                let empty = RawJson::string("");
                let thinking = fields.get("thinking").unwrap_or(&empty);
                let out = ObjectBuilder::new().string("type", "thinking");
                Some(out.raw("thinking", thinking).raw("signature", signature).build())
            }
            Block::Redacted(data) if is_own => Some(
                ObjectBuilder::new().string("type", "redacted_thinking").raw("data", &data).build(),
            ),
            Block::Redacted(_) => self.lost(Loss::Thinking),
            Block::Call(fields) => {
                let id = call_id(&fields.text("id").unwrap_or_default());
                let none = ObjectBuilder::new().build();
                let out = ObjectBuilder::new()
                    .string("type", "tool_use")
                    .string("id", &id)
                    .string("name", &fields.text("name").unwrap_or_default())
                    .raw("input", fields.get("arguments").unwrap_or(&none));
                Some(out.build())
            }
            Block::Image(..) => self.lost(Loss::Image),
            Block::Other(block) if is_own => Some(block),
            Block::Other(_) => self.lost(Loss::Block),
        }
    }

    fn lost(&mut self, loss: Loss) -> Option<RawJson> {
        self.loss.add(loss);
        None
    }

    /// What is said or given: a text as it is, else blocks.
    fn content(&mut self, content: Option<&RawJson>) -> RawJson {
        if let Some(text) = content.filter(|content| content.kind() == JsonKind::String) {
            return text.clone();
        }
        let mut out = Vec::new();
        for block in blocks(content) {
            match block {
                Block::Text(text) => out.push(blocks::text("text", &text)),
                Block::Image(mime, data) => match image_data(&data, &mut self.loss) {
                    Some(data) => out.push(image(&mime, &data)),
                    None => out.push(blocks::text("text", &RawJson::string("[image]"))),
                },
                Block::Other(block) => out.push(block),
                _ => self.loss.add(Loss::Block),
            }
        }
        RawJson::array(&out)
    }

    fn result(&mut self, message: &ObjectView) -> RawJson {
        let id = call_id(&message.text("toolCallId").unwrap_or_default());
        let content = self.content(message.get("content"));
        let failed = message.get("isError").and_then(RawJson::as_bool) == Some(true);
        ObjectBuilder::new()
            .string("type", "tool_result")
            .string("tool_use_id", &id)
            .raw("content", &content)
            .raw("is_error", &failed.into())
            .build()
    }

    /// A boundary, and the summary behind it.
    fn compaction(
        &mut self,
        node: NodeId,
        fields: &ObjectView,
        uuid: &str,
        parent: Option<String>,
    ) -> Vec<RawJson> {
        let boundary = uuid_of(&[uuid, "boundary"]);
        let before = fields.get("tokensBefore").filter(|n| n.as_i64().is_some()).cloned();
        let mut metadata = ObjectBuilder::new()
            .string("trigger", "auto")
            .raw("preTokens", &before.unwrap_or_else(|| RawJson::from(0)));
        if let (Some(head), Some(tail)) = (self.first_kept(node, fields), &parent) {
            let segment = ObjectBuilder::new()
                .string("headUuid", &head)
                .string("anchorUuid", uuid)
                .string("tailUuid", tail);
            metadata = metadata.raw("preservedSegment", &segment.build());
        }
        let parent = parent.as_deref().map(RawJson::string);
        let summary = fields.get("summary").cloned().unwrap_or_else(|| RawJson::string(""));
        let message = ObjectBuilder::new().string("role", "user").raw("content", &summary).build();
        vec![
            self.record("system", &boundary, None)
                .string("subtype", "compact_boundary")
                .optional("logicalParentUuid", parent.as_ref())
                .string("content", "Conversation compacted")
                .raw("isMeta", &false.into())
                .string("level", "info")
                .raw("compactMetadata", &metadata.build())
                .build(),
            self.record("user", uuid, Some(&boundary))
                .raw("message", &message)
                .raw("isCompactSummary", &true.into())
                .raw("isVisibleInTranscriptOnly", &true.into())
                .build(),
        ]
    }

    /// The first record that a compaction keeps, if it keeps any before itself.
    fn first_kept(&self, node: NodeId, fields: &ObjectView) -> Option<String> {
        let tree = self.session.tree;
        let first = tree.find(&fields.text("firstKeptEntryId")?).filter(|first| *first != node)?;
        // What is kept first may have no record; the first behind it that has one counts.
        let own = |at: NodeId| {
            let above = tree.parent_of(at).and_then(|above| self.tips.get(&above)).cloned();
            let tip = self.tips.get(&at).cloned().flatten();
            tip.filter(|tip| above.flatten().as_ref() != Some(tip)).map(|(head, _)| head)
        };
        own(first).or_else(|| {
            let place = self.depths[first.index()];
            self.way.get(place).filter(|at| **at == first)?;
            let (_, head) = self.heads.get(self.heads.partition_point(|(at, _)| *at < place))?;
            Some(head.clone())
        })
    }
}

/// An image as the tool has it.
fn image(mime: &RawJson, data: &str) -> RawJson {
    let source = ObjectBuilder::new()
        .string("type", "base64")
        .raw("media_type", mime)
        .string("data", data)
        .build();
    ObjectBuilder::new().string("type", "image").raw("source", &source).build()
}

/// The provider takes ids of letters, digits, `-` and `_` only.
fn call_id(id: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_');
    if id.is_empty() || id.chars().all(is_plain) {
        return id.to_owned();
    }
    format!("toolu_{}", uuid_of(&["call", id]).replace('-', ""))
}
