//! Inputs that broke other tools, on files: growth, memory, and writes that do not arrive.
#![cfg(all(target_os = "linux", feature = "file", feature = "memory"))]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::fs::{self, File};
use std::io::Write;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use session_context::listing::{ListingOptions, Scope, list_sessions};
use session_context::{
    ContextOptions, LeafChoice, NameSource, SessionManager, SessionOptions, SessionReader,
};
use session_model::DiagnosticCode as Code;
use session_model::storage::{SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey};
use session_store_file::FileStorage;
use session_store_memory::{MemoryStorage, When};
use support::store::{A, HEADER, KEY, all, answer, codes, content, ids, key, put, user};
use support::{block_on, options, shared};
use tempfile::TempDir;

/// Set in another process: the directory it works in.
const ROOT: &str = "PITFALLS_TEST_ROOT";

/// An agent directory with one session.
fn agent(file: impl AsRef<[u8]>) -> (TempDir, Arc<dyn SessionStorage>, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let storage: Arc<dyn SessionStorage> = Arc::new(FileStorage::open(dir.path()).unwrap());
    let path = dir.path().join(KEY);
    block_on(storage.put(&key(), file.as_ref().to_vec().into(), Default::default())).unwrap();
    (dir, storage, path)
}

async fn opened(storage: &Arc<dyn SessionStorage>, prefix: &'static str) -> SessionManager {
    SessionManager::open(storage.clone(), key(), "/w", options(prefix)).await.unwrap()
}

/// Runs one of the tests here in another process, and returns what it says behind `said: `.
fn in_other_process(role: &str, root: &Path) -> String {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", role, "--nocapture"])
        .env(ROOT, root)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let said = text.lines().find_map(|line| line.split_once("said: ").map(|said| said.1));
    said.unwrap_or_else(|| panic!("{text}{}", String::from_utf8_lossy(&output.stderr))).to_owned()
}

fn all_sessions() -> Scope {
    Scope::All(StorageKey::new("sessions").unwrap())
}

fn root() -> Option<PathBuf> {
    std::env::var_os(ROOT).map(PathBuf::from)
}

#[test]
fn a_session_grows_by_what_is_appended_and_no_more() {
    block_on(async {
        let (_dir, storage, path) = agent(format!("{HEADER}\n{A}\n"));
        let mut session = opened(&storage, "").await;
        let (mut size, mut inode) = (fs::metadata(&path).unwrap().len(), None);
        for n in 0..50 {
            session.append_message(user(&format!("{n:04}"))).await.unwrap();
            let meta = fs::metadata(&path).unwrap();
            let line = session.entries().last().unwrap().line().len() as u64;
            assert_eq!(meta.len(), size + line);
            assert_eq!(*inode.get_or_insert(meta.ino()), meta.ino(), "the file was written anew");
            size = meta.len();
        }
        session.close().await.unwrap();
        let after = fs::metadata(&path).unwrap();
        assert_eq!((after.len(), Some(after.ino())), (size, inode), "closing wrote");
    });
}

/// Says the most memory it had after building the context of the session, less what it had before.
#[test]
fn memory_of_a_load() {
    let Some(root) = root() else { return };
    let high_water = || -> u64 {
        let status = fs::read_to_string("/proc/self/status").unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
        line.trim().strip_suffix(" kB").unwrap().parse::<u64>().unwrap() * 1024
    };
    block_on(async {
        let storage: Arc<dyn SessionStorage> = Arc::new(FileStorage::open(root).unwrap());
        let before = high_water();
        let session = opened(&storage, "").await;
        let messages = session.build_session_context().messages.len();
        session.close().await.unwrap();
        println!("said: {messages} {}", high_water() - before);
    });
}

