//! `sessionctl` killed while it takes whole sessions elsewhere, copies or names them.

use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use crate::calls::{Case, STORE, kill, plain, told};
use crate::session::{A, B, BULK, HEADER, only_private_files};
use crate::shipped::sessionctl;

const C: &str = r#"{"type":"custom","customType":"x","id":"c","parentId":"a","timestamp":"2026-01-01T00:00:03.000Z"}"#;
const BUCKET: &str = "sessions/--w--";
const TRASHED: &str = "trash/2026-01-15T09-30-00-000Z_s";
/// What goes along with the session, behind its name without `.jsonl`.
const ALONG: [(&str, &str); 3] = [
    ("/0.bash.log", "log"),
    ("/agent.jsonl", "{\"type\":\"session\",\"version\":3,\"id\":\"child\"}\n"),
    (".jsonl.torn-2026-01-01T00-00-00-000Z", "{\"torn"),
];

fn entries() -> String {
    format!("{A}\n{}{B}\n{C}\n", *BULK)
}

/// The files of a session in a folder.
fn session_in(folder: &str) -> Vec<(String, String)> {
    let file = (format!("{folder}/s.jsonl"), format!("{HEADER}\n{}", entries()));
    let along = ALONG.map(|(name, text)| (format!("{folder}/s{name}"), text.to_owned()));
    [file].into_iter().chain(along).collect()
}

/// A store of a session in a bucket, and another one.
fn store() -> Vec<(String, String)> {
    let mut files = session_in(BUCKET);
    let other = HEADER.replace("\"id\":\"s\"", "\"id\":\"other\"");
    files.push((format!("{BUCKET}/t.jsonl"), other + "\n"));
    files
}

/// All files below a directory, by their paths in it.
fn files(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(dir).into_iter().flatten().map(|entry| entry.unwrap().path()) {
            if path.is_dir() { open.push(path) } else { found.push(path) }
        }
    }
    found.sort();
    found
}

/// Finds the one file of the session and makes sure that all of it is there; returns its folder.
fn the_one(store: &Path, what: &str) -> PathBuf {
    let found: Vec<_> =
        files(store).into_iter().filter(|path| path.file_name().unwrap() == "s.jsonl").collect();
    let [file] = &found[..] else { panic!("{what}: {found:?}") };
    let text = fs::read_to_string(file).unwrap();
    assert_eq!(text.split_once('\n').unwrap().1, entries(), "{what}");
    let stem = file.with_extension("");
    for (name, content) in ALONG {
        let path = format!("{}{name}", stem.display());
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some(content), "{what}: {path}");
    }
    file.parent().unwrap().to_owned()
}

/// Makes sure that nothing that goes along with the session is anywhere but there.
fn nothing_elsewhere(store: &Path, folder: &Path, what: &str) {
    let is_along = |path: &PathBuf| {
        let name = path.to_string_lossy();
        ALONG.iter().any(|(along, _)| name.ends_with(&format!("/s{along}")))
    };
    let strays: Vec<_> = files(store)
        .into_iter()
        .filter(|path| is_along(path) && !path.starts_with(folder))
        .collect();
    assert!(strays.is_empty(), "{what}: {strays:?}");
}

