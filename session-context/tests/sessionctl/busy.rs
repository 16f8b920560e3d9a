//! A session that another process writes to.

use session_context::{SessionManager, SessionOptions, open_storage};

use crate::support::Dir;

#[test]
fn a_writer_elsewhere_is_named_and_readers_go_on() {
    let dir = Dir::with_example("demo");
    let storage = open_storage(dir.path().to_str().unwrap()).unwrap();
    let options = SessionOptions::default().owner("some agent");
    let open = SessionManager::open(storage, "demo.jsonl".parse().unwrap(), "/", options);
    let manager = pollster::block_on(open).unwrap();
    let before = dir.read("demo.jsonl");
    for command in [
        "append demo.jsonl --text x",
        "label demo.jsonl 11a25bfa x",
        "branch demo.jsonl 11a25bfa",
        "archive demo.jsonl b54cda26",
        "rename demo.jsonl x",
        "rm demo.jsonl",
        "rm demo.jsonl --forever",
    ] {
        let run = dir.run(command);
        assert_eq!((run.code, run.out.as_str()), (Some(4), ""), "{command}");
        let owner = format!("demo.jsonl is in use by some agent, process {}", std::process::id());
        assert!(run.err.contains(&owner), "{}", run.err);
        assert!(run.err.ends_with("; open it read-only, fork it, or end that writer\n"));
    }
    assert_eq!(dir.read("demo.jsonl"), before);
    dir.run("tree demo.jsonl").quiet();
    dir.run("fork demo.jsonl").quiet();
    dir.run("branch-out demo.jsonl 11a25bfa").quiet();
    // There is nothing to migrate, so nothing is claimed.
    dir.run("migrate demo.jsonl").quiet();
    pollster::block_on(manager.close()).unwrap();
    dir.run("append demo.jsonl --text x").quiet();
}
