//! Seeded runs of several hosts that write, lose their claims, and come back.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use session_model::storage::StorageKey;
use session_store_indexed::remote::{
    Applied, Claimed, Digest, FakeFaults, FakeRemote, Fence, Remote, Rewrite,
};
use session_store_indexed::replica::{Cursor, Outcome, TakeOver};

use super::host::*;

/// SplitMix64.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (bits ^ (bits >> 31)) % end
    }
}

struct Run {
    dice: Dice,
    remote: Arc<FakeRemote>,
    hosts: Vec<Host>,
    /// What each host believes its claim to be.
    fences: Vec<Option<Fence>>,
    written: BTreeSet<String>,
}

fn lines_of(content: &str) -> impl Iterator<Item = &str> {
    content.lines().filter(|line| !line.contains("\"session\""))
}

impl Run {
    fn new(seed: u64) -> Self {
        let remote = Arc::new(FakeRemote::new(FakeFaults::default(), 8));
        let names = ["one", "two", "three", "four"];
        let mut dice = Dice(seed);
        let count = 2 + dice.below(3) as usize;
        let hosts: Vec<_> = names[..count].iter().map(|name| Host::new(name, &remote)).collect();
        let fences = vec![None; count];
        let mut run = Self { dice, remote, hosts, fences, written: BTreeSet::new() };
        run.hosts[0].append(&session(), &header());
        run.hosts[0].publish(&session());
        run.fences[0] = Some(run.hosts[0].fence(&session()));
        run
    }

    /// Sends what a host has beyond the remote, as it believes; whatever the answer is.
    fn send(&mut self, at: usize) {
        let (host, Some(fence)) = (&self.hosts[at], &self.fences[at]) else { return };
        let Ok(Some(state)) = block_on(self.remote.state(&session())) else { return };
        let log = host.read(&session()).into_bytes();
        if (log.len() as u64) <= state.position.length {
            return;
        }
        let _ = host.try_apply(&session(), fence, state.position, &log);
    }

    fn rewrite(&mut self, at: usize, n: u64) {
        let (host, Some(fence)) = (&self.hosts[at], self.fences[at].clone()) else { return };
        let Ok(Some(state)) = block_on(self.remote.state(&session())) else { return };
        let ours = host.read(&session());
        let same = Some(Digest::of(ours.as_bytes())) == state.digest;
        // Whoever rewrites is up to date, and owns it.
        if !same || state.fence != fence {
            return;
        }
        let new = ours.replacen("\"cwd\":\"/w", &format!("\"cwd\":\"/w{n}"), 1);
        let start = session_store_indexed::remote::Position {
            generation: state.position.generation + 1,
            length: 0,
        };
        if block_on(self.remote.begin_rewrite(&session(), &fence, start.generation))
            != Ok(Applied::Ok)
            || host.try_apply(&session(), &fence, start, new.as_bytes()).is_none()
        {
            return;
        }
        let rewrite = Rewrite {
            session: session(),
            fence,
            position: session_store_indexed::remote::Position { length: new.len() as u64, ..start },
            digest: Digest::of(new.as_bytes()),
            meta: host.meta().to_bytes(),
        };
        if block_on(self.remote.commit_rewrite(&rewrite)) == Ok(Applied::Ok) {
            host.put(&session(), new);
        }
    }

    fn step(&mut self, n: u64) {
        let at = self.dice.below(self.hosts.len() as u64) as usize;
        let has = self.hosts[at].all().contains_key(session().as_str());
        match self.dice.below(10) {
            0..=2 if has => {
                let line = line(&n.to_string(), self.hosts[at].name);
                self.hosts[at].append(&session(), &line);
                self.written.insert(line.trim_end().to_owned());
                if self.dice.below(2) == 0 {
                    self.send(at);
                }
            }
            3 if has => self.send(at),
            4 => {
                let force = self.dice.below(2) == 0;
                let taken = block_on(self.hosts[at].replica.take_over(&session(), LEASE, force));
                if let Ok(TakeOver::Taken { fence, .. }) = taken {
                    self.fences[at] = Some(fence);
                }
            }
            5 => self.remote.advance(LEASE),
            6 if has => self.rewrite(at, n),
            7 => {
                let faults = FakeFaults {
                    seed: self.dice.below(1 << 40),
                    cut_before: 150,
                    cut_after: 150,
                    max_delay: Duration::from_millis(5),
                    ..FakeFaults::default()
                };
                self.remote.set_faults(faults);
            }
            8 => self.remote.set_faults(FakeFaults::default()),
            _ => drop(block_on(self.hosts[at].replica.pull(&session()))),
        }
        self.nothing_is_lost(n);
    }

    /// Every line that was ever written is in some session of some host.
    fn nothing_is_lost(&self, n: u64) {
        let all: Vec<_> = self.hosts.iter().map(Host::all).collect();
        let found: BTreeSet<_> =
            all.iter().flat_map(|all| all.values()).flat_map(|text| lines_of(text)).collect();
        for line in &self.written {
            assert!(found.contains(line.as_str()), "step {n}: {line} is lost");
        }
    }

    /// With no faults and no new lines all hosts come to have the same.
    fn settle(&mut self) {
        self.remote.set_faults(FakeFaults::default());
        let log = || {
            let state = block_on(self.remote.state(&session())).unwrap().unwrap();
            (state.position, state.digest.unwrap())
        };
        let (_, digest) = log();
        for host in &self.hosts {
            let mut cursor = Cursor::all();
            let followed = block_on(host.replica.follow(&mut cursor)).unwrap();
            let outcomes: Vec<(StorageKey, Outcome)> =
                followed.sessions.into_iter().map(|(k, p)| (k, p.unwrap().outcome)).collect();
            assert_eq!(outcomes.len(), 1);
            if outcomes[0].1 == Outcome::Ahead {
                continue;
            }
            assert_eq!(Digest::of(host.read(&session()).as_bytes()), digest, "{outcomes:?}");
        }
    }
}

#[test]
fn several_hosts_lose_nothing_and_agree_in_the_end() {
    let replayed = std::env::var("SESSION_SIM_SEED").ok().map(|seed| seed.parse().unwrap());
    let seeds = replayed.map_or(0..40, |seed: u64| seed..seed + 1);
    let mut forks = 0;
    for seed in seeds {
        eprintln!("SESSION_SIM_SEED={seed}");
        let mut run = Run::new(seed);
        for n in 0..60 {
            run.step(n);
        }
        run.settle();
        run.nothing_is_lost(60);
        forks += run.hosts.iter().filter(|host| host.all().len() > 1).count();
    }
    assert!(replayed.is_some() || forks > 10, "{forks} forks: too few to tell anything");
}

#[test]
fn a_claim_that_was_lost_is_of_no_use() {
    let (_remote, first, second) = two();
    let old = first.fence(&session());
    assert!(matches!(second.claim(&session(), true), Claimed::Granted(_)));
    first.append(&session(), &line("b", "two"));
    let log = first.read(&session()).into_bytes();
    let start = session_store_indexed::remote::Position {
        generation: 0,
        length: (header() + &line("a", "one")).len() as u64,
    };
    let answer = first.try_apply(&session(), &old, start, &log);
    assert_eq!(answer, Some(Applied::Fenced(Fence { epoch: 2, owner: "second".to_owned() })));
}
