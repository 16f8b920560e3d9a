//! Commands that look: `show`, `tree`, `context`.

use crate::support::{Dir, json, session};

const OLD_FORMAT: &str = "note: the file is of an old format and is shown in the present one; ids it lacks are made up until `sessionctl migrate version-1.jsonl` gives it lasting ones\n";

/// Two branches, a label, and what a parser of values would change.
const SMALL: [&str; 4] = [
    r#"{"type":"message","id":"a0000001","parentId":null,"timestamp":"2026-03-01T09:00:01Z","message":{"role":"user","content":"one"}}"#,
    r#"{"type":"message","id":"a0000002","parentId":"a0000001","timestamp":"2026-03-01T09:00:02Z","message":{"role":"user","content":"two \ud83d","n":1.0}}"#,
    r#"{"type":"custom", "customType":"x","id":"a0000003","parentId":"a0000001","timestamp":"2026-03-01T09:00:03Z"}"#,
    r#"{"type":"label","id":"a0000004","parentId":"a0000002","timestamp":"2026-03-01T09:00:04Z","targetId":"a0000002","label":"here"}"#,
];

#[test]
fn the_example_is_shown_whole() {
    let dir = Dir::with_example("demo");
    for (args, want) in [
        ("tree demo.jsonl", include_str!("expected/tree.txt")),
        ("tree demo.jsonl --color always", include_str!("expected/tree-colour.txt")),
        ("tree demo.jsonl --filter all --archived --ascii", include_str!("expected/tree-all.txt")),
        ("show demo.jsonl", include_str!("expected/show.txt")),
        ("context demo.jsonl", include_str!("expected/context.txt")),
        ("context demo.jsonl --plain", include_str!("expected/context.txt")),
        ("context demo.jsonl --model", include_str!("expected/context.txt")),
        ("context demo.jsonl --llm", include_str!("expected/llm.txt")),
        ("context demo.jsonl --transcript", include_str!("expected/transcript.txt")),
    ] {
        assert_eq!(dir.run(args).quiet(), want, "{args}");
    }
}

#[test]
fn a_tree_is_filtered_and_searched() {
    let dir = Dir::with_example("demo");
    assert_eq!(
        dir.run("tree demo.jsonl --filter labeled-only").quiet(),
        "├─ • 11a25bfa [good] assistant: The delay now grows from 100 ms to at most 5 s over five attempts, and the tests take 0.3 seconds.\n\
         └─ 4540215f [fixed delay, slow tests] assistant: Done: three attempts, 2 seconds apart. All tests pass, but they take 12 seconds now, because the delay is real.\n"
    );
    assert_eq!(
        dir.run_with("tree demo.jsonl --filter user-only --search", "CHANGE line").quiet(),
        "• ec48c90d user: Please add a line to the changelog.\n"
    );
    assert_eq!(
        dir.run("tree demo.jsonl --search zzz").telling(
            "note: no entry is shown; --filter all shows all, --archived those archived too\n"
        ),
        ""
    );
    let filter = dir.run("tree demo.jsonl --filter most");
    assert_eq!((filter.code, filter.out.as_str()), (Some(2), ""));
    assert!(
        filter.err.contains("[possible values: default, no-tools, user-only, labeled-only, all]")
    );
}

#[test]
fn json_holds_what_the_file_holds() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&SMALL));
    let [one, two, custom, label] = SMALL;
    assert_eq!(
        dir.run("tree s.jsonl --json").quiet(),
        format!(
            r#"[{{"entry":{one},"depth":0}},{{"entry":{two},"depth":1,"label":"here"}},{{"entry":{label},"depth":2}},{{"entry":{custom},"depth":1}}]{}"#,
            "\n"
        )
    );
    let header = session(&[]);
    let header = header.trim_end();
    let all = SMALL.join(",");
    assert_eq!(
        dir.run("show --json s.jsonl").quiet(),
        format!(
            r#"{{"header":{header},"leafId":"a0000004","diagnostics":[],"entries":[{all}]}}{}"#,
            "\n"
        )
    );
    assert_eq!(dir.run("--json show s.jsonl --entry a0000003").quiet(), format!("{custom}\n"));
    assert_eq!(
        dir.run("context s.jsonl --json").quiet(),
        concat!(
            r#"{"messages":[{"role":"user","content":"one"},{"role":"user","content":"two \ud83d","n":1.0}],"#,
            r#""thinkingLevel":"off","models":{},"injectedTtsrRules":[],"selectedMCPToolNames":[],"#,
            r#""hasPersistedMCPToolSelection":false,"mode":"none"}"#,
            "\n"
        )
    );
}