/// Runs a command that has to work.
fn works(store: &Path, args: &[&str], what: &str) -> String {
    let output = plain(store, args);
    assert!(output.status.success(), "{what}: {args:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

/// Makes sure that no file that was being written is left, in whatever directory: the command that
/// came next took it away.
fn no_temporary_files(store: &Path, what: &str) {
    let name = |path: &PathBuf| path.file_name().unwrap().to_string_lossy().into_owned();
    let is_left = |path: &PathBuf| name(path).starts_with(".~") && name(path).ends_with(".tmp");
    let left: Vec<_> = files(store).into_iter().filter(is_left).collect();
    assert!(left.is_empty(), "{what}: {left:?}");
}

/// Mends what a death may have left, and makes sure that nothing of it stays among the sessions.
fn mended(store: &Path, what: &str) {
    let output = plain(store, &["doctor", "--fix", STORE]);
    // Artifacts that were copied for a file which never came are the user's to look at.
    assert!(matches!(output.status.code(), Some(0 | 3 | 5)), "{what}: {output:?}");
    only_private_files(&store.join("sessions"), what);
}

pub fn mv() -> String {
    let args = ["mv", "--agent-dir", STORE, "s", "/"];
    let check = |store: &Path, output: &Output, what: &str| {
        let folder = the_one(store, what);
        let moved = folder.ends_with("sessions/----");
        assert!(moved || !output.status.success(), "{what}: it is at {}", folder.display());
        works(store, &args, what);
        no_temporary_files(store, what);
        let folder = the_one(store, what);
        assert!(folder.ends_with("sessions/----"), "{what}: {}", folder.display());
        nothing_elsewhere(store, &folder, what);
        mended(store, what);
    };
    told([kill(&Case { files: store(), args: &args, check: &check })])
}

pub fn rm() -> String {
    let args = ["rm", "--agent-dir", STORE, "s"];
    let check = |store: &Path, output: &Output, what: &str| {
        if the_one(store, what).ends_with(BUCKET) {
            assert!(!output.status.success(), "{what}: it is not in the trash");
            works(store, &args, what);
        } else {
            // Whoever comes next finishes it.
            works(store, &["rm", "--agent-dir", STORE, "other"], what);
        }
        no_temporary_files(store, what);
        let folder = the_one(store, what);
        assert!(folder.starts_with(store.join("trash")), "{what}: {}", folder.display());
        nothing_elsewhere(store, &folder, what);
        works(store, &["restore", "--agent-dir", STORE, "s"], what);
        let folder = the_one(store, what);
        assert!(folder.ends_with(BUCKET), "{what}");
        nothing_elsewhere(store, &folder, what);
        mended(store, what);
    };
    told([kill(&Case { files: store(), args: &args, check: &check })])
}

pub fn restore() -> String {
    let args = ["restore", "--agent-dir", STORE, "s"];
    let mut files = session_in(TRASHED);
    let origin = format!(r#"{{"from":"{BUCKET}/s.jsonl","deletedAt":"2026-01-15T09:30:00.000Z"}}"#);
    files.push((format!("{TRASHED}/origin.json"), origin));
    let check = |store: &Path, output: &Output, what: &str| {
        if !the_one(store, what).ends_with(BUCKET) {
            assert!(!output.status.success(), "{what}: it is in the trash");
            works(store, &args, what);
            no_temporary_files(store, what);
        }
        mended(store, what);
        let folder = the_one(store, what);
        assert!(folder.ends_with(BUCKET), "{what}");
        nothing_elsewhere(store, &folder, what);
        let listed = works(store, &["restore", "--agent-dir", STORE, "--json"], what);
        assert_eq!(listed, "[]", "{what}");
    };
    told([kill(&Case { files, args: &args, check: &check })])
}

/// The session files in the bucket but that of the session itself.
fn copies(store: &Path, want: &str, what: &str) -> Vec<PathBuf> {
    let all = files(&store.join(BUCKET));
    let is_copy = |path: &PathBuf| {
        let name = path.file_name().unwrap().to_str().unwrap();
        path.parent() == Some(&store.join(BUCKET))
            && name.ends_with(".jsonl")
            && !matches!(name, "s.jsonl" | "t.jsonl")
    };
    let copies: Vec<_> = all.into_iter().filter(is_copy).collect();
    for copy in &copies {
        let text = fs::read_to_string(copy).unwrap();
        assert_eq!(text.split_once('\n').map(|(_, rest)| rest), Some(want), "{what}");
    }
    copies
}

fn has_its_artifacts(copy: &Path, what: &str) {
    for (name, content) in &ALONG[..2] {
        let path = format!("{}{name}", copy.with_extension("").display());
        assert_eq!(fs::read_to_string(&path).ok().as_deref(), Some(*content), "{what}: {path}");
    }
}

fn copying(args: &[&str], want: &str) -> String {
    let check = |store: &Path, output: &Output, what: &str| {
        assert!(the_one(store, what).ends_with(BUCKET), "{what}");
        let before = copies(store, want, what);
        assert!(before.len() <= 1, "{what}: {before:?}");
        // Artifacts that cannot be copied are told of; the copy is made all the same.
        if !String::from_utf8_lossy(&output.stderr).contains("artifact-left-behind") {
            before.iter().for_each(|copy| has_its_artifacts(copy, what));
        }
        if output.status.success() {
            let printed = String::from_utf8_lossy(&output.stdout);
            assert_eq!(before, [PathBuf::from(printed.trim())], "{what}");
        }
        let again = PathBuf::from(works(store, args, what));
        no_temporary_files(store, what);
        let after = copies(store, want, what);
        assert!(after.contains(&again) && after.len() == before.len() + 1, "{what}: {after:?}");
        has_its_artifacts(&again, what);
        mended(store, what);
        assert!(the_one(store, what).ends_with(BUCKET), "{what}");
    };
    told([kill(&Case { files: store(), args, check: &check })])
}

pub fn fork() -> String {
    copying(&["fork", "--agent-dir", STORE, "s"], &entries())
}

pub fn branch_out() -> String {
    copying(&["branch-out", "--agent-dir", STORE, "s", "b"], &format!("{A}\n{B}\n"))
}

/// A large copy in a process that has less memory than the file has bytes.
pub fn large_fork() -> String {
    const SIZE: u64 = 192 << 20;
    let dir = tempfile::tempdir().unwrap();
    let bucket = dir.path().join(BUCKET);
    fs::create_dir_all(&bucket).unwrap();
    let mut file = fs::File::create(bucket.join("s.jsonl")).unwrap();
    file.write_all(format!("{HEADER}\n").as_bytes()).unwrap();
    // A hole stands for what is not read.
    file.seek(SeekFrom::Start(SIZE)).unwrap();
    file.write_all(b"\n").unwrap();
    let script = format!("ulimit -v {}; exec \"$0\" \"$@\"", SIZE / 1024 / 2);
    let mut command = Command::new("sh");
    command.args(["-c", &script]).arg(sessionctl());
    command.args(["fork", "--agent-dir", dir.path().to_str().unwrap(), "s"]);
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let copy = fs::metadata(String::from_utf8_lossy(&output.stdout).trim()).unwrap();
    assert!(copy.len() > SIZE, "{}", copy.len());
    format!("{} MiB copied in half the memory", SIZE >> 20)
}

/// A command that adds one entry, and may change the header.
fn adding(args: &[&str], kind: &str) -> String {
    let check = |store: &Path, output: &Output, what: &str| {
        let added = || {
            let text = fs::read_to_string(store.join(BUCKET).join("s.jsonl")).unwrap();
            let rest = text.split_once('\n').unwrap().1.to_owned();
            let new = rest.strip_prefix(&entries()).unwrap_or_else(|| panic!("{what}: {text}"));
            let new: Vec<_> = new.lines().map(str::to_owned).collect();
            assert!(new.iter().all(|line| line.contains(kind) && line.ends_with('}')), "{what}");
            new.len()
        };
        let done = added();
        assert!(done <= 1 && (done == 1 || !output.status.success()), "{what}: {done}");
        works(store, args, what);
        no_temporary_files(store, what);
        assert!((1..=done + 1).contains(&added()), "{what}");
        mended(store, what);
        assert!(added() >= 1, "{what}");
    };
    told([kill(&Case { files: store(), args, check: &check })])
}

pub fn rename() -> String {
    adding(&["rename", "--agent-dir", STORE, "s", "A new name"], r#""type":"title_change""#)
}

pub fn archive() -> String {
    adding(&["archive", "--agent-dir", STORE, "s", "b"], r#""type":"archive""#)
}