/// The messages in the context of a session of these lines, and the memory it took by its size.
fn loaded_elsewhere(lines: impl Iterator<Item = String>) -> (String, f64) {
    let (dir, _storage, path) = agent(format!("{HEADER}\n"));
    let mut file = std::io::BufWriter::new(File::options().append(true).open(&path).unwrap());
    lines.for_each(|line| writeln!(file, "{line}").unwrap());
    file.into_inner().unwrap();
    let said = in_other_process("memory_of_a_load", dir.path());
    let (messages, memory) = said.split_once(' ').unwrap();
    let size = fs::metadata(path).unwrap().len();
    (messages.to_owned(), memory.parse::<f64>().unwrap() / size as f64)
}

#[test]
fn superseded_compactions_are_not_held_decoded() {
    let history = r#"{"type":"message","role":"user","content":"begin"},"#.repeat(20_000);
    let compaction = |n: u32| {
        format!(
            r#"{{"type":"compaction","id":"c{n}","parentId":"a","timestamp":"2026-03-01T09:00:02Z","summary":"summary {n}","firstKeptEntryId":"a","tokensBefore":1,"preserveData":{{"history":[{history}null]}}}}"#
        )
    };
    let lines = [A.to_owned()].into_iter().chain((0..60).map(compaction));
    let (messages, memory) = loaded_elsewhere(lines);
    assert_eq!(messages, "2");
    assert!(memory < 1.5, "{memory} times the size of the file");
}

#[test]
fn loading_takes_little_more_memory_than_the_file_has() {
    let text = "words of an ordinary record, ".repeat(40);
    let line = |n: u32| {
        format!(
            r#"{{"type":"message","id":"{n:08x}","parentId":"{:08x}","timestamp":"2026-03-01T09:00:02Z","message":{{"role":"user","content":"{text}"}}}}"#,
            n - 1
        )
    };
    let (messages, memory) = loaded_elsewhere((1..50_000).map(line));
    assert_eq!(messages, "49999");
    assert!(memory < 2.0, "{memory} times the size of the file");
}

/// Appends a prompt and ends without closing anything.
#[test]
fn prompt_and_abort() {
    let Some(root) = root() else { return };
    block_on(async {
        let storage: Arc<dyn SessionStorage> = Arc::new(FileStorage::open(root).unwrap());
        let new = session_context::NewSession::in_cwd("/w/app");
        let create = SessionManager::create(storage, new, SessionOptions::default());
        let mut session = create.await.unwrap();
        assert!(!session.is_on_disk());
        session.append_message(user("please migrate the schema")).await.unwrap();
        session.ensure_on_disk().await.unwrap();
        assert!(session.session_file().unwrap().exists());
        println!("\nsaid: {}", session.key());
        std::process::abort();
    });
}

#[test]
fn a_prompt_is_in_the_file_before_the_first_answer() {
    let dir = tempfile::tempdir().unwrap();
    let name = in_other_process("prompt_and_abort", dir.path());
    let file = fs::read_to_string(dir.path().join(&name)).unwrap();
    let has = |kind: &str| file.lines().any(|line| line.contains(&format!("\"type\":\"{kind}\"")));
    assert!(has("session") && has("message"), "{file}");
    assert!(file.lines().last().unwrap().contains("please migrate the schema"));
    let storage = FileStorage::open(dir.path()).unwrap();
    let rows =
        block_on(list_sessions(&storage, &all_sessions(), ListingOptions::default())).unwrap();
    let keys: Vec<_> = rows.iter().map(|row| row.key.to_string()).collect();
    assert_eq!(keys, [name]);
}

