//! The command and `open_storage` with an index.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::process::Command;

use session_context::open_storage;

const DEMO: &str = include_str!("../examples/data/demo.jsonl");

fn index(root: &Path, args: &[&str]) -> (i32, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_sessionctl"))
        .arg("index")
        .args(args)
        .arg("--store")
        .arg(root)
        .output()
        .unwrap();
    let said = String::from_utf8([output.stdout, output.stderr].concat()).unwrap();
    (output.status.code().unwrap(), said)
}

#[test]
fn the_index_is_made_checked_and_described() {
    let dir = tempfile::tempdir().unwrap();
    let folder = dir.path().join("sessions/b");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join("demo.jsonl"), DEMO).unwrap();
    std::fs::write(folder.join("other.jsonl"), "no\n").unwrap();
    let entries = DEMO.lines().filter(|line| line.contains("\"parentId\"")).count();
    let messages = DEMO.lines().filter(|line| line.starts_with("{\"type\":\"message\"")).count();
    let bytes = DEMO.len();
    let told = format!(
        "1 session with {entries} entries, {messages} of them messages; {bytes} of {} bytes are indexed\n\
         1 file is no session; `sessionctl doctor` tells more\n",
        bytes + 3
    );
    assert_eq!(index(dir.path(), &["build"]), (0, told.clone()));
    assert_eq!(index(dir.path(), &["stats"]), (0, told));
    let same = "the index says what the files hold\n";
    assert_eq!(index(dir.path(), &["check"]), (0, same.to_owned()));
    assert_eq!(index(dir.path(), &["check", "--json"]).1.trim(), "{\"differences\":[]}");
    assert_eq!(std::fs::read(folder.join("demo.jsonl")).unwrap(), DEMO.as_bytes());
}

#[test]
fn a_url_opens_a_directory_with_its_index() {
    let dir = tempfile::tempdir().unwrap();
    let url = format!("indexed://{}", dir.path().display());
    let storage = open_storage(&url).unwrap();
    assert_eq!(storage.to_string(), format!("indexed file://{}", dir.path().display()));
    assert!(dir.path().join(".~index.db").exists());
}
