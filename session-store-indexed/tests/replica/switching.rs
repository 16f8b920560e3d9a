//! From plain files to an index and a remote, and back: no byte of any file changes.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;
use std::sync::Arc;

use pollster::block_on;
use session_model::storage::SessionStorage;
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::remote::Digest;
use session_store_indexed::replica::{Cursor, Replica};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};
use tempfile::TempDir;

use super::host::*;

/// Digest, mode and time of every file.
fn files(dir: &Path) -> BTreeMap<String, (Digest, u32, std::time::SystemTime)> {
    let mut found = BTreeMap::new();
    let mut left = vec![dir.to_owned()];
    while let Some(next) = left.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                left.push(path);
                continue;
            }
            let meta = fs::metadata(&path).unwrap();
            let name = path.strip_prefix(dir).unwrap().to_str().unwrap().to_owned();
            let digest = Digest::of(&fs::read(&path).unwrap());
            found.insert(name, (digest, meta.permissions().mode(), meta.modified().unwrap()));
        }
    }
    found
}

#[test]
fn an_agent_directory_is_indexed_shared_and_plain_again_without_a_changed_byte() {
    let dir = TempDir::new().unwrap();
    let write = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    };
    let plain = header() + &line("a", "one");
    write("sessions/b/2026-01-01T00-00-00-000Z_s.jsonl", plain.as_bytes());
    write("sessions/b/2026-01-01T00-00-00-000Z_s/1.bash.log", b"out");
    write("sessions/b/2026-01-01T00-00-00-000Z_s/agent.jsonl", plain.as_bytes());
    write("sessions/b/torn.jsonl", (plain.clone() + "{\"type\":\"mess").as_bytes());
    write("sessions/b/unended.jsonl", plain.trim_end().as_bytes());
    write("sessions/b/damaged.jsonl", b"\xff\x00 no session\r\n");
    write("sessions/b/crlf.jsonl", plain.replace('\n', "\r\n").as_bytes());
    write("sessions/b/old.jsonl", b"{\"type\":\"session\",\"id\":\"old\"}\n{\"type\":\"x\"}\n");
    write("sessions/b/empty.jsonl", b"");
    write("blobs/0000", b"picture");
    write("terminal-sessions/tty", b"/w\n/f\n");
    write("settings.json", b"{}");
    let before = files(dir.path());

    let plain_files = Arc::new(FileStorage::open(dir.path()).unwrap());
    let database = dir.path().join(INDEX_FILE);
    let storage =
        IndexedStorage::open(Arc::clone(&plain_files) as _, database, IndexOptions::default());
    let storage = Arc::new(storage.unwrap());
    storage.compare(|_| {}).unwrap();
    let stats = storage.stats().unwrap();
    assert_eq!((stats.sessions, stats.problems), (5, 2));
    let remote = fake();
    let replica = Replica::new(Arc::clone(&storage), remote as _, "host");
    for session in storage.sessions(&Default::default()).unwrap() {
        block_on(replica.pull(&session.key)).unwrap();
    }
    block_on(replica.follow(&mut Cursor::all())).unwrap();
    drop((replica, storage));

    let mut after = files(dir.path());
    after.retain(|name, _| !name.starts_with(INDEX_FILE));
    assert_eq!(after, before);
    let key = key("sessions/b/2026-01-01T00-00-00-000Z_s.jsonl");
    assert_eq!(block_on(plain_files.head(&key)).unwrap().size, plain.len() as u64);
}
