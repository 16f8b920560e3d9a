//! Claims, take-over, and the fork of whoever comes back too late.

use pollster::block_on;
use session_model::storage::StorageErrorKind;
use session_store_indexed::remote::{Applied, Claimed, Fence, Position};
use session_store_indexed::replica::{Outcome, Pulled, TakeOver};
use session_store_memory::{Operation, When};

use super::host::*;

fn take(host: &Host, force: bool) -> TakeOver {
    block_on(host.replica.take_over(&session(), LEASE, force)).unwrap()
}

fn fence(owner: &str, epoch: u64) -> Fence {
    Fence { epoch, owner: owner.to_owned() }
}

#[test]
fn a_claim_is_refused_while_the_owner_lives_unless_forced() {
    let (remote, _first, second) = two();
    let TakeOver::Held { by, left } = take(&second, false) else { panic!() };
    assert_eq!(by, fence("first", 1));
    assert!(left <= LEASE);
    remote.advance(LEASE);
    let TakeOver::Taken { fence: got, pulled } = take(&second, false) else { panic!() };
    assert_eq!((got, pulled.outcome), (fence("second", 2), Outcome::Installed));
    let third = Host::new("third", &remote);
    assert!(matches!(take(&third, false), TakeOver::Held { .. }));
    let TakeOver::Taken { fence: got, .. } = take(&third, true) else { panic!() };
    assert_eq!(got, fence("third", 3));
    let nothing = key("sessions/b/no.jsonl");
    let unknown = block_on(third.replica.take_over(&nothing, LEASE, false));
    assert_eq!(unknown.unwrap(), TakeOver::Unknown);
}

#[test]
fn a_session_given_up_can_be_taken_at_once() {
    let (_remote, first, second) = two();
    assert!(!block_on(second.replica.release(&session())).unwrap());
    assert!(block_on(first.replica.release(&session())).unwrap());
    assert!(!block_on(first.replica.release(&session())).unwrap());
    assert!(matches!(take(&second, false), TakeOver::Taken { .. }));
}

#[test]
fn the_first_host_back_again_loses_nothing() {
    let (remote, first, second) = two();
    // The first host is cut off with a line it could not publish.
    let old = first.fence(&session());
    first.append(&session(), &line("x", "unpublished"));
    first.put(&key("sessions/b/2026-01-01T00-00-00-000Z_s/1.bash.log"), "out");
    let unpublished = first.read(&session());
    remote.advance(LEASE);
    assert!(matches!(take(&second, false), TakeOver::Taken { .. }));
    second.append(&session(), &line("b", "two"));
    second.publish(&session());

    let have = Position { generation: 0, length: (header() + &line("a", "one")).len() as u64 };
    let answer = first.apply(&session(), &old, have, unpublished.as_bytes());
    assert_eq!(answer, Applied::Fenced(fence("second", 2)));
    let Outcome::Forked { to } = first.pull(&session()) else { panic!() };
    assert_eq!(first.read(&session()), second.read(&session()));
    let id = to.file_name().rsplit_once('_').unwrap().1.strip_suffix(".jsonl").unwrap();
    let lines = first.read(&to);
    let (head, rest) = lines.split_once('\n').unwrap();
    assert_eq!(rest, line("a", "one") + &line("x", "unpublished"));
    for field in
        [format!(r#""id":"{id}""#), r#""parentSession":"s""#.to_owned(), r#""cwd":"/w""#.to_owned()]
    {
        assert!(head.contains(&field), "{head}");
    }
    let artifact = format!("{}/1.bash.log", to.as_str().strip_suffix(".jsonl").unwrap());
    assert_eq!(first.all()[&artifact], "out");
    first.storage.catch_up(|_| {}).unwrap();
    assert_eq!(first.storage.lineage(&to).unwrap()[0].key, session());
    assert_eq!(first.pull(&session()), Outcome::Same);
    assert_eq!(first.all().len(), 4);
}

#[test]
fn a_fork_is_made_once_however_often_it_is_cut_off() {
    let (_remote, first, second) = two();
    second.pull(&session());
    second.append(&session(), &line("x", "mine"));
    first.append(&session(), &line("b", "two"));
    first.publish(&session());
    let before = second.all();
    for _ in 0..3 {
        let unavailable = StorageErrorKind::Unavailable;
        second.files.faults().fail_nth(Operation::Replace, 0, When::Before, unavailable);
        block_on(second.replica.pull(&session())).unwrap_err();
        let all = second.all();
        assert_eq!(all.len(), 2);
        assert_eq!(all[session().as_str()], before[session().as_str()]);
    }
    let Outcome::Forked { to } = second.pull(&session()) else { panic!() };
    assert_eq!(second.all().len(), 2);
    assert!(second.read(&to).ends_with(&(line("a", "one") + &line("x", "mine"))));
    assert_eq!(second.read(&session()), first.read(&session()));
}

#[test]
fn a_file_that_is_no_session_is_kept_as_it_is() {
    let (_remote, first, second) = two();
    second.append(&session(), "no session\n");
    let Outcome::Forked { to } = second.pull(&session()) else { panic!() };
    assert!(to.file_name().contains(".apart-"), "{to}");
    assert_eq!(second.read(&to), "no session\n");
    assert_eq!(second.read(&session()), first.read(&session()));
}

#[test]
fn a_rewrite_elsewhere_forks_lines_of_this_host() {
    let (_remote, first, second) = two();
    second.pull(&session());
    second.append(&session(), &line("x", "mine"));
    assert_eq!(second.pull(&session()), Outcome::Ahead);
    first.put(&session(), header() + &line("a", "ONE"));
    first.publish_rewritten(&session());
    let Pulled { outcome, .. } = block_on(second.replica.pull(&session())).unwrap();
    let Outcome::Forked { to } = outcome else { panic!() };
    assert!(second.read(&to).ends_with(&(line("a", "one") + &line("x", "mine"))));
    assert_eq!(second.read(&session()), first.read(&session()));
}

#[test]
fn a_rewrite_that_lost_entries_forks_a_clean_copy() {
    let (_remote, first, second) = two();
    first.append(&session(), &line("b", "two"));
    first.publish(&session());
    second.pull(&session());
    // As from a host that never had the second entry, after the remote lost it.
    first.put(&session(), header() + &line("a", "one") + &line("c", "three"));
    first.publish_rewritten(&session());
    let Outcome::Forked { to } = second.pull(&session()) else { panic!() };
    assert!(second.read(&to).ends_with(&(line("a", "one") + &line("b", "two"))));
    assert_eq!(second.read(&session()), first.read(&session()));
    assert_eq!(second.pull(&session()), Outcome::Same);
}

#[test]
fn a_claim_that_was_lost_is_of_no_use() {
    let (_remote, first, second) = two();
    let old = first.fence(&session());
    assert!(matches!(second.claim(&session(), true), Claimed::Granted(_)));
    first.append(&session(), &line("b", "two"));
    let log = first.read(&session()).into_bytes();
    let start = Position { generation: 0, length: (header() + &line("a", "one")).len() as u64 };
    let answer = first.try_apply(&session(), &old, start, &log);
    assert_eq!(answer, Some(Applied::Fenced(Fence { epoch: 2, owner: "second".to_owned() })));
}
