//! Appending one entry of 1 KB through the manager, against the bare write.

use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use session_context::{NewEntry, NewSession, SessionManager, SessionOptions};
use session_model::message::Message;
use session_model::storage::{Durability, SessionStorage};
use session_store_file::FileStorage;
use session_store_memory::MemoryStorage;

use crate::row;

const ROUNDS: usize = 200;
const APPENDS: u32 = 100;
const SYNCS: usize = 300;

pub(crate) fn run(dir: &Path) {
    let storage = FileStorage::open(dir.join("store")).unwrap();
    accepted(dir, &storage);
    durable(dir, &storage);
}

/// Appends that do not wait for the disk.
fn accepted(dir: &Path, storage: &FileStorage) {
    let mut plain = bare_file(dir);
    let line = vec![b'x'; 1024];
    let mut in_memory = open(Arc::new(MemoryStorage::new()), Durability::Accepted);
    let mut in_file = open(Arc::new(storage.clone()), Durability::Accepted);
    let (mut bare, mut memory, mut file) = (Times::default(), Times::default(), Times::default());
    // In turns, since the machine's speed changes from one moment to the next.
    for _ in 0..ROUNDS {
        bare.add((0..APPENDS).map(|_| time(|| plain.write_all(&line).unwrap())).collect());
        memory.add(append_some(&mut in_memory));
        file.add(append_some(&mut in_file));
    }
    let (bare, memory, file) = (bare.medians(), memory.medians(), file.medians());
    row("bare write(2) of 1 KB", micros(bare.0), &format!("{} on average", micros(bare.1)));
    for (what, (one, average)) in [("memory", memory), ("file", file)] {
        let over = format!("{:+.2} and {:+.2} over the bare write", one - bare.0, average - bare.1);
        let note = format!("{} on average; {over}", micros(average));
        row(&format!("append through the manager, {what} backend"), micros(one), &note);
    }
    println!();
}

/// How long appends took, a hundred at a time.
#[derive(Default)]
struct Times {
    each: Vec<Duration>,
    averages: Vec<Duration>,
}

impl Times {
    fn add(&mut self, round: Vec<Duration>) {
        self.averages.push(round.iter().sum::<Duration>() / APPENDS);
        self.each.extend(round);
    }

    /// Of single appends, and of the average in a round: every fourth append begins a page.
    fn medians(self) -> (f64, f64) {
        (median(self.each), median(self.averages))
    }
}

/// Durable appends one by one and 64 at a time, against a bare write and fdatasync.
fn durable(dir: &Path, storage: &FileStorage) {
    let (line, batch) = (vec![b'x'; 1024], vec![b'x'; 64 * 1024]);
    for (what, body, size) in [("1 entry", line, 1), ("64 entries", batch, 64)] {
        let mut file = bare_file(dir);
        let mut session = open(Arc::new(storage.clone()), Durability::Durable);
        let (mut bare, mut ours) = (Vec::new(), Vec::new());
        // In turns, since the disk's speed changes from one moment to the next.
        for _ in 0..SYNCS {
            bare.push(time(|| {
                file.write_all(&body).unwrap();
                file.sync_data().unwrap();
            }));
            let messages = messages(size);
            ours.push(time(|| {
                pollster::block_on(session.append_batch(messages)).unwrap();
            }));
        }
        let (bare, ours) = (median(bare), median(ours));
        row(&format!("bare write and fdatasync, {what}"), format!("{bare:.0} µs"), "");
        let ratio = format!("{:.2} of the bare one", ours / bare);
        row(&format!("durable append of {what}"), format!("{ours:.0} µs"), &ratio);
    }
    println!();
}

fn bare_file(dir: &Path) -> File {
    let path = dir.join("bare");
    let file = File::options().append(true).create(true).open(&path).unwrap();
    std::fs::remove_file(path).unwrap();
    file
}

fn open(storage: Arc<dyn SessionStorage>, level: Durability) -> SessionManager {
    let options = SessionOptions::default().eager().durability(level);
    pollster::block_on(SessionManager::create(storage, NewSession::in_cwd("/w"), options)).unwrap()
}

/// In one run of the executor, as in an agent: to start one takes a part of a microsecond.
fn append_some(session: &mut SessionManager) -> Vec<Duration> {
    pollster::block_on(async {
        let mut times = Vec::with_capacity(APPENDS as usize);
        for _ in 0..APPENDS {
            let message = Message::user("x".repeat(900), 1);
            let start = Instant::now();
            session.append_message(message).await.unwrap();
            times.push(start.elapsed());
        }
        times
    })
}

fn messages(count: usize) -> Vec<NewEntry> {
    (0..count).map(|_| NewEntry::message(Message::user("x".repeat(900), 1))).collect()
}

fn time(work: impl FnOnce()) -> Duration {
    let start = Instant::now();
    work();
    start.elapsed()
}

fn micros(time: f64) -> String {
    format!("{time:.2} µs")
}

/// In microseconds.
fn median(mut times: Vec<Duration>) -> f64 {
    times.sort();
    times[times.len() / 2].as_secs_f64() * 1e6
}
