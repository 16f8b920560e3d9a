//! Contexts, built from entries as they stand in session files.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, reason = "tests")]

mod emission;
mod oracle;
mod safety;
mod state;
mod wording;

use session_context::context::{
    ContextMessage, ContextOptions, LeafChoice, SessionContext, build_session_context,
};
use session_model::document::LoadOptions;
use session_model::json::RawJson;
use session_model::{Diagnostic, DiagnosticCode, SessionDocument, SessionTree};

/// The time of every entry here, as it is stored and in milliseconds.
const TIME: &str = "2026-03-01T09:00:00.000Z";
const TIME_MS: i64 = 1_772_355_600_000;

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).unwrap()
}

/// An entry's line; `-` is no parent.
fn line(entry_type: &str, id: &str, parent: &str, fields: &str) -> String {
    let parent = if parent == "-" { "null".to_owned() } else { format!("{parent:?}") };
    let comma = if fields.is_empty() { "" } else { "," };
    format!(
        r#"{{"type":"{entry_type}","id":"{id}","parentId":{parent},"timestamp":"{TIME}"{comma}{fields}}}"#
    )
}

/// A message entry's line.
fn message(id: &str, parent: &str, message: &str) -> String {
    line("message", id, parent, &format!(r#""message":{message}"#))
}

fn user(text: &str) -> String {
    format!(r#"{{"role":"user","content":"{text}","timestamp":1}}"#)
}

/// An answer of these blocks.
fn assistant(stop_reason: &str, blocks: &[&str]) -> String {
    let blocks = blocks.join(",");
    format!(
        r#"{{"role":"assistant","content":[{blocks}],"provider":"acme","model":"big","stopReason":"{stop_reason}","timestamp":2}}"#
    )
}

fn text(text: &str) -> String {
    format!(r#"{{"type":"text","text":"{text}"}}"#)
}

fn call(id: &str) -> String {
    format!(r#"{{"type":"toolCall","id":"{id}","name":"bash","arguments":{{}}}}"#)
}

fn result(call: &str, output: &str) -> String {
    format!(
        r#"{{"role":"toolResult","toolCallId":"{call}","toolName":"bash","content":[{}],"isError":false,"timestamp":3}}"#,
        text(output)
    )
}

/// The result of a call that got none.
fn interrupted(call: &str) -> String {
    format!(
        r#"{{"role":"toolResult","toolCallId":"{call}","toolName":"bash","content":[{}],"isError":true,"timestamp":2}}"#,
        text("The tool call was interrupted and gave no result.")
    )
}

fn tree(lines: &[String]) -> SessionTree {
    let header = r#"{"type":"session","version":3,"id":"s"}"#;
    let file = [&[header.to_owned()], lines].concat().join("\n");
    let loaded = SessionDocument::load(file.into(), &LoadOptions::default()).unwrap();
    loaded.document.tree().clone()
}

/// Messages in a chain, each hanging from the one before: `m0`, `m1`, …
fn chain(messages: &[&str]) -> SessionTree {
    let lines: Vec<String> = messages
        .iter()
        .enumerate()
        .map(|(at, json)| {
            let parent = if at == 0 { "-".to_owned() } else { format!("m{}", at - 1) };
            message(&format!("m{at}"), &parent, json)
        })
        .collect();
    tree(&lines)
}

fn built(tree: &SessionTree, options: &ContextOptions) -> SessionContext {
    build_session_context(tree, LeafChoice::Current, options)
}

fn plain(tree: &SessionTree) -> SessionContext {
    built(tree, &ContextOptions::plain())
}

fn safe(tree: &SessionTree) -> SessionContext {
    built(tree, &ContextOptions::default())
}

fn texts(messages: &[ContextMessage]) -> Vec<&str> {
    messages.iter().map(|message| message.json().as_str()).collect()
}

/// What was found, as code and entry.
fn found(diagnostics: &[Diagnostic]) -> Vec<(DiagnosticCode, &str)> {
    diagnostics.iter().map(|d| (d.code, d.entry.as_deref().unwrap_or("-"))).collect()
}
