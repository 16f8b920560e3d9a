//! The format of Codex: a line of records from the beginning to the leaf.

use std::collections::HashMap;

use session_model::EntryKind;
use session_model::json::{JsonKind, ObjectBuilder, ObjectView, RawJson, to_raw_json};
use session_model::time::to_iso;
use session_model::tree::NodeId;

use super::blocks::{self, Block, blocks, image_data, tokens};
use super::loss::{Loss, LossReport};
use super::said::Said;
use super::{ForeignSession, Handed, uuid_of};
use crate::import::{ITEM_TYPE, Tool};

/// The version of the tool whose records these are like.
const VERSION: &str = "0.140.0";

/// The longest id of a call that the provider takes, in bytes.
const MAX_CALL_ID: usize = 64;

/// Writes the path to the leaf as Codex does.
///
/// The tool finds the file under [`ForeignSession::path`] in its home and goes on with it with
/// `codex resume`.
pub fn to_codex(session: &Handed<'_>) -> ForeignSession {
    let tree = session.tree;
    let path = tree.leaf().map(|leaf| tree.path_to(leaf)).unwrap_or_default();
    let id = session.uuid();
    let is_compaction = |node: &NodeId| tree.entry(*node).kind() == EntryKind::Compaction;
    let last_compaction = path.iter().rposition(is_compaction);
    let mut writer = Writer {
        session,
        now_ms: session.created_ms,
        records: Vec::new(),
        items: Vec::new(),
        hosted: HashMap::new(),
        model: None,
        level: None,
        sums: [0; 4],
        loss: LossReport::default(),
    };
    (path.len()..tree.len()).for_each(|_| writer.loss.add(Loss::Branch));
    let started = to_iso(session.created_ms);
    let meta = ObjectBuilder::new()
        .string("id", &id)
        .string("timestamp", &started)
        .string("cwd", &session.cwd)
        .string("originator", "sessionctl")
        .string("cli_version", VERSION)
        .raw("instructions", &RawJson::null())
        .string("source", "cli")
        .string("model_provider", "openai");
    writer.push("session_meta", &meta.build());
    for (at, node) in path.into_iter().enumerate() {
        let entry = tree.entry(node);
        writer.now_ms = entry.timestamp_ms().unwrap_or(writer.now_ms);
        let entry_id = entry.id().map(|id| id.into_owned());
        let said = Said::by(entry, &mut writer.loss);
        writer.items.push((entry_id, writer.records.len()));
        writer.take(said, last_compaction == Some(at));
    }
    if let Some(title) = session.title.as_ref().filter(|_| session.titled_by_user) {
        let event = event("thread_name_updated").string("thread_id", &id);
        writer.push("event_msg", &event.string("thread_name", title).build());
    }
    let (date, time) = started.split_once('T').unwrap_or((&started, ""));
    let time: String = time.chars().take(8).map(|c| if c == ':' { '-' } else { c }).collect();
    let path = format!("sessions/{}/rollout-{date}T{time}-{id}.jsonl", date.replace('-', "/"));
    ForeignSession { tool: Tool::Codex, path, records: writer.records, loss: writer.loss }
}

struct Writer<'a> {
    session: &'a Handed<'a>,
    now_ms: i64,
    records: Vec<RawJson>,
    /// The ids of entries, and where the records of each begin.
    items: Vec<(Option<String>, usize)>,
    /// Calls of what the provider does itself, by their ids, until their results come.
    hosted: HashMap<String, ObjectView>,
    model: Option<String>,
    level: Option<String>,
    /// Tokens so far: all in, of these cached, out, and all together.
    sums: [i64; 4],
    loss: LossReport,
}

fn event(kind: &str) -> ObjectBuilder {
    ObjectBuilder::new().string("type", kind)
}

