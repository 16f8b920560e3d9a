//! Changes that took effect on the remote without an answer, and what was done here meanwhile.

use std::sync::Arc;

use pollster::block_on;
use session_model::storage::{SessionStorage, StorageKey};
use session_store_indexed::publish::PublishError;
use session_store_indexed::remote::{FakeFaults, FakeRemote, Remote};
use session_store_indexed::replica::Outcome;

use super::host::{Host, Time};
use super::steps::fake;
use super::support::{Test, header, key, logged, message, session};

pub const TESTS: &[Test] = &[
    ("a_removed_session_does_not_come_back", a_removed_session_does_not_come_back),
    ("a_rewritten_session_is_not_taken_for_anothers", a_rewritten_session_is_not_taken),
    ("a_removed_artifact_does_not_come_back", a_removed_artifact_does_not_come_back),
];

/// Hosts with a session and an artifact, of which the remote has one as far as `is_there` tells, and
/// the host knows nothing.
fn unanswered(is_there: impl Fn(&FakeRemote) -> bool) -> Vec<(Arc<FakeRemote>, Host)> {
    let made = (0..25).filter_map(|seed| {
        let remote = fake();
        let mut host = Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &Time::new());
        host.append(&session("a"), &header("a"));
        host.put(&artifact(), "output");
        remote.set_faults(FakeFaults { seed, cut_after: 300, ..FakeFaults::default() });
        let is_cut = matches!(host.step(), Err(PublishError::Remote(_)));
        remote.set_faults(FakeFaults::default());
        (is_cut && is_there(&remote)).then_some((remote, host))
    });
    let made: Vec<_> = made.collect();
    assert!(!made.is_empty(), "no seed tells anything");
    made
}

fn artifact() -> StorageKey {
    key("sessions/b/a/0.x.log")
}

fn has_session(remote: &FakeRemote) -> bool {
    logged(remote, &session("a")).is_some()
}

fn pull(host: &Host) -> Outcome {
    block_on(host.replica().pull(&session("a"))).unwrap().outcome
}

fn a_removed_session_does_not_come_back() {
    let a = session("a");
    for (remote, mut host) in unanswered(has_session) {
        host.remove(&a);
        assert_eq!(pull(&host), Outcome::RemovedHere);
        host.publish();
        assert_eq!(logged(&*remote, &a), None);
        // It is fetched again only if somebody asks for that.
        let mut other = Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &Time::new());
        other.append(&a, &header("b"));
        other.publish();
        assert_eq!(block_on(host.replica().restore(&a)).unwrap().outcome, Outcome::Installed);
    }
}

fn a_rewritten_session_is_not_taken() {
    let a = session("a");
    for (remote, mut host) in unanswered(has_session) {
        let lines = header("b") + &message("1", "x");
        host.put(&a, &lines);
        assert_eq!(pull(&host), Outcome::Ahead);
        host.publish();
        assert_eq!(logged(&*remote, &a), Some(lines.clone()));
        assert_eq!(host.all_in("sessions"), [(a.clone(), lines)].into());
    }
}

fn a_removed_artifact_does_not_come_back() {
    let there = |remote: &FakeRemote| block_on(remote.get_object(&artifact()));
    for (remote, mut host) in unanswered(|remote| matches!(there(remote), Ok(Some(_)))) {
        host.remove(&artifact());
        for is_told in [false, true] {
            let _ = pull(&host);
            assert!(block_on(host.storage().head(&artifact())).is_err());
            if !is_told {
                host.publish();
                assert_eq!(there(&remote), Ok(None));
            }
        }
    }
}
