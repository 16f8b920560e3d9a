//! Modes, leftovers and claims.

use std::fs::{self, Permissions};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::sync::Arc;

use session_context::artifacts::{Artifacts, child_sessions};
use session_context::doctor::{DoctorOptions, examine};
use session_model::storage::{SessionStorage, StorageKey};
use session_store_file::FileStorage;

use crate::support::{Agent, HEADER, SESSION};

fn mode(agent: &Agent, name: &str) -> u32 {
    fs::metadata(agent.path().join(name)).unwrap().permissions().mode() & 0o7777
}

#[test]
fn what_others_may_read_is_closed_and_nothing_opened() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    agent.write("blobs/x", "");
    agent.write("config/run.sh", "not ours");
    for (name, mode) in
        [(SESSION, 0o644), ("sessions", 0o755), ("blobs/x", 0o400), ("config/run.sh", 0o755)]
    {
        fs::set_permissions(agent.path().join(name), Permissions::from_mode(mode)).unwrap();
    }
    let stray = "stray-blob blobs/x: its name is not that of a blob => you: move it elsewhere";
    let can = "can: take the rights of others";
    let found = [
        stray.to_owned(),
        format!("too-open sessions: its mode is 755; 700 keeps it private => {can}"),
        format!("too-open S: its mode is 644; 600 keeps it private => {can}"),
    ];
    assert_eq!(agent.look(), found);
    let fixed = found.map(|line| line.replace(can, "done: it is private now"));
    assert_eq!(agent.fix(), fixed);
    assert_eq!(agent.look(), [stray]);
    let names = [SESSION, "sessions", "blobs/x", "config/run.sh"];
    assert_eq!(names.map(|name| mode(&agent, name)), [0o600, 0o700, 0o400, 0o755]);
}

#[test]
fn what_was_left_behind_goes_to_the_trash() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    agent.write("sessions/--w-app--/.~a.jsonl.0badcafe.tmp", "half");
    agent.write("sessions/--w-app--/.~gone.jsonl.lock", "pid=1\n");
    let name = SESSION.rsplit('/').next().unwrap();
    agent.write(&format!("sessions/--w-app--/.~{name}.lock"), "pid=1\n");
    symlink("/etc/passwd", agent.path().join("sessions/--w-app--/link")).unwrap();
    let trash = "trash/doctor-2026-03-02T00-00-00-000Z/sessions/--w-app--";
    let told = |what: [String; 2]| {
        let [temp, claim] = what;
        vec![
            format!(
                "leftover sessions/--w-app--/.~a.jsonl.0badcafe.tmp: a writer that is gone left it unfinished => {temp}"
            ),
            format!(
                "stale-claim sessions/--w-app--/.~gone.jsonl.lock: nobody holds it, and what it was for is gone => {claim}"
            ),
        ]
    };
    let can = || "can: move it into the trash".to_owned();
    let without_link = |found: Vec<String>| -> Vec<String> {
        let (links, others): (Vec<_>, Vec<_>) =
            found.into_iter().partition(|line| line.contains("/link:"));
        assert_eq!(links.len(), 1);
        assert!(links[0].contains(" => you: "), "{links:?}");
        others
    };
    assert_eq!(without_link(agent.look()), told([can(), can()]));
    let moved = |name| format!("done: moved to {trash}/{name}");
    let want = told([moved("a.jsonl.0badcafe.tmp"), moved("gone.jsonl.lock")]);
    assert_eq!(without_link(agent.fix()), want);
    assert_eq!(without_link(agent.look()), [] as [&str; 0]);
    assert_eq!(agent.read(&format!("{trash}/a.jsonl.0badcafe.tmp")), b"half");
    assert_eq!(mode(&agent, "trash"), 0o700);
}

#[test]
fn a_root_that_is_a_link_is_told_of_and_its_files_are_looked_at() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    let outside = Agent::new();
    let link = outside.path().join("link");
    symlink(agent.path(), &link).unwrap();
    fs::set_permissions(agent.path().join(SESSION), Permissions::from_mode(0o644)).unwrap();
    let storage: Arc<dyn SessionStorage> = Arc::new(FileStorage::open(&link).unwrap());
    let found =
        pollster::block_on(examine(&storage, &DoctorOptions::default(), &mut |_, _| {})).unwrap();
    let found: Vec<_> = found.iter().map(crate::support::told).collect();
    let target = agent.path().canonicalize().unwrap();
    assert_eq!(
        found,
        [
            format!("linked-root .: the directory is a symbolic link to {}", target.display()),
            "too-open S: its mode is 644; 600 keeps it private => can: take the rights of others"
                .to_owned(),
        ]
    );
}

#[test]
fn what_is_no_file_or_has_an_odd_name_hides_nothing() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    let folder = SESSION.strip_suffix(".jsonl").unwrap();
    agent.write(&format!("{folder}/1.bash.log"), "one");
    for name in ["4.link.log", "5"] {
        symlink("/etc/passwd", agent.path().join(folder).join(name)).unwrap();
    }
    let fifo = agent.path().join(folder).join("2.pipe.log");
    let mode = rustix::fs::Mode::from_raw_mode(0o600);
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, mode, 0).unwrap();
    let long = format!("sessions/--w-app--/{}.jsonl", "x".repeat(240));
    agent.write(&long, format!("{HEADER}\n"));
    let odd = std::ffi::OsStr::from_bytes(b"sessions/--w-app--/\xff.jsonl");
    fs::write(agent.path().join(odd), HEADER).unwrap();
    let found = agent.look();
    let link = "a symbolic link or special file; it is not followed or read => you: put what it leads to in its place";
    let mut want = vec![
        format!("unreadable {long}: its name has more than 240 bytes => you: see that it can be read, or give it another name"),
        "unreadable sessions/--w-app--: the name \"\\xff.jsonl\" in it is no UTF-8 => you: see that it can be read, or give it another name".to_owned(),
    ];
    want.extend(
        ["2.pipe.log", "4.link.log", "5"].map(|name| format!("not-a-file {folder}/{name}: {link}")),
    );
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    assert_eq!(sorted(found), sorted(want));

    let (storage, session) = (agent.storage(), StorageKey::new(SESSION).unwrap());
    let artifacts = Artifacts::of(storage.clone(), &session).unwrap();
    let names: Vec<_> = pollster::block_on(artifacts.list()).unwrap();
    let names: Vec<_> = names.iter().map(|meta| meta.key.file_name()).collect();
    assert_eq!(names, ["1.bash.log"]);
    assert_eq!(pollster::block_on(artifacts.save("bash", "two")).unwrap().number, 2);
    let children = child_sessions(&*storage, &session);
    assert_eq!(pollster::block_on(children).unwrap(), []);
}

#[test]
fn what_cannot_be_named_is_told_in_any_directory() {
    let agent = Agent::with("s.jsonl", format!("{HEADER}\n"));
    fs::write(agent.path().join(std::ffi::OsStr::from_bytes(b"\xff.jsonl")), HEADER).unwrap();
    symlink("s.jsonl", agent.path().join("link.jsonl")).unwrap();
    assert_eq!(
        agent.look(),
        [
            "unreadable .: invalid request: invalid storage key \"\u{fffd}.jsonl\": not UTF-8 => you: see that it can be read, or give it another name",
            "unreadable link.jsonl: could not list link.jsonl: a symbolic link is in the way, and links are not followed => you: see that it can be read, or give it another name",
        ]
    );
}