impl Writer<'_> {
    fn push(&mut self, kind: &str, payload: &RawJson) {
        let record = ObjectBuilder::new()
            .string("timestamp", &to_iso(self.now_ms))
            .string("type", kind)
            .raw("payload", payload);
        self.records.push(record.build());
    }

    fn item(&mut self, payload: ObjectBuilder) {
        self.push("response_item", &payload.build());
    }

    fn take(&mut self, said: Said, is_last_compaction: bool) {
        match said {
            Said::Words(content, by_program) => self.words(&content, by_program),
            Said::Answer(message) => self.answer(&message),
            Said::Result(message) => self.result(&message),
            Said::Compaction(fields) => self.compaction(&fields, is_last_compaction),
            Said::Reset => {
                let none = RawJson::array(&[]);
                let payload = ObjectBuilder::new().string("message", "");
                self.push("compacted", &payload.raw("replacement_history", &none).build());
            }
            Said::Model(model) => {
                let (_, model) = model.split_once('/').unwrap_or(("", &model));
                self.turn_context(Some(model), None);
            }
            Said::Level(level) => self.turn_context(None, Some(&level)),
            Said::Usage(usage) => self.usage(&usage),
            Said::Nothing => {}
        }
    }

    fn turn_context(&mut self, model: Option<&str>, level: Option<&str>) {
        let level = level.map(|level| if level == "off" { "none" } else { level });
        self.model = model.map(str::to_owned).or(self.model.take());
        self.level = level.map(str::to_owned).or(self.level.take());
        // A turn without a model is none; the level is told with the first.
        let Some(model) = &self.model else { return };
        let level = self.level.as_deref().map(RawJson::string);
        let sandbox = ObjectBuilder::new().string("type", "read-only").build();
        let payload = ObjectBuilder::new()
            .string("cwd", &self.session.cwd)
            .string("approval_policy", "on-request")
            .raw("sandbox_policy", &sandbox)
            .string("model", model)
            .optional("effort", level.as_ref())
            .string("summary", "auto");
        self.push("turn_context", &payload.build());
    }

    fn words(&mut self, content: &RawJson, by_program: bool) {
        let (mut out, mut words, mut images) = (Vec::new(), String::new(), Vec::new());
        for block in blocks(Some(content)) {
            match block {
                Block::Text(text) => {
                    words.push_str(&text.as_text().unwrap_or_default());
                    out.push(blocks::text("input_text", &text));
                }
                Block::Image(mime, data) => {
                    if let Some(url) = self.image_url(&mime, &data) {
                        out.push(input_image(&url));
                        images.push(url);
                    }
                }
                _ => self.loss.add(Loss::Block),
            }
        }
        let role = if by_program { "developer" } else { "user" };
        let content = RawJson::array(&out);
        self.item(event("message").string("role", role).raw("content", &content));
        if !by_program {
            let images = RawJson::array(&images);
            let event = event("user_message").string("message", &words).raw("images", &images);
            self.push("event_msg", &event.build());
        }
    }

    fn image_url(&mut self, mime: &RawJson, data: &RawJson) -> Option<RawJson> {
        let data = image_data(data, &mut self.loss)?;
        let mime = mime.as_text().unwrap_or("image/png".into());
        Some(RawJson::string(&format!("data:{mime};base64,{data}")))
    }

    fn answer(&mut self, message: &ObjectView) {
        if let Some(model) =
            message.text("model").filter(|model| self.model.is_none() && *model != "unknown")
        {
            self.turn_context(Some(&model), None);
        }
        let mut texts = Vec::new();
        for block in blocks(message.get("content")) {
            if let Block::Text(text) = block {
                texts.push(text);
                continue;
            }
            self.texts(&mut texts);
            match block {
                Block::Thinking(fields) => self.thinking(&fields),
                Block::Call(fields) => self.call(fields),
                Block::Redacted(_) => self.loss.add(Loss::Thinking),
                Block::Image(..) => self.loss.add(Loss::Image),
                Block::Text(_) | Block::Other(_) => self.loss.add(Loss::Block),
            }
        }
        if texts.is_empty() && self.is_silent(message) {
            texts.extend(message.get("errorMessage").cloned());
        }
        self.texts(&mut texts);
        if let Some(usage) = message.get("usage") {
            self.usage(usage);
        }
    }

    /// Whether an answer says nothing but what went wrong.
    fn is_silent(&self, message: &ObjectView) -> bool {
        let error = message.get("errorMessage").is_some_and(|e| e.kind() == JsonKind::String);
        error && blocks(message.get("content")).is_empty()
    }

    fn texts(&mut self, texts: &mut Vec<RawJson>) {
        if texts.is_empty() {
            return;
        }
        let words: Vec<_> = texts.iter().filter_map(|text| text.as_text()).collect();
        let event = event("agent_message").string("message", &words.concat()).build();
        let content: Vec<_> = texts.iter().map(|text| blocks::text("output_text", text)).collect();
        let content = RawJson::array(&content);
        self.push("event_msg", &event);
        let item = ObjectBuilder::new().string("type", "message").string("role", "assistant");
        self.item(item.raw("content", &content));
        texts.clear();
    }

    /// An item that was sealed goes back whole.
    fn thinking(&mut self, fields: &ObjectView) {
        let sealed = fields.text("thinkingSignature").map(|s| s.into_owned());
        let item = sealed.and_then(|sealed| RawJson::parse(sealed).ok());
        let item = item
            .filter(|item| item.field("type").is_some_and(|kind| kind.as_str() == "\"reasoning\""));
        match item {
            Some(item) => self.push("response_item", &item),
            None => self.loss.add(Loss::Thinking),
        }
    }

    fn call(&mut self, fields: ObjectView) {
        let id = call_id(&fields.text("id").unwrap_or_default());
        let kind = fields.text(ITEM_TYPE).unwrap_or_default().into_owned();
        let none = ObjectBuilder::new().build();
        let arguments = fields.get("arguments").cloned().unwrap_or(none);
        let name = fields.text("name").unwrap_or_default().into_owned();
        let item = match &*kind {
            "web_search_call" | "image_generation_call" => {
                self.hosted.insert(id, fields);
                return;
            }
            "custom_tool_call" => event(&kind)
                .string("status", "completed")
                .string("call_id", &id)
                .string("name", &name)
                .raw("input", &arguments.field("input").unwrap_or_else(|| RawJson::string(""))),
            "local_shell_call" => event(&kind)
                .string("call_id", &id)
                .string("status", "completed")
                .raw("action", &arguments),
            "tool_search_call" => event(&kind)
                .string("call_id", &id)
                .string("status", "completed")
                .string("execution", "local")
                .raw("arguments", &arguments),
            _ => event("function_call")
                .string("name", &name)
                .string("arguments", arguments.as_str())
                .string("call_id", &id),
        };
        self.item(item);
    }

    fn result(&mut self, message: &ObjectView) {
        let id = call_id(&message.text("toolCallId").unwrap_or_default());
        let content = message.get("content");
        if let Some(call) = self.hosted.remove(&id) {
            return self.hosted(&call, &id, content);
        }
        let kind = message.get("details").and_then(|details| details.field(ITEM_TYPE));
        let kind = kind.and_then(|kind| kind.as_text().map(|kind| kind.into_owned()));
        let item = match kind.as_deref() {
            Some("tool_search_output") => {
                let tools = blocks(content).into_iter().find_map(parsed_text);
                let tools = tools.unwrap_or_else(|| RawJson::array(&[]));
                event("tool_search_output")
                    .string("call_id", &id)
                    .string("status", "completed")
                    .string("execution", "local")
                    .raw("tools", &tools)
            }
            Some(kind @ "custom_tool_call_output") => {
                event(kind).string("call_id", &id).raw("output", &self.output(content))
            }
            _ => event("function_call_output")
                .string("call_id", &id)
                .raw("output", &self.output(content)),
        };
        if message.get("isError").and_then(RawJson::as_bool) == Some(true) {
            self.loss.add(Loss::Failure);
        }
        self.item(item);
    }

    /// One text as it is, anything else as a list.
    fn output(&mut self, content: Option<&RawJson>) -> RawJson {
        let mut blocks = blocks(content);
        if let [Block::Text(text)] = &blocks[..] {
            return text.clone();
        }
        let mut out = Vec::with_capacity(blocks.len());
        for block in blocks.drain(..) {
            match block {
                Block::Text(text) => out.push(blocks::text("input_text", &text)),
                Block::Image(mime, data) => {
                    out.extend(self.image_url(&mime, &data).map(|url| input_image(&url)));
                }
                _ => self.loss.add(Loss::Block),
            }
        }
        RawJson::array(&out)
    }

    /// What the provider did itself is one item.
    fn hosted(&mut self, call: &ObjectView, id: &str, content: Option<&RawJson>) {
        let none = ObjectBuilder::new().build();
        let arguments = call.get("arguments").cloned().unwrap_or(none);
        let given = blocks(content).into_iter().next();
        if call.text("name").is_some_and(|name| name == "image_generation") {
            let data = match given {
                Some(Block::Image(_, data)) => image_data(&data, &mut self.loss),
                _ => None,
            };
            let item = event("image_generation_call")
                .string("id", id)
                .string("status", "completed")
                .optional("revised_prompt", arguments.field("prompt").as_ref())
                .string("result", &data.unwrap_or_default());
            return self.item(item);
        }
        if let Some(found) = given.and_then(parsed_text) {
            let event = event("web_search_end")
                .string("call_id", id)
                .string("query", "")
                .raw("action", &arguments)
                .raw("results", &found);
            self.push("event_msg", &event.build());
        }
        let item = event("web_search_call").string("id", id).string("status", "completed");
        self.item(item.raw("action", &arguments));
    }

    fn usage(&mut self, usage: &RawJson) {
        let count = |name| tokens(Some(usage), name).as_i64().unwrap_or_default();
        let cached = count("cacheRead");
        let input = count("input").saturating_add(cached).saturating_add(count("cacheWrite"));
        let output = count("output");
        let last = [input, cached, output, input.saturating_add(output)];
        if last[3] == 0 {
            return;
        }
        for (sum, last) in self.sums.iter_mut().zip(last) {
            *sum = sum.saturating_add(last);
        }
        let told = |counts: [i64; 4]| {
            let names = ["input_tokens", "cached_input_tokens", "output_tokens", "total_tokens"];
            let counts = names.into_iter().zip(counts);
            let out = counts.fold(ObjectBuilder::new(), |out, (name, count)| {
                out.raw(name, &to_raw_json(&count).unwrap_or_default())
            });
            out.raw("reasoning_output_tokens", &RawJson::from(0)).build()
        };
        let info = ObjectBuilder::new()
            .raw("total_token_usage", &told(self.sums))
            .raw("last_token_usage", &told(last))
            .raw("model_context_window", &RawJson::null());
        let event = event("token_count").raw("info", &info.build());
        self.push("event_msg", &event.raw("rate_limits", &RawJson::null()).build());
    }

    /// The history that takes the place of what came before: the provider's own, or the summary
    /// and what is kept. Only that of the last compaction is in force.
    fn compaction(&mut self, fields: &ObjectView, is_last: bool) {
        let summary = fields.get("summary").cloned().unwrap_or_else(|| RawJson::string(""));
        let history = if is_last { self.history(fields, &summary) } else { None };
        let payload = ObjectBuilder::new()
            .raw("message", &summary)
            .optional("replacement_history", history.as_ref());
        self.push("compacted", &payload.build());
    }

    fn history(&self, fields: &ObjectView, summary: &RawJson) -> Option<RawJson> {
        let own = fields.get("preserveData").and_then(|data| data.field("openaiRemoteCompaction"));
        let own = own.and_then(|compaction| compaction.field("replacementHistory"));
        if own.is_some() {
            return own;
        }
        let first = fields.text("firstKeptEntryId")?;
        let (_, before) = self.items.split_last()?;
        let (_, from) = before.iter().find(|(id, _)| id.as_deref() == Some(&*first))?;
        let told = ObjectBuilder::new()
            .string("type", "message")
            .string("role", "user")
            .raw("content", &RawJson::array(&[blocks::text("input_text", summary)]))
            .build();
        let items = self.records[*from..].iter().filter(|record| {
            record.field("type").is_some_and(|kind| kind.as_str() == "\"response_item\"")
        });
        let items = items.filter_map(|record| record.field("payload"));
        let all: Vec<RawJson> = std::iter::once(told).chain(items).collect();
        Some(RawJson::array(&all))
    }
}

fn input_image(url: &RawJson) -> RawJson {
    ObjectBuilder::new().string("type", "input_image").raw("image_url", url).build()
}

/// The JSON in a text.
fn parsed_text(block: Block) -> Option<RawJson> {
    let Block::Text(text) = block else { return None };
    let json = RawJson::parse(text.as_text()?.into_owned()).ok()?;
    (json.kind() == JsonKind::Array).then_some(json)
}

fn call_id(id: &str) -> String {
    if id.len() <= MAX_CALL_ID {
        return id.to_owned();
    }
    format!("call_{}", uuid_of(&["call", id]).replace('-', ""))
}
