//! `sessionctl import`

use session_model::json::RawJson;

use crate::support::{Dir, json, session};

const CLAUDE: &str = include_str!("../import/fixtures/claude/everything.jsonl");
const CODEX: &str = include_str!("../import/fixtures/codex/everything.jsonl");
const ID: &str = "5f0c1c52-6f5d-4a8e-9c4d-0f3b8a2c7e11";

/// A home with sessions of both tools.
fn home() -> Dir {
    let dir = Dir::new();
    dir.write(&format!(".claude/projects/-work-app/{ID}.jsonl"), CLAUDE);
    let of_agent = CLAUDE.replace("\"isSidechain\":false", "\"isSidechain\": true");
    dir.write(".claude/projects/-work-app/agent-1.jsonl", of_agent);
    dir.write(".claude/projects/-work-app/empty.jsonl", "{\"type\":\"mode\",\"mode\":\"x\"}\n");
    dir.write(".claude/history.jsonl", "{\"display\":\"x\"}\n");
    dir.write(".codex/sessions/2026/03/01/rollout-2026-03-01T09-00-00-a.jsonl", CODEX);
    dir.write(".codex/history.jsonl", "{\"text\":\"x\"}\n");
    dir
}

fn only_source(document: &RawJson) -> RawJson {
    let sources = document.field("sources").unwrap().as_array().unwrap();
    assert_eq!(sources.items().len(), 1);
    sources.items()[0].clone()
}

fn last_line(out: &str) -> &str {
    out.lines().last().unwrap()
}

#[test]
fn the_home_of_a_tool_is_imported_once() {
    let dir = home();
    let agents = "note: passed over: 1 file of agents that worked for others\n";
    let out = dir.run("import claude").telling(agents);
    assert!(out.starts_with("created  019ca8a0-"), "{out}");
    assert!(out.contains("  Build with cargo\n"), "{out}");
    assert!(out.contains("       10        1        0  assistant: 1 of another agent\n"), "{out}");
    assert!(out.contains("        0        0        1  future-kind\n"), "{out}");
    assert_eq!(
        last_line(&out),
        "1 created, 0 updated, 0 unchanged, 1 without conversation, 0 failed"
    );
    let before = dir.snapshot();
    let out = dir.run("import claude").telling(agents);
    assert_eq!(
        last_line(&out),
        "0 created, 0 updated, 1 unchanged, 1 without conversation, 0 failed"
    );
    assert_eq!(dir.snapshot(), before);
    let out = dir.run("import codex").quiet();
    assert_eq!(
        last_line(&out),
        "1 created, 0 updated, 0 unchanged, 0 without conversation, 0 failed"
    );
    let listed = dir.run("list --all").quiet();
    let titles = ["Build with cargo", "Files"].map(|title| listed.contains(title));
    assert_eq!(titles, [true, true], "{listed}");
}

#[test]
fn a_session_that_is_only_named_as_if_it_were_of_an_agent_is_imported() {
    let dir = home();
    let other = CLAUDE.replace(ID, "6f0c1c52-6f5d-4a8e-9c4d-0f3b8a2c7e11");
    dir.write(".claude/projects/-work-app/agent-smith.jsonl", other);
    let out = dir.run("import claude --dry-run");
    assert_eq!(
        last_line(&out.telling("note: passed over: 1 file of agents that worked for others\n")),
        "2 created, 0 updated, 0 unchanged, 1 without conversation, 0 failed (dry run: nothing was written)"
    );
    let out = dir.run("import claude .claude/projects/-work-app/agent-1.jsonl").quiet();
    assert_eq!(
        last_line(&out),
        "0 created, 0 updated, 0 unchanged, 1 without conversation, 0 failed"
    );
}

#[test]
fn a_dry_run_tells_the_same_and_writes_nothing() {
    let dir = home();
    let before = dir.snapshot();
    let told = dir.run("import codex --dry-run --json").quiet();
    assert_eq!(dir.snapshot(), before);
    let done = dir.run("import codex --json").quiet();
    let (told, done) = (json(&told), json(&done));
    assert_eq!(told.field("kinds"), done.field("kinds"));
    assert_eq!(done.field("created").unwrap().as_str(), "1");
    assert_eq!(told.field("created").unwrap().as_str(), "1");
    assert_eq!(told.field("dryRun").unwrap().as_str(), "true");
}

#[test]
fn what_was_imported_is_told_as_json() {
    let dir = home();
    let source = dir.path().join(format!(".claude/projects/-work-app/{ID}.jsonl"));
    let document = json(&dir.run_with("import claude --json", source.to_str().unwrap()).quiet());
    let told = only_source(&document).as_object().unwrap();
    let text = |name| told.text(name).unwrap().into_owned();
    assert_eq!(text("outcome"), "created");
    assert_eq!(text("title"), "Build with cargo");
    assert_eq!(text("cwd"), "/work/app");
    let path = text("path");
    assert!(path.ends_with(&format!("{}.jsonl", text("sessionId"))), "{path}");
    assert!(dir.run_with("verify", &path).code == Some(0));
}

#[test]
fn a_directory_that_worked_elsewhere_is_passed_over() {
    let dir = home();
    let out = dir.run("import claude .claude --cwd /work/other").out;
    assert_eq!(
        last_line(&out),
        "0 created, 0 updated, 0 unchanged, 0 without conversation, 0 failed"
    );
    let out = dir.run("import claude .claude --cwd /work/app").out;
    assert_eq!(
        last_line(&out),
        "1 created, 0 updated, 0 unchanged, 0 without conversation, 0 failed"
    );
}

