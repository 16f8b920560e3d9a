//! Finding entries by their text.

use crate::support::{Dir, json, session};

const USER: &str = r#"{"type":"message","id":"a0000001","parentId":null,"timestamp":"2026-03-01T09:00:01Z","message":{"role":"user","content":"fix the login\u001b[31m test"}}"#;
const CALL: &str = r#"{"type":"message","id":"a0000002","parentId":"a0000001","timestamp":"2026-03-02T09:00:01Z","message":{"role":"assistant","provider":"acme","model":"big","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{"cmd":"cargo test login"}}]}}"#;

/// An agent directory with a session of `/w/app`.
fn agent() -> Dir {
    let dir = Dir::new();
    dir.write(".xcsh/agent/sessions/--w-app--/one.jsonl", session(&[USER, CALL]));
    dir
}

fn entries(dir: &Dir, args: &str) -> Vec<String> {
    let out = dir.run(&format!("search --json {args}")).quiet();
    let hits = json(&out).field("hits").unwrap().as_array().unwrap();
    let entry = |hit: &session_model::json::RawJson| {
        hit.field("entry").unwrap().as_text().unwrap().into_owned()
    };
    hits.items().iter().map(entry).collect()
}

#[test]
fn hits_are_printed_with_what_opens_them() {
    let dir = agent();
    let before = dir.snapshot();
    let path = dir.path().canonicalize().unwrap().join(".xcsh/agent/sessions/--w-app--/one.jsonl");
    let path = path.display();
    let shown = format!(
        "a0000001  2026-03-01 09:00  user  fix the login [31m test\n\
         \x20 {path}:2\n\
         \x20 fix the login [31m test\n\
         1 of 1 entry\n\
         open the first with: sessionctl show {path} --entry a0000001; sessionctl context {path} --leaf a0000001\n"
    );
    assert_eq!(dir.run("search --all --no-index fix the login").quiet(), shown);
    let coloured = dir.run("search --all --no-index --color always fix").quiet();
    assert!(coloured.contains("\u{1b}[35mfix\u{1b}[0m the login"), "{coloured}");
    assert_eq!(dir.snapshot(), before);
}

/// An index that is finished answers where nothing can be written, one that is not is passed over.
#[cfg(feature = "indexed")]
#[test]
fn a_place_that_cannot_be_written_is_searched_by_its_index() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let dir = agent();
    let agent = dir.path().join(".xcsh/agent");
    let search = |dir: &Dir| {
        let run = dir.run_restricted("search --all --json login");
        assert_eq!(run.code, Some(0), "{}", run.err);
        let total = json(&run.out).field("total").unwrap().as_str().to_owned();
        let unusable = json(&run.out).field("coverage").unwrap().field("indexUnusable");
        (total, unusable.map(|reason| reason.as_text().unwrap().into_owned()))
    };
    let both = ("2".to_owned(), None);
    assert_eq!(search(&dir), both);
    set_permissions(&agent, Permissions::from_mode(0o555)).unwrap();
    let before = dir.snapshot();
    assert_eq!(search(&dir), both);
    assert!(dir.snapshot() == before);
    let path = agent.join("sessions/--w-app--/one.jsonl");
    let file = std::fs::read_to_string(&path).unwrap();
    let shorter: String = file.split_inclusive('\n').take(2).collect();
    std::fs::write(&path, shorter).unwrap();
    let (total, reason) = search(&dir);
    set_permissions(&agent, Permissions::from_mode(0o755)).unwrap();
    assert_eq!(total, "1");
    assert!(reason.unwrap().contains("sessions changed since they were indexed"));
}

#[test]
fn options_narrow_the_search() {
    let dir = agent();
    let both = ["a0000001", "a0000002"];
    let sorted = |args: &str| {
        let mut found = entries(&dir, args);
        found.sort();
        found
    };
    assert_eq!(sorted("--all login"), both);
    assert_eq!(sorted("login --all"), both);
    assert_eq!(sorted("--cwd /w/app login"), both);
    assert_eq!(sorted("--session s-0001 login"), both);
    assert_eq!(sorted("--all -- login -cargo"), [both[0]]);
    assert_eq!(sorted("--all --role user login"), [both[0]]);
    assert_eq!(sorted("--all --tool bash login"), [both[1]]);
    assert_eq!(sorted("--all --model acme/b login"), [both[1]]);
    assert_eq!(sorted("--all --since 2026-03-02 login"), [both[1]]);
    assert_eq!(sorted("--all --until 2026-03-02 login"), [both[0]]);
    assert_eq!(sorted("--all --until 1w login"), both);
    assert_eq!(sorted("--all --limit 1 login").len(), 1);
    let told = dir.run("search login --no-index").telling(
        "note: nothing found in sessions of this directory; --all searches those of all\n",
    );
    assert_eq!(told, "");
    assert_eq!(dir.run("search --all --since yesterday x").code, Some(2));
    for (args, told) in [
        ("--all missing", "nothing found"),
        (
            "--all --role user --since 2026-03-02 login",
            "nothing found; more is searched without --role, --since",
        ),
        ("--all ()", "the query has no letters, digits or signs that could be found"),
    ] {
        let out = dir.run(&format!("search --no-index {args}")).telling(&format!("note: {told}\n"));
        assert_eq!(out, "");
    }
}

