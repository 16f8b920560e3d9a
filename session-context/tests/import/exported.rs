//! Sessions handed back to the tools, and read as their files again.

use std::fs;
use std::path::Path;

use session_context::export::foreign::{ForeignSession, Handed, Loss, to_claude, to_codex};
use session_context::import::Tool;
use session_model::document::{LoadOptions, SessionDocument};
use session_model::json::RawJson;
use session_model::time::from_iso;

use crate::ours::{self, Said};
use crate::support::{converted, document, items, sources, text};

/// What both formats have a place for: no thinking, and not whether a result failed.
fn common((who, blocks): Said) -> Option<Said> {
    let who = match who.trim_end_matches(", failed") {
        "custom" | "developer" => "user",
        who => who,
    };
    let is_thinking =
        |block: &String| block.starts_with("thinking") || block.starts_with("redacted");
    let has_place = |block: &String| !is_thinking(block) && !block.starts_with("other");
    let is_silent = !blocks.is_empty() && !blocks.iter().any(has_place);
    let blocks: Vec<_> = blocks.into_iter().filter(has_place).collect();
    (!is_silent).then(|| (who.to_owned(), blocks))
}

/// A source whose ids are such as the tools make: where they were taken out, words stand.
fn read(path: &Path) -> Vec<u8> {
    fs::read_to_string(path).unwrap().replace("[trimmed for fixture]", "trimmed").into_bytes()
}

fn again(tool: Tool, session: &ForeignSession) -> SessionDocument {
    let conversion = converted(tool, session.to_text().as_bytes());
    assert_eq!(session.unreadable(), 0, "{:?}", conversion.report);
    document(&conversion)
}

#[test]
fn claude_reads_its_own_sessions_back_with_all_branches() {
    for path in sources(Tool::Claude) {
        eprintln!("{}", path.display());
        let document = document(&converted(Tool::Claude, &read(&path)));
        let session = to_claude(&Handed::of(&document));
        let again = again(Tool::Claude, &session);
        let walk = |document| {
            let walk = ours::walk(document).into_iter();
            walk.map(|((who, blocks), after)| {
                let signed = |block: &String| !block.starts_with("thinking");
                ((who, blocks.into_iter().filter(signed).collect::<Vec<_>>()), after)
            })
            .collect::<Vec<_>>()
        };
        let dropped = session.loss.counts().get(&Loss::Thinking).copied().unwrap_or_default();
        if dropped == 0 {
            assert_eq!(ours::walk(&again), ours::walk(&document));
        } else {
            let said = |document| walk(document).into_iter().map(|(said, _)| said);
            let silent = |(_, blocks): &Said| !blocks.is_empty();
            let ours: Vec<_> = said(&document).filter(silent).collect();
            assert_eq!(said(&again).filter(silent).collect::<Vec<_>>(), ours);
        }
    }
}

#[test]
fn codex_reads_its_own_sessions_back() {
    for path in sources(Tool::Codex) {
        eprintln!("{}", path.display());
        let document = document(&converted(Tool::Codex, &read(&path)));
        let session = to_codex(&Handed::of(&document));
        let again = again(Tool::Codex, &session);
        let path =
            |document| ours::path(document).into_iter().filter_map(common).collect::<Vec<_>>();
        assert_eq!(path(&again), path(&document));
        let thoughts = |document| {
            let said = ours::path(document).into_iter().flat_map(|(_, blocks)| blocks);
            said.filter(|block| block.starts_with("thinking")).count() as u64
        };
        let dropped = session.loss.counts().get(&Loss::Thinking).copied().unwrap_or_default();
        assert_eq!(thoughts(&again) + dropped, thoughts(&document));
    }
}

