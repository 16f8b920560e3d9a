//! `--wait`: a session that another writer has is waited for.

use std::collections::BTreeMap;
use std::fs;
use std::io::{BufRead, BufReader, Read};
use std::process::{Child, Command, Stdio};
use std::thread;

use session_context::{SessionManager, SessionOptions, open_storage};

use crate::support::{Dir, session};

const ENTRY: &str = r#"{"type":"message","id":"aaaaaaaa","parentId":null,"timestamp":"2026-03-01T09:00:01Z","message":{"role":"user","content":"hi"}}"#;

fn held(dir: &Dir, key: &str) -> SessionManager {
    let storage = open_storage(dir.path().to_str().unwrap()).unwrap();
    let options = SessionOptions::default().owner("some agent");
    pollster::block_on(SessionManager::open(storage, key.parse().unwrap(), "/", options)).unwrap()
}

/// A command that has begun, and has told that it waits.
fn waiting(dir: &Dir, args: &str) -> (Child, BufReader<std::process::ChildStderr>) {
    let mut command = dir.command(args);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut told = BufReader::new(child.stderr.take().unwrap());
    let mut line = String::new();
    told.read_line(&mut line).unwrap();
    assert!(line.starts_with("note: waiting for "), "{args}: {line}");
    assert!(line.contains(&format!("in use by some agent, process {}", std::process::id())));
    (child, told)
}

#[test]
fn three_hundred_appends_of_five_processes_are_all_there_once() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[ENTRY]));
    let ids: Vec<String> = thread::scope(|scope| {
        let appender = |who| {
            let dir = &dir;
            let append =
                move |n| dir.run(&format!("append s.jsonl --wait --text said-{who}-{n}.")).quiet();
            scope.spawn(move || (0..60).map(append).collect::<Vec<_>>())
        };
        let appenders: Vec<_> = (0..5).map(appender).collect();
        appenders.into_iter().flat_map(|appender| appender.join().unwrap()).collect()
    });
    let file = dir.read("s.jsonl");
    assert_eq!((ids.len(), file.lines().count()), (300, 302));
    for (who, n) in (0..5).flat_map(|who| (0..60).map(move |n| (who, n))) {
        assert_eq!(file.matches(&format!("said-{who}-{n}.")).count(), 1);
    }
    for id in ids {
        assert_eq!(file.matches(&format!("\"id\":\"{}\"", id.trim())).count(), 1);
    }
}

#[test]
fn a_session_that_five_make_at_once_is_one() {
    let dir = Dir::new();
    thread::scope(|scope| {
        for who in 0..5 {
            let args = format!("append new.jsonl --create --wait --text said-{who}.");
            let dir = &dir;
            scope.spawn(move || dir.run(&args).quiet());
        }
    });
    let file = dir.read("new.jsonl");
    assert_eq!(file.lines().count(), 6);
    assert_eq!(file.matches("{\"type\":\"session\"").count(), 1);
}

#[test]
fn time_that_is_up_names_the_holder() {
    let dir = Dir::with_example("demo");
    let holder = held(&dir, "demo.jsonl");
    let before = dir.read("demo.jsonl");
    for command in [
        "append demo.jsonl --wait=0.2 --text x",
        "append demo.jsonl --create --wait=0.2 --text x",
        "label demo.jsonl 11a25bfa x --wait=0.2",
        "branch demo.jsonl 11a25bfa --wait=0.2",
        "archive demo.jsonl b54cda26 --wait=0.2",
        "rename demo.jsonl x --wait=0.2",
        "rm demo.jsonl --wait=0.2",
        "rm demo.jsonl --forever --wait=0.2",
        "navigate demo.jsonl 11a25bfa --wait=0.2",
        "checkpoint demo.jsonl --goal x --wait=0.2",
        "rewind demo.jsonl x --wait=0.2",
        "merge demo.jsonl demo.jsonl --wait=0",
    ] {
        let run = dir.run(command);
        let owner = format!("demo.jsonl is in use by some agent, process {}", std::process::id());
        assert_eq!((run.code, run.out.as_str()), (Some(4), ""), "{command}");
        assert!(run.err.contains(&owner), "{command}: {}", run.err);
    }
    assert_eq!(dir.read("demo.jsonl"), before);
    let wrong = dir.run("append demo.jsonl --wait=soon --text x");
    assert_eq!(wrong.code, Some(2));
    assert!(wrong.err.contains("it is a number of seconds, such as 30 or 0.5"), "{}", wrong.err);
    pollster::block_on(holder.close()).unwrap();
}