#[test]
fn ten_turns_are_there_though_the_file_is_replaced_or_its_folder_goes_after_five() {
    type Strike = fn(&Path);
    let strikes: [(&str, Strike); 4] = [
        ("replaced by a copy", |path| {
            let copy = path.with_extension("copy");
            fs::copy(path, &copy).unwrap();
            fs::rename(copy, path).unwrap();
        }),
        ("replaced by an older copy", |path| {
            let text = fs::read_to_string(path).unwrap();
            let older: String = text.split_inclusive('\n').take(4).collect();
            let copy = path.with_extension("copy");
            fs::write(&copy, older).unwrap();
            fs::rename(copy, path).unwrap();
        }),
        ("removed", |path| fs::remove_file(path).unwrap()),
        ("folder moved away", |path| {
            fs::rename(path.parent().unwrap(), path.with_file_name("../moved")).unwrap();
        }),
    ];
    for (what, strike) in strikes {
        block_on(async {
            let (_dir, storage, path) = agent(format!("{HEADER}\n{A}\n"));
            let mut session = opened(&storage, "").await;
            let mut told = false;
            for turn in 0..10 {
                if turn == 5 {
                    strike(&path);
                }
                told |= session.append_message(user(&format!("turn {turn}"))).await.is_err();
                told |= session.append_message(answer("done")).await.is_err();
                assert_eq!(session.persistence_error().is_some(), told, "{what}");
            }
            let kept = ids(&session);
            assert_eq!(kept.len(), 21);
            told |= session.close().await.is_err();
            assert!(!told, "{what}: could be saved");
            assert_eq!(ids(&opened(&storage, "x").await), kept, "{what}");
        });
    }
}

#[test]
fn a_full_disk_is_told_at_once_and_leaves_no_fused_record() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session =
            SessionManager::open(shared(&storage), key(), "/w", options("")).await.unwrap();
        storage
            .faults()
            .overwrite(&key(), Some(format!("{HEADER}\n{A}\n{{\"type\":\"mess").into()))
            .unwrap();
        storage.faults().fail_at(0, When::Before, StorageErrorKind::Full);
        assert!(session.append_message(user("not saved")).await.is_err());
        assert!(session.persistence_error().is_some());
        storage.faults().clear();
        session.save_again().await.unwrap();
        session.append_message(user("saved")).await.unwrap();
        let kept = ids(&session);
        session.close().await.unwrap();
        let again =
            SessionManager::open(shared(&storage), key(), "/w", options("x")).await.unwrap();
        assert_eq!((ids(&again), codes(&again)), (kept, vec![]));
    });
}

#[test]
fn an_attachment_over_the_limit_is_left_out_and_its_turn_can_be_dropped() {
    let image = "A".repeat(8 << 20);
    let poisoned = format!(
        r#"{{"type":"message","id":"p","parentId":"a","timestamp":"2026-03-01T09:00:01Z","message":{{"role":"user","content":[{{"type":"text","text":"see"}},{{"type":"image","data":"{image}","mimeType":"image/png"}}]}}}}"#
    );
    let failed = r#"{"type":"message","id":"f","parentId":"p","timestamp":"2026-03-01T09:00:02Z","message":{"role":"assistant","content":[{"type":"text","text":"400 image too large"}],"stopReason":"error"}}"#;
    block_on(async {
        let (_dir, storage, path) = agent(format!("{HEADER}\n{A}\n{poisoned}\n{failed}\n"));
        let mut session = opened(&storage, "").await;
        let mut limited = ContextOptions::default();
        limited.safety.max_attachment_bytes = Some(5 << 20);
        let context = session.session_context(LeafChoice::Current, &limited);
        let sent: Vec<_> = context.messages.iter().map(|m| m.json().to_string()).collect();
        assert_eq!(
            sent[1],
            r#"{"role":"user","content":[{"type":"text","text":"see"},{"type":"text","text":"[image/png left out: 8388608 bytes, more than the limit of 5242880]"}]}"#
        );
        session.branch("a").unwrap();
        session.append_message(user("without it")).await.unwrap();
        session.close().await.unwrap();
        let session = opened(&storage, "x").await;
        let entries: Vec<_> = session
            .build_session_context()
            .messages
            .iter()
            .map(|m| m.entry_id().unwrap().to_owned())
            .collect();
        assert_eq!(entries, ["a", "00000001"]);
        assert!(fs::read_to_string(path).unwrap().contains(&poisoned), "it is in the file still");
    });
}

