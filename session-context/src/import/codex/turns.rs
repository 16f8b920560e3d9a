//! Records of a rollout as entries.

use std::collections::HashMap;

use session_model::json::{JsonKind, ObjectBuilder, ObjectEdit, ObjectView, RawJson};

use super::events::{Said, Speaker, is_bookkeeping};
use super::items;
use super::record::{Envelope, Record};
use super::{EVENT, ITEM_TYPE};
use crate::import::builder::{Builder, From, Kept, number};
use crate::import::{Fate, LeftOut, Note, said};

/// How messages begin that the tool says in a person's name.
const OF_THE_TOOL: [&str; 8] = [
    "# AGENTS.md instructions for ",
    "<INSTRUCTIONS>",
    "<collaboration_mode>",
    "<environment_context>",
    "<permissions instructions>",
    "<skills_instructions>",
    "<turn_aborted>",
    "<user_instructions>",
];

/// Characters of a summary that is made of what a compaction kept.
const MAX_SUMMARY_CHARS: usize = 100_000;

/// Makes entries of records, in file order, each hanging from the one before.
pub(super) struct Turns {
    builder: Builder,
    said: Said,
    provider: String,
    /// The compaction whose history is in force.
    last_compacted: Option<usize>,
    from: From,
    model: Option<String>,
    level: Option<String>,
    has_meta: bool,
    /// Whether what is being said comes from an event alone.
    is_event: bool,
    /// The names of tools by the ids of calls.
    tools: HashMap<String, String>,
    /// The last sum of tokens that was told.
    tokens: Option<RawJson>,
    tokens_before: u64,
    /// What the last search of the web was for, and what it found.
    found: Option<(RawJson, RawJson)>,
    /// When something last happened.
    pub(super) now_ms: i64,
    /// The names people gave the session.
    pub(super) names: Vec<String>,
    /// What a person said first.
    pub(super) first_words: Option<String>,
}

impl Turns {
    pub(super) fn new(
        builder: Builder,
        said: Said,
        provider: String,
        last_compacted: Option<usize>,
    ) -> Self {
        Self {
            builder,
            said,
            provider,
            last_compacted,
            from: From::Start,
            model: None,
            level: None,
            has_meta: false,
            is_event: false,
            tools: HashMap::new(),
            tokens: None,
            tokens_before: 0,
            found: None,
            now_ms: 0,
            names: Vec::new(),
            first_words: None,
        }
    }

    pub(super) fn finish(self) -> Builder {
        self.builder
    }

    pub(super) fn take(&mut self, at: usize, record: &Record) {
        self.now_ms = record.time_ms.unwrap_or(self.now_ms);
        let fate = match record.envelope {
            Envelope::Meta if std::mem::replace(&mut self.has_meta, true) => {
                Fate::LeftOut(LeftOut::Duplicate)
            }
            Envelope::Meta => Fate::Converted,
            Envelope::TurnContext => self.turn_context(&record.payload),
            Envelope::Compacted => self.compaction(record, self.last_compacted == Some(at)),
            Envelope::Item => self.item(record),
            Envelope::Event => self.event(record),
            Envelope::Other => match &*record.kind {
                "inter_agent_communication_metadata" | "state" | "world_state" => {
                    Fate::LeftOut(LeftOut::Bookkeeping)
                }
                _ => Fate::Unknown,
            },
        };
        self.builder.report.count(&record.kind, fate);
    }