#[test]
fn growth_is_told_and_a_continued_session_gets_a_branch() {
    let dir = Dir::new();
    let lines: Vec<_> = CLAUDE.split_inclusive('\n').collect();
    dir.write("s.jsonl", lines[..11].concat());
    let id = json(&dir.run("import claude s.jsonl --json").quiet());
    let id = only_source(&id).field("sessionId").unwrap().as_text().unwrap().into_owned();
    dir.write("s.jsonl", lines[..13].concat());
    let out = dir.run("import claude s.jsonl").quiet();
    assert!(out.starts_with(&format!("updated  {id}  Of another session  (+1 entry)\n")), "{out}");
    dir.run(&format!("append {id} --text mine")).quiet();
    dir.write("s.jsonl", CLAUDE);
    let out = dir.run("import claude s.jsonl").quiet();
    assert!(out.contains("entries, on a branch: it was continued here)\n"), "{out}");
}

#[test]
fn what_cannot_be_imported_is_told_and_the_rest_is() {
    let dir = home();
    dir.run("import claude none").failed(
        1,
        "error: none cannot be read\n  caused by: No such file or directory (os error 2)\n",
    );
    dir.run("import other").code.filter(|code| *code == 2).unwrap();
    let id = dir.run("import codex --json").quiet();
    let path = only_source(&json(&id)).field("path").unwrap().as_text().unwrap().into_owned();
    std::fs::write(&path, "no session\n").unwrap();
    let run = dir.run("import codex");
    assert_eq!(run.code, Some(1), "{run:?}");
    assert_eq!(std::fs::read_to_string(&path).unwrap(), "no session\n");
}

#[test]
fn titles_of_sources_reach_no_terminal_as_they_are() {
    let dir = Dir::new();
    let title = r#"{"type":"custom-title","customTitle":"a\u001b[2J\u009b2J\u202eb"}"#;
    let user = r#"{"type":"user","uuid":"u","message":{"role":"user","content":"x"}}"#;
    let kind = r#"{"type":"k\u001b[2J\u202e"}"#;
    dir.write("s.jsonl", format!("{title}\n{user}\n{kind}\n"));
    let out = dir.run("import claude s.jsonl").quiet();
    assert!(
        out.contains("  a [2J 2J b\n") && !out.contains(['\u{1b}', '\u{9b}', '\u{202e}']),
        "{out:?}"
    );
}

#[test]
fn an_imported_session_goes_back_to_its_tool() {
    for (tool, source) in [("claude", CLAUDE), ("codex", CODEX)] {
        let dir = Dir::new();
        dir.write("s.jsonl", source);
        let told = only_source(&json(&dir.run(&format!("import {tool} s.jsonl --json")).quiet()));
        let id = told.field("sessionId").unwrap().as_text().unwrap().into_owned();
        let run = dir.run(&format!("export {id} --format {tool} --no-redact"));
        assert_eq!(run.code, Some(0), "{run:?}");
        let place = run.out.lines().find_map(|line| line.strip_prefix("the tool finds it as "));
        let place = place.unwrap().strip_suffix(" in its home").unwrap();
        let name = place.rsplit('/').next().unwrap().to_owned();
        dir.write(&format!(".{tool}/{place}"), dir.read(&name));
        let again = only_source(&json(&dir.run(&format!("import {tool} --json")).quiet()));
        assert_eq!(again.field("outcome").unwrap().as_str(), "\"created\"");
        assert_eq!(again.field("title"), told.field("title"));
        assert_eq!(again.field("cwd"), told.field("cwd"));
    }
}

#[test]
fn a_session_of_ours_is_no_source() {
    let dir = Dir::new();
    let entry =
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"user","content":"x"}}"#;
    dir.write("s.jsonl", session(&[entry]));
    for tool in ["claude", "codex"] {
        let out = dir.run(&format!("import {tool} s.jsonl")).quiet();
        let want = "0 created, 0 updated, 0 unchanged, 1 without conversation, 0 failed";
        assert_eq!(last_line(&out), want);
    }
}

#[test]
fn where_there_is_nothing_to_import_nothing_is_made() {
    let dir = Dir::new();
    let home = dir.path().join(".codex");
    let told = format!(
        "error: there is no {}; name a file or a directory with sessions of Codex\n",
        home.display()
    );
    dir.run("import codex").failed(1, &told);
    std::fs::create_dir_all(home.join("sessions")).unwrap();
    let out = dir.run("import codex").telling("note: there is no session of Codex to import\n");
    assert_eq!(out, "0 created, 0 updated, 0 unchanged, 0 without conversation, 0 failed\n");
    assert_eq!(dir.names(), [".codex"]);
}

#[test]
fn a_source_without_a_title_is_told_by_its_first_words() {
    let dir = Dir::new();
    let said = r#"{"type":"user","uuid":"u1","parentUuid":null,"cwd":"/w","timestamp":"2026-03-01T09:00:00.000Z","message":{"role":"user","content":"make it\nwork"}}"#;
    dir.write("s.jsonl", said);
    let out = dir.run("import claude s.jsonl").quiet();
    assert!(out.lines().next().unwrap().ends_with("  make it work"), "{out}");
}
