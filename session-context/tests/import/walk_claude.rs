//! A walk through a source of Claude Code that shares nothing with the importer.

use std::collections::{HashMap, HashSet};

use session_model::json::RawJson;

use crate::ours::Said;
use crate::support::{is, items, text};

/// A record of the conversation.
pub struct Kept {
    /// The nearest record of the conversation above it.
    pub parent: Option<usize>,
    /// The id of the answer it is part of.
    pub answer: Option<String>,
    pub said: Vec<Said>,
}

/// The records of the conversation in file order.
pub fn walk(records: &[RawJson]) -> Vec<Kept> {
    let mut seen = HashSet::new();
    let records: Vec<&RawJson> = records
        .iter()
        .filter(|r| text(r, "uuid").is_none() || seen.insert(r.to_string()))
        .collect();
    let uuid = |at: usize| text(records[at], "uuid");
    let tools = tool_names(&records);
    let kept: Vec<usize> = (0..records.len()).filter(|at| is_kept(records[*at])).collect();
    let named_parent = |at: usize| {
        let name =
            text(records[at], "parentUuid").or_else(|| text(records[at], "logicalParentUuid"))?;
        let before = (0..at).rev().find(|other| uuid(*other).as_ref() == Some(&name));
        before.or_else(|| (at + 1..records.len()).find(|o| uuid(*o).as_ref() == Some(&name)))
    };
    // The first of a circle hangs from nothing.
    let begins_circle = |at: usize| {
        let (mut next, mut way) = (named_parent(at), vec![at]);
        while let Some(found) = next.filter(|found| !way.contains(found)) {
            way.push(found);
            next = named_parent(found);
        }
        next == Some(at) && way.iter().all(|other| *other >= at)
    };
    let parent = |at: usize| {
        if begins_circle(at) {
            return None;
        }
        let (mut next, mut way) = (named_parent(at), vec![at]);
        while let Some(found) = next {
            if way.contains(&found) {
                return None;
            }
            if is_kept(records[found]) {
                return kept.iter().position(|kept| *kept == found);
            }
            way.push(found);
            next = named_parent(found);
        }
        None
    };
    let record = |at: &usize| Kept {
        parent: parent(*at),
        answer: records[*at].field("message").and_then(|message| text(&message, "id")),
        said: said(records[*at], &tools),
    };
    kept.iter().map(record).collect()
}

fn is_kept(record: &RawJson) -> bool {
    if is(record, "isSidechain") || is(record, "isMeta") {
        return false;
    }
    match text(record, "type").as_deref() {
        Some("user" | "assistant") => record.field("message").is_some(),
        Some("attachment") => {
            let attachment = record.field("attachment").unwrap();
            text(&attachment, "type").as_deref() == Some("queued_command")
                && text(&attachment, "commandMode").is_none_or(|mode| mode == "prompt")
                && !is(&attachment, "isMeta")
        }
        _ => false,
    }
}

fn tool_names(records: &[&RawJson]) -> HashMap<String, String> {
    let messages = records.iter().filter_map(|record| record.field("message"));
    let blocks = messages.flat_map(|message| items(message.field("content")));
    let calls = blocks.filter(|block| text(block, "type").as_deref() == Some("tool_use"));
    calls.filter_map(|call| Some((text(&call, "id")?, text(&call, "name")?))).collect()
}

fn said(record: &RawJson, tools: &HashMap<String, String>) -> Vec<Said> {
    if text(record, "type").as_deref() == Some("attachment") {
        let prompt = record.field("attachment").and_then(|attachment| attachment.field("prompt"));
        return vec![("user".into(), content(prompt))];
    }
    let message = record.field("message").unwrap();
    let whole = message.field("content");
    if text(record, "type").as_deref() == Some("assistant") {
        return vec![("assistant".into(), content(whole))];
    }
    if is(record, "isCompactSummary") {
        return vec![("summary".into(), vec![whole.unwrap().to_string()])];
    }
    let is_result = |block: &RawJson| text(block, "type").as_deref() == Some("tool_result");
    let list = items(whole.clone());
    if !list.iter().any(is_result) {
        return vec![("user".into(), content(whole))];
    }
    let mut said: Vec<Said> = Vec::new();
    for part in list.chunk_by(|a, b| !is_result(a) && !is_result(b)) {
        if !is_result(&part[0]) {
            said.push(("user".into(), part.iter().map(block).collect()));
            continue;
        }
        let id = text(&part[0], "tool_use_id").unwrap_or_default();
        let tool = tools.get(&id).map_or("unknown", String::as_str);
        let failed = if is(&part[0], "is_error") { ", failed" } else { "" };
        said.push((format!("result {id} of {tool}{failed}"), content(part[0].field("content"))));
    }
    said
}

fn content(content: Option<RawJson>) -> Vec<String> {
    match content {
        Some(text) if text.as_text().is_some() => vec![format!("text {text}")],
        blocks => items(blocks).iter().map(block).collect(),
    }
}

fn block(block: &RawJson) -> String {
    let field = |name| block.field(name).unwrap_or_default();
    match text(block, "type").as_deref() {
        Some("text") => format!("text {}", field("text")),
        Some("thinking") => format!("thinking {}", field("thinking")),
        Some("redacted_thinking") => format!("redacted {}", field("data")),
        Some("tool_use") => format!("call {} {} {}", field("id"), field("name"), field("input")),
        Some("image") => {
            let source = field("source");
            match (source.field("media_type"), source.field("data")) {
                (Some(mime), Some(data)) => format!("image {mime} {data}"),
                _ => format!("text \"[image: {}]\"", text(&source, "url").unwrap()),
            }
        }
        _ => format!("other {block}"),
    }
}
