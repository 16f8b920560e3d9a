//! Figures of the index beside their limits, all measured in one run: appends, lists, single paths,
//! and how fast it catches up. `cargo bench -p session-store-indexed --bench index -- append list large`
//! runs some of it; `SESSION_BENCH_MIB` sets the size of the large session; default: 500.
//!
//! Where it says so, times are those of the processors: other work on the machine does not count.
#![allow(clippy::unwrap_used, clippy::print_stdout, unreachable_pub)]

mod figures;

use std::fs::File;
use std::io::Read;
use std::path::Path;
use std::sync::Arc;

use figures::{append, best, entry, header, megabytes_per_second, micros, millis, row, timed};
use pollster::block_on;
use rusqlite::Connection;
use session_model::layout::SESSIONS_DIR;
use session_model::storage::{ListOptions, SessionStorageExt, StorageKey};
use session_store_file::FileStorage;
use session_store_indexed::index::{IndexOptions, SessionFilter, Summaries};
use session_store_indexed::publish::PublishOptions;
use session_store_indexed::remote::{FakeFaults, FakeRemote};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};

const SESSIONS: usize = 10_000;
const APPENDS: usize = 20_000;

fn main() {
    let mib: usize = std::env::var("SESSION_BENCH_MIB").map_or(500, |mib| mib.parse().unwrap());
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let wanted = |part: &str| args.is_empty() || args.iter().any(|arg| arg == part);
    if wanted("append") {
        appends();
    }
    if wanted("list") {
        list();
    }
    if wanted("large") {
        large(mib, 4096);
        large(mib, 2048);
        large(mib, 1024);
    }
}

fn open(root: &Path) -> IndexedStorage {
    let files = Arc::new(FileStorage::open(root).unwrap());
    IndexedStorage::open(files, root.join(INDEX_FILE), IndexOptions::default()).unwrap()
}

/// With an outbox that nobody empties.
fn open_with_outbox(root: &Path) -> IndexedStorage {
    let files = Arc::new(FileStorage::open(root).unwrap());
    let remote = Arc::new(FakeRemote::new(FakeFaults::default(), 10));
    let (path, options) = (root.join(INDEX_FILE), IndexOptions::default());
    let publish = PublishOptions::default();
    IndexedStorage::open_with_publisher(files, path, options, remote, publish).unwrap().0
}

fn appends() {
    println!("an append of 1 KB, the median of {APPENDS}; best of three rounds");
    let dirs = [(); 3].map(|()| tempfile::tempdir().unwrap());
    let plain = FileStorage::open(dirs[0].path()).unwrap();
    let indexed = open(dirs[1].path());
    let outbox = open_with_outbox(dirs[2].path());
    let mut rounds = Vec::new();
    for round in 0..3 {
        let name = format!("round{round}");
        rounds.push([
            append(&plain, &name, APPENDS, || {}),
            append(&indexed, &name, APPENDS, || indexed.catch_up(|_| {}).unwrap()),
            append(&outbox, &name, APPENDS, || outbox.catch_up(|_| {}).unwrap()),
        ]);
    }
    let [file, index, outbox] = [0, 1, 2].map(|kind| {
        let times = rounds.iter().map(|round| round[kind]);
        (times.clone().map(|time| time.0).min().unwrap(), times.map(|time| time.1).min().unwrap())
    });
    row("to the file", micros(file.0), "");
    let more = |time| format!("{} more; at most 10", micros(time - file.0.min(time)));
    row("with the index", micros(index.0), &more(index.0));
    row("with the index and an outbox", micros(outbox.0), &more(outbox.0));
    println!("\nprocessor time of an append, with all that is done for it in the background");
    row("to the file", micros(file.1), "");
    row("with the index", micros(index.1), "");
    row("with the index and an outbox", micros(outbox.1), "");
}

