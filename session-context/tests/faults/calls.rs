//! Every system call of `sessionctl` on the store, failing or killing, one run for each.

use std::collections::HashMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use crate::session::{self, A, B, FILE, HEADER, goes_on, id, look, says};

/// Calls that touch files.
const CALLS: [&str; 26] = [
    "open",
    "openat",
    "read",
    "pread64",
    "write",
    "writev",
    "pwrite64",
    "fsync",
    "fdatasync",
    "rename",
    "renameat",
    "renameat2",
    "link",
    "linkat",
    "unlink",
    "unlinkat",
    "mkdir",
    "mkdirat",
    "ftruncate",
    "flock",
    "fstat",
    "newfstatat",
    "statx",
    "fchown",
    "fchmod",
    "getdents64",
];
/// Those of them that may find no room.
const WRITING: [&str; 7] =
    ["openat", "write", "writev", "pwrite64", "fsync", "fdatasync", "ftruncate"];

/// A command on a session that begins as `start`.
struct Case<'a> {
    start: Option<String>,
    args: &'a [&'a str],
    /// What the new entry says, apart from its envelope.
    new: Option<&'a str>,
    /// Whether the old lines stay as they are.
    keeps_bytes: bool,
}

pub fn append() -> String {
    let args = ["append", FILE, r#"{"role":"user","content":"new"}"#];
    let new = Some(r#"{"role":"user","content":"new"}"#);
    let whole = format!("{HEADER}\n{A}\n{B}\n");
    let case = |start| Case { start, args: &args, new, keeps_bytes: true };
    let create = [args[0], args[1], args[2], "--create"];
    let create = Case { start: None, args: &create, new, keeps_bytes: true };
    let torn = case(Some(format!("{whole}{{\"type\":\"mess")));
    let unended = case(Some(whole.trim_end().to_owned()));
    sum(&[case(Some(whole)), torn, unended, create])
}

pub fn label() -> String {
    let args = ["label", FILE, "a", "mark"];
    let start = Some(format!("{HEADER}\n{A}\n{B}\n"));
    sum(&[Case { start, args: &args, new: Some("mark"), keeps_bytes: true }])
}

pub fn migrate() -> String {
    let message =
        |n| format!(r#"{{"type":"message","message":{{"role":"user","content":"{n}"}}}}"#);
    let start = format!("{{\"type\":\"session\",\"id\":\"s\"}}\n{}\n{}\n", message(1), message(2));
    let args = ["migrate", FILE];
    sum(&[Case { start: Some(start), args: &args, new: None, keeps_bytes: false }])
}

fn sum(cases: &[Case<'_>]) -> String {
    let [mut runs, mut calls] = [0, 0];
    for case in cases {
        let (more_runs, more_calls) = sweep(case);
        (runs, calls) = (runs + more_runs, calls + more_calls);
    }
    assert!(runs > 0);
    format!("{runs} faults at {calls} calls, nothing lost")
}

/// Strikes at every call of a command; returns how many faults struck, at how many calls.
fn sweep(case: &Case<'_>) -> (usize, usize) {
    let dir = tempfile::tempdir().unwrap();
    let store = dir.path().join("store");
    let log = dir.path().join("log");
    let plain = strace(&store, case, &["-y", "-o", log.to_str().unwrap()]);
    assert!(plain.status.success(), "{plain:?}");
    let calls = calls_on(&store, &fs::read_to_string(&log).unwrap());
    let mut faults = 0;
    for (call, n) in &calls {
        let mut effects = vec!["error=EIO", "signal=KILL"];
        effects.extend(WRITING.contains(&call.as_str()).then_some("error=ENOSPC"));
        for effect in effects {
            let inject = format!("inject={call}:{effect}:when={n}");
            let options = ["-o", "/dev/null", "-e", &format!("trace={call}"), "-e", &inject];
            let output = strace(&store, case, &options);
            check(&store, case, &output, &format!("{:?} {inject}", case.args));
            faults += 1;
        }
    }
    (faults, calls.len())
}

/// The calls that name the store or a file in it, each with its number among those of its name.
fn calls_on(store: &Path, log: &str) -> Vec<(String, usize)> {
    let mut seen = HashMap::new();
    let mut found = Vec::new();
    for line in log.lines() {
        let Some((call, rest)) = line.split_once('(') else { continue };
        let n = seen.entry(call).and_modify(|n| *n += 1).or_insert(1);
        if CALLS.contains(&call) && rest.contains(store.to_str().unwrap()) {
            found.push((call.to_owned(), *n));
        }
    }
    assert!(found.iter().any(|(call, _)| call == "fdatasync" || call == "fsync"), "{log}");
    found
}

/// Runs the command on a fresh store; it stands elsewhere, so that only its calls name the store.
fn strace(store: &Path, case: &Case<'_>, options: &[&str]) -> Output {
    let _ = fs::remove_dir_all(store);
    fs::create_dir(store).unwrap();
    if let Some(start) = &case.start {
        session::write(store, FILE, start);
    }
    let file = store.join(FILE);
    let args = case.args.iter().map(|arg| if *arg == FILE { file.to_str().unwrap() } else { arg });
    let mut command = Command::new("strace");
    command.args(options).arg(env!("CARGO_BIN_EXE_sessionctl")).args(args);
    command.current_dir("/").stdin(Stdio::null());
    command
        .output()
        .unwrap_or_else(|_| panic!("strace is missing; `cargo xtask faults` installs it"))
}

fn check(store: &Path, case: &Case<'_>, output: &Output, what: &str) {
    let out = String::from_utf8_lossy(&output.stdout);
    let err = String::from_utf8_lossy(&output.stderr);
    let what = &format!("{what}: {} {err}", output.status);
    let known_end =
        matches!(output.status.code(), Some(0 | 1 | 4)) || output.status.signal() == Some(9);
    assert!(known_end && !err.contains("panicked"), "{what}");
    let start = case.start.clone().unwrap_or_default();
    let old = start_entries(&start);
    if case.keeps_bytes && case.start.is_some() {
        let now = fs::read_to_string(store.join(FILE)).unwrap();
        let whole = start.strip_suffix(r#"{"type":"mess"#);
        assert!(now.starts_with(whole.unwrap_or(&start)), "{what}: {now}");
        if let Some(whole) = whole {
            let aside = fs::read_dir(store).unwrap().map(|entry| entry.unwrap().path());
            let mut aside = aside.filter(|path| path.to_string_lossy().contains(".torn-"));
            let kept = |path| fs::read_to_string(path).unwrap() == start[whole.len()..];
            assert!(now == start || aside.any(kept), "{what}: the torn end is gone");
        }
    }
    let session = look(store);
    let entries = session.as_ref().map(|session| session.entries()).unwrap_or_default();
    let there: Vec<_> = entries.iter().map(says).collect();
    assert!(there.starts_with(&old), "{what}: {there:?}");
    let new = &there[old.len()..];
    assert!(new.len() <= usize::from(case.new.is_some()), "{what}: {there:?}");
    assert!(new.iter().all(|new| new.contains(case.new.unwrap())), "{what}: {there:?}");
    if output.status.success() {
        match case.new {
            Some(_) => assert_eq!(entries.last().map(id).as_deref(), Some(out.trim()), "{what}"),
            None => {
                let header = session.as_ref().unwrap().header().version();
                assert_eq!(header, f64::from(session_model::CURRENT_VERSION), "{what}");
                let file = fs::read_to_string(store.join(FILE)).unwrap();
                assert!(file.contains("\"version\":3"), "{what}: {file}");
            }
        }
    }
    drop(session);
    goes_on(store, what);
}

/// What the entries of a file say.
fn start_entries(file: &str) -> Vec<String> {
    let load = session_model::SessionDocument::load(file.to_owned().into(), &Default::default());
    load.map(|loaded| loaded.document.tree().entries().iter().map(says).collect())
        .unwrap_or_default()
}
