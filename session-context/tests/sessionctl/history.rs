//! `history`

use session_model::json::RawJson;

use crate::support::{Dir, json};

/// The prompts a command printed as JSON.
fn prompts(out: &str) -> Vec<String> {
    let list = json(out).as_array().unwrap();
    let prompt = |item: &RawJson| item.field("prompt").unwrap().as_text().unwrap().into_owned();
    list.items().iter().map(prompt).collect()
}

#[test]
fn prompts_are_kept_once_in_a_row_and_found_again() {
    let dir = Dir::new();
    for prompt in ["fix the login test", "fix the login test", "two\nlines \u{1b}[31m", " \n"] {
        let run = dir.run_with("history add --session s1", prompt);
        let told = if prompt == " \n" { "note: a blank prompt is not kept\n" } else { "" };
        assert_eq!((run.code, &*run.out, &*run.err), (Some(0), "", told));
    }
    let recent = dir.run("history recent --json").quiet();
    assert_eq!(prompts(&recent), ["two\nlines \u{1b}[31m", "fix the login test"]);
    let first = json(&recent).as_array().unwrap().items()[1].clone();
    assert_eq!(first.field("sessionId").unwrap().as_str(), "\"s1\"");
    let cwd = dir.path().canonicalize().unwrap().display().to_string();
    assert_eq!(first.field("cwd").unwrap().as_text().unwrap(), cwd);
    let shown = dir.run("history recent --limit 1").quiet();
    assert!(shown.ends_with(&format!("  {cwd}\n  two\n  lines [31m\n")), "{shown}");

    let found = |query: &str| prompts(&dir.run_with("history search --json", query).quiet());
    assert_eq!(found("LOGIN fi"), ["fix the login test"]);
    let none = dir.run_with("history search --json --session s2", "login");
    assert_eq!(none.quiet(), "[]\n");
    for query in ["log\" OR * NEAR(", "'; DROP TABLE history; --", "\u{0}", "login-test:x"] {
        let run = dir.run_with("history search --json --", query.trim_matches('\0'));
        assert_eq!(run.code, Some(0), "{query}: {}", run.err);
    }
    assert_eq!(found("lines"), ["two\nlines \u{1b}[31m"]);
}

#[test]
fn looking_makes_no_history() {
    let dir = Dir::new();
    let path = dir.path().join(".xcsh/agent/history.db");
    let told = format!("note: there is no history {}\n", path.display());
    for looking in ["history recent --json", "history search --json x"] {
        assert_eq!(dir.run(looking).telling(&told), "[]\n");
    }
    assert_eq!(dir.names(), [""; 0]);
}

#[test]
fn a_prompt_that_does_not_fit_on_the_disk_is_told() {
    let dir = Dir::new();
    dir.run_with("history add", "first").quiet();
    let run = dir.run_with_room(200, "history add", &"long ".repeat(24_000));
    assert_eq!((run.code, &*run.out), (Some(1), ""), "{}", run.err);
    assert!(run.err.starts_with("error: the prompt is not saved: "), "{}", run.err);
    assert_eq!(prompts(&dir.run("history recent --json").quiet()), ["first"]);
}
