//! What the benches have in common: sessions, clocks, and rows of figures beside their limits.
#![allow(dead_code, reason = "each bench uses its own part")]

use std::fmt::Display;
use std::time::{Duration, Instant};

use pollster::block_on;
use session_model::storage::{AppendOptions, SessionStorage, StorageKey};

/// Prints a figure, and what it should be or is to be compared with.
pub fn row(what: &str, figure: impl Display, note: &str) {
    println!("{what:<56} {figure:>14}  {note}");
}

pub fn micros(time: Duration) -> String {
    format!("{:.1} us", time.as_secs_f64() * 1e6)
}

pub fn millis(time: Duration) -> String {
    format!("{:.2} ms", time.as_secs_f64() * 1e3)
}

pub fn megabytes_per_second(bytes: usize, time: Duration) -> String {
    format!("{:.0} MB/s", bytes as f64 / time.as_secs_f64() / 1e6)
}

/// The time something takes, by the clock and of all processors.
pub fn timed<T>(work: impl FnOnce() -> T) -> (T, Duration, Duration) {
    let (start, cpu) = (Instant::now(), cpu_time());
    let done = work();
    (done, start.elapsed(), cpu_time() - cpu)
}

/// The least time processors spent on one of several rounds.
pub fn best<T>(rounds: usize, mut round: impl FnMut() -> T) -> Duration {
    let round = |_| timed(|| std::hint::black_box(round())).2;
    (0..rounds).map(round).min().unwrap_or_default()
}

/// The time processors spent on this program.
pub fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}

pub fn header(id: usize) -> String {
    format!("{{\"type\":\"session\",\"version\":3,\"id\":\"s{id}\",\"cwd\":\"/w\"}}\n")
}

/// A message of about so many bytes.
pub fn entry(id: usize, parent: Option<usize>, bytes: usize) -> String {
    let parent = parent.map_or("null".to_owned(), |parent| format!("\"{parent:08x}\""));
    let text = "text ".repeat((bytes - 150) / 5);
    format!(
        "{{\"type\":\"message\",\"id\":\"{id:08x}\",\"parentId\":{parent},\
         \"timestamp\":\"2026-01-01T00:00:05.000Z\",\
         \"message\":{{\"role\":\"toolResult\",\"content\":\"{text}\"}}}}\n"
    )
}

/// Appends entries of 1 KB one by one to a new session, and waits for `settle`.
///
/// Answers the time of an append in the middle, and that of the processors for each, with all that
/// is done for it later.
pub fn append(
    storage: &dyn SessionStorage,
    name: &str,
    appends: usize,
    settle: impl FnOnce(),
) -> (Duration, Duration) {
    let key = StorageKey::new(format!("sessions/b/{name}.jsonl")).unwrap();
    let mut writer = block_on(storage.open_append(&key, AppendOptions::exclusive("x"))).unwrap();
    block_on(writer.append(header(0).into())).unwrap();
    let lines: Vec<_> = (0..appends).map(|id| entry(id, id.checked_sub(1), 1024).into()).collect();
    let cpu = cpu_time();
    let append = |line| timed(|| block_on(writer.append(line)).unwrap()).1;
    let mut times: Vec<_> = lines.into_iter().map(append).collect();
    settle();
    let each = (cpu_time() - cpu) / appends as u32;
    times.sort();
    (times[appends / 2], each)
}