    fn push(&mut self, key: &str, entry_type: &'static str, fields: Vec<(&'static str, RawJson)>) {
        let at = self.builder.push(key, self.from, self.now_ms, entry_type, fields);
        self.from = From::Entry(at);
    }

    fn push_message(&mut self, key: &str, mut message: RawJson) {
        if self.is_event {
            let marked = ObjectEdit::new().set(ITEM_TYPE, &RawJson::string(EVENT));
            message = marked.apply(&message).unwrap_or(message);
        }
        self.push(key, "message", vec![("message", message)]);
    }

    fn push_answer(&mut self, key: &str, blocks: &[RawJson], stop: &str) {
        let zero = number(0);
        let parts = ["input", "output", "cacheRead", "cacheWrite"];
        let zeros = || parts.iter().fold(ObjectBuilder::new(), |out, name| out.raw(name, &zero));
        let cost = zeros().raw("total", &zero).build();
        let message = ObjectBuilder::new()
            .string("role", "assistant")
            .raw("content", &RawJson::array(blocks))
            .string("api", "openai-responses")
            .string("provider", &self.provider)
            .string("model", self.model.as_deref().unwrap_or("unknown"))
            .raw("usage", &zeros().raw("totalTokens", &zero).raw("cost", &cost).build())
            .string("stopReason", stop)
            .raw("timestamp", &RawJson::from(self.now_ms))
            .build();
        self.push_message(key, message);
    }

    fn push_call(
        &mut self,
        key: &str,
        id: &str,
        name: &str,
        arguments: &RawJson,
        item: Option<&str>,
    ) {
        self.tools.insert(id.to_owned(), name.to_owned());
        self.push_answer(key, &[items::call(id, name, arguments, item)], "toolUse");
    }

    fn push_result(
        &mut self,
        key: &str,
        id: &str,
        (content, failed): (RawJson, bool),
        item: Option<&str>,
    ) {
        let tool = self.tools.get(id).cloned().unwrap_or_else(|| {
            self.builder.report.note(Note::CallMissing);
            "unknown".to_owned()
        });
        let details = item.map(|item| ObjectBuilder::new().string(ITEM_TYPE, item).build());
        let message = ObjectBuilder::new()
            .string("role", "toolResult")
            .string("toolCallId", id)
            .string("toolName", &tool)
            .raw("content", &content)
            .optional("details", details.as_ref())
            .raw("isError", &RawJson::from(failed))
            .raw("timestamp", &RawJson::from(self.now_ms))
            .build();
        self.push_message(key, message);
    }

    fn turn_context(&mut self, payload: &ObjectView) -> Fate {
        let mut fate = Fate::LeftOut(LeftOut::Bookkeeping);
        let named = |name| payload.text(name).filter(|text| !text.is_empty());
        if let Some(model) = named("model").filter(|model| self.model.as_deref() != Some(&**model))
        {
            let name = format!("{}/{model}", self.provider);
            self.push(
                &format!("model {name}"),
                "model_change",
                vec![("model", RawJson::string(&name))],
            );
            self.model = Some(model.into_owned());
            fate = Fate::Converted;
        }
        let level = named("effort").filter(|level| self.level.as_deref() != Some(&**level));
        if let Some(level) = level {
            let ours = if level == "none" { "off" } else { &*level };
            let fields = vec![("thinkingLevel", RawJson::string(ours))];
            self.push(&format!("level {ours}"), "thinking_level_change", fields);
            self.level = Some(level.into_owned());
            fate = Fate::Converted;
        }
        fate
    }

    fn item(&mut self, record: &Record) -> Fate {
        let payload = &record.payload;
        let key = record.text.as_str();
        let text = |name| payload.text(name).unwrap_or_default();
        match record.item() {
            "message" => return self.message(payload),
            "reasoning" => {
                let spelled = ObjectBuilder::new().string("type", "reasoning");
                let fields = payload.fields().iter().filter(|field| field.name() != "type");
                let spelled =
                    fields.fold(spelled, |out, f| out.raw_field(f.raw_name(), f.value())).build();
                let words = items::thought(payload);
                let said = format!("thought {words}");
                // Without words it is what its provider sealed that tells it from others.
                let key = if words.trim().is_empty() { key } else { &said };
                self.push_answer(key, &[items::thinking(&spelled, &words)], "stop");
            }
            "function_call" => {
                let arguments = items::arguments(payload.get("arguments"));
                self.push_call(key, &text("call_id"), &text("name"), &arguments, None);
            }
            item @ "custom_tool_call" => {
                let input = payload.get("input").cloned().unwrap_or_default();
                let arguments = ObjectBuilder::new().raw("input", &input).build();
                self.push_call(key, &text("call_id"), &text("name"), &arguments, Some(item));
            }
            item @ "local_shell_call" => {
                let id = payload.text("call_id").unwrap_or_else(|| text("id"));
                let arguments = items::arguments(payload.get("action"));
                self.push_call(key, &id, "local_shell", &arguments, Some(item));
            }
            item @ "tool_search_call" => {
                let arguments = items::arguments(payload.get("arguments"));
                self.push_call(key, &text("call_id"), "tool_search", &arguments, Some(item));
            }
            "function_call_output" => {
                let output = items::output(payload.get("output"), &mut self.builder.report);
                self.push_result(key, &text("call_id"), output, None);
            }
            item @ "custom_tool_call_output" => {
                let output = items::output(payload.get("output"), &mut self.builder.report);
                self.push_result(key, &text("call_id"), output, Some(item));
            }
            item @ "tool_search_output" => {
                let tools = payload.get("tools").cloned().unwrap_or_default();
                let tools = items::text_block(&RawJson::string(tools.as_str()));
                self.push_result(
                    key,
                    &text("call_id"),
                    (RawJson::array(&[tools]), false),
                    Some(item),
                );
            }
            item @ ("web_search_call" | "image_generation_call") => self.hosted(record, item),
            "agent_message" => {
                let content = items::content(payload.get("content"), &mut self.builder.report);
                let details = ["author", "recipient"]
                    .into_iter()
                    .fold(ObjectBuilder::new(), |out, name| out.optional(name, payload.get(name)));
                self.push(
                    key,
                    "custom_message",
                    vec![
                        ("customType", RawJson::string("codex_agent_message")),
                        ("content", content),
                        ("display", RawJson::from(true)),
                        ("details", details.build()),
                        ("attribution", RawJson::string("agent")),
                    ],
                );
            }
            "ghost_snapshot" => return Fate::LeftOut(LeftOut::Bookkeeping),
            _ => return Fate::Unknown,
        }
        Fate::Converted
    }

    fn message(&mut self, payload: &ObjectView) -> Fate {
        let content = payload.get("content");
        let words = items::texts(content).concat();
        let blocks = items::content(content, &mut self.builder.report);
        let role = payload.text("role").unwrap_or_default();
        match &*role {
            "assistant" => self.push_said(Speaker::Model, &words, &blocks),
            "user" => self.push_said(Speaker::User, &words, &blocks),
            "developer" | "system" => {
                let message = said("developer", &blocks, true, self.now_ms);
                self.push_message(&format!("{role} {words}"), message);
            }
            _ => return Fate::LeftOut(LeftOut::Incomplete),
        }
        Fate::Converted
    }

    /// The same words have the same key, whether they come in an item or in an event.
    fn push_said(&mut self, speaker: Speaker, words: &str, blocks: &RawJson) {
        match speaker {
            Speaker::Model => {
                let blocks = blocks.as_array().unwrap_or_default();
                self.push_answer(&format!("answer {words}"), blocks.items(), "stop");
            }
            Speaker::User => {
                let by_tool = OF_THE_TOOL.iter().any(|start| words.trim_start().starts_with(start));
                let role = if by_tool { "developer" } else { "user" };
                if !by_tool && self.first_words.is_none() && !words.trim().is_empty() {
                    self.first_words = Some(words.to_owned());
                }
                let message = said(role, blocks, by_tool, self.now_ms);
                self.push_message(&format!("user {words}"), message);
            }
            Speaker::Thought => {
                let thought =
                    ObjectBuilder::new().string("type", "thinking").string("thinking", words);
                self.push_answer(&format!("thought {words}"), &[thought.build()], "stop");
            }
        }
    }

    /// A tool of the provider: the call is all there is, and it is done.
    fn hosted(&mut self, record: &Record, item: &str) {
        let payload = &record.payload;
        let named = payload.text("id").or_else(|| payload.text("call_id"));
        let id =
            named.map_or_else(|| format!("{item}-{}", self.builder.len()), |id| id.into_owned());
        let status = payload.text("status").unwrap_or("completed".into());
        let mut content = items::text_block(&RawJson::string(&status));
        let (name, arguments) = if item == "web_search_call" {
            let action = payload.get("action").cloned().unwrap_or_default();
            if let Some((_, found)) = self.found.take().filter(|(asked, _)| *asked == action) {
                content = items::text_block(&RawJson::string(found.as_str()));
            }
            ("web_search", items::arguments(Some(&action)))
        } else {
            if let Some(image) = payload.text("result").filter(|image| !image.is_empty()) {
                content = items::image_block(&image, "image/png");
            }
            let prompt = payload.get("revised_prompt");
            ("image_generation", ObjectBuilder::new().optional("prompt", prompt).build())
        };
        let key = record.text.as_str();
        self.push_call(key, &id, name, &arguments, Some(item));
        let failed = status == "failed";
        self.push_result(key, &id, (RawJson::array(&[content]), failed), Some(item));
    }

    fn event(&mut self, record: &Record) -> Fate {
        let payload = &record.payload;
        let text = |name| payload.text(name).unwrap_or_default();
        match record.item() {
            "user_message" => self.event_said(Speaker::User, &text("message"), payload),
            "agent_message" => self.event_said(Speaker::Model, &text("message"), payload),
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                self.event_said(Speaker::Thought, &text("text"), payload)
            }
            "token_count" => self.token_count(payload),
            "thread_name_updated" => {
                let name = text("thread_name").trim().to_owned();
                if name.is_empty() {
                    return Fate::LeftOut(LeftOut::Incomplete);
                }
                self.names.push(name);
                Fate::Converted
            }
            "web_search_end" => {
                let found = payload.get("results").filter(|found| !found.is_null());
                if let (Some(action), Some(found)) = (payload.get("action"), found) {
                    self.found = Some((action.clone(), found.clone()));
                }
                Fate::LeftOut(LeftOut::Bookkeeping)
            }
            event if is_bookkeeping(event) => Fate::LeftOut(LeftOut::Bookkeeping),
            _ => Fate::Unknown,
        }
    }

    fn event_said(&mut self, speaker: Speaker, words: &str, payload: &ObjectView) -> Fate {
        if self.said.take(speaker, words) {
            return Fate::LeftOut(LeftOut::Duplicate);
        }
        let images = payload.get("images").and_then(RawJson::as_array).unwrap_or_default();
        let images = images.items().iter().filter_map(|url| items::image_of_url(&url.as_text()?));
        let mut blocks: Vec<_> = images.collect();
        if words.trim().is_empty() && blocks.is_empty() {
            return Fate::LeftOut(LeftOut::Incomplete);
        }
        blocks.insert(0, items::text_block(&RawJson::string(words)));
        self.is_event = true;
        self.push_said(speaker, words, &RawJson::array(&blocks));
        self.is_event = false;
        Fate::Converted
    }

    /// Tokens are told in a record of their own, sometimes twice.
    fn token_count(&mut self, payload: &ObjectView) -> Fate {
        let info = payload.get("info").and_then(RawJson::as_object).unwrap_or_default();
        let (Some(sum), Some(last)) = (info.get("total_token_usage"), info.get("last_token_usage"))
        else {
            return Fate::LeftOut(LeftOut::Bookkeeping);
        };
        if self.tokens.as_ref() == Some(sum) {
            return Fate::LeftOut(LeftOut::Duplicate);
        }
        self.tokens = Some(sum.clone());
        let last = last.as_object().unwrap_or_default();
        let count = |name| {
            let count = last.get(name).and_then(RawJson::as_i64).unwrap_or_default();
            u64::try_from(count).unwrap_or_default()
        };
        let cached = count("cached_input_tokens");
        let written = count("cache_write_input_tokens");
        let total = count("total_tokens");
        self.tokens_before = total;
        let input = count("input_tokens").saturating_sub(cached).saturating_sub(written);
        let usage = ObjectBuilder::new()
            .raw("input", &number(input))
            .raw("output", &number(count("output_tokens")))
            .raw("cacheRead", &number(cached))
            .raw("cacheWrite", &number(written))
            .raw("totalTokens", &number(total))
            .build();
        let fields = vec![
            ("purpose", RawJson::string("conversation")),
            ("api", RawJson::string("openai-responses")),
            ("provider", RawJson::string(&self.provider)),
            ("model", RawJson::string(self.model.as_deref().unwrap_or("unknown"))),
            ("usage", usage),
            ("stopReason", RawJson::string("stop")),
        ];
        self.push(&format!("tokens {sum}"), "model_usage", fields);
        Fate::Converted
    }

    /// A compaction keeps nothing before it, but what it says itself.
    fn compaction(&mut self, record: &Record, is_last: bool) -> Fate {
        let payload = &record.payload;
        let history = payload.get("replacement_history").filter(|h| h.kind() == JsonKind::Array);
        let mut summary = payload.text("message").unwrap_or_default().into_owned();
        if summary.trim().is_empty() {
            summary = history.map(summary_of).unwrap_or_default();
        }
        let mut fields = vec![
            ("summary", RawJson::string(&summary)),
            ("tokensBefore", number(self.tokens_before)),
        ];
        match history {
            Some(history) if is_last => {
                let compaction = ObjectBuilder::new()
                    .string("provider", &self.provider)
                    .raw("replacementHistory", history)
                    .build();
                let data = ObjectBuilder::new().raw("openaiRemoteCompaction", &compaction);
                fields.push(("preserveData", data.build()));
            }
            Some(_) => self.builder.report.note(Note::OldHistoryDropped),
            None => {}
        }
        let key = format!("compacted {}", record.text);
        let at = self.builder.push_compaction(&key, self.from, self.now_ms, fields, Kept::Nothing);
        self.from = From::Entry(at);
        Fate::Converted
    }
}

/// What a history says that replaces a conversation.
fn summary_of(history: &RawJson) -> String {
    let items = history.as_array().unwrap_or_default();
    let texts = items.items().iter().flat_map(|item| items::texts(item.field("content").as_ref()));
    let all: Vec<String> = texts.collect();
    let all = all.join("\n\n");
    match all.char_indices().nth(MAX_SUMMARY_CHARS) {
        Some((end, _)) => all[..end].to_owned(),
        None => all,
    }
}
