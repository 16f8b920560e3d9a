//! What reaches a terminal, and when output ends early.

use std::io::{BufRead, BufReader, Read};
use std::process::Stdio;

use session_model::json::RawJson;

use crate::support::{Dir, session};

/// A screen clear in three spellings, a bell, and text turned around; as JSON would hold it.
const HOSTILE: &str = "\\u001b[2J\\u009b2J\u{9b}2J\\u0007\\r\\b\u{202e}\u{2066}\\u2028\u{7f}x";

fn hostile_session() -> String {
    let mut lines = vec![
        r#"{"type":"session","version":3,"id":"s@","timestamp":"@","cwd":"/@","title":"t@","parentSession":"p@"}"#,
        r#"{"type":"message","id":"a@","parentId":null,"timestamp":"@","message":{"role":"user","content":"u@"}}"#,
        r#"{"type":"message","id":"b","parentId":"a@","timestamp":"2026-03-01T09:00:02Z","message":{"role":"assistant","content":[{"type":"thinking","thinking":"@"},{"type":"text","text":"@"},{"type":"toolCall","id":"c@","name":"n@","arguments":{"@":"@"}},{"type":"image","data":"blob:@","mimeType":"@"},{"type":"@"}],"provider":"p@","model":"m@","stopReason":"error","errorMessage":"@"}}"#,
        r#"{"type":"message","id":"c","parentId":"b","message":{"role":"toolResult","toolCallId":"c@","toolName":"n@","content":"@","isError":true}}"#,
        r#"{"type":"message","id":"d","parentId":"c","message":{"role":"bashExecution","command":"@","output":"@","exitCode":1}}"#,
        r#"{"type":"message","id":"e","parentId":"d","message":{"role":"fileMention","files":[{"path":"@","content":"@","skippedReason":"@"}]}}"#,
        r#"{"type":"message","id":"f","parentId":"e","message":{"role":"r@","content":"@"}}"#,
        r#"{"type":"label","id":"g","parentId":"f","targetId":"f","label":"l@"}"#,
        r#"{"type":"compaction","id":"h","parentId":"g","summary":"@","firstKeptEntryId":"@","tokensBefore":1}"#,
        r#"{"type":"custom_message","id":"i","parentId":"h","customType":"t@","content":"@","display":true}"#,
        r#"{"type":"mode_change","id":"j","parentId":"i","mode":"m@"}"#,
        r#"{"type":"model_change","id":"k","parentId":"j","model":"m@/m@","role":"r@"}"#,
        r#"{"type":"ttsr_injection","id":"l","parentId":"k","injectedRules":["@"]}"#,
        r#"{"type":"context_change","id":"m","parentId":"l","contextName":"@","tenant":"@","namespace":"@"}"#,
        r#"{"type":"n@","id":"n","parentId":"gone@","data":"@"}"#,
    ];
    lines.push("torn@");
    lines.join("\n").replace('@', HOSTILE)
}

#[test]
fn nothing_a_terminal_acts_on_comes_through() {
    let dir = Dir::new();
    dir.write("s.jsonl", hostile_session());
    for args in [
        "show s.jsonl",
        "tree s.jsonl --filter all",
        "context s.jsonl",
        "context s.jsonl --transcript --leaf m",
        "context s.jsonl --llm --leaf m",
        "stats s.jsonl",
        "checkpoint s.jsonl",
        "verify s.jsonl",
        "migrate s.jsonl --dry-run",
        "show s.jsonl --entry b",
        "show s.jsonl --entry f",
        "show s.jsonl --entry h",
        "show s.jsonl --entry n",
        "show none\u{1b}[2J",
        "show s.jsonl --entry none\u{9b}2J",
    ] {
        let run = dir.run(args);
        let bad = |c: char| {
            (c.is_control() && !matches!(c, '\n' | '\t')) || "\u{202e}\u{2066}\u{2028}".contains(c)
        };
        assert!(!run.out.contains(bad), "{args}: {:?}", run.out);
        assert!(!run.err.contains(bad), "{args}: {:?}", run.err);
        assert!(!run.out.is_empty() || run.code == Some(1), "{args}");
    }
}

#[test]
fn json_is_not_touched() {
    let dir = Dir::new();
    dir.write("s.jsonl", hostile_session());
    let file = dir.read("s.jsonl");
    let entries: Vec<&str> = file.lines().filter(|line| line.starts_with('{')).skip(1).collect();
    let shown = dir.run("show s.jsonl --json").out;
    assert!(shown.ends_with(&format!("\"entries\":[{}]}}\n", entries.join(","))));
    RawJson::parse(shown).unwrap();
}

#[test]
fn colours_are_for_terminals_and_for_who_asks() {
    let dir = Dir::with_example("demo");
    let has_colour = |args: &str, no_color: &str| {
        let out = dir.command(args).env("NO_COLOR", no_color).output().unwrap().stdout;
        out.contains(&0x1b)
    };
    assert!(!has_colour("tree demo.jsonl", ""));
    assert!(!has_colour("tree demo.jsonl --color never", ""));
    assert!(has_colour("tree demo.jsonl --color always", "1"));
}

#[test]
fn a_reader_that_leaves_early_is_no_error() {
    let dir = Dir::new();
    let text = "x".repeat(150);
    let entries: Vec<String> = (0..20_000)
        .map(|n| format!(r#"{{"type":"message","id":"{n:08}","parentId":null,"message":{{"role":"user","content":"{text}"}}}}"#))
        .collect();
    dir.write("s.jsonl", session(&entries.iter().map(String::as_str).collect::<Vec<_>>()));
    for args in [
        "tree s.jsonl",
        "show s.jsonl",
        "show s.jsonl --json",
        "tree s.jsonl --json",
        "context s.jsonl --transcript",
    ] {
        let mut child =
            dir.command(args).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut line = Vec::new();
        BufReader::with_capacity(64, child.stdout.take().unwrap())
            .take(64)
            .read_until(b'\n', &mut line)
            .unwrap();
        let mut err = String::new();
        child.stderr.take().unwrap().read_to_string(&mut err).unwrap();
        assert_eq!((child.wait().unwrap().code(), err.as_str()), (Some(0), ""), "{args}");
        assert!(!line.is_empty());
    }
}
