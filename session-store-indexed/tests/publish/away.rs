//! A server that is away for long: what is written meanwhile, what that costs, and its return.
//!
//! `SESSION_AWAY_MIB` says how much is written.

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write, stdin};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use pollster::block_on;
use session_model::storage::{
    AppendOptions, AppendWriter, Durability, SessionStorage, SessionStorageExt,
};
use session_store_file::FileStorage;
use session_store_indexed::publish::{Connection, PublishOptions};

use super::dice::number;
use super::real::{PREFIX, ROLE, ROOT, URL, open, println_flush, until};
use super::server::Server;
use super::support::{Test, header, log, message, run, session};

pub const TESTS: &[Test] = &[("away_for_long", away_for_long)];

/// The role of the program that writes while the server is away.
pub const AWAY: &str = "away";
const MIB: &str = "SESSION_AWAY_MIB";
const SESSIONS: usize = 8;

/// How much may be needed beyond what was there at a quarter of the way, however much is written.
const MORE_MEMORY: u64 = 8 << 20;
/// The most the database may have for each byte of a session, and besides.
const DATABASE_SHARE: f64 = 0.12;
const DATABASE_BASE: u64 = 4 << 20;

fn name(at: usize) -> String {
    format!("away-{at}")
}

/// Writes without a server, tells what that took, and publishes once it is told to.
pub fn play() {
    let publish = PublishOptions::default()
        .pauses(Duration::from_millis(10), Duration::from_millis(200))
        .timeout(Duration::from_secs(600));
    let storage = open(Path::new(&env::var(ROOT).unwrap()), &env::var(URL).unwrap(), publish);
    let mut writers: Vec<Box<dyn AppendWriter>> = Vec::new();
    for at in 0..SESSIONS {
        let key = session(&name(at));
        let opened = storage.open_append(&key, AppendOptions::default());
        let mut writer = block_on(opened).unwrap();
        block_on(writer.append(header(&name(at)).into())).unwrap();
        writers.push(writer);
    }
    let count = number(MIB).unwrap_or(8) << 10;
    let text = "x".repeat(900);
    let (mut early, mut slowest) = (0, Duration::ZERO);
    for number in 0..count {
        let line = message(&number.to_string(), &text);
        let start = Instant::now();
        block_on(writers[number as usize % SESSIONS].append(line.into())).unwrap();
        slowest = slowest.max(start.elapsed());
        if number == count / 4 {
            early = resident();
        }
    }
    let more = resident().saturating_sub(early);
    storage.catch_up(|_| {}).unwrap();
    let status = || storage.publish_status(SESSIONS).unwrap().unwrap();
    until(|| matches!(status().connection, Connection::Down { attempts: 1.., .. }));
    let status = status();
    assert!(status.last_error.is_some());
    let written = writers.iter().map(|writer| writer.len()).sum::<u64>();
    assert_eq!((status.bytes, status.entries), (written, count));
    eprintln!("{more} bytes more in memory, slowest append {slowest:?}");
    assert!(more < MORE_MEMORY, "{more} bytes more are in memory");
    assert!(slowest < Duration::from_secs(10), "an append took {slowest:?}");
    println_flush(&written.to_string());

    stdin().read_line(&mut String::new()).unwrap();
    block_on(storage.drain(Durability::Published)).unwrap();
    println_flush("done");
}

/// Bytes of this process in memory, where the system tells.
fn resident() -> u64 {
    let pages = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    pages.split(' ').nth(1).and_then(|pages| pages.parse().ok()).map_or(0, |pages: u64| pages << 12)
}

fn away_for_long() {
    let mut server = Server::start(&[]);
    let url = format!("redis://127.0.0.1:{}/", server.port());
    server.kill();
    let dir = tempfile::tempdir().unwrap();
    let mut child = Command::new(env::current_exe().unwrap())
        .env(ROLE, AWAY)
        .env(URL, &url)
        .env(ROOT, dir.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let written: u64 = lines.next().expect("the writer's report").unwrap().parse().unwrap();
    let database: u64 = fs::read_dir(dir.path())
        .unwrap()
        .map(|entry| entry.unwrap().metadata().unwrap())
        .filter(|meta| meta.is_file())
        .map(|meta| meta.len())
        .sum();
    let most = DATABASE_BASE + (written as f64 * DATABASE_SHARE) as u64;
    eprintln!("{database} bytes of the database for {written} of sessions");
    assert!(database < most, "{database} bytes for {written} of sessions");

    server.start_again();
    writeln!(child.stdin.take().unwrap(), "back").unwrap();
    assert_eq!(lines.next().unwrap().unwrap(), "done");
    assert!(child.wait().unwrap().success());
    let (files, there) = (FileStorage::open(dir.path()).unwrap(), server.remote(PREFIX));
    run(async {
        for at in 0..SESSIONS {
            let key = session(&name(at));
            let ours = files.read_all(&key).await.unwrap().1;
            let theirs = log(&there, &key).await.unwrap();
            assert!(ours == theirs, "{key}: {} bytes here, {} there", ours.len(), theirs.len());
        }
    });
}
