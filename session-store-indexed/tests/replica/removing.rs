//! Sessions that were removed or moved elsewhere, or here.

use pollster::block_on;
use session_model::storage::SessionStorage;
use session_store_indexed::remote::{Applied, Remote, rename};
use session_store_indexed::replica::{Outcome, Pulled};

use super::host::*;

#[test]
fn a_removed_session_goes_to_the_trash_and_stays_there() {
    let (remote, first, second) = two();
    second.pull(&session());
    let artifact = "sessions/b/2026-01-01T00-00-00-000Z_s/1.bash.log";
    second.put(&key(artifact), "out");
    let content = second.read(&session());
    let fence = first.fence(&session());
    assert_eq!(block_on(remote.remove(&session(), &fence, None)), Ok(Applied::Ok));
    let Outcome::Removed { trashed: Some(trashed), fork: None } = second.pull(&session()) else {
        panic!()
    };
    let all = second.all();
    let folder = trashed.parent().unwrap();
    assert_eq!(all.len(), 3);
    assert_eq!(all[trashed.as_str()], content);
    let stem = trashed.as_str().strip_suffix(".jsonl").unwrap();
    assert_eq!(all[&format!("{stem}/1.bash.log")], "out");
    let record = &all[&format!("{folder}/origin.json")];
    assert!(record.starts_with(&format!(r#"{{"from":"{}","deletedAt":""#, session())), "{record}");
    assert_eq!(second.pull(&session()), Outcome::Removed { trashed: None, fork: None });
    assert_eq!(second.all(), all);
}

#[test]
fn lines_nobody_else_has_outlive_a_removal() {
    let (remote, first, second) = two();
    second.pull(&session());
    second.append(&session(), &line("x", "mine"));
    let fence = first.fence(&session());
    assert_eq!(block_on(remote.remove(&session(), &fence, None)), Ok(Applied::Ok));
    let Outcome::Removed { fork: Some(fork), .. } = second.pull(&session()) else { panic!() };
    let lines = second.read(&fork);
    assert!(lines.ends_with(&(line("a", "one") + &line("x", "mine"))), "{lines}");
    assert!(lines.contains(r#""parentSession":"s""#), "{lines}");
}

#[test]
fn a_moved_session_moves_here_too() {
    let (remote, first, second) = two();
    second.pull(&session());
    second.put(&key("sessions/b/2026-01-01T00-00-00-000Z_s/1.bash.log"), "out");
    let to = key("sessions/c/moved.jsonl");
    let (from_fence, to_fence) = (first.fence(&session()), first.fence(&to));
    let renamed = block_on(rename(&*remote, (&session(), &from_fence), (&to, &to_fence)));
    assert_eq!(renamed, Ok(Applied::Ok));
    let moved = Outcome::Moved { to: to.clone(), fork: None };
    assert_eq!(second.pull(&session()), moved);
    let expected = [
        (to.to_string(), header() + &line("a", "one")),
        ("sessions/c/moved/1.bash.log".to_owned(), "out".to_owned()),
    ];
    assert_eq!(second.all(), expected.into_iter().collect());
    assert_eq!(second.pull(&to), Outcome::Replaced);
    assert_eq!(second.pull(&to), Outcome::Same);
    assert_eq!(second.pull(&session()), moved);
}

#[test]
fn a_session_removed_here_comes_back_only_if_asked_for() {
    let (_remote, first, second) = two();
    second.pull(&session());
    block_on(second.storage.remove(&session())).unwrap();
    assert_eq!(second.pull(&session()), Outcome::RemovedHere);
    assert!(second.all().is_empty());
    let restored = block_on(second.replica.restore(&session())).unwrap();
    let Pulled { outcome, missing, .. } = restored;
    assert_eq!((outcome, missing), (Outcome::Installed, vec![]));
    assert_eq!(second.all(), first.all());
}

#[test]
fn what_the_remote_never_had_is_unknown() {
    let (_remote, first, second) = two();
    let nothing = key("sessions/b/nothing.jsonl");
    assert_eq!(second.pull(&nothing), Outcome::Unknown);
    // Claimed, and nothing written yet.
    first.fence(&nothing);
    assert_eq!(second.pull(&nothing), Outcome::Unknown);
    assert!(second.all().is_empty());
}
