//! What a repair says it did is done: a second one finds nothing of it left.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::support::{Agent, HEADER, SESSION, entry};

/// Repairs twice; returns what the first did, and makes sure that the second did nothing.
#[track_caller]
fn repaired(agent: &Agent) -> Vec<String> {
    let can = agent.look().into_iter().filter(|line| line.contains("=> can")).count();
    let first = agent.fix();
    let done: Vec<_> = first.into_iter().filter(|line| line.contains("=> done")).collect();
    assert_eq!(done.len(), can, "{done:#?}");
    let mut again = agent.fix();
    again.retain(|line| line.contains("=> done") || line.contains("=> can"));
    assert_eq!(again, Vec::<String>::new());
    done
}

#[test]
fn two_joined_headers_are_parted() {
    let second = HEADER.replace("s-0001", "s-0002");
    let (one, two) = (entry("a", "", "one"), entry("b", "a", "two"));
    for (file, mended) in [
        (format!("{HEADER}{second}\n{one}\n"), format!("{HEADER}\n{second}\n{one}\n")),
        (format!("{HEADER}{second}{one}\n"), format!("{HEADER}\n{second}\n{one}\n")),
        (format!("{HEADER}\n{one}{second}{two}\n"), format!("{HEADER}\n{one}\n{second}\n{two}\n")),
        (format!("{HEADER}{second}"), format!("{HEADER}\n{second}")),
    ] {
        let agent = Agent::with(SESSION, &file);
        let done = repaired(&agent);
        assert_eq!(done.len(), 1, "{done:?}");
        assert!(done[0].ends_with("=> done: the file has a line for each record"), "{done:?}");
        assert_eq!(agent.read(SESSION), mended.as_bytes(), "{file}");
    }
}

/// Lines, and parts of lines, as crashes and other programs leave them.
fn parts() -> Vec<String> {
    let mut parts: Vec<String> = [
        "\n",
        "\0\0\0",
        "\u{feff}",
        "  ",
        "junk",
        "{\"type\":\"mess",
        "{}",
        "{\"no\":\"type\"}",
        "[1]",
        "17",
        "\"text\"",
        "}",
    ]
    .map(str::to_owned)
    .to_vec();
    parts.push(HEADER.replace("s-0001", "s-0002"));
    parts.push(entry("a", "", "one"));
    parts.push(entry("b", "a", "two") + "\n");
    parts
}

#[test]
fn every_two_odd_parts_are_mended_once() {
    let parts = parts();
    for (place, line_end) in [(0, "\n"), (1, "\n"), (1, ""), (2, "\n")] {
        for one in &parts {
            for two in &parts {
                let file = match place {
                    0 => format!("{HEADER}{one}{two}{line_end}"),
                    1 => format!("{HEADER}\n{one}{two}{line_end}"),
                    _ => format!("{one}{HEADER}{two}{line_end}"),
                };
                let agent = Agent::with(SESSION, &file);
                let is_session = !agent.look().iter().any(|l| l.starts_with("not-a-session"));
                if is_session {
                    repaired(&agent);
                }
            }
        }
    }
}

#[test]
fn every_kind_of_repair_is_made_once() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n{}\n{{\"ty", entry("a", "", "one")));
    fs::set_permissions(agent.path().join(SESSION), fs::Permissions::from_mode(0o644)).unwrap();
    agent.write("sessions/--w-app--/.~x.jsonl.0badcafe.tmp", "half");
    agent.write("sessions/--w-app--/.~gone.jsonl.lock", "pid=1\n");
    let note = |from: &str| {
        format!(r#"{{"from":"sessions/--w-app--/{from}","deletedAt":"2026-01-15T09:30:00.000Z"}}"#)
    };
    let cut_off = "trash/2026-01-15T09-30-00-000Z_t";
    agent.write(&format!("{cut_off}/unfinished.json"), note("t.jsonl"));
    agent.write(&format!("{cut_off}/origin.json"), note("t.jsonl"));
    agent.write(&format!("{cut_off}/t.jsonl"), HEADER.replace("s-0001", "t"));
    agent.write("sessions/--w-app--/t/0.bash.log", "log");
    // Of this one nothing is left but the note.
    agent.write("trash/2026-01-15T09-30-00-000Z_u/unfinished.json", note("u.jsonl"));
    let done = repaired(&agent);
    let kinds: Vec<_> = done.iter().map(|line| line.split(' ').next().unwrap()).collect();
    let want = ["torn-tail", "too-open", "stale-claim", "leftover", "cut-off", "cut-off"];
    let sorted = |mut kinds: Vec<&str>| {
        kinds.sort_unstable();
        kinds.join(" ")
    };
    assert_eq!(sorted(kinds), sorted(want.to_vec()), "{done:#?}");
    assert_eq!(agent.read(&format!("{cut_off}/t/0.bash.log")), b"log");
}

#[test]
fn what_only_a_person_can_decide_is_not_called_repaired() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    let name = SESSION.rsplit('/').next().unwrap();
    let folder = "trash/2026-01-15T09-30-00-000Z_s";
    let note =
        |from: &str| format!(r#"{{"from":"{from}","deletedAt":"2026-01-15T09:30:00.000Z"}}"#);
    agent.write(&format!("{folder}/unfinished.json"), note(SESSION));
    agent.write(&format!("{folder}/{name}"), format!("{HEADER}\n"));
    let gone = "trash/2026-01-15T09-30-00-000Z_v";
    agent.write(&format!("{gone}/unfinished.json"), note("sessions/--w-app--/v.jsonl"));
    agent.write("sessions/--w-app--/v/0.bash.log", "log");
    for _ in 0..2 {
        let cut_off: Vec<_> =
            agent.fix().into_iter().filter(|line| line.starts_with("cut-off ")).collect();
        assert_eq!(
            cut_off,
            [
                format!(
                    "cut-off {folder}/unfinished.json: taking {SESSION} to the trash or back was cut off => failed: the session is in the trash, and one of its name is where it was; move one of them elsewhere"
                ),
                format!(
                    "cut-off {gone}/unfinished.json: taking sessions/--w-app--/v.jsonl to the trash or back was cut off => failed: the session is at neither place, and something that belongs to it is; bring the session back from a backup, or move that elsewhere"
                ),
            ]
        );
    }
    assert_eq!(agent.read("sessions/--w-app--/v/0.bash.log"), b"log");
}
