//! Records of the conversation as entries.

use std::collections::HashMap;

use session_model::json::{JsonKind, ObjectBuilder, ObjectView, RawJson};

use super::blocks;
use super::nodes::{Node, Nodes, Role};
use crate::import::builder::{Builder, From, Kept, number};
use crate::import::{Note, said};

/// Answers the tool made up itself, to say that something went wrong.
const SYNTHETIC: &str = "<synthetic>";

/// Makes entries of records, in file order.
pub(super) struct Turns<'a> {
    builder: Builder,
    nodes: &'a Nodes,
    /// The names of tools by the ids of calls.
    tools: HashMap<String, RawJson>,
    /// What was told of the use of tokens so far, by the ids of answers.
    used: HashMap<String, Tokens>,
    /// The model at each record.
    models: Vec<Option<RawJson>>,
    /// When something last happened.
    now_ms: i64,
}

/// Tokens in, out, read from a cache, and written to it.
#[derive(Clone, Copy, Default)]
struct Tokens([u64; 4]);

/// Entries of one record, each hanging from the one before.
struct Parts {
    key: String,
    record: usize,
    from: From,
    first: Option<usize>,
    count: usize,
    time_ms: i64,
}

impl<'a> Turns<'a> {
    pub(super) fn new(builder: Builder, nodes: &'a Nodes) -> Self {
        Self {
            builder,
            nodes,
            tools: HashMap::new(),
            used: HashMap::new(),
            models: Vec::new(),
            now_ms: nodes.first_time().unwrap_or_default(),
        }
    }

    pub(super) fn finish(self) -> Builder {
        self.builder
    }

    /// Takes the next record, which hangs from another one.
    pub(super) fn take(&mut self, at: usize, parent: Option<usize>) {
        let nodes = self.nodes;
        let node = nodes.get(at);
        let model = parent.and_then(|parent| self.models.get(parent).cloned().flatten());
        self.models.push(model);
        let Some(role) = node.role else { return };
        self.now_ms = node.time().unwrap_or(self.now_ms);
        let parts = Parts {
            key: node.key(),
            record: at,
            from: parent.map_or(From::Start, From::Record),
            first: None,
            count: 0,
            time_ms: self.now_ms,
        };
        let message = node.fields.get("message").and_then(RawJson::as_object).unwrap_or_default();
        match role {
            Role::Assistant => self.answer(node, &message, parts),
            Role::User if node.is("isCompactSummary") => self.compaction(node, &message, parts),
            Role::User => self.words(node, &message, parts),
            Role::Queued => {
                let attachment = node.fields.get("attachment").and_then(RawJson::as_object);
                let prompt = attachment.as_ref().and_then(|attachment| attachment.get("prompt"));
                let mut parts = parts;
                let content = self.content(prompt);
                self.push_message(&mut parts, said("user", &content, false, self.now_ms));
            }
        }
    }

    fn push_message(&mut self, parts: &mut Parts, message: RawJson) {
        self.push(parts, "message", vec![("message", message)]);
    }

