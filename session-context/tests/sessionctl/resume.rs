//! `resume`, and lists of several agent directories.

use crate::support::{Dir, session};

/// A session of this id and directory, and whatever else its header has.
fn of(id: &str, cwd: &str, more: &str) -> String {
    session(&[]).replace("s-0001", id).replace("/w/app", cwd).replacen(
        "\"cwd\"",
        &format!("{more}\"cwd\""),
        1,
    )
}

fn cwd_of(dir: &Dir) -> String {
    dir.path().canonicalize().unwrap().to_str().unwrap().to_owned()
}

/// The ids of a list for people, with what stands before them.
fn ids(out: &str) -> Vec<String> {
    out.lines().map(|line| line.split("  2026").next().unwrap().trim_end().to_owned()).collect()
}

#[test]
fn what_an_agent_would_go_on_with() {
    let (dir, examples) = (Dir::new(), Dir::with_examples());
    dir.write(".xcsh/agent/sessions/--w--/demo.jsonl", examples.read("demo.jsonl"));
    let nothing = "error: there is nothing to go on with in this directory; an agent would begin anew. `sessionctl list --all` shows all sessions\n";
    dir.run("resume").failed(1, nothing);
    let path = dir.path().join(".xcsh/agent/sessions/--w--/demo.jsonl");
    let gone = "warning: its directory is missing; the session can be read all the same, and `sessionctl mv` takes it to another directory\n";
    let shown = format!(
        "path     {}\nsession  019bc10e-6f40-7c52-9d1e-5b2f8c4a7e10\ncwd      /work/weather\ntitle    Retry failed downloads\nleaf     ",
        path.display()
    );
    for session in ["demo", "019bc10e", "retry"] {
        let out = dir.run(&format!("resume {session}")).telling(gone);
        assert!(out.starts_with(&shown), "{out}");
    }
    let json = dir.run("resume demo --json").quiet();
    let want = format!(
        r#"{{"path":"{}","id":"019bc10e-6f40-7c52-9d1e-5b2f8c4a7e10","cwd":"/work/weather","cwdState":"missing","title":"Retry failed downloads","leafId":""#,
        path.display()
    );
    assert!(json.starts_with(&want) && json.contains(r#""messageCount":28,"#), "{json}");

    let cwd = cwd_of(&dir);
    dir.write(".xcsh/agent/sessions/--own--/a.jsonl", of("s-a", &cwd, ""));
    dir.write(".xcsh/agent/sessions/--own--/b.jsonl", of("s-b", &cwd, ""));
    let place = dir.path().join(".xcsh/agent/sessions/--own--");
    let found = |id: &str, file: &str| {
        let path = place.join(file);
        format!(
            "path     {}\nsession  {id}\ncwd      {cwd}\nmessages 0, 0 in context\n",
            path.display()
        )
    };
    assert_eq!(dir.run("resume").quiet(), found("s-a", "a.jsonl"));
    let crumb = format!("{cwd}\n{}\n", place.join("b.jsonl").display());
    dir.write(".xcsh/agent/terminal-sessions/tmux-%1", crumb);
    let before = dir.snapshot();
    let output = dir.command("resume").env("TMUX_PANE", "%1").output().unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), found("s-b", "b.jsonl"));
    assert_eq!(dir.snapshot(), before);
    let place = place.display();
    dir.run("resume s-").failed(1, &format!("error: s- may mean 2 sessions; write more of the id, or a path: {place}/a.jsonl, {place}/b.jsonl\n"));
    let none =
        "error: there is no session of the id zzz; `sessionctl list --all` shows those there are\n";
    dir.run("resume zzz").failed(1, none);
    dir.run("resume s-a s-b").failed(2, "error: name one session\n");
}

#[test]
fn several_agent_directories_are_one_list() {
    let dir = Dir::new();
    dir.write(".omp/agent/sessions/-w/o.jsonl", of("omp", "/w", ""));
    dir.write(".pi/agent/sessions/--w--/p.jsonl", of("pi", "/w", ""));
    dir.write("elsewhere/e.jsonl", of("else", "/v", ""));
    assert_eq!(ids(&dir.run("list --all-agents --all").quiet()), ["pi", "omp"]);
    let listed = dir.run("list .pi/agent elsewhere .omp/agent").quiet();
    assert_eq!(ids(&listed), ["else", "pi", "omp"]);
    assert_eq!(ids(&dir.run("list .pi/agent elsewhere --cwd /v").quiet()), ["else"]);
    let shared = dir.run("list .pi/agent .pi/agent/sessions").quiet();
    assert_eq!(ids(&shared), ["pi"]);
    assert_eq!(dir.run("list --all-agents elsewhere").code, Some(2));
}

