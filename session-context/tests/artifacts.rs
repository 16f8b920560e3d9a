//! Artifacts: numbers across processes, copies, and the tree of child sessions.
#![allow(clippy::unwrap_used, reason = "tests")]

use std::sync::Arc;
use std::thread;

use session_context::artifacts::{Artifacts, child_sessions};
use session_context::listing::{ListingOptions, Scope, list_sessions};
use session_context::{SessionError, SessionManager, SessionOptions};
use session_model::storage::{
    AppendOptions, PutOptions, SessionStorage, SessionStorageExt, StorageErrorKind, StorageKey,
};
use session_store_file::FileStorage;
use session_store_memory::MemoryStorage;

fn key(text: &str) -> StorageKey {
    StorageKey::new(text).unwrap()
}

fn names(artifacts: &Artifacts) -> Vec<String> {
    let found = pollster::block_on(artifacts.list()).unwrap();
    found.iter().map(|meta| meta.key.file_name().to_owned()).collect()
}

#[test]
fn no_two_stores_get_the_same_number() {
    let dir = tempfile::tempdir().unwrap();
    let claim = |tool: &'static str| {
        let storage = Arc::new(FileStorage::open(dir.path()).unwrap());
        let artifacts = Artifacts::of(storage, &key("s.jsonl")).unwrap();
        thread::spawn(move || {
            let claim = || pollster::block_on(artifacts.allocate(tool)).unwrap().number;
            (0..25).map(|_| claim()).collect::<Vec<u64>>()
        })
    };
    let claims = ["bash", "read", "bash", "python"].map(claim);
    let mut numbers: Vec<u64> = claims.into_iter().flat_map(|c| c.join().unwrap()).collect();
    numbers.sort_unstable();
    let all = numbers.clone();
    numbers.dedup();
    assert_eq!(numbers, all, "a number was given twice");
    assert_eq!(all.len(), 100);
}

#[test]
fn a_copy_takes_everything_along_and_tells_what_stayed() {
    pollster::block_on(async {
        let storage = Arc::new(MemoryStorage::new());
        let from = Artifacts::of(storage.clone(), &key("b/s.jsonl")).unwrap();
        let to = Artifacts::of(storage.clone(), &key("b/t.jsonl")).unwrap();
        from.save("bash", "one").await.unwrap();
        from.save("../x", "two").await.unwrap();
        for (name, text) in [("b/s/agent.jsonl", "child"), ("b/s/agent/0.bash.log", "deep")] {
            storage.put(&key(name), text.into(), PutOptions::default()).await.unwrap();
        }
        to.save("bash", "kept").await.unwrap();
        let copied = from.copy_to(&to).await;
        let done: Vec<_> = copied.done.iter().map(StorageKey::as_str).collect();
        assert_eq!(done, ["b/t/1.___x.log", "b/t/agent.jsonl", "b/t/agent/0.bash.log"]);
        let failed: Vec<_> = copied.failed.iter().map(|e| (e.kind(), e.key().cloned())).collect();
        assert_eq!(failed, [(StorageErrorKind::AlreadyExists, Some(key("b/t/0.bash.log")))]);
        assert_eq!(to.get("0").await.unwrap().as_deref(), Some(&b"kept"[..]));
        assert_eq!(names(&from), ["0.bash.log", "1.___x.log"]);

        let moved = Artifacts::of(storage.clone(), &key("c/u.jsonl")).unwrap();
        assert_eq!(from.move_to(&moved).await.done.len(), 4);
        assert_eq!(names(&from), [] as [&str; 0]);
        assert_eq!(moved.get("1").await.unwrap().as_deref(), Some(&b"two"[..]));
        let child = storage.read_all(&key("c/u/agent/0.bash.log")).await.unwrap().1;
        assert_eq!(&child[..], b"deep");

        let held = key("c/u/agent.jsonl");
        let writer = storage.open_append(&held, AppendOptions::exclusive("x")).await.unwrap();
        let busy = moved.remove_all().await.unwrap_err();
        assert_eq!(busy.storage_error().unwrap().kind(), StorageErrorKind::Busy);
        writer.close().await.unwrap();
        assert_eq!(moved.remove_all().await.unwrap(), 4);
    });
}

#[test]
fn child_sessions_are_a_tree_and_no_rows_of_their_own() {
    pollster::block_on(async {
        let storage: Arc<dyn SessionStorage> = Arc::new(MemoryStorage::new());
        let options = || SessionOptions::default().eager();
        let new = session_context::NewSession::in_cwd("/w").bucket(key("sessions/--w--"));
        let top = SessionManager::create(storage.clone(), new.file_name("top.jsonl"), options());
        let top = top.await.unwrap();
        let mut made = Vec::new();
        for agent in ["B", "A", "A-x"] {
            let new = top.child_session(agent).unwrap();
            let child = SessionManager::create(storage.clone(), new, options()).await.unwrap();
            let parent = child.header().parent_session();
            assert_eq!(parent.as_deref(), Some(&*top.session_id()));
            made.push(child);
        }
        let deep = made[1].child_session("A1").unwrap();
        SessionManager::create(storage.clone(), deep, options()).await.unwrap();

        let rows = child_sessions(&*storage, top.key()).await.unwrap();
        let rows: Vec<_> =
            rows.iter().map(|c| (c.depth, c.key.as_str(), c.parent.file_name())).collect();
        let below = "sessions/--w--/top";
        let want = [
            (1, format!("{below}/A.jsonl"), "top.jsonl"),
            (2, format!("{below}/A/A1.jsonl"), "A.jsonl"),
            (1, format!("{below}/A-x.jsonl"), "top.jsonl"),
            (1, format!("{below}/B.jsonl"), "top.jsonl"),
        ];
        assert_eq!(rows, want.each_ref().map(|(depth, key, parent)| (*depth, &**key, *parent)));

        let scope = Scope::All(key("sessions"));
        let listed = list_sessions(&*storage, &scope, ListingOptions::default()).await.unwrap();
        let listed: Vec<_> = listed.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(listed, ["sessions/--w--/top.jsonl"]);

        let refused = top.child_session("../A");
        assert!(matches!(refused, Err(SessionError::InvalidAgent { agent }) if agent == "../A"));
    });
}
