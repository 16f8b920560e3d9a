//! Figures of the prompt history: what an insert takes, amortised, and how long searches take.
//! `SESSION_BENCH_PROMPTS` sets the number of prompts; default: 1,000,000.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::{Duration, Instant};

use session_store_indexed::history::{HistoryError, HistoryOptions, HistoryScope, HistoryStorage};

fn main() {
    let count = std::env::var("SESSION_BENCH_PROMPTS").map_or(1_000_000, |n| n.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let history =
        HistoryStorage::open(dir.path().join("history.db"), HistoryOptions::default()).unwrap();
    let start = Instant::now();
    let cpu = cpu_time();
    for n in 0..count {
        let prompt = format!("fix the {} of module{} in step {n}", WORDS[n % 8], n % 5000);
        let cwd = format!("/w/{}", n % 50);
        while let Err(error) = history.add(&prompt, Some(&cwd), Some("s")) {
            assert!(matches!(error, HistoryError::QueueFull { .. }), "{error}");
            history.flush().unwrap();
        }
    }
    history.flush().unwrap();
    let (took, cpu) = (start.elapsed(), cpu_time() - cpu);
    println!(
        "insert {count} prompts: {took:.2?}, {:.2?} each; {cpu:.2?} of processors, {:.2?} each",
        took / count as u32,
        cpu / count as u32
    );
    for query in ["login", "module77 parser", "step 99999", "fix", "\"unclosed (c++", "m"] {
        for (name, scope) in
            [("all", HistoryScope::Global), ("one directory", HistoryScope::Cwd("/w/7"))]
        {
            let mut times: Vec<Duration> = (0..7)
                .map(|_| {
                    let start = Instant::now();
                    history.search(query, 100, scope).unwrap();
                    start.elapsed()
                })
                .collect();
            times.sort();
            println!(
                "search {query} in {name}: {:.2?} in the middle, {:.2?} at most",
                times[3], times[6]
            );
        }
    }
    history.close().unwrap();
}

const WORDS: [&str; 8] =
    ["login test", "parser", "slow build", "menu", "typo in the docs", "race", "leak", "cache"];

/// The time processors spent on this program.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
