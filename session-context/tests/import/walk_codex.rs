//! A walk through a source of Codex that shares nothing with the importer.

use std::collections::HashMap;

use session_model::json::RawJson;

use crate::ours::Said;
use crate::support::{is, items, text};

const INJECTED: [&str; 4] =
    ["# AGENTS.md instructions", "<environment_context>", "<permissions instructions>", "<user_"];

/// What is said, in file order.
pub fn walk(records: &[RawJson]) -> Vec<Said> {
    let mut in_items = texts_in_items(records);
    let mut tools = HashMap::new();
    let mut said = Vec::new();
    for record in records {
        let payload = record.field("payload").unwrap_or_else(|| record.clone());
        match text(record, "type").as_deref() {
            Some("event_msg") => said.extend(event(&payload, &mut in_items)),
            Some("compacted") => said.push(("summary".into(), vec![summary(&payload)])),
            _ => item(&payload, &mut tools, &mut said),
        }
    }
    said
}

/// How often each text stands in items, by who says it.
type Texts = HashMap<(&'static str, String), usize>;

fn texts_in_items(records: &[RawJson]) -> Texts {
    let mut texts = Texts::new();
    for record in records {
        let payload = record.field("payload").unwrap_or_else(|| record.clone());
        let who = match (text(&payload, "type").as_deref(), text(&payload, "role").as_deref()) {
            (Some("message"), Some("user")) => "user_message",
            (Some("message"), Some("assistant")) => "agent_message",
            (Some("reasoning"), _) => "agent_reasoning",
            _ => continue,
        };
        let blocks = ["summary", "content"].map(|name| items(payload.field(name))).concat();
        let mut all: Vec<_> = blocks.iter().filter_map(|block| text(block, "text")).collect();
        if all.len() > 1 {
            all.push(all.concat());
        }
        for text in all {
            *texts.entry((who, text.trim().to_owned())).or_default() += 1;
        }
    }
    texts
}

fn event(payload: &RawJson, in_items: &mut Texts) -> Option<Said> {
    let (event, who, name) = match &*text(payload, "type")? {
        "user_message" => ("user_message", "user", "message"),
        "agent_message" => ("agent_message", "assistant", "message"),
        "agent_reasoning" => ("agent_reasoning", "assistant", "text"),
        _ => return None,
    };
    let words = text(payload, name)?;
    if let Some(count) = in_items.get_mut(&(event, words.trim().to_owned())).filter(|n| **n > 0) {
        *count -= 1;
        return None;
    }
    let thinks = name == "text";
    let kind = if thinks { "thinking" } else { "text" };
    let mut blocks = vec![format!("{kind} {}", payload.field(name)?)];
    blocks.extend(items(payload.field("images")).iter().map(|url| image(&url.as_text().unwrap())));
    Some((who.into(), blocks))
}

fn image(url: &str) -> String {
    let (mime, data) = url.strip_prefix("data:").unwrap().split_once(";base64,").unwrap();
    format!("image {} {}", RawJson::string(mime), RawJson::string(data))
}

fn summary(payload: &RawJson) -> String {
    let message = payload.field("message").unwrap();
    if message.as_text().unwrap() != "" {
        return message.to_string();
    }
    let history = items(payload.field("replacement_history"));
    let blocks = history.iter().flat_map(|item| items(item.field("content")));
    let texts: Vec<_> = blocks.filter_map(|block| text(&block, "text")).collect();
    RawJson::string(&texts.join("\n\n")).to_string()
}

fn item(payload: &RawJson, tools: &mut HashMap<String, String>, said: &mut Vec<Said>) {
    let field = |name| payload.field(name).unwrap_or_default();
    let id = text(payload, "call_id").unwrap_or_default();
    let mut call = |id: &str, name: &str, arguments: String, said: &mut Vec<Said>| {
        tools.insert(id.to_owned(), name.to_owned());
        let (id, name) = (RawJson::string(id), RawJson::string(name));
        said.push(("assistant".into(), vec![format!("call {id} {name} {arguments}")]));
    };
    match text(payload, "type").as_deref() {
        Some("message") => {
            let blocks: Vec<_> = items(payload.field("content")).iter().flat_map(block).collect();
            let words = text(&items(payload.field("content"))[0], "text").unwrap_or_default();
            let role = match &*text(payload, "role").unwrap() {
                "user" if INJECTED.iter().any(|start| words.starts_with(start)) => "developer",
                "assistant" => "assistant",
                "user" => "user",
                _ => "developer",
            };
            said.push((role.into(), blocks));
        }
        Some("reasoning") => {
            let mut texts = items(payload.field("summary"));
            texts.extend(items(payload.field("content")));
            let texts: Vec<_> = texts.iter().filter_map(|block| text(block, "text")).collect();
            let words = RawJson::string(&texts.join("\n\n"));
            said.push(("assistant".into(), vec![format!("thinking {words}")]));
        }
        Some("function_call") => {
            let written = text(payload, "arguments").unwrap_or_else(|| "{}".into());
            let arguments = RawJson::parse(written.clone()).map(|a| a.compact().to_string());
            let arguments =
                arguments.unwrap_or_else(|_| format!("{{\"input\":{}}}", field("arguments")));
            call(&id, &text(payload, "name").unwrap(), arguments, said);
        }
        Some("custom_tool_call") => {
            let arguments = format!("{{\"input\":{}}}", field("input"));
            call(&id, &text(payload, "name").unwrap(), arguments, said);
        }
        Some("local_shell_call") => call(&id, "local_shell", field("action").to_string(), said),
        Some("tool_search_call") => call(&id, "tool_search", field("arguments").to_string(), said),
        // What the provider does itself has a call and a made-up result; see the fixtures' tests.
        Some("web_search_call" | "image_generation_call") => said.push(("hosted".into(), vec![])),
        Some("function_call_output" | "custom_tool_call_output") => {
            let output = field("output");
            let failed = is_failure(&output);
            let tool = tools.get(&id).map_or("unknown", String::as_str);
            let failed = if failed { ", failed" } else { "" };
            let blocks = match output.as_text() {
                Some(_) => vec![format!("text {output}")],
                None if output.as_object().is_some() && output.field("type").is_none() => {
                    vec![format!("text {}", output.field("content").unwrap())]
                }
                None if output.as_object().is_some() => block(&output),
                None => items(Some(output)).iter().flat_map(block).collect(),
            };
            said.push((format!("result {id} of {tool}{failed}"), blocks));
        }
        Some("tool_search_output") => {
            let tools = RawJson::string(field("tools").as_str());
            said.push((format!("result {id} of tool_search"), vec![format!("text {tools}")]));
        }
        Some("agent_message") => {
            let blocks = items(payload.field("content")).iter().flat_map(block).collect();
            said.push(("custom".into(), blocks));
        }
        _ => {}
    }
}

fn is_failure(output: &RawJson) -> bool {
    let inner = output.as_text().and_then(|text| RawJson::parse(text.into_owned()).ok());
    let code = inner.and_then(|inner| inner.field("metadata")?.field("exit_code")?.as_i64());
    code.is_some_and(|code| code != 0)
        || output.field("success").is_some() && !is(output, "success")
}

fn block(block: &RawJson) -> Vec<String> {
    match text(block, "type").as_deref() {
        Some("input_text" | "output_text") => {
            vec![format!("text {}", block.field("text").unwrap())]
        }
        Some("input_image") => match text(block, "image_url") {
            Some(url) if url.starts_with("data:") => vec![image(&url)],
            Some(url) => vec![format!("text \"[image: {url}]\"")],
            None => vec![],
        },
        _ => vec![format!("other {block}")],
    }
}