#[test]
fn each_tool_gets_the_conversations_of_the_other() {
    for tool in [Tool::Claude, Tool::Codex] {
        for path in sources(tool) {
            eprintln!("{}", path.display());
            let document = document(&converted(tool, &read(&path)));
            let (other, session) = match tool {
                Tool::Claude => (Tool::Codex, to_codex(&Handed::of(&document))),
                _ => (Tool::Claude, to_claude(&Handed::of(&document))),
            };
            let again = again(other, &session);
            // Of answers in parts, Codex has a message for each text and each call.
            let parts = |document: &SessionDocument| {
                let said = ours::path(document).into_iter().filter_map(common);
                said.flat_map(|(who, blocks)| match &*who {
                    "assistant" => {
                        blocks.into_iter().map(|block| (who.clone(), vec![block])).collect()
                    }
                    "user" => {
                        let text = blocks.iter().map(|b| b.trim_start_matches("text ").to_owned());
                        vec![(who, text.collect())]
                    }
                    _ => vec![(who, blocks)],
                })
                .filter(|(_, blocks)| !blocks.is_empty())
                .collect::<Vec<_>>()
            };
            if document.tree().leaf().is_some() && document.tree().len() > 1 {
                assert_eq!(parts(&again), parts(&document));
            }
        }
    }
}

