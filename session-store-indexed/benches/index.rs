//! Figures of the index, all measured in one run: appends beside it, lists, single paths, and how
//! fast it catches up. `SESSION_BENCH_MIB` sets the size of the large session; default: 256.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::fmt::Write;
use std::sync::Arc;
use std::time::{Duration, Instant};

use pollster::block_on;
use session_model::storage::{AppendOptions, SessionStorage, StorageKey};
use session_store_file::FileStorage;
use session_store_indexed::index::{IndexOptions, SessionFilter};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};

const SESSIONS: usize = 10_000;
const APPENDS: usize = 20_000;

fn main() {
    let mib: usize = std::env::var("SESSION_BENCH_MIB").map_or(256, |mib| mib.parse().unwrap());
    appends();
    list();
    large(mib);
}

fn entry(id: usize, parent: Option<usize>, bytes: usize) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent:08x}\""));
    format!(
        "{{\"type\":\"message\",\"id\":\"{id:08x}\",\"parentId\":{parent},\
         \"timestamp\":\"2026-01-01T00:00:05.000Z\",\
         \"message\":{{\"role\":\"toolResult\",\"content\":\"{}\"}}}}\n",
        "text ".repeat(bytes / 5)
    )
}

fn header(id: usize) -> String {
    format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s{id}\",\"cwd\":\"/w\"}}\n")
}

fn open(root: &std::path::Path) -> IndexedStorage {
    let files = Arc::new(FileStorage::open(root).unwrap());
    IndexedStorage::open(files, root.join(INDEX_FILE), IndexOptions::default()).unwrap()
}

/// Returns the median time of an append of 1 KB.
fn append(storage: &dyn SessionStorage, name: &str) -> Duration {
    let key = StorageKey::new(format!("sessions/b/{name}.jsonl")).unwrap();
    let mut writer = block_on(storage.open_append(&key, AppendOptions::exclusive("x"))).unwrap();
    block_on(writer.append(header(0).into())).unwrap();
    let mut times: Vec<_> = (0..APPENDS)
        .map(|id| {
            let line = entry(id, id.checked_sub(1), 1000).into();
            let start = Instant::now();
            block_on(writer.append(line)).unwrap();
            start.elapsed()
        })
        .collect();
    times.sort();
    times[APPENDS / 2]
}

fn appends() {
    let dir = tempfile::tempdir().unwrap();
    let plain = FileStorage::open(dir.path()).unwrap();
    let indexed = open(dir.path());
    for round in 1..=3 {
        let without = append(&plain, &format!("plain{round}"));
        let with = append(&indexed, &format!("indexed{round}"));
        println!("append 1 KB, median of {APPENDS}: file {without:?}, with the index {with:?}");
    }
}

fn list() {
    let dir = tempfile::tempdir().unwrap();
    for id in 0..SESSIONS {
        let folder = dir.path().join(format!("sessions/b{}", id % 50));
        std::fs::create_dir_all(&folder).unwrap();
        let text = header(id) + &entry(0, None, 1000);
        std::fs::write(folder.join(format!("{id}.jsonl")), text).unwrap();
    }
    let start = Instant::now();
    let storage = open(dir.path());
    storage.catch_up(|_| {}).unwrap();
    println!("index {SESSIONS} small sessions: {:?}", start.elapsed());
    let mut times: Vec<_> = (0..9)
        .map(|_| {
            let start = Instant::now();
            assert_eq!(storage.sessions(&SessionFilter::default()).unwrap().len(), SESSIONS);
            start.elapsed()
        })
        .collect();
    times.sort();
    println!("list {SESSIONS} sessions from the index, median: {:?}", times[4]);
    let start = Instant::now();
    storage.compare(|_| {}).unwrap();
    println!("compare {SESSIONS} unchanged sessions with their files: {:?}", start.elapsed());
}

/// A session of branches of 100 entries of 4 KB each.
fn large(mib: usize) {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("sessions/b")).unwrap();
    let mut text = header(0);
    let mut id = 0;
    while text.len() < mib << 20 {
        let parent = (id % 100 != 0).then(|| id - 1);
        text.write_str(&entry(id, parent, 4000)).unwrap();
        id += 1;
    }
    std::fs::write(dir.path().join("sessions/b/large.jsonl"), &text).unwrap();
    let start = Instant::now();
    let storage = open(dir.path());
    storage.catch_up(|_| {}).unwrap();
    let took = start.elapsed();
    let rate = text.len() as f64 / took.as_secs_f64() / 1e6;
    println!("catch up with {mib} MiB of {id} entries: {took:?}, {rate:.0} MB/s");
    let key = StorageKey::new("sessions/b/large.jsonl").unwrap();
    let leaf = format!("{:08x}", (id / 200) * 100 + 99);
    let start = Instant::now();
    let path = block_on(storage.path(&key, Some(&leaf))).unwrap();
    assert_eq!((path.entries.len(), path.read_whole), (100, false));
    println!("open a path of {} entries in it: {:?}", path.entries.len(), start.elapsed());
}
