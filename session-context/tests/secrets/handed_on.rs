//! Sessions with secrets, handed on in every way there is.

use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use crate::kinds;
use crate::leaks::Leaks;
use crate::places::{self, PLACES};
use crate::rng::{Rng, SEED, seed};
use crate::shipped::private_log;
use crate::surroundings;
use crate::ways_out::{Agent, FORMATS, below};

/// Fails with all that was seen.
#[allow(clippy::print_stderr, reason = "says what was looked at, and how to do it again")]
fn none(leaks: &Leaks, what: &str) {
    let (report, megabytes) = (leaks.report(), leaks.bytes_searched / 1_000_000);
    eprintln!("{what}: {megabytes} MB searched, {SEED}={}", seed());
    assert!(report.is_empty(), "{} leaks, {SEED}={}:\n{report}", report.lines().count(), seed());
}

/// Exports sessions in every format, two commands at a time.
fn export_all(agent: &Agent, sessions: &[PathBuf], leaks: &mut Leaks) {
    let (next, leaks) = (AtomicUsize::new(0), Mutex::new(leaks));
    let work = || {
        while let Some(session) = sessions.get(next.fetch_add(1, Ordering::Relaxed)) {
            for format in FORMATS {
                let output = agent.printed(session, format, &[]);
                leaks.lock().unwrap().search(format, &output);
            }
        }
    };
    thread::scope(|scope| {
        scope.spawn(work);
        scope.spawn(work);
    });
}

#[test]
fn no_entry_shows_a_secret() {
    let (agent, kinds) = (Agent::new(), kinds::all());
    let (mut planted, mut sessions) = (Vec::new(), Vec::new());
    for place in PLACES {
        let text = places::session(place, &kinds, &mut Rng::new(place.name), &mut planted);
        sessions.push(agent.put(&format!("{}.jsonl", place.file_name()), text));
    }
    let mut leaks = Leaks::new(planted);
    export_all(&agent, &sessions, &mut leaks);
    leaks.search("pack", &agent.packed(&sessions));
    none(&leaks, &format!("{} kinds in {} places", kinds.len(), PLACES.len()));
}

#[test]
fn nothing_around_entries_shows_a_secret() {
    let (agent, kinds, mut planted) = (Agent::new(), kinds::all(), Vec::new());
    let rng = &mut Rng::new("around");
    let mut sessions = vec![
        agent.put("header.jsonl", surroundings::header(&kinds, rng, &mut planted)),
        agent.put("branch.jsonl", surroundings::other_branch(&kinds, rng, &mut planted)),
        agent.put("long.jsonl", surroundings::long_entry(&kinds, rng, &mut planted)),
    ];
    surroundings::artifacts(&agent, "header", &kinds, rng, &mut planted);
    let mut leaks = Leaks::new(planted);
    export_all(&agent, &sessions, &mut leaks);
    for session in &sessions {
        leaks.search("md, to a file", &agent.written(session, "md"));
        leaks.search("claude, to a file", &agent.written(session, "claude"));
    }
    for format in FORMATS {
        let other = agent.printed(&sessions[1], format, &["--all"]);
        leaks.search(&format!("{format} --all"), &other);
        let other = agent.printed(&sessions[1], format, &["--leaf", "e9"]);
        leaks.search(&format!("{format} --leaf"), &other);
        let other = agent.printed(&sessions[1], format, &["--branch", "e5"]);
        leaks.search(&format!("{format} --branch"), &other);
    }
    leaks.search("pack", &agent.packed(&sessions));
    sessions.clear();
    none(&leaks, &format!("{} kinds around entries", kinds.len()));
}

/// A session has one title and one directory, so each kind takes a session of its own.
#[test]
fn no_title_and_no_directory_shows_a_secret() {
    let (agent, kinds, mut planted) = (Agent::new(), kinds::all(), Vec::new());
    let rng = &mut Rng::new("titles");
    let mut sessions = Vec::new();
    for (at, kind) in kinds.iter().enumerate() {
        let text = surroundings::title_and_cwd(kind, at, rng, &mut planted);
        sessions.push(agent.put(&format!("{at}.jsonl"), text));
    }
    let mut leaks = Leaks::new(planted);
    leaks.search("pack", &agent.packed(&sessions));
    // Every run takes other formats for a kind; all of them together would take too long.
    let mut chosen: Vec<_> = (0..40).map(|_| rng.pick(&sessions).clone()).collect();
    chosen.sort();
    chosen.dedup();
    for session in &chosen {
        let format = *rng.pick(&FORMATS);
        leaks.search(format, &agent.printed(session, format, &[]));
        leaks.search(&format!("{format}, to a file"), &agent.written(session, format));
    }
    none(&leaks, &format!("{} kinds as titles and directories", kinds.len()));
}

/// What a program writes that keeps secrets out of the file.
#[test]
fn no_file_of_a_filtered_session_holds_a_secret() {
    let (kinds, mut planted, mut entries) = (kinds::all(), Vec::new(), String::new());
    for place in PLACES.iter().filter(|place| place.is_filtered()) {
        let text = places::session(place, &kinds, &mut Rng::new(place.name), &mut planted);
        entries.extend(text.lines().skip(2).map(|line| format!("{line}\n")));
    }
    let mut leaks = Leaks::new(planted);
    leaks.search("write filter", &filtered(&entries));
    none(&leaks, &format!("{} kinds in {} places", kinds.len(), PLACES.len()));
}

/// Names and contents of all that `private_log` makes of entries.
fn filtered(entries: &str) -> Vec<u8> {
    let dir = tempfile::tempdir().unwrap();
    let mut command = Command::new(private_log());
    let mut child = command.arg(dir.path()).stdin(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(entries.as_bytes()).unwrap();
    assert!(child.wait().unwrap().success());
    let mut all = Vec::new();
    below(dir.path(), &mut all);
    assert!(all.len() > entries.len() / 4, "{} of {} bytes", all.len(), entries.len());
    all
}

/// The check sees what is there: without hiding, every kind is seen in every place.
#[test]
fn what_is_not_hidden_is_seen() {
    let (agent, kinds) = (Agent::new(), kinds::all());
    for place in PLACES {
        let mut planted = Vec::new();
        let text = places::session(place, &kinds, &mut Rng::new(place.name), &mut planted);
        let mut expected: Vec<_> = planted.iter().map(|it| it.kind).collect();
        let session = agent.put(&format!("{}.jsonl", place.file_name()), text);
        let mut leaks = Leaks::new(planted);
        leaks.search("json", &agent.printed(&session, "json", &["--no-redact"]));
        let report = leaks.report();
        let mut seen: Vec<_> =
            report.lines().filter_map(|line| line.split(" in ").next()).collect();
        seen.sort_unstable();
        seen.dedup();
        expected.sort_unstable();
        assert_eq!(seen, expected, "{}", place.name);
    }
}
