//! Ratios of our operations against bare baselines, all measured in one run.
//!
//! `cargo xtask bench` runs it; `cargo xtask bench -- open append list indexed chain screens` some
//! of it. Each figure is the best of several rounds, since other work on the machine can only make
//! a round slower.
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a program for people at a terminal")]

mod append;
mod chain;
mod context;
mod generate;
#[cfg(feature = "indexed")]
mod indexed;
mod list;
mod open;
#[cfg(all(feature = "tui", unix))]
mod screens;

use std::time::{Duration, Instant};

fn main() {
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [child, path] = &args[..]
        && child == "--child"
    {
        return open::child(path);
    }
    let wanted = |part: &str| args.is_empty() || args.iter().any(|arg| arg == part);
    let dir = tempfile::tempdir().unwrap();
    if wanted("open") {
        let file = dir.path().join("large.jsonl");
        let size = generate::write(&file, 100_000);
        println!("a session of 100,000 entries, {:.0} MiB\n", mib(size));
        open::run(&file, size);
        context::run(&file);
    }
    if wanted("append") {
        append::run(dir.path());
    }
    if wanted("list") {
        list::run(dir.path());
    }
    #[cfg(feature = "indexed")]
    if wanted("indexed") {
        indexed::run(dir.path());
    }
    if wanted("chain") {
        chain::run();
    }
    #[cfg(all(feature = "tui", unix))]
    if wanted("screens") {
        screens::run(dir.path());
    }
}

/// The shortest of several rounds.
fn best<T>(rounds: usize, mut round: impl FnMut() -> T) -> Duration {
    let time = |_| {
        let start = Instant::now();
        std::hint::black_box(round());
        start.elapsed()
    };
    (0..rounds).map(time).min().unwrap_or_default()
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

fn gib_per_second(bytes: u64, time: Duration) -> f64 {
    mib(bytes) / 1024.0 / time.as_secs_f64()
}

fn row(what: &str, figure: impl std::fmt::Display, note: &str) {
    println!("{what:<52} {figure:>14}  {note}");
}
