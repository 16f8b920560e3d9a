//! A list of many small sessions, with an index beside them and without.

use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pollster::block_on;
use session_context::listing::{ListingOptions, Scope, list_sessions};
use session_model::layout::SESSIONS_DIR;
use session_model::storage::{ListOptions, SessionStorageExt, StorageKey};
use session_store_file::FileStorage;
use session_store_indexed::index::IndexOptions;
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};

use crate::{best, generate, row};

const MANY: usize = 10_000;

pub(crate) fn run(dir: &Path) {
    println!("\na list of {MANY} sessions of an agent directory");
    let root = dir.join("agent");
    let sample = dir.join("sample.jsonl");
    generate::write(&sample, 10);
    let long_ago = SystemTime::now() - Duration::from_secs(60);
    for n in 0..MANY {
        let folder = root.join(format!("{SESSIONS_DIR}/b{}", n % 50));
        std::fs::create_dir_all(&folder).unwrap();
        let file = folder.join(format!("{n}.jsonl"));
        std::fs::copy(&sample, &file).unwrap();
        std::fs::File::options().write(true).open(file).unwrap().set_modified(long_ago).unwrap();
    }
    let storage = Arc::new(FileStorage::open(&root).unwrap());
    let prefix = StorageKey::new(SESSIONS_DIR).unwrap();
    let scope = Scope::All(prefix.clone());
    let list = || {
        let rows = block_on(list_sessions(&*storage, &scope, ListingOptions::default())).unwrap();
        assert!(rows.len() == MANY && rows.iter().all(|row| row.summary.is_ok()));
        rows
    };
    let without = best(5, list);
    let indexed =
        IndexedStorage::open(storage.clone(), root.join(INDEX_FILE), IndexOptions::default());
    indexed.unwrap().compare(|_| {}).unwrap();
    let with = best(10, list);
    let states = || block_on(storage.list_all(Some(&prefix), ListOptions::default())).0;
    let millis = |time: Duration| format!("{:.1} ms", time.as_secs_f64() * 1e3);
    row("without the index", millis(without), "");
    row("with the index", millis(with), "");
    row("names and states of the files alone", millis(best(10, states)), "part of both");
}