#[test]
fn who_waits_is_told_for_whom_and_goes_on() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[ENTRY]));
    let holder = held(&dir, "s.jsonl");
    let (child, _told) = waiting(&dir, "append s.jsonl --wait --text said.");
    pollster::block_on(holder.close()).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let id = String::from_utf8(output.stdout).unwrap();
    assert!(dir.read("s.jsonl").lines().last().unwrap().contains(id.trim()));
}

#[test]
fn an_interrupt_ends_the_wait_and_nothing_is_written() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[ENTRY]));
    let before = dir.read("s.jsonl");
    let holder = held(&dir, "s.jsonl");
    let (mut child, mut told) = waiting(&dir, "append s.jsonl --wait --text said.");
    let pid = child.id().to_string();
    assert!(Command::new("kill").args(["-INT", &pid]).status().unwrap().success());
    let status = child.wait().unwrap();
    assert_eq!(std::os::unix::process::ExitStatusExt::signal(&status), Some(2));
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    assert_eq!((rest.as_str(), dir.read("s.jsonl")), ("", before));
    pollster::block_on(holder.close()).unwrap();
}

#[test]
fn a_holder_that_is_killed_makes_way_for_those_who_wait() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[ENTRY]));
    // The lock of a claim is one of the system's, which any program can hold.
    dir.run("append s.jsonl --text first.").quiet();
    let script = "exec 9<>.~s.jsonl.lock; flock 9; echo; exec sleep 600";
    let mut holder = Command::new("bash");
    holder.args(["-c", script]).current_dir(dir.path()).stdout(Stdio::piped());
    let mut holder = holder.spawn().unwrap();
    let mut ready = [0];
    holder.stdout.take().unwrap().read_exact(&mut ready).unwrap();
    assert_eq!(dir.run("append s.jsonl --wait=0 --text never.").code, Some(4));
    thread::scope(|scope| {
        let dir = &dir;
        let append = |who| move || dir.run(&format!("append s.jsonl --wait --text said-{who}."));
        let waiters: Vec<_> = (0..3).map(|who| scope.spawn(append(who))).collect();
        holder.kill().unwrap();
        holder.wait().unwrap();
        assert!(waiters.into_iter().all(|waiter| waiter.join().unwrap().code == Some(0)));
    });
    let file = dir.read("s.jsonl");
    assert_eq!((file.matches("said-").count(), file.matches("never.").count()), (3, 0));
}

#[test]
fn a_session_that_is_moved_meanwhile_is_not_made_anew() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[ENTRY]));
    let holder = held(&dir, "s.jsonl");
    let (child, mut told) = waiting(&dir, "append s.jsonl --wait --text said.");
    fs::rename(dir.path().join("s.jsonl"), dir.path().join("moved.jsonl")).unwrap();
    let mut rest = String::new();
    told.read_to_string(&mut rest).unwrap();
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(rest, "error: s.jsonl was removed or moved meanwhile; nothing was written\n");
    assert!(!dir.path().join("s.jsonl").exists());
    drop(holder);
}

