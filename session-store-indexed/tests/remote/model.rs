//! Random calls against a Redis and the fake side by side: every answer and state is the same.

#[cfg(feature = "redis")]
use session_store_indexed::remote::Fence;
use session_store_indexed::remote::{Applied, Claimed, FakeFaults, FakeRemote, Remote};

use super::support::*;

/// A small generator, so that a failure names its seed.
struct Dice(u64);

impl Dice {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % end
    }
}

/// Runs the same random calls on both and compares.
#[cfg(feature = "redis")]
async fn compare(left: &dyn Remote, right: &dyn Remote, seed: u64, calls: usize) {
    let mut dice = Dice(seed);
    let sessions = [key("a"), key("b")];
    let mut fences = vec![Fence { epoch: 0, owner: "one".to_owned() }];
    let logs = [text(300_000), vec![7; 300_000]];
    for call in 0..calls {
        let at = format!("seed {seed}, call {call}");
        let session = &sessions[dice.below(2) as usize];
        let fence =
            fences[fences.len() - 1 - dice.below(fences.len().min(3) as u64) as usize].clone();
        let state = right.state(session).await.unwrap();
        let have = state.map(|state| state.position).unwrap_or_default();
        let generation = have.generation + dice.below(2);
        let log = &logs[usize::from(dice.below(10) == 0)];
        match dice.below(12) {
            0 => {
                let owner = ["one", "two"][dice.below(2) as usize];
                let fence = claimed(right, session, owner).await;
                assert_eq!(claimed(left, session, owner).await, fence, "{at}");
                fences.push(fence);
            }
            1 => {
                let answer = right.begin_rewrite(session, &fence, generation).await;
                assert_eq!(left.begin_rewrite(session, &fence, generation).await, answer, "{at}");
            }
            2 => {
                let end = dice.below(3) as usize * 1000;
                let commit = rewrite(session, &fence, generation, &log[..end]);
                let answer = right.commit_rewrite(&commit).await;
                assert_eq!(left.commit_rewrite(&commit).await, answer, "{at}");
            }
            3 if dice.below(4) == 0 => {
                let answer = right.remove(session, &fence, None).await;
                assert_eq!(left.remove(session, &fence, None).await, answer, "{at}");
            }
            4 if dice.below(4) == 0 => {
                let answer = right.release(session, &fence).await;
                assert_eq!(left.release(session, &fence).await, answer, "{at}");
            }
            _ => {
                let from = if dice.below(2) == 0 { 0 } else { (have.length as usize).min(250_000) };
                let end = from + 1 + dice.below(3) as usize * 1000 + dice.below(20) as usize;
                let unit = unit(session, &fence, generation, &log[..end], from);
                let units = [unit.clone(), unit];
                let answer = right.apply(&units).await;
                assert_eq!(left.apply(&units).await, answer, "{at}");
            }
        }
        for session in &sessions {
            let state = right.state(session).await;
            assert_eq!(left.state(session).await, state, "{at}");
            let part = right.read(session, 0, 1 << 20).await;
            assert_eq!(left.read(session, 0, 1 << 20).await, part, "{at}");
        }
    }
}

#[cfg(feature = "redis")]
#[tokio::test]
async fn redis_answers_as_the_fake_does() {
    let server = super::server::Server::start(&[]);
    for seed in 1..=20 {
        let prefix = format!("model-{seed}:");
        compare(&server.remote(&prefix), &super::fake(), seed, 150).await;
    }
}

/// Appends a log in small units through a faulty remote and returns what every call answered.
async fn run(remote: &FakeRemote, seed: u64) -> Vec<String> {
    let (a, mut dice, log) = (key("a"), Dice(seed + 1), text(5000));
    let mut answers = Vec::new();
    let fence = loop {
        match remote.claim(&a, &claim("one")).await {
            Ok(Claimed::Granted(fence)) => break fence,
            other => answers.push(format!("{other:?}")),
        }
    };
    let mut sent = 0;
    while sent < log.len() {
        let mut units = Vec::new();
        let mut end = sent;
        for _ in 0..1 + dice.below(4) {
            let next = log.len().min(end + 1 + dice.below(400) as usize);
            if next > end {
                units.push(unit(&a, &fence, 0, &log[..next], end));
            }
            end = next;
        }
        let answer = remote.apply(&units).await;
        answers.push(format!("{answer:?}"));
        for (unit, answer) in units.iter().zip(answer) {
            match answer {
                Ok(Applied::Ok | Applied::Dup) => {
                    sent = unit.start.length as usize + unit.bytes.len();
                }
                // The outcome is unknown: the same again.
                Err(error) => {
                    assert!(error.is_temporary());
                    break;
                }
                Ok(other) => panic!("seed {seed}: {other:?}"),
            }
        }
    }
    remote.set_faults(FakeFaults::default());
    assert_eq!(whole(remote, &a).await, log, "seed {seed}");
    answers
}

#[tokio::test]
async fn a_faulty_fake_loses_and_repeats_nothing_and_a_seed_replays() {
    for seed in 0..200 {
        let faults = FakeFaults {
            seed,
            max_delay: std::time::Duration::from_millis(5),
            cut_before: 150,
            cut_after: 250,
            reorder: 3,
            ..FakeFaults::default()
        };
        let answers = run(&FakeRemote::new(faults.clone(), 100), seed).await;
        assert!(answers.iter().any(|answer| answer.contains("Unavailable")) || seed > 0);
        assert_eq!(run(&FakeRemote::new(faults, 100), seed).await, answers, "seed {seed}");
    }
}

#[tokio::test]
async fn a_fake_restarts_with_what_was_saved() {
    let remote = super::fake();
    let a = key("a");
    let fence = claimed(&remote, &a, "one").await;
    assert_eq!(apply(&remote, unit(&a, &fence, 0, b"12", 0)).await, Applied::Ok);
    remote.save();
    assert_eq!(apply(&remote, unit(&a, &fence, 0, b"1234", 2)).await, Applied::Ok);
    remote.restart();
    assert_eq!(whole(&remote, &a).await, b"12");
    let gap = Applied::Gap { have: at(0, 2) };
    assert_eq!(apply(&remote, unit(&a, &fence, 0, b"123456", 4)).await, gap);
}

#[tokio::test]
async fn the_feed_of_the_fake_says_when_events_were_dropped() {
    let remote = FakeRemote::new(FakeFaults::default(), 2);
    feed_is_capped(&remote).await;
}

/// A remote that keeps two events has told three.
pub(crate) async fn feed_is_capped(remote: &dyn Remote) {
    let a = key("a");
    let fence = claimed(remote, &a, "one").await;
    for end in 1..=3 {
        assert_eq!(apply(remote, unit(&a, &fence, 0, &b"123"[..end], end - 1)).await, Applied::Ok);
    }
    let feed = remote.feed(0, 10).await.unwrap();
    assert!(!feed.complete);
    assert_eq!(feed.events.len(), 2);
    assert!(remote.feed(feed.events[0].at, 10).await.unwrap().complete);
}
