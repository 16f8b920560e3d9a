//! Commands that write: `append`, `label`, `branch`, `migrate`; and `completions`.

use session_model::json::RawJson;

use crate::support::{Dir, json, session};

/// The id a command printed.
#[track_caller]
fn id(out: &str) -> &str {
    let id = out.strip_suffix('\n').unwrap();
    assert!(id.len() == 8 && id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')), "{out:?}");
    id
}

/// The last line of a session, its `timestamp`s as `T` if they are of this time.
#[track_caller]
fn last_line(dir: &Dir, name: &str) -> String {
    let file = dir.read(name);
    let line = file.lines().last().unwrap().to_owned();
    let entry = RawJson::parse(line.clone()).unwrap();
    let mut out = line;
    let nested = entry.field("message").and_then(|message| message.field("timestamp"));
    for time in [entry.field("timestamp"), nested].into_iter().flatten() {
        let ms = session_model::time::from_json(&time).unwrap();
        if ms > 1_790_000_000_000 || time.as_str().starts_with('"') {
            out = out.replace(&format!("\"timestamp\":{time}"), "\"timestamp\":T");
        }
    }
    out
}

#[test]
fn what_is_appended_is_in_the_tree() {
    let dir = Dir::with_example("demo");
    let before = dir.read("demo.jsonl");
    let out = dir.run_with("append demo.jsonl --text", "One more thing.").quiet();
    let id = id(&out);
    assert_eq!(
        last_line(&dir, "demo.jsonl"),
        format!(
            r#"{{"type":"message","id":"{id}","parentId":"de049695","timestamp":T,"message":{{"role":"user","content":"One more thing.","timestamp":T}}}}"#
        )
    );
    assert!(dir.read("demo.jsonl").starts_with(&before), "the rest is as it was");
    let tree = dir.run("tree demo.jsonl").quiet();
    let above = "│  • de049695 assistant: You are welcome. Nothing is committed yet; `git diff` shows the three changed files.\n";
    assert!(tree.contains(&format!("{above}│  • {id} user: One more thing.\n")), "{tree}");
}

#[test]
fn messages_and_entries_keep_their_spelling() {
    let dir = Dir::with_example("demo");
    let message = r#"{ "content":"p\ud83d", "role":"user","n":1.0}"#;
    let out = dir.run_with("append demo.jsonl --json", message).quiet();
    let first = json(&out).field("id").unwrap().as_text().unwrap().into_owned();
    assert_eq!(
        last_line(&dir, "demo.jsonl"),
        format!(
            r#"{{"type":"message","id":"{first}","parentId":"de049695","timestamp":T,"message":{{"content":"p\ud83d","role":"user","n":1.0}}}}"#
        )
    );
    let entry = r#"{"type":"new_thing","id":"mine","parentId":"x","timestamp":"y","x":1E2}"#;
    let out = dir.run_with_input("append demo.jsonl -", &format!("{entry}\n")).quiet();
    let second = id(&out);
    assert_eq!(
        last_line(&dir, "demo.jsonl"),
        format!(
            r#"{{"type":"new_thing","id":"{second}","parentId":"{first}","timestamp":T,"x":1E2}}"#
        )
    );
}

#[test]
fn what_cannot_be_appended_is_refused() {
    let dir = Dir::with_example("demo");
    let before = dir.read("demo.jsonl");
    for (new, err) in [
        ("{\"x\":1}", "error: this cannot be appended: it has no string `type`\n"),
        ("[]", "error: this cannot be appended: it is no JSON object\n"),
        (
            "{\"type\":\"session\",\"id\":\"x\"}",
            "error: this cannot be appended: a session has one header only\n",
        ),
        (
            "{\"type\":\"message\"}",
            "error: this cannot be appended: a message is an object with a string `role`\n",
        ),
        (
            "{\"type\":\"label\",\"targetId\":\"x\"}",
            "error: entry x not found; list the entries to see which there are\n",
        ),
        (
            "{",
            "error: what is to be appended cannot be read\n  caused by: not valid JSON: EOF while parsing an object at line 1 column 1\n",
        ),
    ] {
        dir.run_with("append demo.jsonl", new).failed(1, err);
    }
    dir.run("label demo.jsonl nope x")
        .failed(1, "error: entry nope not found; list the entries to see which there are\n");
    dir.run("branch demo.jsonl nope")
        .failed(1, "error: entry nope not found; list the entries to see which there are\n");
    assert_eq!(dir.read("demo.jsonl"), before);
}

#[test]
fn a_session_is_made_only_where_asked_for() {
    let dir = Dir::new();
    dir.run("append new.jsonl --text x")
        .failed(1, "error: there is no session new.jsonl; --create makes one\n");
    assert_eq!(dir.names(), [""; 0]);
    let out = dir.run("append new.jsonl --create --text x --role developer").quiet();
    let file = dir.read("new.jsonl");
    let header = RawJson::parse(file.lines().next().unwrap().to_owned()).unwrap();
    assert_eq!(header.field("type").unwrap().as_str(), "\"session\"");
    let cwd = header.field("cwd").unwrap().as_text().unwrap().into_owned();
    assert_eq!(cwd, dir.path().canonicalize().unwrap().to_str().unwrap());
    assert_eq!(
        last_line(&dir, "new.jsonl"),
        format!(
            r#"{{"type":"message","id":"{}","parentId":null,"timestamp":T,"message":{{"role":"developer","content":"x","timestamp":T}}}}"#,
            id(&out)
        )
    );
    assert_eq!(file.lines().count(), 2);
}

#[test]
fn what_is_no_session_is_left_alone() {
    let dir = Dir::new();
    dir.write("app.log", "{\"event\":\"start\"}\n");
    dir.write("empty.jsonl", "");
    let before = dir.snapshot();
    for command in [
        "append app.log --text x",
        "append app.log --create --text x",
        "label app.log a x",
        "branch app.log a",
        "migrate app.log",
    ] {
        let err = "error: app.log cannot be opened as a session; it was left as it is\n  caused by: not a session file: line 1 is no object with a type\n";
        dir.run(command).failed(1, err);
    }
    let err = "error: empty.jsonl cannot be opened as a session; it was left as it is\n  caused by: the file is empty\n";
    dir.run("append empty.jsonl --text x").failed(1, err);
    assert_eq!(dir.snapshot(), before);
    dir.run("append empty.jsonl --create --text x").quiet();
    assert_eq!(dir.read("empty.jsonl").lines().count(), 2);
}

#[test]
fn a_torn_end_is_moved_aside_before_the_first_append() {
    let dir = Dir::with_example("damaged");
    let before = dir.read("damaged.jsonl");
    let whole = before.rfind('\n').unwrap() + 1;
    let run = dir.run("append damaged.jsonl --text x");
    assert_eq!(run.code, Some(0));
    let moved = dir.names().into_iter().find(|name| name.starts_with("damaged.jsonl.torn-"));
    let moved = moved.unwrap();
    assert!(run.err.ends_with(&format!(
        "warning: tail-moved-aside: 87 bytes at the end were no whole record and are now in {moved}\n"
    )));
    assert_eq!(dir.read(&moved), before[whole..]);
    let after = dir.read("damaged.jsonl");
    assert_eq!(after[..whole], before[..whole]);
    assert_eq!(after[whole..].lines().count(), 1);
}

#[test]
fn labels_are_set_and_cleared() {
    let dir = Dir::with_example("demo");
    let out = dir.run_with("label demo.jsonl 3fcd1ce4", "the end").quiet();
    assert_eq!(
        last_line(&dir, "demo.jsonl"),
        format!(
            r#"{{"type":"label","id":"{}","parentId":"de049695","timestamp":T,"targetId":"3fcd1ce4","label":"the end"}}"#,
            id(&out)
        )
    );
    let shown = |label| format!("│  • 3fcd1ce4 {label}user: Thank you, that is all.\n");
    assert!(dir.run("tree demo.jsonl").quiet().contains(&shown("[the end] ")));
    let out = json(&dir.run("label demo.jsonl 3fcd1ce4 --clear --json").quiet());
    let id = out.field("id").unwrap();
    assert_eq!(out.as_str(), format!(r#"{{"id":{id},"targetId":"3fcd1ce4"}}"#));
    assert!(dir.run("tree demo.jsonl").quiet().contains(&shown("")));
    let empty = dir.run_with("label demo.jsonl 3fcd1ce4", "");
    assert_eq!(empty.code, Some(2));
}

#[test]
fn a_branch_outlasts_the_command() {
    let dir = Dir::with_example("demo");
    let out = dir.run("branch demo.jsonl f1bbcd88").quiet();
    assert_eq!(
        last_line(&dir, "demo.jsonl"),
        format!(
            r#"{{"type":"branch_summary","id":"{}","parentId":"f1bbcd88","timestamp":T,"fromId":"f1bbcd88","summary":""}}"#,
            id(&out)
        )
    );
    let next = dir.run("append demo.jsonl --text third").quiet();
    assert!(last_line(&dir, "demo.jsonl").contains(&format!("\"parentId\":\"{}\"", id(&out))));
    let context = dir.run("context demo.jsonl").quiet();
    assert!(context.ends_with(&format!("\n\nuser {}\n  third\n", id(&next))), "{context}");

    let out = json(&dir.run("branch demo.jsonl root --summary why --json").quiet());
    let id = out.field("id").unwrap();
    assert_eq!(out.as_str(), format!(r#"{{"id":{id},"fromId":"root"}}"#));
    assert_eq!(
        last_line(&dir, "demo.jsonl"),
        format!(
            r#"{{"type":"branch_summary","id":{id},"parentId":null,"timestamp":T,"fromId":"root","summary":"why"}}"#
        )
    );
}

#[test]
fn a_migration_says_what_changes() {
    let dir = Dir::with_example("version-1");
    let before = dir.snapshot();
    let dry = dir.run("migrate version-1.jsonl --dry-run").quiet();
    assert_eq!(dir.snapshot(), before);
    assert_eq!(
        dry,
        "\
model_change  +id \"00000001\"  +parentId null
message  +id \"00000002\"  +parentId \"00000001\"
message  +id \"00000003\"  +parentId \"00000002\"
message  message.role \"hookMessage\" → \"custom\"  +id \"00000004\"  +parentId \"00000003\"
compaction  +id \"00000005\"  +parentId \"00000004\"  +firstKeptEntryId \"00000003\"  -firstKeptEntryIndex 3
message  +id \"00000006\"  +parentId \"00000005\"
version 1 → 3: 6 of 6 entries would change; ids are made when it is done
"
    );

    dir.write("again.jsonl", dir.read("version-1.jsonl"));
    let note = "note: migrated: format version 1 was brought up to 3; 6 entries changed\n";
    let run = dir.run("migrate again.jsonl");
    assert_eq!(run.telling(note), "version 1 → 3: 6 of 6 entries changed\n");

    let run = dir.run("migrate version-1.jsonl --json");
    let report = json(&run.telling(note));
    let file = dir.read("version-1.jsonl");
    let entries: Vec<_> = file.lines().skip(1).collect();
    assert_eq!(
        report.as_str(),
        format!(
            r#"{{"from":1,"to":3,"dryRun":false,"entries":6,"changed":[{}]}}"#,
            entries.join(",")
        )
    );
    assert!(file.starts_with(r#"{"type":"session","id":"7f3a9c52-1b7e-4c0d-9a55-2f60c1d8e412","timestamp":"2025-06-03T14:05:00.000Z","cwd":"/work/weather","version":3}"#));
    assert_eq!(dir.run("migrate version-1.jsonl").quiet(), "version 3: nothing to change\n");
    assert_eq!(dir.read("version-1.jsonl"), file);
}

#[test]
fn entries_without_ids_cannot_be_named_before_the_migration() {
    let dir = Dir::with_example("version-1");
    let before = dir.read("version-1.jsonl");
    let err = "error: the entries of version-1.jsonl have no ids yet; run `sessionctl migrate version-1.jsonl` first\n";
    dir.run("label version-1.jsonl 00000002 x").failed(1, err);
    dir.run("branch version-1.jsonl 00000002").failed(1, err);
    assert_eq!(dir.read("version-1.jsonl"), before);
    dir.run("migrate version-1.jsonl");
    let tree = dir.run("tree version-1.jsonl").quiet();
    let id = tree.split(' ').nth(1).unwrap();
    dir.run(&format!("label version-1.jsonl {id} x")).quiet();
}

#[test]
fn a_newer_format_is_only_read() {
    let dir = Dir::new();
    let newer = session(&[]).replace("\"version\":3", "\"version\":4");
    dir.write("s.jsonl", &newer);
    let warning = "warning: newer-version: format version 4 is newer than 3; the session can be read and not changed\n";
    dir.run("show s.jsonl").telling(warning);
    let error = "error: s.jsonl is open read-only: its format version 4 is newer than this program's 3; update the program to write it\n";
    dir.run("append s.jsonl --text x").failed(1, &format!("{warning}{error}"));
    assert_eq!(dir.read("s.jsonl"), newer);
}

#[test]
fn usage_is_checked() {
    let dir = Dir::with_example("demo");
    for args in [
        "",
        "frobnicate",
        "append demo.jsonl",
        "append demo.jsonl {} --text x",
        "append demo.jsonl {} --role user",
        "label demo.jsonl 3fcd1ce4",
        "label demo.jsonl 3fcd1ce4 x --clear",
        "context demo.jsonl --plain --llm",
        "tree demo.jsonl --json --filter all",
        "tree demo.jsonl --json --search x",
        "tree demo.jsonl --json --ascii",
        "list . --store .",
        "list --all --cwd .",
    ] {
        let run = dir.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(2), ""), "{args}");
        assert!(!run.err.is_empty());
    }
}

#[test]
fn completions_are_scripts_that_know_the_commands() {
    let dir = Dir::new();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let script = dir.run(&format!("completions {shell}")).quiet();
        for command in [
            "list",
            "show",
            "tree",
            "context",
            "stats",
            "verify",
            "migrate",
            "append",
            "label",
            "branch",
            "navigate",
            "checkpoint",
            "rewind",
        ] {
            assert!(script.contains(command), "{shell} {command}");
        }
    }
    let version = dir.run("--version").quiet();
    assert_eq!(version, format!("sessionctl {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn every_command_has_help_with_examples() {
    let dir = Dir::new();
    let help = dir.run("--help").quiet();
    assert!(help.contains("Exit codes:\n  0  done\n"));
    for command in [
        "list",
        "show",
        "stats",
        "navigate",
        "checkpoint",
        "rewind",
        "tree",
        "context",
        "verify",
        "migrate",
        "append",
        "label",
        "branch",
        "completions",
    ] {
        assert!(help.contains(&format!("\n  {command} ")), "{command}");
        let help = dir.run(&format!("{command} --help")).quiet();
        assert!(help.contains(&format!("\nExamples:\n  sessionctl {command}")), "{help}");
    }
}

#[test]
fn what_no_session_takes_is_refused_before_anything_is_changed() {
    let dir = Dir::with_example("version-1");
    let before = dir.snapshot();
    for refused in ["[]", "{}", r#"{"role":5}"#, r#"{"type":"session","id":"x"}"#] {
        assert_eq!(dir.run_with("append version-1.jsonl", refused).code, Some(1), "{refused}");
        assert_eq!(dir.run_with("append new.jsonl --create", refused).code, Some(1), "{refused}");
    }
    assert_eq!(dir.snapshot(), before);
}

#[test]
fn a_text_too_long_for_a_line_is_kept_whole() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[]));
    let text = "y".repeat(600_000);
    let message = format!(r#"{{"role":"user","content":"{text}"}}"#);
    let out = dir.run_with_input("append s.jsonl -", &message).quiet();
    assert!(dir.read("s.jsonl").len() < 501_000);
    let shown = json(&dir.run(&format!("show s.jsonl --json --entry {}", id(&out))).quiet());
    let content = shown.field("message").unwrap().field("content").unwrap();
    assert_eq!(content.as_str(), format!("\"{text}\""));
}

#[test]
fn what_does_not_fit_on_the_disk_is_told_and_can_be_appended_later() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[]));
    let text = "z".repeat(20_000);
    let run = dir.run_with_room(16, "append s.jsonl --text", &text);
    assert_eq!((run.code, &*run.out), (Some(1), ""), "{}", run.err);
    let told = "could not be saved; once the cause is gone, look with `sessionctl show` whether it is there, and give the command again if not\n";
    assert!(run.err.contains(told), "{}", run.err);
    assert_eq!(dir.read("s.jsonl"), session(&[]));
    dir.run_with("append s.jsonl --text", &text).quiet();
    assert!(last_line(&dir, "s.jsonl").contains(&text));
}
