//! Lists of many sessions, and of very large ones.

use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use session_context::listing::{ListingOptions, Place, Scope, SessionCatalog, list_sessions};
use session_store_file::FileStorage;

use crate::{best, generate, mib, row};

/// Sessions of about 200 KB.
const MANY: u32 = 2000;

/// Sessions of 200 MB; holes stand for what no list reads.
const LARGE: u32 = 20;

pub(crate) fn run(dir: &Path) {
    println!("\na list of {MANY} sessions of 200 KB");
    let many = dir.join("many");
    std::fs::create_dir(&many).unwrap();
    let sample = many.join("0000.jsonl");
    let size = generate::write(&sample, 110);
    for n in 1..MANY {
        std::fs::copy(&sample, many.join(format!("{n:04}.jsonl"))).unwrap();
    }
    // What was changed just now is looked at each time.
    for entry in std::fs::read_dir(&many).unwrap() {
        let file = std::fs::File::options().write(true).open(entry.unwrap().path()).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(3600)).unwrap();
    }
    row("size of each", format!("{:.0} KiB", size as f64 / 1024.0), "");
    let time = list(&many, MANY);
    row("time of each", format!("{:.1} us", micros(time, MANY)), "at most 10");
    let bare = best(10, || read_ends(&many));
    row("reading both ends of each alone", format!("{:.1} us", micros(bare, MANY)), "one thread");
    let known = list_again(&many);
    row("time of each, listed before", format!("{:.1} us", micros(known, MANY)), "at most 10");

    println!("\na list of {LARGE} sessions of 200 MB");
    let large = dir.join("large");
    std::fs::create_dir(&large).unwrap();
    let text = std::fs::read(&sample).unwrap();
    for n in 0..LARGE {
        let mut file = std::fs::File::create(large.join(format!("{n:04}.jsonl"))).unwrap();
        file.write_all(&text).unwrap();
        std::io::Seek::seek(&mut file, std::io::SeekFrom::Start(200 << 20)).unwrap();
        file.write_all(&text).unwrap();
    }
    let before = peak();
    let time = list(&large, LARGE);
    row("time of each", format!("{:.3} ms", micros(time, LARGE) / 1000.0), "at most 1");
    row("memory on top", format!("{:.1} MiB", mib(peak() - before)), "at most 32");
}

fn list(folder: &Path, sessions: u32) -> Duration {
    let storage = FileStorage::open(folder).unwrap();
    best(10, || {
        let listed = list_sessions(&storage, &Scope::Root, ListingOptions::default());
        let rows = pollster::block_on(listed).unwrap();
        assert!(rows.len() == sessions as usize && rows.iter().all(|row| row.summary.is_ok()));
        rows
    })
}

/// Lists what a catalog has listed before, and looks at each file whether it has changed.
fn list_again(folder: &Path) -> Duration {
    let storage = Arc::new(FileStorage::open(folder).unwrap());
    let catalog = SessionCatalog::new(vec![Place { storage, scope: Scope::Root }]);
    let list = || pollster::block_on(catalog.list_all(ListingOptions::default())).unwrap();
    let first = list();
    assert_eq!(first.len(), MANY as usize);
    best(10, list)
}

/// Opens each file and reads what a list reads, and makes nothing of it.
fn read_ends(folder: &Path) -> u64 {
    use std::os::unix::fs::FileExt;

    let mut sum = 0;
    let (mut head, mut tail) = ([0; 4 << 10], [0; 32 << 10]);
    for entry in std::fs::read_dir(folder).unwrap() {
        let file = std::fs::File::open(entry.unwrap().path()).unwrap();
        let size = file.metadata().unwrap().len();
        file.read_exact_at(&mut head, 0).unwrap();
        file.read_exact_at(&mut tail, size - (32 << 10)).unwrap();
        sum += size + u64::from(head[0]) + u64::from(tail[0]);
    }
    sum
}

fn micros(time: Duration, sessions: u32) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(sessions)
}

/// The most memory this process has had so far, in bytes; 0 where that is not known.
fn peak() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<u64>().ok());
    kib.unwrap_or_default() * 1024
}