fn list() {
    println!("\na list of {SESSIONS} sessions, in time of processors");
    let dir = tempfile::tempdir().unwrap();
    let long_ago = std::time::SystemTime::now() - std::time::Duration::from_secs(60);
    for id in 0..SESSIONS {
        let folder = dir.path().join(format!("sessions/b{}", id % 50));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join(format!("{id}.jsonl"));
        std::fs::write(&path, header(id) + &entry(0, None, 1000)).unwrap();
        File::options().write(true).open(path).unwrap().set_modified(long_ago).unwrap();
    }
    let (storage, _, cpu) = timed(|| {
        let storage = open(dir.path());
        storage.catch_up(|_| {}).unwrap();
        storage
    });
    row("making the index", millis(cpu), "");
    let sessions = || storage.sessions(&SessionFilter::default()).unwrap();
    assert_eq!(sessions().len(), SESSIONS);
    row("from the index", millis(best(9, sessions)), "at most 20");
    let files = FileStorage::open(dir.path()).unwrap();
    let prefix = StorageKey::new(SESSIONS_DIR).unwrap();
    let states = || block_on(files.list_all(Some(&prefix), ListOptions::default())).0;
    let metas = states();
    let metas: Vec<_> = metas.iter().collect();
    let database = dir.path().join(INDEX_FILE);
    let summaries =
        || Summaries::open(&database, IndexOptions::default()).unwrap().find(&metas).unwrap();
    assert!(summaries().iter().all(Option::is_some));
    row("whole summaries from the index", millis(best(9, summaries)), "at most 20");
    row("names and states of the files alone", millis(best(9, states)), "");
    row("a bare stat of each file", millis(best(9, || stats(dir.path()))), "");
    row("comparing the index with the files", millis(best(3, || storage.compare(|_| {}))), "");
}

fn stats(root: &Path) -> u64 {
    let folders = std::fs::read_dir(root.join("sessions")).unwrap();
    let files = folders.flat_map(|folder| std::fs::read_dir(folder.unwrap().path()).unwrap());
    files.map(|file| file.unwrap().metadata().unwrap().len()).sum()
}

/// A session of branches of 100 entries.
fn large(mib: usize, bytes: usize) {
    println!("\na session of {mib} MiB in entries of {bytes} bytes");
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(dir.path().join("sessions/b")).unwrap();
    let mut text = header(0);
    let mut count = 0;
    while text.len() < mib << 20 {
        let parent = (count % 100 != 0).then(|| count - 1);
        text.push_str(&entry(count, parent, bytes));
        count += 1;
    }
    let (path, size) = (dir.path().join("sessions/b/large.jsonl"), text.len());
    std::fs::write(&path, text).unwrap();
    let (storage, took, cpu) = timed(|| {
        let storage = open(dir.path());
        storage.catch_up(|_| {}).unwrap();
        storage
    });
    row("catching up", megabytes_per_second(size, cpu), "at least 500 in time of processors");
    row("", megabytes_per_second(size, took), "by the clock");
    let mut buffer = vec![0; 8 << 20];
    let read = best(3, || {
        let mut file = File::open(&path).unwrap();
        while file.read(&mut buffer).unwrap() > 0 {}
    });
    row("reading the file alone", megabytes_per_second(size, read), "");
    let (_, _, cpu) = timed(|| insert(dir.path(), count));
    row("inserting its rows alone", megabytes_per_second(size, cpu), "");
    let key = StorageKey::new("sessions/b/large.jsonl").unwrap();
    let leaf = format!("{:08x}", (count / 200) * 100 + 99);
    let path = || block_on(storage.path(&key, Some(&leaf))).unwrap();
    assert_eq!((path().entries.len(), path().read_whole), (100, false));
    row("a path of 100 entries in it", millis(best(9, path)), "at most 20");
}

/// Writes rows as the index does, and nothing else.
fn insert(directory: &Path, count: usize) {
    let mut connection = Connection::open(directory.join("bare.db")).unwrap();
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL;
             CREATE TABLE entry (session INTEGER NOT NULL, ordinal INTEGER NOT NULL, id TEXT,
                 parent INTEGER, type TEXT NOT NULL, offset INTEGER NOT NULL,
                 length INTEGER NOT NULL, PRIMARY KEY (session, ordinal)) WITHOUT ROWID;
             CREATE UNIQUE INDEX entry_id ON entry(session, id);",
        )
        .unwrap();
    let transaction = connection.transaction().unwrap();
    let mut insert =
        transaction.prepare("INSERT INTO entry VALUES (1, ?, ?, ?, 'message', ?, 1024)").unwrap();
    for id in 0..count as i64 {
        insert.execute((id, format!("{id:08x}"), id, id * 1024)).unwrap();
    }
    drop(insert);
    transaction.commit().unwrap();
}
