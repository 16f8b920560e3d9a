//! `list`, and sessions named by their ids.

use crate::support::{Dir, json, session};

const DEMO: &str = "019bc10e-6f40-7c52-9d1e-5b2f8c4a7e10  2026-01-15 09:37  complete         28  Retry failed downloads\n";
const DAMAGED: &str = "019bc5d1-02a8-7b3c-8f7e-64c9d0a1b2e3  2026-01-16 08:00  pending           3  Why is the wind speed negative?  (damaged; `sessionctl verify` tells more)\n";
const OLD: &str = "7f3a9c52-1b7e-4c0d-9a55-2f60c1d8e412  2025-06-03 14:21  pending           4  Which cities does the forecast cover?\n";

/// An agent directory in the home directory, with the shipped sessions and one of this directory.
fn agent() -> Dir {
    let (dir, examples) = (Dir::new(), Dir::with_examples());
    for name in ["damaged", "demo", "version-1"] {
        let file = format!("{name}.jsonl");
        let place = format!(".xcsh/agent/sessions/--work-weather--/{file}");
        dir.write(&place, examples.read(&file));
    }
    let cwd = dir.path().canonicalize().unwrap();
    let own = session(&[]).replace("/w/app", cwd.to_str().unwrap()).replace("s-0001", "019bown");
    dir.write(".xcsh/agent/sessions/--own--/2026-03-01T09-00-00-000Z_name.jsonl", own);
    dir
}

#[test]
fn sessions_are_listed_by_activity() {
    let dir = agent();
    let own =
        format!("{:<36}  {:<16}  unknown           0  (no title)\n", "019bown", "2026-03-01 09:00");
    assert_eq!(dir.run("list").quiet(), own);
    assert_eq!(dir.run("list --all").quiet(), format!("{own}{DAMAGED}{DEMO}{OLD}"));
    assert_eq!(dir.run("list --all --limit 2").quiet(), format!("{own}{DAMAGED}"));
    let weather = format!("{DAMAGED}{DEMO}{OLD}");
    assert_eq!(dir.run("list --cwd /work/weather").quiet(), weather);
    for directory in [".xcsh/agent/sessions/--work-weather--", ".xcsh/agent --cwd /work/weather"] {
        assert_eq!(dir.run(&format!("list {directory}")).quiet(), weather, "{directory}");
    }
    for directory in [".xcsh/agent", ".xcsh/agent/sessions"] {
        assert_eq!(dir.run(&format!("list {directory} --limit 1")).quiet(), own, "{directory}");
    }
    for store in ["--store .xcsh/agent", "--agent-dir .xcsh/agent"] {
        assert_eq!(dir.run(&format!("list --all {store}")).quiet().lines().count(), 4);
    }
}

#[test]
fn a_list_for_programs() {
    let dir = Dir::with_example("demo");
    let rows = json(&dir.run("list --json .").quiet());
    let rows = rows.as_array().unwrap();
    let [row] = rows.items() else { panic!("one row") };
    let path = dir.path().canonicalize().unwrap().join("demo.jsonl");
    let want = [
        ("path", format!("{:?}", path.display().to_string())),
        ("id", "\"019bc10e-6f40-7c52-9d1e-5b2f8c4a7e10\"".to_owned()),
        ("cwd", "\"/work/weather\"".to_owned()),
        ("title", "\"Retry failed downloads\"".to_owned()),
        ("created", "\"2026-01-15T09:30:00.000Z\"".to_owned()),
        ("messageCount", "28".to_owned()),
        ("status", "\"complete\"".to_owned()),
        ("size", dir.read("demo.jsonl").len().to_string()),
        ("diagnostics", "[]".to_owned()),
    ];
    for (name, value) in want {
        assert_eq!(row.field(name).unwrap().as_str(), value, "{name}");
    }
}

