//! A remote that was set back to an older state, and what hosts did before and after.

use std::sync::Arc;

use pollster::block_on;
use session_store_indexed::remote::{FakeFaults, FakeRemote, Remote};
use session_store_indexed::replica::{Outcome, TakeOver};

use super::host::{Host, LEASE, Time};
use super::steps::fake;
use super::support::{Test, header, logged, message, session};

pub const TESTS: &[Test] = &[
    ("a_rewrite_does_not_hide_what_was_written_since", a_rewrite_does_not_hide),
    ("appended_lines_do_not_hide_what_was_written_since", appended_lines_do_not_hide),
    ("a_claim_that_was_cut_off_hides_nothing", a_claim_that_was_cut_off_hides_nothing),
    ("a_removal_does_not_take_what_was_written_since", a_removal_does_not_take),
    ("a_session_made_again_is_no_removed_one", a_session_made_again_is_no_removed_one),
    ("a_copy_fills_a_remote_again_when_told", a_copy_fills_a_remote_again_when_told),
];

fn hosts(remote: &Arc<FakeRemote>) -> (Arc<Time>, Host, Host) {
    let clock = Time::new();
    let host = || Host::new(Arc::clone(remote) as Arc<dyn Remote>, &clock);
    let (first, second) = (host(), host());
    (clock, first, second)
}

/// The first host publishes a line, the remote is saved, and the first goes on; then the remote is
/// set back, and the second host writes as many lines and is done.
fn set_back(first: &mut Host, second: &mut Host, remote: &FakeRemote, lines: u64) {
    let a = session("a");
    first.append(&a, &(header("a") + &message("1", "both")));
    first.publish();
    remote.save();
    for epoch in 0..3 {
        // Claims the second host knows nothing of.
        assert!(matches!(first.take_over(&a, true), Ok(TakeOver::Taken { .. })));
        first.append(&a, &message(&format!("2{epoch}"), "first"));
        first.publish();
        first.reopen();
    }
    remote.restart();
    remote.advance(LEASE);
    assert!(matches!(second.take_over(&a, true), Ok(TakeOver::Taken { .. })));
    for number in 0..lines {
        second.append(&a, &message(&format!("3{number}"), "second"));
    }
    second.publish();
}

/// The first host comes back, and forks: the session is the second host's, and its own lines are in
/// the fork.
fn first_forks(first: &mut Host, second: &mut Host, remote: &FakeRemote, own: &str) {
    let a = session("a");
    let theirs = String::from_utf8(second.read(&a).to_vec()).unwrap();
    first.reopen();
    first.publish();
    assert_eq!(logged(remote, &a).as_ref(), Some(&theirs));
    let found = first.followed();
    let [(key, Outcome::Forked { to })] = &found[..] else { panic!("{found:?}") };
    assert_eq!((key, &first.read(&a)[..]), (&a, theirs.as_bytes()));
    let fork = String::from_utf8(first.read(to).to_vec()).unwrap();
    let (head, rest) = fork.split_once('\n').unwrap();
    assert!(head.contains(r#""parentSession":"a""#), "{head}");
    assert_eq!(rest, own);
    first.publish();
    assert_eq!(logged(remote, to), Some(fork));
    assert_eq!(logged(remote, &a), Some(theirs));
    assert_eq!(first.storage().blocked().unwrap(), []);
}

fn a_rewrite_does_not_hide() {
    for lines in [1, 9] {
        let remote = fake();
        let (_clock, mut first, mut second) = hosts(&remote);
        set_back(&mut first, &mut second, &remote, lines);
        let own = message("1", "edited") + &message("4", "first");
        first.put(&session("a"), &(header("a") + &own));
        first_forks(&mut first, &mut second, &remote, &own);
    }
}

fn appended_lines_do_not_hide() {
    for lines in [1, 9] {
        let remote = fake();
        let (_clock, mut first, mut second) = hosts(&remote);
        set_back(&mut first, &mut second, &remote, lines);
        first.append(&session("a"), &message("4", "first"));
        let own = String::from_utf8(first.read(&session("a")).to_vec()).unwrap();
        let own = own.split_once('\n').unwrap().1.to_owned();
        first_forks(&mut first, &mut second, &remote, &own);
    }
}

fn a_claim_that_was_cut_off_hides_nothing() {
    let remote = fake();
    let (_clock, mut first, mut second) = hosts(&remote);
    let a = session("a");
    first.append(&a, &(header("a") + &message("1", "both")));
    first.publish();
    assert_eq!(second.followed(), [(a.clone(), Outcome::Installed)]);
    second.append(&a, &message("2", "second"));
    second.publish();
    let own = message("1", "edited");
    first.put(&a, &(header("a") + &own));
    remote.set_faults(FakeFaults { reorder: 1, ..FakeFaults::default() });
    // However far it gets: it has claimed, and not yet compared.
    for rounds in 1..20 {
        first.step_cut(rounds);
        first.reopen();
    }
    remote.set_faults(FakeFaults::default());
    first_forks(&mut first, &mut second, &remote, &own);
}

fn a_removal_does_not_take() {
    let remote = fake();
    let (_clock, mut first, mut second) = hosts(&remote);
    let a = session("a");
    set_back(&mut first, &mut second, &remote, 1);
    let theirs = second.read(&a);
    first.remove(&a);
    first.reopen();
    first.publish();
    assert_eq!(logged(&*remote, &a).unwrap().as_bytes(), &theirs[..]);
    assert_eq!(second.followed(), [(a, Outcome::Same)]);
}

fn a_session_made_again_is_no_removed_one() {
    let remote = fake();
    let (_clock, mut first, mut second) = hosts(&remote);
    let a = session("a");
    first.append(&a, &header("old"));
    first.publish();
    first.remove(&a);
    first.publish();
    remote.save();
    first.append(&a, &header("new"));
    // Its own removal is told to it as well, by now of an older session.
    let expected = [(a.clone(), Outcome::Ahead)];
    assert_eq!(first.followed(), expected);
    first.publish();
    remote.restart();
    first.reopen();
    assert_eq!(first.followed(), expected);
    first.publish();
    assert_eq!(logged(&*remote, &a), Some(header("new")));
    assert_eq!(second.followed(), [(a, Outcome::Installed)]);
}

fn a_copy_fills_a_remote_again_when_told() {
    let remote = fake();
    let (clock, mut first, mut second) = hosts(&remote);
    let a = session("a");
    first.append(&a, &header("a"));
    first.publish();
    remote.save();
    first.append(&a, &message("1", "one"));
    first.publish();
    assert_eq!(second.followed(), [(a.clone(), Outcome::Installed)]);
    second.publish();
    remote.restart();
    clock.advance(LEASE);
    remote.advance(LEASE);
    // The second host has only read so far, and the first is gone for good.
    let whole = first.read(&a);
    drop(first);
    second.reopen();
    let set_back = block_on(remote.state(&a)).unwrap();
    assert_eq!(second.followed(), [(a.clone(), Outcome::Ahead)]);
    second.publish();
    assert_eq!(block_on(remote.state(&a)).unwrap(), set_back, "who only read changes nothing");
    assert_eq!(block_on(second.replica().push()).unwrap(), std::slice::from_ref(&a));
    second.publish();
    assert_eq!(logged(&*remote, &a).unwrap().as_bytes(), &whole[..]);
    block_on(second.replica().pull(&a)).unwrap();
    assert_eq!(second.read(&a), whole);
}
