//! A writer that is killed at any moment, again and again.

use std::fs::{self, File};
use std::io::{Read, Write};
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use std::{env, thread};

use session_model::storage::{AppendOptions, Payload, SessionStorage, SessionStorageExt};
use session_store_file::FileStorage;

use crate::child;
use crate::support::{Place, accepted, block_on, key};

/// How often the writer is killed; the ordinary test does not take long.
const CYCLES: &str = "SESSION_STORE_FILE_KILL_CYCLES";
/// What the moments and sizes are drawn from.
const SEED: &str = "SESSION_STORE_FILE_KILL_SEED";

const SESSION: &str = "sessions/--w--/s.jsonl";
const LEDGER: &str = "ledger";

/// Small and good enough numbers, the same for the same seed.
struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Line `number`, of a size of its own.
fn line(number: u64) -> String {
    let mut random = Random(number + 1);
    random.below(2);
    let size = if number % 10 == 9 { random.below(200_000) } else { random.below(300) };
    format!("{number} {}\n", "x".repeat(size as usize))
}

/// Appends line after line and notes in the ledger what was acknowledged; now and then rewrites
/// the whole session.
pub fn append(root: &Path) {
    let storage = FileStorage::open(root.join("root")).unwrap();
    let mut ledger = File::options().create(true).append(true).open(root.join(LEDGER)).unwrap();
    let session = key(SESSION);
    let mut writer =
        block_on(storage.open_append(&session, AppendOptions::exclusive("victim"))).unwrap();
    let (_, body) = block_on(storage.read_all(&session)).unwrap();
    let whole = body.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
    block_on(writer.truncate(whole as u64)).unwrap();
    let mut number = body[..whole].iter().filter(|byte| **byte == b'\n').count() as u64;
    println!("started");
    loop {
        if number % 50 == 49 {
            let (_, body) = block_on(storage.read_all(&session)).unwrap();
            block_on(writer.replace(Payload::from(body), accepted())).unwrap();
        }
        block_on(writer.append(line(number).into())).unwrap();
        ledger.write_all(format!("{number}\n").as_bytes()).unwrap();
        number += 1;
    }
}

pub fn nothing_is_lost() {
    let cycles = env::var(CYCLES).map_or(50, |cycles| cycles.parse().unwrap());
    let seed = env::var(SEED).map_or_else(
        |_| SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as u64 | 1,
        |seed| seed.parse().unwrap(),
    );
    eprintln!("{SEED}={seed}");
    let mut random = Random(seed);
    let place = Place::new();
    let (mut torn, mut left) = (0, 0);
    for cycle in 0..cycles {
        let mut victim =
            child("append", place.dir.path(), "").stdout(Stdio::piped()).spawn().unwrap();
        let mut started = [0; 8];
        victim.stdout.as_mut().unwrap().read_exact(&mut started).unwrap();
        thread::sleep(Duration::from_micros(random.below(20_000)));
        victim.kill().unwrap();
        victim.wait().unwrap();
        torn += usize::from(check(&place, cycle));
        left += place.files().iter().filter(|name| name.ends_with(".tmp")).count();
    }
    eprintln!("{cycles} kills, {torn} torn tails, {left} files met that were left behind");
    // Nobody holds the session, and what the last victims left behind goes with the next write.
    let mut writer = place.exclusive(SESSION);
    block_on(writer.replace("end\n".into(), accepted())).unwrap();
    block_on(writer.close()).unwrap();
    let names =
        [".~lock", "sessions/", "sessions/--w--/", "sessions/--w--/.~s.jsonl.lock", SESSION];
    assert_eq!(place.files(), names);
}

/// Checks the session against the ledger and tells whether its last line is torn.
fn check(place: &Place, cycle: u32) -> bool {
    let session = place.read(SESSION);
    let (whole, tail) = session.split_at(session.rfind('\n').map_or(0, |end| end + 1));
    let lines: Vec<_> = whole.split_inclusive('\n').collect();
    for (number, got) in lines.iter().enumerate() {
        assert_eq!(*got, line(number as u64), "line {number} after cycle {cycle}");
    }
    let next = line(lines.len() as u64);
    assert!(next.starts_with(tail), "an invented tail after cycle {cycle}: {tail:?}");
    let ledger = fs::read_to_string(place.dir.path().join(LEDGER)).unwrap_or_default();
    let acknowledged: Vec<u64> = ledger.lines().map(|number| number.parse().unwrap()).collect();
    assert!(acknowledged.is_sorted_by(|a, b| a < b), "the ledger is not in order");
    let last = acknowledged.last().map_or(0, |last| last + 1);
    // One line more can be there: written, but not yet acknowledged.
    let there = lines.len() as u64;
    assert!(last <= there, "cycle {cycle} lost lines from {there} on");
    assert!(there <= last + 1, "cycle {cycle} has lines up to {there}, acknowledged up to {last}");
    !tail.is_empty()
}
