//! Operations on whole sessions in a process that is killed at some point.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

#[path = "support/shipped.rs"]
mod shipped;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};

use session_context::operations::{list_trash, restore_session};
use session_context::{SessionManager, SessionOptions};
use session_model::storage::{SessionStorage, StorageKey};
use session_store_file::FileStorage;
use shipped::sessionctl;
use support::block_on;
use support::store::{A, HEADER};

const ARTIFACTS: usize = 4;

/// How often each operation is killed, evenly over the time it takes.
const KILLS: u32 = 12;

fn prepare(root: &Path) -> String {
    let sessions = root.join("sessions/--w--");
    fs::create_dir_all(sessions.join("s")).unwrap();
    let file = format!("{HEADER}\n{A}\n");
    fs::write(sessions.join("s.jsonl"), &file).unwrap();
    for n in 0..ARTIFACTS {
        fs::write(sessions.join(format!("s/{n}.bash.log")), n.to_string()).unwrap();
    }
    fs::create_dir_all(root.join("project")).unwrap();
    file
}

/// The session files below a directory.
fn sessions(root: &Path) -> Vec<PathBuf> {
    let (mut found, mut open) = (Vec::new(), vec![root.to_owned()]);
    while let Some(dir) = open.pop() {
        for path in fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path()) {
            if path.is_dir() {
                open.push(path);
            } else if path.file_name().unwrap() == "s.jsonl" {
                found.push(path);
            }
        }
    }
    found
}

fn is_whole(session: &Path, entries: &str) {
    let text = fs::read_to_string(session).unwrap();
    assert_eq!(text.split_once('\n').unwrap().1, entries, "{}", session.display());
    for n in 0..ARTIFACTS {
        let artifact = session.with_extension("").join(format!("{n}.bash.log"));
        assert_eq!(fs::read_to_string(artifact).unwrap(), n.to_string());
    }
}

/// Runs a command and kills it after so long; returns how long it ran.
fn killed_after(root: &Path, args: &[&str], after: Duration) -> Duration {
    let mut child = Command::new(sessionctl())
        .args(["--store", root.to_str().unwrap()])
        .args(args)
        .current_dir(root)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let begun = Instant::now();
    while begun.elapsed() < after {
        if let Some(status) = child.try_wait().unwrap() {
            assert!(status.success(), "{args:?}");
            return begun.elapsed();
        }
        std::thread::yield_now();
    }
    child.kill().unwrap();
    child.wait().unwrap();
    begun.elapsed()
}

#[test]
fn a_killed_process_leaves_the_session_whole_at_one_place() {
    for args in [&["mv", "s", "project"][..], &["rm", "s"], &["fork", "s"]] {
        let dir = tempfile::tempdir().unwrap();
        prepare(dir.path());
        let whole = killed_after(dir.path(), args, Duration::MAX);
        for step in 0..KILLS {
            let dir = tempfile::tempdir().unwrap();
            let root = dir.path().canonicalize().unwrap();
            let file = prepare(&root);
            let entries = file.split_once('\n').unwrap().1;
            killed_after(&root, args, whole * step / KILLS);
            let found = sessions(&root);
            let [session] = &found[..] else { panic!("{args:?} {step}: {found:?}") };
            is_whole(session, entries);
            let storage: Arc<dyn SessionStorage> = Arc::new(FileStorage::open(&root).unwrap());
            // Nobody holds it, it opens, and what was deleted comes back.
            let key = session.strip_prefix(&root).unwrap().to_str().unwrap();
            if key.starts_with("trash/") {
                let trash = block_on(list_trash(&*storage)).unwrap();
                block_on(restore_session(&storage, &trash[0])).unwrap();
                is_whole(&root.join("sessions/--w--/s.jsonl"), entries);
                continue;
            }
            let key = StorageKey::new(key).unwrap();
            let options = SessionOptions::default();
            block_on(async {
                let session = SessionManager::open(storage, key, "/w", options).await.unwrap();
                session.close().await.unwrap();
            });
        }
    }
}
