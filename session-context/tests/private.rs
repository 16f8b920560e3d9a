//! Files are for their owner alone, whatever the umask.
//!
//! Under umask 000 a file has the mode it was made with.
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

#[cfg(feature = "cli")]
#[path = "support/shipped.rs"]
mod shipped;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use session_context::doctor::{DoctorOptions, examine};
use session_context::{NameSource, NewSession, SessionManager, SessionOptions};
use session_model::message::Message;
use session_model::storage::{PutOptions, SessionStorage, StorageKey};
use session_store_file::FileStorage;

/// Set in the process that lives under another umask.
const ROOT: &str = "PRIVATE_TEST_ROOT";

#[test]
fn everything_made_is_private_under_any_umask() {
    for umask in ["000", "022", "077", "277"] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("deep/agent");
        let script = format!("umask {umask}; exec \"$0\" --exact a_whole_life --nocapture");
        let output = Command::new("sh")
            .args(["-c", &script])
            .arg(std::env::current_exe().unwrap())
            .env(ROOT, &root)
            .output()
            .unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let mut kinds = Vec::new();
        walk(&dir.path().join("deep"), &mut kinds);
        for kind in ["jsonl", "lock", "log", "torn", "damaged", "blob", "crumb", "trash"] {
            assert!(kinds.iter().any(|name| name.contains(kind)), "no {kind} under {umask}");
        }
    }
}

fn walk(path: &Path, names: &mut Vec<String>) {
    let meta = path.symlink_metadata().unwrap();
    let mode = meta.permissions().mode() & 0o7777;
    let right = if meta.is_dir() { 0o700 } else { 0o600 };
    assert_eq!(mode, right, "{} has mode {mode:o}", path.display());
    names.push(path.display().to_string());
    if meta.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            walk(&entry.unwrap().path(), names);
        }
    }
}

#[cfg(feature = "cli")]
#[test]
fn everything_the_command_makes_is_private_under_any_umask() {
    for umask in ["000", "022", "077", "277"] {
        let dir = tempfile::tempdir().unwrap();
        let root = dir.path().join("deep/agent");
        let run = |args: &[&str]| {
            let output = Command::new("sh")
                .args(["-c", &format!("umask {umask}; exec \"$0\" \"$@\"")])
                .arg(shipped::sessionctl())
                .args(args)
                .current_dir(dir.path())
                .output()
                .unwrap();
            let told = String::from_utf8_lossy(&output.stderr).into_owned();
            // 5: something was repaired.
            assert!(matches!(output.status.code(), Some(0 | 5)), "{args:?} under {umask}: {told}");
        };
        let session = "deep/agent/sessions/--w--/s.jsonl";
        let file = dir.path().join(session);
        let add = |name: &str, text: &str| {
            let mut file = File::options().append(true).create(true).open(name).unwrap();
            file.write_all(text.as_bytes()).unwrap();
            file.set_modified(SystemTime::now() - Duration::from_secs(30 * 24 * 60 * 60)).unwrap();
            file.set_permissions(fs::Permissions::from_mode(0o600)).unwrap();
        };
        let add_in = |name: &str, text: &str| add(root.join(name).to_str().unwrap(), text);
        let image = format!(
            r#"{{"role":"user","content":[{{"type":"image","mimeType":"image/png","data":"{}"}}]}}"#,
            "AAAA".repeat(400)
        );
        run(&["append", "--create", session, "--text", "hello"]);
        run(&["append", session, &image]);
        let text = fs::read_to_string(&file).unwrap();
        let id = text.rsplit_once("\"id\":\"").unwrap().1.split('"').next().unwrap();
        run(&["label", session, id, "here"]);
        add(file.to_str().unwrap(), "{\"type\":");
        run(&["append", session, "--text", "behind a torn line"]);
        add(file.to_str().unwrap(), "damaged\n");
        add_in("sessions/--w--/.~gone.jsonl.0badcafe.tmp", "half");
        add_in(&format!("blobs/{}", session_model::BlobRef::of(b"unused").to_hex()), "unused");
        run(&["doctor", "--fix", "deep/agent"]);
        let old = text.replace("\"version\":3", "\"version\":2");
        assert_ne!(old, text);
        add_in("sessions/--w--/old.jsonl", &old);
        run(&["migrate", "deep/agent/sessions/--w--/old.jsonl"]);
        run(&["branch", session, id]);
        run(&["gc", "--store", "deep/agent", "--apply"]);
        run(&["gc", "--store", "deep/agent", "--purge", "--apply"]);
        run(&["artifacts", session]);
        let mut names = Vec::new();
        walk(&dir.path().join("deep"), &mut names);
        for kind in [".lock", ".torn-", ".damaged-", "/blobs/", "/trash/blobs/", "/trash/doctor-"] {
            assert!(names.iter().any(|name| name.contains(kind)), "no {kind} under {umask}");
        }
    }
}

/// Makes every kind of file there is; does nothing unless started by the test above.
#[test]
fn a_whole_life() {
    let Some(root) = std::env::var_os(ROOT) else { return };
    pollster::block_on(async {
        let storage: Arc<dyn SessionStorage> = Arc::new(FileStorage::open(&root).unwrap());
        let options = || SessionOptions::default().eager();
        let new = NewSession::in_cwd("/w");
        let mut session = SessionManager::create(storage.clone(), new, options()).await.unwrap();
        session.append_message(Message::user("hello", 1)).await.unwrap();
        session.set_session_name("name", NameSource::User).await.unwrap();
        let artifacts = session.artifacts().unwrap();
        artifacts.save("bash", "output").await.unwrap();
        let child = session.child_session("agent").unwrap();
        let child = SessionManager::create(storage.clone(), child, options()).await.unwrap();
        child.close().await.unwrap();
        let key = session.key().clone();
        let path = session.session_file().unwrap();
        session.close().await.unwrap();

        let put = |key: &str| {
            let (storage, key) = (storage.clone(), StorageKey::new(key).unwrap());
            async move { storage.put(&key, "x".into(), PutOptions::default()).await.unwrap() }
        };
        put("blobs/blob").await;
        put("terminal-sessions/crumb").await;

        // A writer that dies in the middle of a temporary file and a record.
        let torn = |text: &str| {
            let mut file = File::options().append(true).open(&path).unwrap();
            file.write_all(text.as_bytes()).unwrap();
        };
        torn("{\"type\":");
        SessionManager::open(storage.clone(), key.clone(), "/w", options()).await.unwrap();
        torn("damaged\n{\"type\":");
        let leftover = path.with_file_name(".~gone.jsonl.0badcafe.tmp");
        fs::write(&leftover, "half").unwrap();
        fs::set_permissions(&leftover, fs::Permissions::from_mode(0o644)).unwrap();
        for _ in 0..2 {
            examine(&storage, &DoctorOptions::default().fix(), &mut |_, _| {}).await.unwrap();
        }
    });
}
