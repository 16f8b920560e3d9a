//! Appending one entry of 1 KB through the manager, against the bare write.

use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use session_context::{NewEntry, NewSession, SessionManager, SessionOptions};
use session_model::message::Message;
use session_model::storage::{Durability, SessionStorage};
use session_store_file::FileStorage;
use session_store_memory::MemoryStorage;

use crate::{best, row};

const APPENDS: u32 = 20_000;
const SYNCS: usize = 300;

pub(crate) fn run(dir: &Path) {
    let bare = per_append(best(5, || {
        let path = dir.join("bare");
        let mut file = std::fs::File::options().append(true).create(true).open(&path).unwrap();
        let line = vec![b'x'; 1024];
        (0..APPENDS).for_each(|_| file.write_all(&line).unwrap());
        std::fs::remove_file(path).unwrap();
    }));
    let memory = per_append(best(5, || append_all(Arc::new(MemoryStorage::new()))));
    let storage = FileStorage::open(dir.join("store")).unwrap();
    let file = per_append(best(5, || append_all(Arc::new(storage.clone()))));
    row("bare write(2) of 1 KB", format!("{bare:.2} µs"), "");
    row("append through the manager, memory backend", format!("{memory:.2} µs"), "");
    let over = format!("{:+.2} µs over the bare write", file - bare);
    row("append through the manager, file backend", format!("{file:.2} µs"), &over);
    println!();
    durable(dir, &storage);
}

/// Durable appends one by one and 64 at a time, against a bare write and fdatasync.
fn durable(dir: &Path, storage: &FileStorage) {
    let (line, batch) = (vec![b'x'; 1024], vec![b'x'; 64 * 1024]);
    for (what, body, size) in [("1 entry", line, 1), ("64 entries", batch, 64)] {
        let path = dir.join("bare");
        let mut file = std::fs::File::options().append(true).create(true).open(&path).unwrap();
        let mut session = open_durable(storage);
        let (mut bare, mut ours) = (Vec::new(), Vec::new());
        // In turns, since the disk's speed changes from one moment to the next.
        for _ in 0..SYNCS {
            bare.push(time(|| {
                file.write_all(&body).unwrap();
                file.sync_data().unwrap();
            }));
            ours.push(time(|| append_batch(&mut session, size)));
        }
        std::fs::remove_file(path).unwrap();
        let (bare, ours) = (median(bare), median(ours));
        row(&format!("bare write and fdatasync, {what}"), format!("{bare:.0} µs"), "");
        let ratio = format!("{:.2} of the bare one", ours / bare);
        row(&format!("durable append of {what}"), format!("{ours:.0} µs"), &ratio);
    }
    println!();
}

fn open_durable(storage: &FileStorage) -> SessionManager {
    let options = SessionOptions::default().eager().durability(Durability::Durable);
    let new = NewSession::in_cwd("/w");
    pollster::block_on(SessionManager::create(Arc::new(storage.clone()), new, options)).unwrap()
}

fn append_batch(session: &mut SessionManager, size: usize) {
    let text = "x".repeat(900);
    let batch = (0..size).map(|_| NewEntry::message(Message::user(text.as_str(), 1)));
    pollster::block_on(session.append_batch(batch)).unwrap();
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

/// In microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}

fn per_append(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6 / f64::from(APPENDS)
}

fn append_all(storage: Arc<dyn SessionStorage>) {
    pollster::block_on(async {
        let options = SessionOptions::default().eager();
        let new = NewSession::in_cwd("/w");
        let mut session = SessionManager::create(storage, new, options).await.unwrap();
        let text = "x".repeat(900);
        for n in 0..APPENDS {
            session.append_message(Message::user(text.as_str(), i64::from(n))).await.unwrap();
        }
    });
}