    fn push(
        &mut self,
        parts: &mut Parts,
        entry_type: &'static str,
        fields: Vec<(&'static str, RawJson)>,
    ) {
        let key = parts.next_key();
        let at = self.builder.push(&key, parts.from, parts.time_ms, entry_type, fields);
        self.added(parts, at);
    }

    fn added(&mut self, parts: &mut Parts, at: usize) {
        let first = *parts.first.get_or_insert(at);
        parts.from = From::Entry(at);
        self.builder.record_is(parts.record, first, at);
    }

    fn answer(&mut self, node: &Node, message: &ObjectView, mut parts: Parts) {
        let model = message.get("model").filter(|model| model.kind() == JsonKind::String);
        let model = model.filter(|model| !matches!(model.as_str(), "\"\""));
        let is_synthetic =
            model.and_then(|model| model.as_text()).is_some_and(|name| name == SYNTHETIC);
        if let Some(model) = model.filter(|_| !is_synthetic)
            && self.models[parts.record].as_ref() != Some(model)
        {
            let name = model.as_text().unwrap_or_default();
            let name = RawJson::string(&format!("anthropic/{name}"));
            self.push(&mut parts, "model_change", vec![("model", name)]);
            self.models[parts.record] = Some(model.clone());
        }
        let content = self.answer_content(message.get("content"), &parts.key);
        let unknown = RawJson::string("unknown");
        let (stop, error) = stop_reason(node, message);
        let out = ObjectBuilder::new()
            .string("role", "assistant")
            .raw("content", &content)
            .string("api", "anthropic-messages")
            .string("provider", "anthropic")
            .raw("model", model.unwrap_or(&unknown))
            .raw("usage", &self.usage(node, message))
            .string("stopReason", stop)
            .optional("errorMessage", error.as_ref())
            .raw("timestamp", &RawJson::from(self.now_ms))
            .build();
        self.push_message(&mut parts, out);
    }

    fn answer_content(&mut self, content: Option<&RawJson>, key: &str) -> RawJson {
        let Some(content) = content else { return RawJson::array(&[]) };
        let Some(list) = content.as_array() else {
            return blocks::result_content(Some(content), &mut self.builder.report);
        };
        let mut out = Vec::with_capacity(list.items().len());
        for (at, block) in list.items().iter().enumerate() {
            let fields = block.as_object().unwrap_or_default();
            if fields.text("type").is_none_or(|kind| kind != "tool_use") {
                out.push(blocks::converted(block, &mut self.builder.report));
                continue;
            }
            let named = fields.get("id").filter(|id| id.kind() == JsonKind::String);
            let id = named.cloned().unwrap_or_else(|| RawJson::string(&format!("{key}-{at}")));
            let name = fields.get("name").cloned().unwrap_or_else(|| RawJson::string(""));
            self.tools.insert(id.as_text().unwrap_or_default().into_owned(), name);
            out.push(blocks::call(&fields, &id));
        }
        RawJson::array(&out)
    }

    /// What a person said, and what tools gave: each result is a message of its own.
    fn words(&mut self, node: &Node, message: &ObjectView, mut parts: Parts) {
        let content = message.get("content");
        let list = content.and_then(RawJson::as_array).unwrap_or_default();
        let is_result = |block: &RawJson| {
            block.field("type").and_then(|kind| kind.as_text().map(|kind| kind == "tool_result"))
                == Some(true)
        };
        let results = list.items().iter().filter(|block| is_result(block)).count();
        if results == 0 {
            let content = self.content(content);
            self.push_message(&mut parts, said("user", &content, false, self.now_ms));
            return;
        }
        let mut others = Vec::new();
        for block in list.items() {
            if !is_result(block) {
                others.push(blocks::converted(block, &mut self.builder.report));
                continue;
            }
            self.push_words(&mut parts, &mut others);
            let result = self.result(node, &block.as_object().unwrap_or_default(), results == 1);
            self.push_message(&mut parts, result);
        }
        self.push_words(&mut parts, &mut others);
    }

    fn push_words(&mut self, parts: &mut Parts, words: &mut Vec<RawJson>) {
        if !words.is_empty() {
            let content = RawJson::array(&std::mem::take(words));
            self.push_message(parts, said("user", &content, false, self.now_ms));
        }
    }

    fn content(&mut self, content: Option<&RawJson>) -> RawJson {
        match content {
            Some(text) if text.kind() == JsonKind::String => text.clone(),
            content => blocks::result_content(content, &mut self.builder.report),
        }
    }

    fn result(&mut self, node: &Node, block: &ObjectView, is_only_one: bool) -> RawJson {
        let empty = RawJson::string("");
        let named = block.get("tool_use_id").or_else(|| node.fields.get("sourceToolUseID"));
        let id = named.filter(|id| id.kind() == JsonKind::String).unwrap_or(&empty);
        let tool = self.tools.get(&*id.as_text().unwrap_or_default()).cloned();
        if tool.is_none() {
            self.builder.report.note(Note::CallMissing);
        }
        let is_error = block.get("is_error").and_then(RawJson::as_bool) == Some(true);
        let report = &mut self.builder.report;
        let details = node.fields.get("toolUseResult").filter(|_| is_only_one);
        let details = details.map(|details| blocks::details(details, report));
        ObjectBuilder::new()
            .string("role", "toolResult")
            .raw("toolCallId", id)
            .raw("toolName", &tool.unwrap_or_else(|| RawJson::string("unknown")))
            .raw("content", &blocks::result_content(block.get("content"), report))
            .optional("details", details.as_ref())
            .raw("isError", &RawJson::from(is_error))
            .raw("timestamp", &RawJson::from(self.now_ms))
            .build()
    }

    /// A summary stands for all before it, but for what its boundary says was kept.
    fn compaction(&mut self, node: &Node, message: &ObjectView, mut parts: Parts) {
        let content = message.get("content").map(session_model::message::Content::from_json);
        let summary = match message.get("content") {
            Some(text) if text.kind() == JsonKind::String => text.clone(),
            _ => RawJson::string(&content.unwrap_or_default().text()),
        };
        let boundary = node.fields.text("parentUuid").and_then(|uuid| self.nodes.find(&uuid));
        let metadata = boundary.and_then(|at| self.nodes.get(at).fields.get("compactMetadata"));
        let metadata = metadata.and_then(RawJson::as_object).unwrap_or_default();
        let tokens = metadata.get("preTokens").and_then(RawJson::as_i64).unwrap_or_default();
        let kept = metadata.get("preservedSegment").and_then(|segment| segment.field("headUuid"));
        let kept = kept.and_then(|head| self.nodes.find(&head.as_text()?));
        let fields = vec![
            ("summary", summary),
            ("tokensBefore", number(u64::try_from(tokens).unwrap_or_default())),
        ];
        let key = parts.next_key();
        let kept = kept.map_or(Kept::Nothing, Kept::FromRecord);
        let at = self.builder.push_compaction(&key, parts.from, parts.time_ms, fields, kept);
        self.added(&mut parts, at);
    }

    /// Each record of an answer tells the tokens of the whole answer; what was told is taken off.
    fn usage(&mut self, node: &Node, message: &ObjectView) -> RawJson {
        let told = message.get("usage").and_then(RawJson::as_object).unwrap_or_default();
        let count = |name| {
            let count = told.get(name).and_then(RawJson::as_i64).unwrap_or_default();
            u64::try_from(count).unwrap_or_default()
        };
        let told = Tokens([
            count("input_tokens"),
            count("output_tokens"),
            count("cache_read_input_tokens"),
            count("cache_creation_input_tokens"),
        ]);
        let new = match message.text("id").filter(|id| !id.is_empty()) {
            Some(id) => self.used.entry(id.into_owned()).or_default().take(told),
            None => told,
        };
        let total = new.0.iter().fold(0_u64, |sum, part| sum.saturating_add(*part));
        let zero = number(0);
        let cost = node.fields.get("costUSD").filter(|cost| cost.kind() == JsonKind::Number);
        let cost = ["input", "output", "cacheRead", "cacheWrite"]
            .iter()
            .fold(ObjectBuilder::new(), |out, name| out.raw(name, &zero))
            .raw("total", cost.unwrap_or(&zero));
        let names = ["input", "output", "cacheRead", "cacheWrite"];
        let counts = names.iter().zip(new.0);
        counts
            .fold(ObjectBuilder::new(), |out, (name, count)| out.raw(name, &number(count)))
            .raw("totalTokens", &number(total))
            .raw("cost", &cost.build())
            .build()
    }
}

impl Tokens {
    /// Takes over what is told, and returns what of it is new.
    fn take(&mut self, told: Self) -> Self {
        let mut new = Self::default();
        for ((known, told), new) in self.0.iter_mut().zip(told.0).zip(&mut new.0) {
            *new = told.saturating_sub(*known);
            *known = told.max(*known);
        }
        new
    }
}

impl Parts {
    fn next_key(&mut self) -> String {
        self.count += 1;
        format!("{}/{}", self.key, self.count)
    }
}

impl Node {
    fn is(&self, name: &str) -> bool {
        self.fields.get(name).and_then(RawJson::as_bool) == Some(true)
    }
}

/// Why an answer ended, and what went wrong.
fn stop_reason(node: &Node, message: &ObjectView) -> (&'static str, Option<RawJson>) {
    if node.is("isApiErrorMessage") {
        let content = message.get("content").map(session_model::message::Content::from_json);
        let text = content.unwrap_or_default().text().into_owned();
        return ("error", Some(RawJson::string(&text)));
    }
    if node.is("isAbortedMidStream") {
        return ("aborted", None);
    }
    let stop = match message.text("stop_reason").as_deref() {
        Some("tool_use") => "toolUse",
        Some("max_tokens") => "length",
        None | Some("end_turn" | "stop_sequence") => "stop",
        Some(_) => "error",
    };
    (stop, None)
}
