//! Several hosts, a faulty remote and kills, all from one seed.
//!
//! `SESSION_SIM_SEED` replays one seed, `SESSION_SIM_SEEDS` says how many there are.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use session_model::BlobRef;
use session_model::storage::StorageKey;
use session_store_indexed::publish::PublishError;
use session_store_indexed::remote::{FakeFaults, FakeRemote, Remote};

use super::dice::{Dice, for_each_seed};
use super::host::{Host, Time};
use super::support::{Test, events, header, key, log, message};

pub const TESTS: &[Test] = &[("simulation", simulation)];

/// How many seeds a short run has.
const SEEDS: u64 = 40;
const STEPS: u64 = 60;

fn simulation() {
    for_each_seed("SESSION_SIM_SEEDS", SEEDS, |seed| World::new(seed).run());
}

/// What a host should have: its sessions and artifacts, and the keys it has removed.
#[derive(Default)]
struct Wanted {
    sessions: BTreeMap<StorageKey, String>,
    artifacts: BTreeMap<StorageKey, String>,
    removed: BTreeSet<StorageKey>,
}

struct World {
    dice: Dice,
    clock: Arc<Time>,
    remote: Arc<FakeRemote>,
    hosts: Vec<(Host, Wanted)>,
    made: u64,
}

impl World {
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed);
        let clock = Time::new();
        let faults = FakeFaults {
            seed,
            max_delay: Duration::from_millis(dice.below(50)),
            cut_before: dice.below(150) as u16,
            cut_after: dice.below(150) as u16,
            reorder: dice.below(3) as u16 + 1,
            ..FakeFaults::default()
        };
        let remote = Arc::new(FakeRemote::new(FakeFaults::default(), 100_000));
        let hosts = (0..dice.below(3) + 2)
            .map(|_| {
                let remote = Arc::clone(&remote) as Arc<dyn Remote>;
                (Host::new(remote, &clock), Wanted::default())
            })
            .collect();
        remote.set_faults(faults);
        Self { dice, clock, remote, hosts, made: 0 }
    }

    fn run(mut self) {
        for _ in 0..STEPS {
            let host = self.dice.below(self.hosts.len() as u64) as usize;
            match self.dice.below(20) {
                0..=8 => self.write(host),
                9..=13 => match self.hosts[host].0.step() {
                    // Nothing but the remote may fail.
                    Ok(_) | Err(PublishError::Remote(_)) => {}
                    Err(error) => panic!("{error:?}"),
                },
                14 => {
                    let rounds = self.dice.below(12) as usize;
                    self.hosts[host].0.step_cut(rounds);
                }
                15 => {
                    let rounds = self.dice.below(12) as usize;
                    self.hosts[host].0.step_cut(rounds);
                    self.hosts[host].0.reopen();
                }
                16 => self.remote.save(),
                17 if self.dice.below(3) == 0 => self.remote.restart(),
                _ => {
                    let by = Duration::from_millis(self.dice.below(20_000));
                    self.clock.advance(by);
                    self.remote.advance(by);
                }
            }
        }
        self.remote.set_faults(FakeFaults::default());
        for (host, wanted) in &mut self.hosts {
            // What a remote lost is found with the next connection.
            host.reopen();
            host.publish();
            check(&self.remote, host, wanted);
        }
        block_on(events(&*self.remote));
    }

    fn name(&mut self) -> u64 {
        self.made += 1;
        self.made
    }

    fn write(&mut self, at: usize) {
        let made = self.name();
        let choice = self.dice.below(12);
        let pick = self.dice.below(4);
        let (host, wanted) = &mut self.hosts[at];
        let folder = format!("sessions/host-{at}");
        let session = key(&format!("{folder}/s{pick}.jsonl"));
        let exists = wanted.sessions.contains_key(&session);
        let id = made.to_string();
        match choice {
            0 if exists => {
                host.remove(&session);
                wanted.sessions.remove(&session);
                wanted.removed.insert(session);
            }
            1 if exists => {
                let to = key(&format!("{folder}/s{}.jsonl", pick + 4));
                if wanted.sessions.contains_key(&to) {
                    return;
                }
                host.rename(&session, &to);
                let lines = wanted.sessions.remove(&session).unwrap();
                wanted.sessions.insert(to.clone(), lines);
                wanted.removed.remove(&to);
                wanted.removed.insert(session);
            }
            2 if exists => {
                let lines = header(&id) + &message(&id, "anew");
                host.put(&session, &lines);
                wanted.sessions.insert(session, lines);
            }
            3 => {
                let artifact = key(&format!("{folder}/s{pick}/{}.x.log", made % 3));
                host.put(&artifact, &id);
                wanted.artifacts.insert(artifact, id);
            }
            4 => {
                let Some((artifact, _)) = wanted.artifacts.pop_first() else { return };
                host.remove(&artifact);
            }
            _ => {
                let mut line = message(&id, "text");
                if choice == 5 {
                    let blob = BlobRef::of(id.as_bytes());
                    host.put(&key(&format!("blobs/{}", blob.to_hex())), &id);
                    line = message(&id, &blob.to_string());
                }
                let lines = if exists { line } else { header(&id) + &line };
                host.append(&session, &lines);
                wanted.removed.remove(&session);
                wanted.sessions.entry(session).or_default().push_str(&lines);
            }
        }
    }
}

/// The remote has what the host has, byte for byte, and nothing it removed.
fn check(remote: &FakeRemote, host: &Host, wanted: &Wanted) {
    assert_eq!(host.storage().blocked().unwrap(), []);
    for (key, lines) in &wanted.sessions {
        assert_eq!(host.read(key), lines.as_bytes(), "{key}");
        let there = block_on(log(remote, key));
        assert_eq!(there.as_deref(), Some(lines.as_bytes()), "{key}");
        for blob in lines.split("blob:sha256:").skip(1) {
            let blob = StorageKey::new(format!("blobs/{}", &blob[..64])).unwrap();
            assert!(block_on(remote.get_object(&blob)).unwrap().is_some(), "{blob}");
        }
    }
    for key in &wanted.removed {
        assert_eq!(block_on(log(remote, key)), None, "{key}");
    }
    for (key, text) in &wanted.artifacts {
        let there = block_on(remote.get_object(key)).unwrap();
        assert_eq!(there.as_deref(), Some(text.as_bytes()), "{key}");
    }
}
