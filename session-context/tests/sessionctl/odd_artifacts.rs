//! Pipes and links among the artifacts of a session: every command goes on, and tells what it left.

use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};

use rustix::fs::{CWD, FileType, Mode, mknodat};
use session_model::Blob;

use crate::support::{Dir, Run, session};

const BUCKET: &str = "agent/sessions/--w-app--";
const PIPE: &str = "could not list sessions/--w-app--/one/1.bash.log: what lies there is neither a file nor a directory";
const PACKED: &str =
    "note: sessions are packed to the byte, with all secrets in them (--redact hides them)\n";

/// A session of two branches with an artifact and, beside that, a pipe.
fn agent() -> Dir {
    let dir = Dir::new();
    let entry = |id: &str| {
        format!(
            r#"{{"type":"message","id":"{id}","parentId":null,"message":{{"role":"user","content":"hi"}}}}"#
        )
    };
    dir.write(&format!("{BUCKET}/one.jsonl"), session(&[&entry("a"), &entry("b")]));
    dir.write(&format!("{BUCKET}/one/0.bash.log"), "log");
    let pipe = dir.path().join(BUCKET).join("one/1.bash.log");
    mknodat(CWD, pipe, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    dir
}

fn run(dir: &Dir, args: &str) -> Run {
    dir.run(&format!("--store agent {args}"))
}

#[track_caller]
fn is_pipe(dir: &Dir) {
    let pipe = dir.path().join(BUCKET).join("one/1.bash.log");
    assert!(pipe.symlink_metadata().unwrap().file_type().is_fifo());
}

#[test]
fn a_copy_is_made_without_it() {
    for command in ["fork s-0001", "branch-out s-0001 a"] {
        let dir = agent();
        let out = run(&dir, command)
            .telling(&format!("warning: artifact-left-behind: not copied: {PIPE}\n"));
        let copy = out.trim().strip_suffix(".jsonl").unwrap();
        assert_eq!(fs::read_to_string(format!("{copy}/0.bash.log")).unwrap(), "log", "{command}");
        assert_eq!(fs::read_dir(copy).unwrap().count(), 1, "{command}");
        is_pipe(&dir);
    }
}

#[test]
fn artifacts_are_listed_without_it() {
    let dir = agent();
    let out = run(&dir, "artifacts s-0001").telling(&format!("warning: left out: {PIPE}\n"));
    assert_eq!(out, "           3  0.bash.log\n");
}

#[test]
fn a_bundle_is_made_without_it() {
    let dir = agent();
    let told = format!("warning: artifact-left-behind: not packed: {PIPE}\n{PACKED}");
    run(&dir, "pack s-0001 -o a.tar.gz").telling(&told);
    dir.run("unpack a.tar.gz --into new").quiet();
    assert_eq!(dir.read("new/sessions/--w-app--/one/0.bash.log"), "log");
    is_pipe(&dir);
}

#[test]
fn a_session_moves_without_it() {
    let dir = agent();
    fs::create_dir(dir.path().join("other")).unwrap();
    let out = run(&dir, "mv s-0001 other")
        .telling(&format!("warning: artifact-left-behind: it stays where it was: {PIPE}\n"));
    let stem = out.trim().strip_suffix(".jsonl").unwrap();
    assert_eq!(fs::read_to_string(format!("{stem}/0.bash.log")).unwrap(), "log");
    assert!(!dir.path().join(BUCKET).join("one/0.bash.log").exists());
    is_pipe(&dir);
}

#[test]
fn a_session_goes_to_the_trash_and_back_without_it() {
    let dir = agent();
    let told = format!("warning: an artifact stays where it was: {PIPE}\n");
    let out = run(&dir, "rm s-0001").telling(&told);
    let stem = out.trim().strip_suffix(".jsonl").unwrap().to_owned();
    assert_eq!(fs::read_to_string(format!("{stem}/0.bash.log")).unwrap(), "log");
    // Nothing is left to be finished: what is no file never goes.
    assert!(!fs::exists(format!("{stem}/../unfinished.json")).unwrap());
    is_pipe(&dir);
    run(&dir, "restore s-0001").quiet();
    assert_eq!(dir.read(&format!("{BUCKET}/one/0.bash.log")), "log");
    is_pipe(&dir);
    run(&dir, "rm s-0001 --forever").telling(&told);
    assert!(!dir.path().join(BUCKET).join("one.jsonl").exists());
    is_pipe(&dir);
}

#[test]
fn a_clean_up_passes_over_a_pipe_and_stops_at_a_link() {
    let dir = agent();
    let blob = Blob::new("unused");
    let name = format!("agent/blobs/{}", blob.id().to_hex());
    dir.write(&name, "unused");
    let long_ago = std::time::SystemTime::UNIX_EPOCH + std::time::Duration::from_secs(1 << 30);
    let file = fs::File::options().append(true).open(dir.path().join(&name)).unwrap();
    file.set_modified(long_ago).unwrap();
    // A link may lead to a session that names the blob.
    symlink("/etc/hostname", dir.path().join(BUCKET).join("one/link")).unwrap();
    let refused = run(&dir, "gc --apply");
    assert_eq!(refused.code, Some(1));
    let link = "could not list sessions/--w-app--/one/link: a symbolic link is in the way, and links are not followed";
    let told = format!(
        "warning: {PIPE}\nwarning: {link}\nerror: not everything could be looked through, so nothing was moved\n"
    );
    assert_eq!(refused.err, told);
    assert!(dir.path().join(&name).exists());
    fs::remove_file(dir.path().join(BUCKET).join("one/link")).unwrap();
    run(&dir, "gc --apply").telling(&format!("warning: {PIPE}\n"));
    assert!(!dir.path().join(&name).exists());
}

#[test]
fn an_artifact_that_cannot_be_read_is_no_pipe() {
    let dir = agent();
    let path = dir.path().join(BUCKET).join("one/0.bash.log");
    fs::set_permissions(&path, std::os::unix::fs::PermissionsExt::from_mode(0o000)).unwrap();
    let run = dir.run_restricted("--store agent pack s-0001 -o a.tar.gz");
    assert_eq!(run.code, Some(1), "{}", run.err);
    assert!(run.err.contains("could not read sessions/--w-app--/one/0.bash.log"), "{}", run.err);
    assert_eq!(dir.names(), ["agent"], "a bundle that lacks something is not made");
}