#[test]
fn what_cannot_be_written_is_not_waited_for() {
    let dir = Dir::new();
    dir.write("s.jsonl", session(&[ENTRY]));
    dir.run("append s.jsonl --text said.").quiet();
    let set_mode = |name: &str, mode| {
        let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
        fs::set_permissions(dir.path().join(name), mode).unwrap();
    };
    set_mode("s.jsonl", 0o400);
    set_mode("", 0o500);
    let run = dir.run_restricted("append s.jsonl --wait --text never.");
    set_mode("", 0o700);
    assert_eq!((run.code, run.out.as_str()), (Some(1), ""), "{}", run.err);
    assert!(run.err.contains("Permission denied"), "{}", run.err);
}

/// A program that appends a line every few milliseconds and knows nothing of claims.
fn foreign(dir: &Dir, name: &str) -> Child {
    let script = "n=0; while :; do n=$((n+1)); \
        printf '{\"type\":\"custom\",\"id\":\"f%07d\",\"parentId\":null,\"timestamp\":\"2026-03-01T09:00:02Z\",\"customType\":\"foreign\"}\\n' $n >&8; \
        echo $n; read -t 0.004 <&7; done";
    let mut command = Command::new("bash");
    let fifo = dir.path().join("never");
    assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
    let script = format!("exec 7<>never 8>>{name}; {script}");
    command.args(["-c", &script]).current_dir(dir.path()).stdout(Stdio::piped());
    command.spawn().unwrap()
}

#[test]
fn a_file_that_another_program_appends_to_takes_entries_of_7_mb_and_more() {
    let dir = Dir::new();
    let text = "x".repeat(10_000);
    for (name, size) in [("a.jsonl", 7), ("b.jsonl", 20)] {
        let mut file = session(&[ENTRY]);
        for n in 0..size * 100 {
            file += &format!(
                "{{\"type\":\"custom\",\"id\":\"e{n:07}\",\"parentId\":\"aaaaaaaa\",\"timestamp\":\"2026-03-01T09:00:01Z\",\"customType\":\"{text}\"}}\n"
            );
        }
        assert!(file.len() > size * 1_000_000);
        dir.write(name, &file);
        let mut other = foreign(&dir, name);
        let mut lines = BufReader::new(other.stdout.take().unwrap()).lines();
        let mut written = lines.next().unwrap().unwrap();
        let mut ours = BTreeMap::new();
        for n in 0..5 {
            for command in
                [format!("append {name} --text said-{n}."), format!("label {name} aaaaaaaa l{n}")]
            {
                let run = dir.run(&command);
                assert_eq!(run.code, Some(0), "{command}: {}", run.err);
                ours.insert(run.out.trim().to_owned(), command);
            }
        }
        let renamed = dir.run(&format!("rename {name} other"));
        assert_eq!(renamed.code, Some(1), "{}", renamed.err);
        assert!(renamed.err.contains("another program is writing it"), "{}", renamed.err);
        other.kill().unwrap();
        other.wait().unwrap();
        for line in lines {
            written = line.unwrap();
        }
        let after = dir.read(name);
        assert!(after.ends_with('\n') && after.starts_with(&file));
        let mut times: BTreeMap<String, usize> = BTreeMap::new();
        for line in after.lines().skip(1) {
            let entry = session_model::json::RawJson::parse(line.to_owned()).unwrap();
            let id = entry.field("id").unwrap().as_text().unwrap().into_owned();
            *times.entry(id).or_default() += 1;
        }
        assert!(times.values().all(|times| *times == 1));
        // It may have been ended between a line and the number of it.
        let written: usize = written.parse().unwrap();
        let foreign = (1..).take_while(|n| times.contains_key(&format!("f{n:07}"))).count();
        assert!(foreign == written || foreign == written + 1, "{foreign} lines, {written} told");
        for (id, command) in &ours {
            assert!(times.contains_key(id), "{command}");
        }
        assert_eq!(times.len(), file.lines().count() - 1 + ours.len() + foreign);
        // When it is done, the title can be given.
        let renamed = dir.run(&format!("rename {name} other"));
        assert_eq!((renamed.code, renamed.out.as_str()), (Some(0), "other\n"), "{}", renamed.err);
        fs::remove_file(dir.path().join("never")).unwrap();
    }
}
