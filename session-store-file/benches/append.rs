//! What an append costs over the bare system calls, measured side by side in one run.
//!
//! `cargo bench -p session-store-file`; the directory is the system's temporary one, or that in
//! `BENCH_DIR`.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::env;
use std::fs::{File, OpenOptions};
use std::future::Future;
use std::io::Write;
use std::path::Path;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use bytes::Bytes;
use session_model::storage::{AppendOptions, AppendWriter, Durability, SessionStorage, StorageKey};
use session_store_file::FileStorage;

const LINE: usize = 1024;
const GROUP: u32 = 64;

type Call<'a> = (&'static str, u32, Box<dyn FnMut() + 'a>);

fn main() {
    let dir = env::var_os("BENCH_DIR").map_or_else(env::temp_dir, Into::into);
    let dir = tempfile::tempdir_in(dir).unwrap();
    let storage = FileStorage::open(dir.path().join("root")).unwrap();
    let line = &Bytes::from([vec![b'x'; LINE - 1], vec![b'\n']].concat());

    let mut bare = bare_file(dir.path());
    let mut exclusive = open(&storage, "exclusive", AppendOptions::exclusive("bench"));
    let mut shared = open(&storage, "shared", AppendOptions::default());
    compare(
        100,
        200,
        &mut [
            ("write(2)", 1, Box::new(|| bare.write_all(line).unwrap())),
            ("append, exclusive", 1, Box::new(|| append(&mut exclusive, line))),
            ("append, shared", 1, Box::new(|| append(&mut shared, line))),
        ],
    );

    let mut bare = bare_file(dir.path());
    let mut single = open(&storage, "single", AppendOptions::exclusive("bench"));
    let mut group = open(&storage, "group", AppendOptions::exclusive("bench"));
    compare(
        10,
        20,
        &mut [
            (
                "write(2) + fdatasync(2)",
                1,
                Box::new(|| {
                    bare.write_all(line).unwrap();
                    bare.sync_data().unwrap();
                }),
            ),
            (
                "append + sync",
                1,
                Box::new(|| {
                    append(&mut single, line);
                    now(single.sync(Durability::Durable)).unwrap();
                }),
            ),
            (
                "64 appends + sync, a line",
                GROUP,
                Box::new(|| {
                    (0..GROUP).for_each(|_| append(&mut group, line));
                    now(group.sync(Durability::Durable)).unwrap();
                }),
            ),
        ],
    );
}

fn bare_file(dir: &Path) -> File {
    OpenOptions::new().create(true).append(true).open(dir.join("bare")).unwrap()
}

fn open(storage: &FileStorage, name: &str, options: AppendOptions) -> Box<dyn AppendWriter> {
    now(storage.open_append(&StorageKey::new(name).unwrap(), options)).unwrap()
}

fn append(writer: &mut Box<dyn AppendWriter>, line: &Bytes) {
    now(writer.append(line.clone())).unwrap();
}

/// Returns what a future returns that never waits.
fn now<T>(future: impl Future<Output = T>) -> T {
    match pin!(future).poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("calls of this backend end within one poll"),
    }
}

/// Prints the best and the middle time a line of each call, and their ratio to the first one's.
///
/// The calls take turns, so that whatever else the machine does hits all of them.
fn compare(rounds: usize, calls: u32, list: &mut [Call<'_>]) {
    let mut times = vec![Vec::new(); list.len()];
    for _ in 0..rounds {
        for ((_, lines, call), times) in list.iter_mut().zip(&mut times) {
            let start = Instant::now();
            (0..calls).for_each(|_| call());
            times.push(start.elapsed() / (calls * *lines));
        }
    }
    let micros = |time: Duration| time.as_secs_f64() * 1e6;
    let best = |times: &[Duration]| micros(times[0]);
    let middle = |times: &[Duration]| micros(times[times.len() / 2]);
    times.iter_mut().for_each(|times| times.sort());
    println!("{:<28}{:>10}{:>10}{:>10}{:>8}", "", "best µs", "ratio", "middle µs", "ratio");
    for ((name, ..), own) in list.iter().zip(&times) {
        println!(
            "{name:<28}{:>10.2}{:>10.2}{:>10.2}{:>8.2}",
            best(own),
            best(own) / best(&times[0]),
            middle(own),
            middle(own) / middle(&times[0]),
        );
    }
    println!();
}