#[test]
fn json_of_the_example_is_one_document() {
    let dir = Dir::with_example("demo");
    let file = dir.read("demo.jsonl");
    let lines: Vec<&str> = file.lines().collect();
    let shown = json(&dir.run("show demo.jsonl --json").quiet());
    assert_eq!(shown.field("header").unwrap().as_str(), lines[0]);
    assert_eq!(shown.field("title").unwrap().as_str(), "\"Retry failed downloads\"");
    let entries = shown.field("entries").unwrap();
    assert_eq!(entries.as_str(), format!("[{}]", lines[1..].join(",")));
    for form in ["--plain", "--model", "--llm", "--transcript"] {
        let context = json(&dir.run(&format!("context demo.jsonl --json {form}")).quiet());
        let messages = context.field("messages").unwrap().as_array().unwrap();
        assert_eq!(context.field("thinkingLevel").unwrap().as_str(), "\"medium\"");
        assert_eq!(context.field("models").unwrap().as_str(), r#"{"default":"acme/large-2"}"#);
        let last = messages.items().last().unwrap();
        assert!(lines.last().unwrap().contains(last.as_str()), "{form}");
    }
    json(&dir.run("tree demo.jsonl --json --archived").quiet());
}

#[test]
fn one_entry_is_shown_whole() {
    let dir = Dir::with_example("demo");
    assert_eq!(
        dir.run("show demo.jsonl --entry 78dde6c4").quiet(),
        "entry    78dde6c4\n\
         type     message\n\
         parent   daa66d13\n\
         time     2026-01-15T09:30:26.000Z\n\
         \n\
         assistant acme/large-2\n  \
           [thinking] I should look at how the data is fetched before I propose anything.\n  \
           Let me look at the code first.\n  \
           → read {\"path\":\"src/fetch.rs\"}\n"
    );
    assert_eq!(
        dir.run("show demo.jsonl --entry 9e3779b1").quiet(),
        "entry    9e3779b1\n\
         type     model_change\n\
         parent   none\n\
         time     2026-01-15T09:30:00.000Z\n\
         \n  \
           {\n    \
             \"type\": \"model_change\",\n    \
             \"id\": \"9e3779b1\",\n    \
             \"parentId\": null,\n    \
             \"timestamp\": \"2026-01-15T09:30:00.000Z\",\n    \
             \"model\": \"acme/large-2\"\n  \
           }\n"
    );
}

#[test]
fn a_context_ends_where_asked() {
    let dir = Dir::with_example("demo");
    assert_eq!(
        dir.run("context demo.jsonl --leaf none").quiet(),
        "thinking     off\nmode         none\n"
    );
    assert_eq!(
        dir.run("context demo.jsonl --leaf daa66d13").quiet(),
        "models       default acme/large-2\n\
         thinking     medium\n\
         mode         none\n\
         \n\
         user daa66d13\n  \
           Downloads of the weather data fail now and then. Can we retry them?\n"
    );
    let unknown = "error: entry nope not found; list the entries to see which there are\n";
    dir.run("context demo.jsonl --leaf nope").failed(1, unknown);
    dir.run("show demo.jsonl --entry nope").failed(1, unknown);
}

#[test]
fn a_context_for_a_model_is_mended() {
    let dir = Dir::with_example("demo");
    // The answer after this question was aborted.
    let aborted = dir.run("context demo.jsonl --leaf 538453d7").quiet();
    let end = "assistant acme/large-2 538453d7\n  That would touch every caller of \n  aborted The request was aborted.\n";
    assert!(aborted.ends_with(end), "{aborted}");
    let mended = dir.run("context demo.jsonl --leaf 538453d7 --model").quiet();
    assert!(mended.ends_with("  Rewrite all of it in async while you are at it.\n"), "{mended}");
}

#[test]
fn an_old_session_is_shown_in_the_present_format() {
    let dir = Dir::with_example("version-1");
    assert_eq!(
        dir.run("tree version-1.jsonl").telling(OLD_FORMAT),
        "• 00000002 user: Which cities does the forecast cover?\n\
         • 00000003 assistant: Bern, Oslo and Quito, as listed in cities.toml.\n\
         • 00000004 custom: [acme.lint] cities.toml: no problems\n\
         • 00000005 [compaction] The forecast covers Bern, Oslo and Quito.\n\
         • 00000006 user: Add Lima, please.\n"
    );
}

#[test]
fn damage_is_told_and_the_rest_is_shown() {
    let dir = Dir::with_example("damaged");
    let damage = "\
warning: damaged-line: line 3 (bytes 322..410): control character (\\u0000-\\u001F) found while parsing a string at line 1 column 87
warning: unknown-parent: line 4: its parent \"5d1c0002\" is nowhere in the file; what came before is not on its path
warning: torn-tail: line 6 (bytes 962..1049): the file ends in 87 bytes that are no whole record
";
    assert_eq!(
        dir.run("tree damaged.jsonl").telling(damage),
        "├─ • 5d1c0003 assistant: The sensor reports the direction in the sign.\n\
         │  • 5d1c0004 user: Please take the absolute value then.\n\
         └─ 5d1c0001 user: Why is the wind speed negative?\n"
    );
    let head = "models       default acme/large-2\nthinking     off\nmode         none\n";
    let reachable = "\nassistant acme/large-2 5d1c0003\n  The sensor reports the direction in the sign.\n\
                     \nuser 5d1c0004\n  Please take the absolute value then.\n";
    assert_eq!(dir.run("context damaged.jsonl").telling(damage), format!("{head}{reachable}"));
    let before = "\nuser 5d1c0001\n  Why is the wind speed negative?\n";
    assert_eq!(
        dir.run("context damaged.jsonl --bridge-gaps").telling(damage),
        format!("{head}{before}{reachable}")
    );
}

#[test]
fn very_many_findings_are_counted() {
    let dir = Dir::new();
    let mut file = session(&[]);
    file.push_str(&"{\n".repeat(50));
    dir.write("s.jsonl", file);
    let run = dir.run("tree s.jsonl");
    let lines: Vec<_> = run.err.lines().collect();
    assert_eq!(lines.len(), 21);
    assert!(lines[19].starts_with("warning: damaged-line: line 21 "), "{}", lines[19]);
    assert_eq!(lines[20], "warning: 30 more like these; `sessionctl verify` lists them all");
}

#[test]
fn what_is_no_session_is_refused() {
    let dir = Dir::new();
    dir.write("app.log", "{\"event\":\"start\"}\n");
    dir.write("empty.jsonl", "");
    std::os::unix::net::UnixListener::bind(dir.path().join("socket")).unwrap();
    for command in ["show", "tree", "context", "migrate --dry-run"] {
        let run = |name: &str| dir.run(&format!("{command} {name}"));
        run("none.jsonl").failed(1, "error: there is no session none.jsonl\n");
        run(".").failed(1, "error: . is a directory; name a file in it\n");
        run("socket").failed(1, "error: socket is no regular file\n");
        let log = "error: app.log cannot be opened as a session; it was left as it is\n  caused by: not a session file: line 1 is no object with a type\n";
        run("app.log").failed(1, log);
        let empty = "error: empty.jsonl cannot be opened as a session; it was left as it is\n  caused by: the file is empty\n";
        run("empty.jsonl").failed(1, empty);
    }
    dir.write(".~x.jsonl", session(&[]));
    dir.run("show .~x.jsonl").failed(
        1,
        "error: a session cannot have this name; give its file another\n  caused by: invalid storage key \".~x.jsonl\": segment starts with `.~`\n",
    );
}

#[test]
fn a_session_is_found_in_a_storage_by_its_key() {
    let dir = Dir::new();
    dir.write("store/a b/s.jsonl", session(&SMALL[..1]));
    let url = format!("file://{}/store", dir.path().display());
    for store in ["store", &url] {
        let mut command = dir.command("tree --store");
        let out = command.args([store, "a b/s.jsonl"]).output().unwrap();
        assert_eq!(String::from_utf8(out.stdout).unwrap(), "• a0000001 user: one\n");
    }
    dir.run("tree --store store x.jsonl").failed(1, "error: there is no session of the id x.jsonl; `sessionctl list --all` shows those there are\n");
    let missing = dir.path().join("nowhere");
    let told = format!("error: the storage directory {} does not exist\n", missing.display());
    dir.run(&format!("tree --store {} x.jsonl", missing.display())).failed(1, &told);
    assert!(!missing.exists());
    let known = crate::BACKENDS;
    let told = format!(
        "error: there is no storage scheme \"s3\"; this program has {known}. A path with a colon is written ./a:b\n"
    );
    dir.run("tree --store s3://user:secret@host x").failed(1, &told);
}

#[test]
fn a_link_leads_to_the_session() {
    let dir = Dir::new();
    dir.write("real/s.jsonl", session(&SMALL[..1]));
    std::os::unix::fs::symlink("real/s.jsonl", dir.path().join("link.jsonl")).unwrap();
    assert_eq!(dir.run("tree link.jsonl").quiet(), "• a0000001 user: one\n");
}

#[test]
fn looking_changes_nothing() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let dir = Dir::with_examples();
    dir.write("bad.jsonl", "{}\n");
    set_permissions(dir.path(), Permissions::from_mode(0o555)).unwrap();
    // Whoever has to write would fail.
    let refused = dir.run_restricted("append demo.jsonl --text x");
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    let before = dir.snapshot();
    for command in [
        "show",
        "show --json",
        "tree",
        "tree --json",
        "context",
        "context --model",
        "context --llm --json",
        "context --transcript",
        "verify",
        "verify --json",
        "migrate --dry-run",
    ] {
        for name in ["demo", "version-1", "damaged", "bad"] {
            dir.run_restricted(&format!("{command} {name}.jsonl"));
        }
    }
    dir.run_restricted("verify .");
    dir.run_restricted("list .");
    dir.run_restricted("list . --json");
    dir.run_restricted("--store . verify");
    let after = dir.snapshot();
    set_permissions(dir.path(), Permissions::from_mode(0o755)).unwrap();
    assert_eq!(before, after);
}
