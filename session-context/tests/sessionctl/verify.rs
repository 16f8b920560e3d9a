//! `verify`: what is reported, and the exit code.

use crate::support::{Dir, Run, json, session};

const LOST: &str = "error: something was lost or cannot be read in 1 of 1 sessions\n";

#[test]
fn a_good_session_is_good() {
    let dir = Dir::with_example("demo");
    assert_eq!(
        dir.run("verify demo.jsonl").quiet(),
        "demo.jsonl: version 3, 37 entries\n1 session: 1 good, 0 with warnings, 0 with losses\n"
    );
    assert_eq!(
        dir.run("verify demo.jsonl --json").quiet(),
        r#"{"sessions":[{"session":"demo.jsonl","version":3,"entries":37,"diagnostics":[]}],"withWarnings":0,"withLosses":0}"#
            .to_owned()
            + "\n"
    );
}

#[test]
fn every_damage_is_listed_and_sets_the_exit_code() {
    let dir = Dir::with_example("damaged");
    assert_eq!(
        dir.run("verify damaged.jsonl"),
        Run {
            code: Some(3),
            out: "damaged.jsonl: version 3, 3 entries
  loss: damaged-line: line 3 (bytes 322..410): control character (\\u0000-\\u001F) found while parsing a string at line 1 column 87
  warning: unknown-parent: line 4: its parent \"5d1c0002\" is nowhere in the file; what came before is not on its path
  loss: torn-tail: line 6 (bytes 962..1049): the file ends in 87 bytes that are no whole record
1 session: 0 good, 0 with warnings, 1 with losses
"
            .to_owned(),
            err: LOST.to_owned(),
        }
    );
    let run = dir.run("verify damaged.jsonl --json");
    assert_eq!((run.code, run.err.as_str()), (Some(3), LOST));
    let report = json(&run.out);
    assert_eq!(
        report.as_str(),
        concat!(
            r#"{"sessions":[{"session":"damaged.jsonl","version":3,"entries":3,"diagnostics":["#,
            r#"{"code":"damaged-line","severity":"loss","line":3,"bytes":[322,410],"detail":"control character (\\u0000-\\u001F) found while parsing a string at line 1 column 87"},"#,
            r#"{"code":"unknown-parent","severity":"warning","line":4,"entry":"5d1c0003","detail":"its parent \"5d1c0002\" is nowhere in the file; what came before is not on its path"},"#,
            r#"{"code":"torn-tail","severity":"loss","line":6,"bytes":[962,1049],"detail":"the file ends in 87 bytes that are no whole record"}"#,
            r#"]}],"withWarnings":0,"withLosses":1}"#
        )
    );
}

#[test]
fn warnings_count_where_asked() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[r#"{"type":"message","id":"a","parentId":"gone"}"#]));
    let out = "s.jsonl: version 3, 1 entry
  warning: unknown-parent: line 2: its parent \"gone\" is nowhere in the file; what came before is not on its path
  warning: unreadable-message: the entry has no `message` object
1 session: 0 good, 1 with warnings, 0 with losses
";
    assert_eq!(dir.run("verify s.jsonl").quiet(), out);
    let err = "error: there are warnings in 1 of 1 sessions\n".to_owned();
    assert_eq!(dir.run("verify --strict s.jsonl"), Run { code: Some(3), out: out.into(), err });
}

#[test]
fn a_directory_is_looked_through() {
    let dir = Dir::new();
    dir.write("b/two.jsonl", session(&[]));
    dir.write("a/one.jsonl", "not a session\n");
    dir.write("a/notes.txt", "");
    std::os::unix::fs::symlink("b/two.jsonl", dir.path().join("link.jsonl")).unwrap();
    let out = "a/one.jsonl
  loss: unreadable: a/one.jsonl cannot be opened as a session; it was left as it is: not a session file: line 1 is no complete JSON record
b/two.jsonl: version 3, 0 entries
link.jsonl
  loss: unreadable: could not list link.jsonl: a symbolic link is in the way, and links are not followed
3 sessions: 1 good, 0 with warnings, 2 with losses
";
    for args in ["verify .", "--store . verify"] {
        let run = dir.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(3), out), "{args}");
        let lost = "error: something was lost or cannot be read in 2 of 3 sessions\n";
        assert_eq!(run.err, lost, "{args}");
    }
}

#[test]
fn files_open_to_others_are_told() {
    use std::fs::{Permissions, set_permissions};
    use std::os::unix::fs::PermissionsExt;

    let dir = Dir::new();
    dir.write("s.jsonl", session(&[]));
    set_permissions(dir.path().join("s.jsonl"), Permissions::from_mode(0o640)).unwrap();
    assert_eq!(
        dir.run("verify s.jsonl").quiet(),
        "s.jsonl: version 3, 0 entries
  warning: too-open: mode 640 lets other users at the file; chmod 600 keeps it private
1 session: 0 good, 1 with warnings, 0 with losses
"
    );
}

#[test]
fn something_to_verify_is_needed() {
    let dir = Dir::new();
    dir.run("verify").failed(2, "error: name a session, a directory, or a --store\n");
    dir.run("verify none.jsonl").failed(1, "error: there is no session none.jsonl\n");
}

#[test]
fn a_session_that_is_not_there_leaves_no_half_document() {
    let run = Dir::new().run("verify nosuch.jsonl --json");
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
}
