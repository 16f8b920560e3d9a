//! Blobs: shown, verified, cleaned up.

use std::fs::{self, File};
use std::time::{Duration, SystemTime};

use session_model::Blob;
use session_model::persisted::encode_base64;

use crate::support::{Dir, json, session};

const SESSION: &str = "agent/sessions/--w-app--/s.jsonl";

fn message(data: &str) -> String {
    format!(
        r#"{{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:00:01Z","message":{{"role":"user","content":[{{"type":"image","data":"{data}","mimeType":"image/png"}}]}}}}"#
    )
}

/// Puts a blob as old as a month.
fn put(dir: &Dir, bytes: &'static str) -> Blob {
    let blob = Blob::new(bytes);
    let name = format!("agent/blobs/{}", blob.id().to_hex());
    dir.write(&name, bytes);
    let file = File::options().append(true).open(dir.path().join(name)).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(30 * 24 * 60 * 60)).unwrap();
    blob
}

#[test]
fn a_session_named_by_path_shows_the_images_of_its_agent() {
    let dir = Dir::new();
    let blob = put(&dir, "pixels");
    dir.write(SESSION, session(&[&message(&blob.id().to_string())]));
    let data = format!("\"data\":\"{}\"", encode_base64(b"pixels"));
    for command in ["show", "context", "context --llm", "show --entry a"] {
        let out = dir.run(&format!("{command} {SESSION} --json")).quiet();
        assert!(out.contains(&data), "{command}: {out}");
    }
    dir.run(&format!("verify {SESSION}")).quiet();
}

#[test]
fn missing_and_damaged_blobs_are_losses() {
    let dir = Dir::new();
    let blob = put(&dir, "pixels");
    dir.write(SESSION, session(&[&message(&blob.id().to_string())]));
    let name = format!("agent/blobs/{}", blob.id().to_hex());
    dir.write(&name, "pixelz");
    let run = dir.run(&format!("verify {SESSION}"));
    assert!(run.code == Some(3) && run.out.contains("loss: damaged-blob: "), "{run:?}");
    fs::remove_file(dir.path().join(name)).unwrap();
    let run = dir.run("verify agent/sessions");
    assert!(run.code == Some(3) && run.out.contains("loss: missing-blob: "), "{run:?}");
    let run = dir.run(&format!("show {SESSION} --json"));
    assert!(run.code == Some(0) && run.err.contains("missing-blob"), "{run:?}");
    assert!(run.out.contains(&blob.id().to_string()));
}

#[test]
fn gc_spares_what_sessions_elsewhere_use_and_moves_the_rest() {
    let dir = Dir::new();
    let (used, far, unused) = (put(&dir, "used"), put(&dir, "far"), put(&dir, "unused"));
    dir.write(SESSION, session(&[&message(&used.id().to_string())]));
    dir.write("elsewhere/s.jsonl", session(&[&message(&far.id().to_string())]));
    let before = dir.snapshot();
    let note = "note: nothing was changed; --apply moves unused blobs to the trash\n";
    let out = dir.run("gc --store agent --also elsewhere").telling(note);
    let want = format!(
        "unused {} (6 bytes)\n1 unused blob of 6 bytes, 2 in use, 0 too young to tell; 2 files looked through\n",
        unused.id().to_hex()
    );
    assert_eq!(out, want);
    assert_eq!(dir.snapshot(), before);

    let young = dir.run("gc --store agent --also elsewhere --grace 60 --json").quiet();
    assert_eq!(json(&young).field("young").unwrap().as_i64(), Some(1));

    let out = dir.run("gc --agent-dir agent --also elsewhere --apply --json").quiet();
    let moved = json(&out).field("moved").unwrap().as_array().unwrap();
    let [moved] = moved.items() else { panic!("{out}") };
    let to = moved.field("to").unwrap();
    assert_eq!(dir.read(&format!("agent/{}", to.as_text().unwrap())), "unused");
    for blob in [used, far] {
        dir.read(&format!("agent/blobs/{}", blob.id().to_hex()));
    }
    let left = fs::read_dir(dir.path().join("agent/blobs")).unwrap().count();
    assert_eq!(left, 2);
}

#[test]
fn only_a_purge_deletes_and_only_what_is_old_in_the_trash_and_unused() {
    let dir = Dir::new();
    let in_trash = |time: &str, bytes: &'static str| {
        let name = format!("agent/trash/blobs/{time}/{}", Blob::new(bytes).id().to_hex());
        dir.write(&name, bytes);
        name
    };
    let used = in_trash("2026-01-01T00-00-00-000Z", "used");
    let unused = in_trash("2026-01-01T00-00-00-000Z", "unused");
    let not_ours = in_trash("mine", "not ours");
    dir.write(SESSION, session(&[&message(&Blob::new("used").id().to_string())]));
    put(&dir, "fresh");
    dir.run("gc --store agent --apply").quiet();
    let before = dir.snapshot();
    let note = "note: nothing was changed; --apply deletes unused blobs from the trash for good\n";
    let out = dir.run("gc --store agent --purge").telling(note);
    let hex = Blob::new("unused").id().to_hex();
    assert_eq!(
        out,
        format!(
            "unused {hex} (6 bytes)\n1 unused blob of 6 bytes, 1 in use, 1 not long enough in the trash; 2 files looked through\n"
        )
    );
    let now = dir.run("gc --store agent --purge --older-than 0 --json").quiet();
    assert_eq!(json(&now).field("unused").unwrap().as_array().unwrap().items().len(), 2);
    assert_eq!(dir.snapshot(), before);

    let out = dir.run("gc --store agent --purge --older-than 30 --apply --json").quiet();
    let from = unused.strip_prefix("agent/").unwrap();
    let deleted = json(&out).field("deleted").unwrap();
    assert_eq!(deleted.as_str(), format!(r#"[{{"blob":"{hex}","from":"{from}"}}]"#));
    let left = dir.snapshot().len();
    assert_eq!(left, before.len() - 1, "one file went");
    assert!(!dir.path().join(unused).exists());
    assert_eq!((dir.read(&used), dir.read(&not_ours)), ("used".into(), "not ours".into()));
    let run = dir.run("gc --store agent --older-than 30");
    assert_eq!(run.code, Some(2), "only with --purge: {run:?}");
}

#[cfg(unix)]
#[test]
fn gc_moves_nothing_when_a_folder_of_sessions_is_a_link() {
    let dir = Dir::new();
    let blob = put(&dir, "linked");
    dir.write("elsewhere/s.jsonl", session(&[&message(&blob.id().to_string())]));
    std::os::unix::fs::symlink(dir.path().join("elsewhere"), dir.path().join("agent/sessions"))
        .unwrap();
    let run = dir.run("gc --store agent --apply");
    let why = "error: not everything could be looked through, so nothing was moved\n";
    assert!(run.code == Some(1) && run.err.ends_with(why), "{run:?}");
    dir.read(&format!("agent/blobs/{}", blob.id().to_hex()));
}