#[test]
fn files_are_where_and_as_the_tools_look_for_them() {
    let source = fs::read(crate::support::fixture("claude/everything.jsonl")).unwrap();
    let file = document(&converted(Tool::Claude, &source));
    let mut handed = Handed::of(&file);
    handed.cwd = "/work/my app".into();
    handed.created_ms = 1_772_355_601_250;
    handed.title = Some("Build".into());
    handed.titled_by_user = true;
    let id = handed.id.clone();
    let claude = to_claude(&handed);
    assert_eq!(claude.path, format!("projects/-work-my-app/{id}.jsonl"));
    let (title, records) = claude.records.split_last().unwrap();
    assert_eq!(
        title.as_str(),
        format!(r#"{{"type":"custom-title","customTitle":"Build","sessionId":"{id}"}}"#)
    );
    for record in records {
        assert_eq!(text(record, "sessionId").as_deref(), Some(&*id));
        assert!(uuid::Uuid::parse_str(&text(record, "uuid").unwrap()).is_ok());
        assert!(from_iso(&text(record, "timestamp").unwrap()).is_some());
        assert_eq!(text(record, "cwd").as_deref(), Some("/work/my app"));
    }
    let codex = to_codex(&handed);
    assert_eq!(codex.path, format!("sessions/2026/03/01/rollout-2026-03-01T09-00-01-{id}.jsonl"));
    let meta = codex.records[0].field("payload").unwrap();
    assert_eq!(text(&meta, "id").as_deref(), Some(&*id));
    for record in &codex.records {
        assert!(from_iso(&text(record, "timestamp").unwrap()).is_some());
    }
    handed.id = "no uuid".into();
    let path = to_claude(&handed).path;
    let stem = path.rsplit('/').next().unwrap().trim_end_matches(".jsonl");
    assert!(uuid::Uuid::parse_str(stem).is_ok(), "{path}");
}

fn session(entries: &[&str]) -> SessionDocument {
    let header =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T09:00:00Z","cwd":"/w"}"#;
    let file = [&[header], entries].concat().join("\n") + "\n";
    SessionDocument::load(file.into(), &LoadOptions::default()).unwrap().document
}

const OTHERS: [&str; 9] = [
    r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:00:01Z","message":{"role":"user","content":[{"type":"text","text":"see"},{"type":"image","data":"blob:sha256:0","mimeType":"image/png"}]}}"#,
    r#"{"type":"message","id":"b","parentId":"a","timestamp":"2026-03-01T09:00:02Z","message":{"role":"assistant","provider":"google","model":"gemini-3","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"x"},{"type":"toolCall","id":"call|1","name":"ls","arguments":{}}],"usage":{"input":5,"output":7},"stopReason":"toolUse"}}"#,
    r#"{"type":"message","id":"c","parentId":"b","timestamp":"2026-03-01T09:00:03Z","message":{"role":"toolResult","toolCallId":"call|1","toolName":"ls","content":[{"type":"text","text":"x"}],"isError":true}}"#,
    r#"{"type":"message","id":"d","parentId":"c","timestamp":"2026-03-01T09:00:04Z","message":{"role":"bashExecution","command":"ls","output":"y","exitCode":0,"cancelled":false,"truncated":false}}"#,
    r#"{"type":"label","id":"e","parentId":"d","targetId":"a","label":"here"}"#,
    r#"{"type":"compaction","id":"f","parentId":"e","timestamp":"2026-03-01T09:00:05Z","summary":"Sum","firstKeptEntryId":"c","tokensBefore":9}"#,
    r#"{"type":"branch_summary","id":"g","parentId":"f","timestamp":"2026-03-01T09:00:06Z","fromId":"a","summary":"Elsewhere"}"#,
    r#"{"type":"message","id":"h","parentId":"g","timestamp":"2026-03-01T09:00:07Z","message":{"role":"assistant","provider":"google","model":"gemini-3","content":[],"stopReason":"error","errorMessage":"overloaded"}}"#,
    r#"{"type":"message","id":"i","parentId":"a","timestamp":"2026-03-01T09:00:08Z","message":{"role":"user","content":"aside"}}"#,
];

#[test]
fn sessions_of_other_tools_go_along_as_far_as_there_is_a_place() {
    let mut document = session(&OTHERS);
    let leaf = document.tree().find("h");
    document.set_leaf(leaf);
    let handed = Handed::of(&document);
    let claude = to_claude(&handed);
    let losses: Vec<_> = claude.loss.counts().iter().map(|(loss, n)| (*loss, *n)).collect();
    let some = [(Loss::Thinking, 1), (Loss::Image, 1), (Loss::Role, 2), (Loss::State, 1)];
    assert_eq!(losses, some);
    // The leaf's branch comes last, and the parts it kept are named.
    let read = again(Tool::Claude, &claude);
    let said: Vec<_> = ours::path(&read).into_iter().map(|(who, _)| who).collect();
    let call = said[2].split(' ').nth(1).unwrap().to_owned();
    assert!(call.starts_with("toolu_") && call.chars().all(|c| c.is_alphanumeric() || c == '_'));
    let result = format!("result {call} of ls, failed");
    assert_eq!(said, ["user", "assistant", &*result, "user", "summary", "user", "assistant"]);
    let boundary = claude.records.iter().find(|r| r.field("compactMetadata").is_some()).unwrap();
    let segment = boundary.field("compactMetadata").unwrap().field("preservedSegment").unwrap();
    let head = text(&segment, "headUuid").unwrap();
    let head = claude.records.iter().find(|r| text(r, "uuid").as_ref() == Some(&head)).unwrap();
    assert!(head.as_str().contains("tool_result"), "{head}");

    let codex = to_codex(&handed);
    let losses: Vec<_> = codex.loss.counts().iter().map(|(loss, n)| (*loss, *n)).collect();
    let more = [
        (Loss::Thinking, 1),
        (Loss::Image, 1),
        (Loss::Role, 2),
        (Loss::State, 1),
        (Loss::Branch, 1),
        (Loss::Failure, 1),
    ];
    assert_eq!(losses, more);
    let compacted = codex.records.iter().find(|r| text(r, "type").as_deref() == Some("compacted"));
    let history = compacted.unwrap().field("payload").unwrap().field("replacement_history");
    let kinds: Vec<_> = items(history).iter().map(|item| text(item, "type").unwrap()).collect();
    assert_eq!(kinds, ["message", "function_call_output", "message"]);
    let tokens = codex.records.iter().find(|r| r.as_str().contains("token_count")).unwrap();
    assert!(tokens.as_str().contains(r#""total_token_usage":{"input_tokens":5,"cached_input_tokens":0,"output_tokens":7,"total_tokens":12,"#));
}

#[test]
fn a_reset_leaves_nothing_before_it_in_force() {
    let document = session(&[
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"old"}}"#,
        r#"{"type":"reset_boundary","id":"b","parentId":"a"}"#,
        r#"{"type":"message","id":"c","parentId":"b","message":{"role":"user","content":"new"}}"#,
    ]);
    let handed = Handed::of(&document);
    let records = to_claude(&handed).records;
    let parents: Vec<_> =
        records.iter().map(|record| record.field("parentUuid").unwrap()).collect();
    assert_eq!(parents, [RawJson::null(), RawJson::null()]);
    let records = to_codex(&handed).records;
    let compacted = records.iter().find(|r| text(r, "type").as_deref() == Some("compacted"));
    let payload = compacted.unwrap().field("payload").unwrap();
    assert_eq!(payload.as_str(), r#"{"message":"","replacement_history":[]}"#);
}
