//! `watch`, beside a writer; and `append` of many.

use std::io::{BufRead, BufReader};
use std::process::Stdio;
use std::sync::Arc;

use rustix::process::{Pid, Signal, kill_process};
use session_context::{NameSource, SessionManager, SessionOptions};
use session_model::json::RawJson;
use session_model::storage::StorageKey;
use session_store_file::FileStorage;

use crate::support::{Dir, session};

const A: &str = r#"{"type":"custom","customType":"x","id":"a","parentId":null,"timestamp":"2026-03-01T09:00:01Z"}"#;

#[test]
fn watching_prints_what_is_there_and_never_writes() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[A]));
    let before = dir.snapshot();
    let out = dir.run("watch s.jsonl --from-start --count 1").quiet();
    assert_eq!(out, "a         2026-03-01T09:00:01Z      [custom] x\n");
    let out = dir.run("watch s.jsonl --from-start --json --until-idle 1").quiet();
    assert_eq!(out, format!("{{\"event\":\"entry\",\"entry\":{A}}}\n"));
    assert_eq!(dir.run("watch s.jsonl --until-idle 1").quiet(), "");
    assert_eq!(dir.snapshot(), before);
    dir.run("watch none.jsonl").failed(1, "error: there is no session none.jsonl\n");
}

#[test]
fn a_watcher_sees_what_another_process_acknowledged_in_order() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[A]));
    let mut watch = dir.command("watch s.jsonl --from-start --json --interval 1 --count 13");
    let mut watcher = watch.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    let mut next = || {
        let event = RawJson::parse(lines.next().unwrap().unwrap()).unwrap();
        event.field("entry").unwrap().field("id").unwrap().as_text().unwrap().into_owned()
    };
    assert_eq!(next(), "a");
    let mut told = Vec::new();
    for n in 0..4 {
        let new = format!("{{\"type\":\"n{n}\"}}\n").repeat(3);
        let out = dir.run_with_input("append s.jsonl -", &new).quiet();
        told.extend(out.lines().map(str::to_owned));
    }
    let seen: Vec<_> = (0..12).map(|_| next()).collect();
    assert_eq!(seen, told);
    assert!(watcher.wait().unwrap().success());
}

#[test]
fn a_watcher_sees_each_entry_once_while_another_process_appends_and_rewrites() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[A]));
    let mut watch = dir.command("watch s.jsonl --from-start --json --interval 1 --count 121");
    let mut watcher = watch.stdout(Stdio::piped()).spawn().unwrap();
    let lines = BufReader::new(watcher.stdout.take().unwrap()).lines();
    let (mut told, mut seen) = (vec!["a".to_owned()], Vec::new());
    pollster::block_on(async {
        let storage = Arc::new(FileStorage::open(dir.path()).unwrap());
        let key = StorageKey::new("s.jsonl").unwrap();
        let options = SessionOptions::default();
        let mut session = SessionManager::open(storage, key, "/w", options).await.unwrap();
        for n in 0..120 {
            if n % 5 == 4 {
                let name = format!("Name {n}").repeat(1 + n % 9);
                assert!(session.set_session_name(&name, NameSource::User).await.unwrap());
                told.push(session.leaf_id().unwrap());
            } else {
                told.push(session.append_custom_entry("n", None).await.unwrap());
            }
        }
        session.close().await.unwrap();
    });
    for line in lines {
        let event = RawJson::parse(line.unwrap()).unwrap();
        match &*event.field("event").unwrap().as_text().unwrap() {
            "entry" => {
                let entry = event.field("entry").unwrap();
                seen.push(entry.field("id").unwrap().as_text().unwrap().into_owned());
            }
            other => assert_eq!(other, "reloaded"),
        }
    }
    assert_eq!(seen, told);
    assert!(watcher.wait().unwrap().success());
}

#[test]
fn an_interrupt_ends_watching_well() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[A]));
    let mut watch = dir.command("watch s.jsonl --from-start");
    let mut watcher = watch.stdout(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(watcher.stdout.take().unwrap()).read_line(&mut said).unwrap();
    kill_process(Pid::from_child(&watcher), Signal::INT).unwrap();
    assert_eq!(watcher.wait().unwrap().code(), Some(0));
}

#[test]
fn many_are_appended_together_or_not_at_all() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[A]));
    let before = dir.read("s.jsonl");
    let run = dir.run_with_input("append s.jsonl -", "{\"type\":\"n\"}\n{\"type\":\"session\"}\n");
    run.failed(1, "error: this cannot be appended: a session has one header only\n");
    let run = dir.run_with_input("append s.jsonl -", "{\"type\":\"n\"}\n{\"type\":\n");
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""));
    dir.run_with_input("append s.jsonl -", " \n\n")
        .failed(1, "error: there is nothing to append\n");
    assert_eq!(dir.read("s.jsonl"), before);
    let many = "{\"type\":\"n\",\"n\":1.0}\n\n{\"role\":\"user\",\"content\":\"x\"}";
    let out = dir.run_with_input("append s.jsonl - --json", many).quiet();
    let ids = RawJson::parse(out.trim_end().to_owned()).unwrap().field("ids").unwrap();
    let lines: Vec<_> = dir.read("s.jsonl").lines().skip(2).map(str::to_owned).collect();
    let parsed = lines.iter().map(|line| RawJson::parse(line.clone()).unwrap());
    let there: Vec<_> = parsed.map(|line| line.field("id").unwrap()).collect();
    assert_eq!(RawJson::array(&there), ids);
}