#[test]
fn any_text_is_a_query() {
    let dir = agent();
    for query in [
        "don't",
        "src/app.ts",
        "c++",
        "foo(",
        "a:b",
        "\"open",
        "*",
        "-x",
        "%",
        "AND OR (",
        "\u{1}role:user",
        "漢字",
    ] {
        let run = dir.run_with("search --all --json --", query);
        assert_eq!(run.code, Some(0), "{query}: {}", run.err);
        let total = json(&run.out).field("total").unwrap();
        assert_eq!(total.as_str(), "0", "{query}");
    }
}

/// B20, B26, B28, B92: what was imported is found, with all its text; so is what other providers'
/// models wrote, and what is older than ids, titles and directories.
#[test]
fn sessions_of_any_origin_are_found() {
    let dir = agent();
    let call = r#"{"type":"assistant","uuid":"a0000001","parentUuid":null,"sessionId":"c-0001","timestamp":"2026-03-01T09:00:01Z","cwd":"/w/app","isSidechain":false,"message":{"role":"assistant","model":"prov-a","content":[{"type":"tool_use","id":"tu1","name":"Bash","input":{"command":"ls"}}]}}"#;
    let answer = r#"{"type":"user","uuid":"a0000002","parentUuid":"a0000001","sessionId":"c-0001","timestamp":"2026-03-01T09:00:02Z","cwd":"/w/app","isSidechain":false,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"tu1","content":"a"},{"type":"text","text":"also mend the readme"}]}}"#;
    dir.write("claude.jsonl", format!("{call}\n{answer}\n"));
    assert_eq!(dir.run("import claude claude.jsonl").code, Some(0));
    let old = concat!(
        "{\"type\":\"session\",\"id\":\"old\",\"timestamp\":\"2025-01-01T00:00:00Z\"}\n",
        "{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"mend of old\"}}\n",
    );
    dir.write(".xcsh/agent/sessions/--old--/old.jsonl", old);
    let out = dir.run("search --all --json mend").quiet();
    let hits = json(&out).field("hits").unwrap().as_array().unwrap();
    let mut found: Vec<_> = hits
        .items()
        .iter()
        .map(|hit| hit.field("snippet").unwrap().as_text().unwrap().into_owned())
        .collect();
    found.sort();
    assert_eq!(found, ["also mend the readme", "mend of old"]);
    let out = dir.run("search --all --json --tool bash --model prov ls").quiet();
    assert_eq!(json(&out).field("total").unwrap().as_str(), "1");
}

#[test]
fn what_was_not_searched_is_told() {
    let dir = agent();
    dir.write(".xcsh/agent/sessions/--w-app--/two.jsonl", "no session\n");
    let run = dir.run("search --all --no-index login");
    let told = format!(
        "warning: not searched: {}: ",
        dir.path()
            .canonicalize()
            .unwrap()
            .join(".xcsh/agent/sessions/--w-app--/two.jsonl")
            .display()
    );
    assert!(run.err.starts_with(&told), "{}", run.err);
    assert_eq!((run.code, run.out.lines().count()), (Some(0), 8));
    let coverage = json(&dir.run("search --all --json login").out).field("coverage").unwrap();
    assert_eq!(coverage.field("complete").unwrap().as_str(), "false");
    assert_eq!(coverage.field("sessions").unwrap().as_str(), "1");
}

#[test]
fn a_session_that_is_named_has_to_be_read() {
    let dir = agent();
    dir.write("outside.jsonl", "no header\n");
    dir.write(".xcsh/agent/sessions/--w-app--/bad.jsonl", "no header\n");
    let root = dir.path().canonicalize().unwrap();
    for (name, file) in
        [("outside.jsonl", "outside.jsonl"), ("bad", ".xcsh/agent/sessions/--w-app--/bad.jsonl")]
    {
        let start = format!("error: not searched: {}: ", root.join(file).display());
        for more in ["", "--json ", "--no-index "] {
            let run = dir.run(&format!("search {more}--session {name} header"));
            assert_eq!((run.code, &*run.out), (Some(1), ""));
            assert!(run.err.starts_with(&start), "{}", run.err);
            let end = "not a session file: line 1 is no complete JSON record\n";
            assert!(run.err.ends_with(end), "{}", run.err);
        }
    }
}

#[cfg(feature = "indexed")]
#[test]
fn an_index_that_cannot_be_used_is_told_and_made_anew() {
    let dir = agent();
    let found = dir.run("search --all login").quiet();
    dir.write(".xcsh/agent/.~search.db", "no database");
    let run = dir.run("search --all login");
    assert_eq!((run.code, &*run.out), (Some(0), &*found));
    let told = "/.~search.db could not be used (file is not a database); it is kept as ";
    assert!(run.err.starts_with("warning: ") && run.err.contains(told), "{}", run.err);
    assert_eq!(dir.run("search --all login").quiet(), found);
}
