//! What is no session of its own is not taken for one, and what belongs to one is looked at.

use std::fs::{self, File, Permissions};
use std::os::unix::fs::{PermissionsExt, symlink};
use std::time::{Duration, SystemTime};

use session_context::doctor::DoctorOptions;
use session_model::BlobRef;
use session_model::storage::StorageKey;

use crate::support::{Agent, HEADER, NOW_MS, SESSION, entry, told};

const NOTHING: [&str; 0] = [];

fn artifact(name: &str) -> String {
    format!("{}/{name}", SESSION.strip_suffix(".jsonl").unwrap())
}

#[test]
fn only_sessions_of_a_project_are_compared() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    agent.write(&artifact("child.jsonl"), format!("{HEADER}\n"));
    agent.write("sessions/--w-app--/renamed.jsonl", format!("{}\n", HEADER.replace("s-0001", "r")));
    agent.write("sessions/--w-app--/notes.txt", "mine");
    let nowhere = HEADER.replace("s-0001", "n").replace("/w/app", "/home/sam");
    agent.write("sessions/-/n.jsonl", format!("{nowhere}\n"));
    agent.write("trash/2026-03-01T09-00-00-000Z_session/s.jsonl", format!("{HEADER}\ndamaged\n"));
    agent.write("blobs/x.jsonl", "neither blob nor session");
    assert_eq!(
        agent.look(),
        ["stray-blob blobs/x.jsonl: its name is not that of a blob => you: move it elsewhere"]
    );
}

#[test]
fn no_blob_counts_as_unused_while_something_cannot_be_looked_at() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    let unused = format!("blobs/{}", BlobRef::of(b"unused").to_hex());
    agent.write(&unused, "unused");
    let now = SystemTime::UNIX_EPOCH + Duration::from_millis(NOW_MS);
    let file = File::options().append(true).open(agent.path().join(&unused)).unwrap();
    file.set_modified(now - Duration::from_secs(30 * 24 * 60 * 60)).unwrap();
    let told = format!("unused-blob {unused}: nothing refers to it; `sessionctl gc` collects such");
    assert_eq!(agent.look(), [told]);
    symlink("/etc/passwd", agent.path().join("sessions/--w-app--/link.jsonl")).unwrap();
    let link = "not-a-file sessions/--w-app--/link.jsonl: a symbolic link or special file; it is \
                not followed or read => you: put what it leads to in its place";
    assert_eq!(agent.look(), [link]);
}

#[test]
fn one_session_is_examined_with_its_artifacts_and_without_others() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    agent.write(&artifact("notes.txt"), "x");
    agent.write("sessions/--w-app--/z.jsonl", format!("{HEADER}\ndamaged\n"));
    let options = DoctorOptions::default().session(StorageKey::new(SESSION).unwrap());
    let found: Vec<_> = agent.examine(options).iter().map(told).collect();
    let want = format!(
        "stray-artifact {}: it lies among artifacts and has no number; it goes where they go",
        artifact("notes.txt")
    );
    assert_eq!(found, [want]);
}

#[test]
fn an_archived_branch_may_dangle_too() {
    let archive = r#"{"type":"archive","id":"b","parentId":"a","timestamp":"2026-03-01T09:00:02Z","targetId":"gone","archived":true}"#;
    let agent = Agent::with(SESSION, format!("{HEADER}\n{}\n{archive}\n", entry("a", "", "work")));
    assert_eq!(
        agent.look(),
        ["dangling-reference S: entry b refers to \"gone\", which is nowhere in the file"]
    );
}

#[test]
fn of_what_was_put_aside_is_told_what_the_session_has() {
    let (a, b) = (entry("a", "", "both"), entry("b", "a", "aside only"));
    let agent = Agent::with(SESSION, format!("{HEADER}\n{a}\n"));
    let aside = format!("{SESSION}.torn-2026-03-01T10-00-00-000Z");
    agent.write(&aside, format!("{a}\n{b}\n"));
    let want = format!(
        "set-aside {}: {} bytes were put aside; of 2 records with an id in them 1 are in the session",
        aside.replace(SESSION, "S"),
        a.len() + b.len() + 2
    );
    assert_eq!(agent.look(), [want]);
}

#[test]
fn all_that_holds_work_is_to_be_private() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    let blob = format!("blobs/{}", BlobRef::of(b"x").to_hex());
    agent.write(&blob, "x");
    let others = ["history.db", "history.db-wal", "terminal-sessions/tty1", "trash/old"];
    others.iter().for_each(|name| agent.write(name, ""));
    let mut names: Vec<_> = others.into_iter().chain([&blob[..], SESSION]).collect();
    for name in &names {
        let mode = Permissions::from_mode(0o644);
        fs::set_permissions(agent.path().join(name), mode).unwrap();
    }
    names.sort_unstable();
    let want: Vec<_> = names
        .iter()
        .map(|name| {
            let path = name.replace(SESSION, "S");
            format!("too-open {path}: its mode is 644; 600 keeps it private => can: take the rights of others")
        })
        .collect();
    assert_eq!(agent.look(), want);
    agent.fix();
    assert_eq!(agent.look(), NOTHING);
}