#[test]
fn a_byte_order_mark_and_bad_files_do_not_hide_sessions() {
    block_on(async {
        let file = format!("\u{feff}{HEADER}\r\n{A}\r\n");
        let (dir, storage, path) = agent(&file);
        let folder = path.parent().unwrap();
        fs::write(folder.join("bad.jsonl"), "\u{feff}none").unwrap();
        fs::write(folder.join("zeros.jsonl"), [0; 4096]).unwrap();
        fs::create_dir(folder.join("folder.jsonl")).unwrap();
        let rows =
            list_sessions(&*storage, &all_sessions(), ListingOptions::default()).await.unwrap();
        let mut names: Vec<_> =
            rows.iter().map(|row| (row.key.file_name(), row.summary.is_ok())).collect();
        names.sort_unstable();
        assert_eq!(names, [("bad.jsonl", false), ("s.jsonl", true), ("zeros.jsonl", false)]);
        let mut session = opened(&storage, "").await;
        assert_eq!((ids(&session), codes(&session)), (vec!["a".into()], vec![Code::ByteOrderMark]));
        session.append_message(user("more")).await.unwrap();
        assert!(session.set_session_name("named", NameSource::User).await.unwrap());
        assert_eq!(codes(&session), [Code::ByteOrderMark]);
        session.close().await.unwrap();
        let file = fs::read_to_string(path).unwrap();
        assert!(file.starts_with("{\"type\":\"session\""), "{file}");
        let session = opened(&storage, "x").await;
        assert_eq!(ids(&session), ["a", "00000001", "00000002"]);
        assert_eq!(session.session_name().as_deref(), Some("named"));
        drop(dir);
    });
}

#[test]
fn looking_never_migrates_and_a_migration_is_whole_or_not_at_all() {
    let v2 = format!(
        "{}\n{}\n",
        HEADER.replace("\"version\":3", "\"version\":2"),
        A.replace("\"role\":\"user\"", "\"role\":\"hookMessage\"")
    );
    let v1 = "{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"message\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}\n".to_owned();
    let v99 = format!("{}\n{A}\n", HEADER.replace("\"version\":3", "\"version\":99"));
    for old in [&v1, &v2, &v99] {
        block_on(async {
            let storage = MemoryStorage::new();
            put(&storage, old);
            let before = all(&storage);
            list_sessions(&storage, &all_sessions(), ListingOptions::default()).await.unwrap();
            SessionReader::new(shared(&storage), key()).load().await.unwrap();
            let only = SessionManager::open_read_only(shared(&storage), key(), options(""));
            drop(only.await.unwrap());
            assert_eq!(all(&storage), before);
        });
    }
    for old in [v1, v2] {
        block_on(async {
            for nth in 0.. {
                let storage = MemoryStorage::new();
                put(&storage, &old);
                storage.faults().fail_at(nth, When::Before, StorageErrorKind::Full);
                let open = SessionManager::open(shared(&storage), key(), "/w", options(""));
                let opened = open.await;
                let fired = storage.faults().fired();
                storage.faults().clear();
                let file = content(&storage, &key()).unwrap();
                if let Ok(session) = opened {
                    session.close().await.unwrap();
                }
                let now = content(&storage, &key()).unwrap();
                let is_new = |file: &str| {
                    file.contains("\"version\":3") && file.lines().count() == old.lines().count()
                };
                assert!(file == old || is_new(&file), "fault {nth}: {file}");
                if !fired {
                    assert!(is_new(&now), "{now}");
                    break;
                }
            }
        });
    }
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &v99);
        let open = SessionManager::open(shared(&storage), key(), "/w", options("")).await.unwrap();
        assert!(open.read_only_reason().is_some());
        open.close().await.unwrap();
        assert_eq!(content(&storage, &key()), Some(v99));
        assert!(storage.exists(&key()).await.unwrap());
    });
}