#[test]
fn a_tree_of_sessions() {
    let dir = Dir::new();
    dir.write("s/main.jsonl", of("main", "/w", ""));
    dir.write("s/main/worker.jsonl", of("worker", "/w", ""));
    let path = dir.path().canonicalize().unwrap().join("s/main.jsonl");
    let parent = format!("\"parentSession\":{:?},", path.display().to_string());
    dir.write("s/fork.jsonl", of("fork", "/w", &parent));
    dir.write("s/second.jsonl", of("second", "/w", "\"parentSession\":\"fork\","));
    assert_eq!(ids(&dir.run("list s").quiet()), ["fork", "main", "second"]);
    let tree = ["main", "└ fork: fork", "  └ fork: second", "└ agent: worker"];
    assert_eq!(ids(&dir.run("list s --forks").quiet()), tree);
    let json = dir.run("list s --forks --json").quiet();
    let end = |depth: u32, kinship: &str, parent: &str| {
        let path = dir.path().canonicalize().unwrap().join("s").join(parent);
        format!(r#""depth":{depth},"kinship":"{kinship}","parentPath":"{}"}}"#, path.display())
    };
    for (depth, kinship, parent) in
        [(1, "fork", "main.jsonl"), (2, "fork", "fork.jsonl"), (1, "childAgent", "main.jsonl")]
    {
        assert!(json.contains(&end(depth, kinship, parent)), "{json}");
    }
    assert!(json.contains(r#""depth":0}"#), "{json}");
}

#[test]
fn only_the_directory_itself_has_to_be_readable() {
    use std::os::unix::fs::PermissionsExt;

    let dir = Dir::new();
    dir.write("outer/inner/a.jsonl", of("a", "/w", ""));
    dir.run("list outer/inner/a.jsonl").failed(
        1,
        "error: outer/inner/a.jsonl is no directory; `sessionctl show outer/inner/a.jsonl` prints a session\n",
    );
    let outer = dir.path().join("outer");
    std::fs::set_permissions(&outer, PermissionsExt::from_mode(0o311)).unwrap();
    let listed = dir.run("list outer/inner");
    std::fs::set_permissions(&outer, PermissionsExt::from_mode(0o755)).unwrap();
    assert_eq!(ids(&listed.quiet()), ["a"]);
}

#[test]
fn a_directory_that_may_not_be_entered_keeps_no_session_shut() {
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let dir = Dir::new();
    let closed = dir.path().canonicalize().unwrap().join("no-entry");
    for folder in [&closed, &dir.path().join("project")] {
        create_dir(folder).unwrap();
    }
    let cwd = closed.to_str().unwrap();
    let file = ".xcsh/agent/sessions/--w--/t_s-0001.jsonl";
    dir.write(file, of("s-0001", cwd, ""));
    let before = dir.read(file);
    set_permissions(&closed, Permissions::from_mode(0o000)).unwrap();

    let warning = "warning: its directory is unusable; the session can be read all the same, and `sessionctl mv` takes it to another directory\n";
    let out = dir.run_restricted("resume s-0001").telling(warning);
    assert!(out.contains(&format!("cwd      {cwd}\n")), "{out}");
    let json = dir.run_restricted("resume s-0001 --json").quiet();
    assert!(json.contains(r#""cwdState":"unusable""#), "{json}");
    assert_eq!(ids(&dir.run_restricted(&format!("list --cwd {cwd}")).quiet()), ["s-0001"]);
    let refused = dir.run_restricted(&format!("mv s-0001 {cwd}/below"));
    assert_eq!(refused.code, Some(1), "{}", refused.err);
    assert_eq!(dir.read(file), before);
    // A directory that is named goes before the one that is recorded.
    let moved = dir.run_restricted("mv s-0001 project").quiet();
    let text = std::fs::read_to_string(moved.trim_end()).unwrap();
    assert!(text.contains("/project\",") && !text.contains("\"cwd\":\"{cwd}\""), "{text}");
    set_permissions(&closed, Permissions::from_mode(0o700)).unwrap();
}
