//! `doctor` and `artifacts`

use crate::support::{Dir, Run, json, session};

const ENTRY: &str = r#"{"type":"custom","customType":"x","id":"a","parentId":null}"#;

fn agent() -> Dir {
    let dir = Dir::new();
    std::fs::set_permissions(dir.path(), std::os::unix::fs::PermissionsExt::from_mode(0o700))
        .unwrap();
    dir.write("s.jsonl", session(&[ENTRY]) + "{\"type\":");
    dir
}

#[test]
fn damage_is_told_repaired_and_then_a_note() {
    let dir = agent();
    let before = dir.snapshot();
    let found = "  loss: s.jsonl: torn-tail: line 3 (bytes 155..163): the file ends in 8 bytes that are no whole record\n";
    let line = "    with --fix: give every record a line of its own, and move what is none into a file beside\n";
    assert_eq!(
        dir.run("doctor s.jsonl"),
        Run {
            code: Some(5),
            out: format!("s.jsonl\n{found}{line}1 finding: 0 repaired, 1 to repair, 0 for you\n"),
            err: "error: 1 finding can be repaired with --fix\n".into(),
        }
    );
    assert_eq!(dir.snapshot(), before);
    let fixed = dir.run("doctor --fix .");
    assert_eq!((fixed.code, &*fixed.err), (Some(5), "error: 1 finding was repaired\n"));
    assert!(fixed.out.contains("    done: 8 bytes moved to s.jsonl.torn-"), "{}", fixed.out);
    assert_eq!(dir.read("s.jsonl"), session(&[ENTRY]));
    let again = dir.run("doctor .").quiet();
    assert!(again.contains("8 bytes were put aside"), "{again}");
    assert!(again.ends_with("\n1 finding: 0 repaired, 0 to repair, 0 for you\n"), "{again}");
}

#[test]
fn what_needs_the_user_exits_with_3_and_is_told_as_json() {
    let dir = Dir::new();
    dir.write("s.jsonl", "none\n");
    let run = dir.run("doctor --json s.jsonl");
    assert_eq!((run.code, &*run.err), (Some(3), "error: 1 finding needs you\n"));
    let told = json(&run.out);
    assert_eq!(
        told.as_str(),
        r#"{"places":[{"place":"s.jsonl","findings":[{"code":"not-a-session","severity":"loss","path":"s.jsonl","detail":"not a session file: line 1 is no complete JSON record","advice":"mend its first line, which is to be the session's header; opening it for writing would move it aside and begin anew"}]}],"repairable":0,"repaired":0,"needsYou":1}"#
    );
}

#[test]
fn artifacts_are_listed_and_printed() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[ENTRY]));
    dir.write("s/10.read.log", "ten");
    dir.write("s/2.bash.log", "\u{1b}two\n");
    dir.write("s/agent.jsonl", session(&[]));
    dir.write("s/agent/deep.jsonl", session(&[]));
    assert_eq!(
        dir.run("artifacts s.jsonl").quiet(),
        "           5  2.bash.log\n           3  10.read.log\n     session  agent\n     session    deep\n"
    );
    assert_eq!(
        dir.run("artifacts s.jsonl --json").quiet(),
        concat!(
            r#"{"artifacts":[{"id":"2","name":"2.bash.log","size":5},{"id":"10","name":"10.read.log","size":3}],"#,
            r#""sessions":[{"agent":"agent","session":"s/agent.jsonl","parent":"s.jsonl","depth":1},"#,
            r#"{"agent":"deep","session":"s/agent/deep.jsonl","parent":"s/agent.jsonl","depth":2}]}"#,
            "\n"
        )
    );
    assert_eq!(dir.run("artifacts s.jsonl --get 2").quiet(), "\u{1b}two\n");
    dir.run("artifacts s.jsonl --get 3").failed(
        1,
        "error: there is no artifact 3; `sessionctl artifacts s.jsonl` lists those there are\n",
    );
}
