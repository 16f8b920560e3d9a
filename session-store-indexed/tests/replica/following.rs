//! Following the feed.

use std::sync::Arc;

use pollster::block_on;
use session_model::storage::StorageKey;
use session_store_indexed::remote::{FakeFaults, FakeRemote};
use session_store_indexed::replica::{Cursor, Outcome};

use super::host::*;

fn step(host: &Host, cursor: &mut Cursor) -> Vec<(StorageKey, Outcome)> {
    let followed = block_on(host.replica.follow(cursor)).unwrap();
    assert!(!followed.more);
    let outcome = |(key, pulled): (_, Result<session_store_indexed::replica::Pulled, _>)| {
        (key, pulled.unwrap().outcome)
    };
    followed.sessions.into_iter().map(outcome).collect()
}

#[test]
fn a_copy_is_kept_up_to_date() {
    let (_remote, first, second) = two();
    let (mut here, mut all) = (Cursor::here(), Cursor::all());
    assert_eq!(step(&second, &mut here), []);
    assert_eq!(step(&second, &mut all), [(session(), Outcome::Installed)]);
    assert_eq!(step(&second, &mut all), []);
    let bytes = line("b", "0").len() as u64;
    for n in 0..3 {
        first.append(&session(), &line("b", &n.to_string()));
        first.publish(&session());
        assert_eq!(step(&second, &mut here), [(session(), Outcome::Grown { bytes })]);
        assert_eq!(step(&second, &mut here), []);
        assert_eq!(second.all(), first.all());
    }
    let other = key("sessions/b/other.jsonl");
    first.append(&other, &header());
    first.publish(&other);
    assert_eq!(step(&second, &mut here), []);
    let mut only = Cursor::only([session()]);
    assert_eq!(step(&second, &mut only), [(session(), Outcome::Same)]);
    let expected = [(session(), Outcome::Same), (other, Outcome::Installed)];
    assert_eq!(step(&second, &mut all), expected);
}

#[test]
fn what_the_feed_dropped_is_found_by_a_list() {
    let remote = Arc::new(FakeRemote::new(FakeFaults::default(), 1));
    let (first, second) = (Host::new("first", &remote), Host::new("second", &remote));
    let keys = ["a", "b", "c"].map(|name| key(&format!("sessions/b/{name}.jsonl")));
    let mut cursor = Cursor::all();
    assert_eq!(step(&second, &mut cursor), []);
    for key in &keys {
        first.append(key, &header());
        first.publish(key);
    }
    let installed = keys.map(|key| (key, Outcome::Installed));
    assert_eq!(step(&second, &mut cursor), installed);
    assert_eq!(step(&second, &mut cursor), []);
}

#[test]
fn a_session_that_could_not_be_read_is_tried_again() {
    let (remote, first, second) = two();
    let mut cursor = Cursor::all();
    step(&second, &mut cursor);
    for seed in 0..200 {
        first.append(&session(), &line("b", &seed.to_string()));
        first.publish(&session());
        remote.set_faults(FakeFaults { seed, cut_before: 400, ..FakeFaults::default() });
        for _ in 0..3 {
            let _ = block_on(second.replica.follow(&mut cursor));
        }
        remote.set_faults(FakeFaults::default());
        step(&second, &mut cursor);
        assert_eq!(second.all(), first.all(), "seed {seed}");
    }
}
