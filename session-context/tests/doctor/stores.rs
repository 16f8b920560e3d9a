//! What lies around sessions: other sessions, artifacts, blobs.

use std::fs::File;
use std::time::{Duration, SystemTime};

use session_model::BlobRef;

use crate::support::{Agent, HEADER, SESSION, entry};

fn digest(bytes: &[u8]) -> String {
    BlobRef::of(bytes).to_hex()
}

/// The time of the clock that stands.
fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_millis(crate::support::NOW_MS)
}

#[test]
fn ids_names_and_buckets() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    agent.write("sessions/--w-app--/2026-03-01T09-00-00-000Z_other.jsonl", format!("{HEADER}\n"));
    let shared = HEADER.replace("s-0001", "x").replace("/w/app", "/w-app");
    agent.write("sessions/--w-app--/x.jsonl", format!("{shared}\n"));
    let home = HEADER.replace("s-0001", "y").replace("/w/app", "/home/sam/app");
    agent.write("sessions/-app/y.jsonl", format!("{home}\n"));
    agent.write("sessions/--elsewhere--/z.jsonl", format!("{}\n", home.replace("\"y\"", "\"z\"")));
    let keep = "you: keep one of them, and move the others elsewhere or fork them";
    let other = "sessions/--w-app--/2026-03-01T09-00-00-000Z_other.jsonl";
    let mut found = agent.look();
    found.sort();
    assert_eq!(
        found,
        [
            "other-bucket sessions/--elsewhere--/z.jsonl: it works in /home/sam/app, whose bucket is --home-sam-app--; lists find it by its header".to_owned(),
            format!("other-name {other}: its header has the id \"s-0001\", which holds"),
            "shared-bucket sessions/--w-app--: it holds sessions of /w-app, /w/app; headers tell them apart".to_owned(),
            format!("shared-id S: its id is that of {other} too => {keep}"),
            format!("shared-id {other}: its id is that of {SESSION} too => {keep}"),
        ]
    );
}

#[test]
fn artifacts_and_blobs() {
    let (used, unused) = (digest(b"used"), digest(b"unused"));
    let (missing, damaged) = (digest(b"missing"), digest(b"damaged"));
    let images = [&used, &missing, &damaged].map(|digest| {
        format!(r#"{{"type":"image","mimeType":"image/png","data":"blob:sha256:{digest}"}}"#)
    });
    let content = format!("[{}]", images.join(","));
    let line = entry("a", "", "images").replace("\"images\"", &content);
    let agent = Agent::with(SESSION, format!("{HEADER}\n{line}\n"));
    let folder = SESSION.strip_suffix(".jsonl").unwrap();
    for name in ["0.bash.log", "1.bash.log", "1.read.log", "notes.txt"] {
        agent.write(&format!("{folder}/{name}"), "x");
    }
    agent.write("sessions/--w-app--/gone/0.bash.log", "x");
    agent.write(&format!("blobs/{used}"), "used");
    let young = digest(b"young");
    for (digest, content, age) in [(&unused, "unused", 8), (&young, "young", 6)] {
        let name = format!("blobs/{digest}");
        agent.write(&name, content);
        let file = File::options().append(true).open(agent.path().join(name)).unwrap();
        file.set_modified(now() - Duration::from_secs(age * 24 * 60 * 60)).unwrap();
    }
    agent.write(&format!("blobs/{damaged}"), "");
    agent.write("blobs/readme", "");
    let mut found = agent.look();
    found.sort();
    let mut want = [
        format!("shared-number {folder}: 1.bash.log, 1.read.log share the number 1; the first is found by it"),
        format!("stray-artifact {folder}/notes.txt: it lies among artifacts and has no number; it goes where they go"),
        "orphaned-artifacts sessions/--w-app--/gone: 1 files are artifacts of sessions/--w-app--/gone.jsonl, which is not there => you: bring the session back from the trash or a backup, or move them away".to_owned(),
        format!("missing-blob S: blob:sha256:{missing} is missing; look for it in the trash, or in another agent directory => you: bring the blob back from the trash or a backup"),
        format!("damaged-blob blobs/{damaged}: blob:sha256:{damaged} is damaged: it has 0 bytes of other content; it was left as it is => you: bring it back from a backup"),
        "stray-blob blobs/readme: its name is not that of a blob => you: move it elsewhere".to_owned(),
        format!("unused-blob blobs/{unused}: nothing refers to it; `sessionctl gc` collects such"),
    ];
    want.sort();
    assert_eq!(found, want);
}