#[test]
fn nothing_is_silently_absent() {
    let dir = Dir::new();
    let home = dir.path().display();
    let no_agent = format!("note: there is no agent directory {home}/.xcsh/agent\n");
    assert_eq!(dir.run("list --all").telling(&no_agent), "");
    assert_eq!(dir.run("list --json --all").telling(&no_agent), "[]\n");

    dir.write("agent/sessions/--x--/bad.jsonl", "x\n");
    dir.write("agent/sessions/--x--/other.jsonl", session(&[]));
    let told = "note: no session works in this directory; --all lists those of all\n";
    dir.write("empty/sessions/x", "");
    assert_eq!(dir.run("list --store empty").telling(told), "");
    let bad = "unreadable  HOME/agent/sessions/--x--/bad.jsonl: sessions/--x--/bad.jsonl cannot be opened as a session; it was left as it is: not a session file: line 1 is no complete JSON record\n";
    let canonical = dir.path().canonicalize().unwrap();
    let bad = bad.replace("HOME", canonical.to_str().unwrap());
    assert_eq!(dir.run("list agent --cwd /nowhere").quiet(), bad);

    dir.run("list --store nowhere")
        .failed(1, &format!("error: the storage directory {} does not exist\n", "nowhere"));
    let run = dir.run("list nowhere");
    assert!(run.err.starts_with("error: nowhere cannot be read\n"), "{}", run.err);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
}

#[test]
fn the_agent_directory_can_be_named_by_the_environment() {
    let dir = agent();
    std::fs::rename(dir.path().join(".xcsh/agent"), dir.path().join("elsewhere")).unwrap();
    let output = dir
        .command("list --cwd /work/weather --limit 1")
        .env("SESSION_AGENT_DIR", "elsewhere")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), DAMAGED);
}

#[test]
fn a_session_is_found_by_its_id() {
    let dir = agent();
    let header = |run: &str| {
        let out = dir.run(&format!("show {run} --json")).out;
        json(&out).field("header").unwrap().field("id").unwrap().as_str().to_owned()
    };
    let demo = "\"019bc10e-6f40-7c52-9d1e-5b2f8c4a7e10\"";
    let own = "\"019bown\"";
    for (id, found) in [
        ("019bc10e-6f40-7c52-9d1e-5b2f8c4a7e10", demo),
        ("019bC10E", demo),
        ("DEMO", demo),
        // The session of this directory comes first, whatever others begin so.
        ("019b", own),
        ("2026-03-01", own),
        ("name", own),
        ("--store .xcsh/agent 019bc10e", demo),
        ("--store .xcsh/agent sessions/--work-weather--/demo.jsonl", demo),
    ] {
        assert_eq!(header(id), found, "{id}");
    }
    let list = "`sessionctl list --all` shows those there are";
    dir.run("tree zzz").failed(1, &format!("error: there is no session of the id zzz; {list}\n"));
    let place = dir.path().join(".xcsh/agent/sessions/--work-weather--");
    dir.run("tree 019bc").failed(
        1,
        &format!(
            "error: 019bc may mean 2 sessions; write more of the id, or a path: {place}/damaged.jsonl, {place}/demo.jsonl\n",
            place = place.display()
        ),
    );
    dir.run("append demo --text x").quiet();
}

#[test]
fn a_whole_id_beats_those_that_only_begin_so() {
    let dir = Dir::new();
    for id in ["s-0001", "s-00012"] {
        let file = session(&[]).replace("s-0001", id);
        dir.write(&format!(".xcsh/agent/sessions/--w--/{id}.jsonl"), file);
    }
    let out = dir.run("show s-0001 --json").quiet();
    assert!(out.contains("\"id\":\"s-0001\""), "{out}");
}

#[test]
fn an_odd_name_is_one_row_and_hides_no_other() {
    let dir = Dir::with_example("demo");
    dir.write("back\\slash.jsonl", "x");
    let listed = dir.run("list . --json");
    let out = json(&listed.out);
    let rows = out.as_array().unwrap();
    assert_eq!((listed.code, rows.items().len()), (Some(0), 2), "{listed:?}");
    let errors = rows.items().iter().filter(|row| row.as_object().unwrap().get("error").is_some());
    assert_eq!(errors.count(), 1, "{}", listed.out);
}

#[cfg(feature = "indexed")]
#[test]
fn an_index_that_cannot_be_used_is_told_and_made_anew() {
    let dir = Dir::new();
    dir.write(".xcsh/agent/sessions/--w-app--/s.jsonl", session(&[]));
    dir.run("index build").quiet();
    let listed = dir.run("list --all").quiet();
    for looking in ["list --all", "show s-0001"] {
        dir.write(".xcsh/agent/.~index.db", "no database");
        let run = dir.run(looking);
        assert_eq!(run.code, Some(0), "{}", run.err);
        let told = "/.~index.db could not be used (file is not a database); it is kept as ";
        assert!(run.err.starts_with("warning: ") && run.err.contains(told), "{}", run.err);
        assert_eq!(dir.run("list --all").quiet(), listed);
    }
}
