//! Hosts on a remote whose answers are lies: nothing ends the program, nothing is written where it
//! must not be, nothing of a host is lost, and what is right still arrives.
//!
//! `SESSION_SIM_SEED` replays one seed, `SESSION_HOSTILE_SEEDS` says how many there are (100).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use session_model::BlobRef;
use session_model::storage::{RESERVED_PREFIX, StorageKey};
use session_store_indexed::remote::{FakeFaults, FakeRemote, Remote};
use session_store_indexed::replica::Outcome;

use super::dice::{Dice, for_each_seed};
use super::host::{Host, LEASE, Time};
use super::support::{Test, header, key, message, session};

pub const TESTS: &[Test] = &[("nothing_from_a_remote_is_trusted", lies)];

const SEEDS: u64 = 100;
const STEPS: u64 = 12;

fn lies() {
    for_each_seed("SESSION_HOSTILE_SEEDS", SEEDS, |seed| World::new(seed).run());
}

struct World {
    dice: Dice,
    clock: Arc<Time>,
    remote: Arc<FakeRemote>,
    hosts: Vec<Host>,
    /// Lines that each host wrote.
    written: Vec<BTreeSet<String>>,
    good: String,
}

impl World {
    fn new(seed: u64) -> Self {
        let clock = Time::new();
        let remote = Arc::new(FakeRemote::new(FakeFaults::default(), 8));
        let host = || Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &clock);
        let good = good();
        let mut honest = host();
        honest.put(&blob(), "picture");
        honest.append(&session("good"), &good);
        honest.put(&key("sessions/b/good/1.bash.log"), "output");
        honest.publish();
        let hosts = vec![host(), host()];
        let written = vec![BTreeSet::new(); hosts.len()];
        Self { dice: Dice(seed), clock, remote, hosts, written, good }
    }

    fn run(mut self) {
        let hostile = [50, 200, 500, 1000][self.dice.below(4) as usize];
        let seed = self.dice.below(1 << 40);
        self.remote.set_faults(FakeFaults { seed, hostile, ..FakeFaults::default() });
        for step in 0..STEPS {
            self.step(step);
        }
        self.check_files();
        self.nothing_is_lost();
        self.remote.set_faults(FakeFaults::default());
        self.clock.advance(LEASE * 2);
        self.remote.advance(LEASE * 2);
        for host in &self.hosts {
            let pulled = block_on(host.replica().restore(&session("good"))).unwrap();
            assert_eq!((pulled.missing, pulled.refused.count), (vec![], 0));
            assert!(!matches!(pulled.outcome, Outcome::InUse(_)));
            assert_eq!(host.read(&session("good")), self.good);
            // An artifact is what the remote says; a blob that was missing is fetched when it is read.
            host.read(&key("sessions/b/good/1.bash.log"));
        }
        self.nothing_is_lost();
    }

    /// Errors are told; nothing more is asked of a host that is lied to.
    fn step(&mut self, step: u64) {
        let at = self.dice.below(self.hosts.len() as u64) as usize;
        let chosen = session(["good", "s0", "s1"][self.dice.below(3) as usize]);
        let host = &mut self.hosts[at];
        match self.dice.below(8) {
            0..=2 => {
                let (own, id) = (session(&format!("s{at}")), format!("{at}{step}"));
                let line = message(&id, "mine");
                let is_new = !host.all_in("sessions").contains_key(&own);
                let head = if is_new { header(&id) } else { String::new() };
                host.append(&own, &(head + &line));
                self.written[at].insert(line.trim_end().to_owned());
            }
            3 => drop(host.step()),
            4 => drop(host.follow()),
            5 => drop(block_on(host.replica().sessions())),
            6 => drop(host.take_over(&chosen, self.dice.below(2) == 0)),
            _ => drop(block_on(host.replica().pull(&chosen))),
        }
        let by = Duration::from_millis(self.dice.below(60_000));
        self.clock.advance(by);
        self.remote.advance(by);
    }

    /// Files are where sessions, blobs and the trash are, and in the index.
    fn check_files(&self) {
        for host in &self.hosts {
            let root = host.root();
            for file in files(&root) {
                let name = file.strip_prefix(&root).unwrap().to_str().unwrap();
                let folders: Vec<_> = name.split('/').collect();
                let is_right = match folders[..] {
                    // What this program calls its own files.
                    [.., file] if file.starts_with(RESERVED_PREFIX) => true,
                    ["blobs", hex] => BlobRef::of(&std::fs::read(&file).unwrap()).to_hex() == hex,
                    ["sessions", bucket, file] => {
                        bucket == "b" && file.ends_with(".jsonl") && is_session(&root.join(name))
                    }
                    ["sessions", "b", folder, ..] => {
                        !folder.ends_with(".jsonl") && !name.contains("/.")
                    }
                    ["trash", _, "origin.json" | "good.jsonl" | "s0.jsonl" | "s1.jsonl"] => true,
                    ["trash", ..] => folders.len() > 3,
                    _ => false,
                };
                assert!(is_right, "{name:?}");
            }
        }
    }

    fn nothing_is_lost(&self) {
        for (host, written) in self.hosts.iter().zip(&self.written) {
            let files = [host.all_in("sessions"), host.all_in("trash")];
            let texts: Vec<_> = files.iter().flat_map(|files| files.values()).collect();
            let found: BTreeSet<_> = texts.iter().flat_map(|text| text.lines()).collect();
            let lost: Vec<_> = written.iter().filter(|line| !found.contains(&***line)).collect();
            assert!(lost.is_empty(), "{lost:?}");
        }
    }
}

fn blob() -> StorageKey {
    key(&format!("blobs/{}", BlobRef::of(b"picture").to_hex()))
}

/// A session with a blob, longer than one answer of a remote.
fn good() -> String {
    let long = "x".repeat(1_200_000);
    header("good") + &message("g1", &BlobRef::of(b"picture").to_string()) + &message("g2", &long)
}

fn is_session(file: &Path) -> bool {
    std::fs::read_to_string(file).is_ok_and(|text| text.starts_with("{\"type\":\"session\""))
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        match path.is_dir() {
            true => found.extend(files(&path)),
            false => found.push(path),
        }
    }
    found
}
