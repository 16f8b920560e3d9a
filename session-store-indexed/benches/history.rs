//! Figures of the prompt history: what an insert takes, amortised, and how long searches take.
//! `SESSION_BENCH_PROMPTS` sets the number of prompts; default: 1,000,000.
#![allow(clippy::unwrap_used, clippy::print_stdout)]

use std::time::{Duration, Instant};

use session_store_indexed::history::{HistoryError, HistoryOptions, HistoryScope, HistoryStorage};

fn main() {
    let count = std::env::var("SESSION_BENCH_PROMPTS").map_or(1_000_000, |n| n.parse().unwrap());
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("history.db");
    let history = HistoryStorage::open(&path, HistoryOptions::default()).unwrap();
    let start = Instant::now();
    let cpu = cpu_time();
    for n in 0..count {
        let prompt = prompt(n);
        let cwd = format!("/w/{}", n % 50);
        while let Err(error) = history.add(&prompt, Some(&cwd), Some("s")) {
            assert!(matches!(error, HistoryError::QueueFull { .. }), "{error}");
            history.flush().unwrap();
        }
    }
    // Closed, so that what is indexed later counts too.
    history.close().unwrap();
    let (took, cpu) = (start.elapsed(), cpu_time() - cpu);
    let each = |took: Duration| took.as_nanos() as f64 / 1e3 / count as f64;
    println!(
        "insert {count} prompts: {:.1} µs each, {:.1} µs of processors (limit: 50)",
        each(took),
        each(cpu)
    );
    let size = std::fs::metadata(&path).unwrap().len();
    println!("size: {:.0} bytes for each", size as f64 / count as f64);

    let start = Instant::now();
    let history = HistoryStorage::open(&path, HistoryOptions::default()).unwrap();
    println!("open: {:.2?}", start.elapsed());
    let queries = [
        ("rare word", "zebra", 1000),
        ("common word", "fix", 100),
        ("common word, most hits", "fix", 1000),
        ("one letter", "m", 100),
        ("short beginning", "con", 100),
        ("several words", "module77 parser", 100),
        ("several common words", "the fix in step", 100),
        ("never together", "login parser", 100),
        ("joined words", "login-test", 100),
        ("never joined", "test-login", 100),
        ("path", "src/app7.rs", 100),
        ("no hit", "qwertz", 100),
        ("CJK", "登录", 100),
        ("CJK, rare", "録音", 100),
        ("punctuation", "&&", 100),
    ];
    for (name, query, limit) in queries {
        for (where_, scope) in
            [("all", HistoryScope::Global), ("one directory", HistoryScope::Cwd("/w/7"))]
        {
            let mut hits = 0;
            let mut times: Vec<(Duration, Duration)> = (0..15)
                .map(|_| {
                    let (start, cpu) = (Instant::now(), cpu_time());
                    hits = history.search(query, limit, scope).unwrap().len();
                    (cpu_time() - cpu, start.elapsed())
                })
                .collect();
            times.sort();
            let ms = |at: usize| times[at].0.as_secs_f64() * 1e3;
            let waited = times.iter().map(|(_, took)| *took).min().unwrap_or_default();
            println!(
                "search {name} ({query}) in {where_}: {hits} hits, {:.1} ms of processors in the \
                 middle, {:.1} ms at most (limit: 20); {:.1} ms at best by the clock",
                ms(7),
                ms(14),
                waited.as_secs_f64() * 1e3
            );
        }
    }
    history.close().unwrap();
}

const WORDS: [&str; 8] =
    ["login test", "parser", "slow build", "menu", "typo in the docs", "race", "leak", "cache"];

fn prompt(n: usize) -> String {
    let word = WORDS[n % 8];
    let module = n % 5000;
    match n % 1000 {
        1 => format!("请修复登录测试 {n}"),
        2 => format!("run cargo && check src/app{}.rs in step {n}", n % 13),
        3 => format!("continue with con{}", n / 1000),
        _ if n % 100_000 == 77 => format!("a zebra and 録音 {n}"),
        _ => format!("fix the {word} of module{module} in step {n}"),
    }
}

/// The time processors spent on this program.
fn cpu_time() -> Duration {
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec as u64, time.tv_nsec as u32)
}
