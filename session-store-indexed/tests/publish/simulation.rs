//! Several hosts, a faulty remote and kills, all from one seed: hosts write, publish, read what
//! others write, take sessions over, come back, fork, rename and remove.
//!
//! `SESSION_SIM_SEED` replays one seed, `SESSION_SIM_SEEDS` says how many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use session_model::storage::StorageKey;
use session_store_indexed::publish::PublishError;
use session_store_indexed::remote::{FakeFaults, FakeRemote, Remote, RemoteError};
use session_store_indexed::replica::{Outcome, ReplicaError, TakeOver};

use super::dice::{Dice, for_each_seed};
use super::host::{Host, LEASE, Time};
use super::own::Own;
use super::support::{Test, events, header, key, logged, message};

pub const TESTS: &[Test] = &[("simulation", simulation)];

/// How many seeds a short run has.
const SEEDS: u64 = 100;
const STEPS: u64 = 50;

/// How often hosts are brought up to date until they must agree.
const ROUNDS: usize = 12;

fn simulation() {
    let mut forks = 0;
    for_each_seed("SESSION_SIM_SEEDS", SEEDS, |seed| forks += World::new(seed).run());
    eprintln!("{forks} forks");
}

struct World {
    dice: Dice,
    clock: Arc<Time>,
    remote: Arc<FakeRemote>,
    hosts: Vec<(Host, Own)>,
    /// Lines that were accepted and not taken away on purpose.
    written: BTreeSet<String>,
    /// The same, of hosts that are gone for good: the remote had it all when they left.
    left: BTreeSet<String>,
    /// Whether hosts read what others write, and the remote may be set back.
    shares: bool,
    sets_back: bool,
    made: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let clock = Time::new();
        // A feed that drops events is part of it.
        let feed = if seed.is_multiple_of(2) { 100_000 } else { 8 };
        let remote = Arc::new(FakeRemote::new(FakeFaults::default(), feed));
        let hosts = (0..dice.below(3) + 2)
            .map(|at| {
                let remote = Arc::clone(&remote) as Arc<dyn Remote>;
                (Host::new(remote, &clock), Own::new(at))
            })
            .collect();
        // What a set back remote lost may come back from a copy of another host: what a host has of
        // its own is exactly on the remote only where one of the two is left out.
        let (shares, sets_back) = [(true, true), (true, false), (false, true)][(seed % 3) as usize];
        let (written, left) = (BTreeSet::new(), BTreeSet::new());
        let mut world =
            Self { dice, clock, remote, hosts, written, left, shares, sets_back, made: 0 };
        world.change_faults();
        world
    }

    fn run(mut self) -> usize {
        for _ in 0..STEPS {
            self.step();
            self.nothing_is_lost(false);
        }
        self.settle();
        self.check()
    }

    fn step(&mut self) {
        let host = self.dice.below(self.hosts.len() as u64) as usize;
        self.made += 1;
        match self.dice.below(if self.shares { 32 } else { 18 }) {
            0..=5 => {
                let (host, own) = &mut self.hosts[host];
                own.write(host, &mut self.dice, self.made);
            }
            6..=11 => may_fail(self.hosts[host].0.step()),
            12..=13 => {
                let rounds = self.dice.below(12) as usize;
                self.hosts[host].0.step_cut(rounds);
                if self.dice.below(2) == 0 {
                    self.hosts[host].0.reopen();
                }
            }
            14 if self.sets_back => match self.dice.below(4) {
                0 => self.remote.restart(),
                _ => self.remote.save(),
            },
            15 => self.change_faults(),
            14 | 16 | 17 => {
                let by = Duration::from_millis(self.dice.below(20_000));
                self.clock.advance(by);
                self.remote.advance(by);
            }
            18..=24 => self.write_shared(host),
            25..=27 => may_fail(self.hosts[host].0.follow()),
            28 => self.leave(host),
            _ => {
                let key = self.pick();
                may_fail(block_on(self.hosts[host].0.replica().pull(&key)));
            }
        }
    }

    fn change_faults(&mut self) {
        let dice = &mut self.dice;
        let refuse = match dice.below(9) {
            0 => Some(RemoteError::Full("OOM".to_owned())),
            1 => Some(RemoteError::ReadOnly("READONLY".to_owned())),
            2 => Some(RemoteError::Denied("NOPERM".to_owned())),
            _ => None,
        };
        self.remote.set_faults(FakeFaults {
            seed: dice.below(1 << 40),
            max_delay: Duration::from_millis(dice.below(50)),
            cut_before: dice.below(150) as u16,
            cut_after: dice.below(150) as u16,
            reorder: dice.below(3) as u16 + 1,
            refuse,
            takes: Duration::ZERO,
            hostile: 0,
        });
    }

    /// A session that all hosts write.
    fn pick(&mut self) -> StorageKey {
        key(&format!("sessions/b/s{}.jsonl", self.dice.below(3)))
    }

    fn write_shared(&mut self, at: usize) {
        let (key, id) = (self.pick(), self.made.to_string());
        let is_forced = self.dice.below(4) == 0;
        let goes_on = self.dice.below(4) == 0;
        let choice = self.dice.below(12);
        let host = &self.hosts[at].0;
        match host.take_over(&key, is_forced) {
            Ok(TakeOver::Held { by, .. })
                if !host.replica().is_own(&by.owner).unwrap() && !goes_on =>
            {
                return;
            }
            taken => may_fail(taken),
        }
        let ours = host.all_in("sessions").remove(&key);
        match (choice, ours) {
            (0, Some(ours)) => {
                host.remove(&key);
                retire(&mut self.written, &mut self.left, &ours);
            }
            (1, Some(_)) => {
                host.rename(&key, &super::support::key(&format!("sessions/b/m{id}.jsonl")))
            }
            (2, Some(ours)) => {
                host.put(&key, &ours.replacen("\"cwd\":\"/w", &format!("\"cwd\":\"/w{id}"), 1));
            }
            (3, Some(ours)) => {
                let mut lines: Vec<_> = ours.split_inclusive('\n').collect();
                let last = lines.remove(lines.len() - 1);
                retire(&mut self.written, &mut self.left, last);
                let lines = lines.concat() + &self.line(at, &id);
                self.hosts[at].0.put(&key, &lines);
            }
            (_, ours) => {
                let line = self.line(at, &id);
                let head = if ours.is_some() { String::new() } else { header(&id) };
                self.hosts[at].0.append(&key, &(head + &line));
            }
        }
    }

    /// Has a host go for good, once the remote has what it has, and another come in its place.
    fn leave(&mut self, at: usize) {
        self.remote.set_faults(FakeFaults::default());
        let host = &mut self.hosts[at].0;
        host.reopen();
        host.publish();
        let ours = host.all_in("sessions");
        if ours.iter().all(|(key, text)| logged(&*self.remote, key).as_ref() == Some(text)) {
            let lines = ours.values().flat_map(|text| text.lines());
            self.left.extend(lines.filter_map(|line| self.written.take(line)));
            // A copy that is older than this is not restored.
            self.remote.save();
            let remote = Arc::clone(&self.remote) as Arc<dyn Remote>;
            self.hosts[at] = (Host::new(remote, &self.clock), Own::new(100 + self.made));
        }
        self.change_faults();
    }

    /// A new line, which counts from now on.
    fn line(&mut self, at: usize, id: &str) -> String {
        let line = message(id, &format!("of host {at}"));
        self.written.insert(line.trim_end().to_owned());
        line
    }

    /// Every line is in some session of some host, or in the trash.
    ///
    /// Those of hosts that are gone are, once the others have what the remote has.
    fn nothing_is_lost(&self, is_settled: bool) {
        let files = self.hosts.iter().flat_map(|(host, _)| {
            [host.all_in("sessions"), host.all_in("trash")].into_iter().flatten()
        });
        let files: Vec<_> = files.collect();
        let found: BTreeSet<_> = files.iter().flat_map(|(_, text)| text.lines()).collect();
        let left = self.left.iter().filter(|_| is_settled);
        let lost = self.written.iter().chain(left).filter(|line| !found.contains(&***line));
        let lost: Vec<_> = lost.collect();
        assert!(lost.is_empty(), "step {}: lost {lost:?}", self.made);
    }

    /// With no faults and no new lines all hosts come to have the same.
    fn settle(&mut self) {
        self.remote.set_faults(FakeFaults::default());
        let mut before = Vec::new();
        for _ in 0..ROUNDS {
            // Claims of those who are gone end.
            self.clock.advance(LEASE * 2);
            self.remote.advance(LEASE * 2);
            for (host, _) in &mut self.hosts {
                // What a remote lost is found with the next connection.
                host.reopen();
                host.publish();
                if self.shares {
                    let followed = host.follow().unwrap();
                    for (key, pulled) in followed.sessions {
                        assert!(!matches!(pulled.unwrap().outcome, Outcome::InUse(_)), "{key}");
                    }
                    host.publish();
                    // What only readers have left of a remote that was set back is sent when told.
                    block_on(host.replica().push()).unwrap();
                    host.publish();
                }
            }
            let now: Vec<_> = self.hosts.iter().map(|(host, _)| host.all_in("sessions")).collect();
            if now == before {
                return;
            }
            before = now;
        }
        panic!("the hosts never agree");
    }

    /// The remote has what the hosts have, byte for byte, each line once and in order; tells how
    /// many forks there are.
    fn check(&self) -> usize {
        self.nothing_is_lost(true);
        let mut live: BTreeMap<StorageKey, String> = BTreeMap::new();
        for (host, own) in &self.hosts {
            assert_eq!(host.storage().blocked().unwrap(), []);
            assert_eq!(host.storage().publish_status(9).unwrap().unwrap().rows, 0);
            for (key, text) in host.all_in("sessions") {
                assert_eq!(logged(&*self.remote, &key).as_ref(), Some(&text), "{key}");
                live.insert(key, text);
            }
            if !(self.shares && self.sets_back) {
                own.check(&self.remote, host);
            }
        }
        for (key, text) in &live {
            let mut newest: BTreeMap<&str, u64> = BTreeMap::new();
            for line in text.lines().filter(|line| line.contains("of host")) {
                let id = line.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next());
                let id: u64 = id.unwrap().parse().unwrap();
                let host = line.split("of host ").nth(1).unwrap();
                let before = newest.insert(host, id);
                assert!(before.is_none_or(|before| before < id), "{key}: {text}");
            }
        }
        block_on(events(&*self.remote));
        let is_fork = |text: &&String| text.contains("\"parentSession\"");
        live.values().filter(is_fork).count()
    }
}

/// Takes lines out of what counts.
fn retire(written: &mut BTreeSet<String>, left: &mut BTreeSet<String>, text: &str) {
    for line in text.lines() {
        let _ = (written.remove(line), left.remove(line));
    }
}

/// Nothing but the remote may fail.
fn may_fail<T, E: Into<Failure> + std::fmt::Debug>(outcome: Result<T, E>) {
    if let Err(error) = outcome {
        let text = format!("{error:?}");
        assert!(matches!(error.into(), Failure::Remote), "{text}");
    }
}

enum Failure {
    Remote,
    Other,
}

impl From<PublishError> for Failure {
    fn from(error: PublishError) -> Self {
        if let PublishError::Remote(_) = error { Self::Remote } else { Self::Other }
    }
}

impl From<ReplicaError> for Failure {
    fn from(error: ReplicaError) -> Self {
        if let ReplicaError::Remote(_) = error { Self::Remote } else { Self::Other }
    }
}
