//! What is not published: refused, fenced, held.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use session_store_indexed::remote::{
    AppendUnit, Applied, Claim, Claimed, Digest, FakeRemote, Position, Put, Remote,
};
use session_store_indexed::{BlockKind, Blocked};

use super::host::{Host, Time};
use super::steps::fake;
use super::support::{Test, header, key, logged, message, session};

pub const TESTS: &[Test] = &[
    ("a_refused_session_blocks_no_other", a_refused_session_blocks_no_other),
    ("a_refused_blob_blocks_the_sessions_that_name_it", a_refused_blob_blocks),
    ("a_held_session_waits_for_its_owner", a_held_session_waits_for_its_owner),
    ("what_another_host_wrote_stays", what_another_host_wrote_stays),
    ("an_artifact_of_another_host_stays", an_artifact_of_another_host_stays),
];

fn blocked(host: &Host) -> Vec<(String, BlockKind)> {
    let blocked: Vec<Blocked> = host.storage().blocked().unwrap();
    blocked.into_iter().map(|blocked| (blocked.key.to_string(), blocked.kind)).collect()
}

fn a_refused_session_blocks_no_other() {
    let remote = fake();
    let mut host = Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &Time::new());
    let (a, b) = (session("a"), session("b"));
    remote.refuse(&a, true);
    host.append(&a, &header("a"));
    host.append(&b, &header("b"));
    host.publish();
    assert_eq!(logged(&*remote, &b), Some(header("b")));
    let reason = "the remote answers unexpectedly: refused";
    let found = host.storage().blocked().unwrap();
    assert_eq!(found[0].reason, reason);
    assert_eq!(blocked(&host), [(a.to_string(), BlockKind::Refused)]);
    host.append(&a, &message("1", "x"));
    host.publish();
    assert_eq!(logged(&*remote, &a), None);

    assert!(host.storage().skip(&a).unwrap());
    host.append(&a, &message("2", "y"));
    host.publish();
    assert_eq!(host.storage().publish_status(9).unwrap().unwrap().rows, 0);
    assert_eq!(blocked(&host), [(a.to_string(), BlockKind::Skipped)]);

    remote.refuse(&a, false);
    assert!(host.storage().retry(&a).unwrap());
    assert!(!host.storage().retry(&a).unwrap());
    host.publish();
    assert_eq!(logged(&*remote, &a).unwrap().as_bytes(), &host.read(&a)[..]);
    assert_eq!(blocked(&host), []);
}

fn a_refused_blob_blocks() {
    let remote = fake();
    let mut host = Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &Time::new());
    let (a, b) = (session("a"), session("b"));
    let blob = session_model::BlobRef::of(b"pixels");
    let object = key(&format!("blobs/{}", blob.to_hex()));
    remote.refuse(&object, true);
    host.put(&object, "pixels");
    host.append(&a, &(header("a") + &message("1", &blob.to_string())));
    host.append(&b, &header("b"));
    host.publish();
    let refused = |key: String| (key, BlockKind::Refused);
    assert_eq!(blocked(&host), [refused(object.to_string()), refused(a.to_string())]);
    assert_eq!((logged(&*remote, &a), logged(&*remote, &b)), (None, Some(header("b"))));
    // The lines go without it.
    assert!(host.storage().skip(&object).unwrap());
    assert!(host.storage().retry(&a).unwrap());
    host.publish();
    assert_eq!(logged(&*remote, &a).unwrap().as_bytes(), &host.read(&a)[..]);
}

fn claim(owner: &str) -> Claim {
    let lease = Duration::from_secs(10);
    Claim { owner: owner.to_owned(), lease, force: false, seen_epoch: 0 }
}

fn write(remote: &FakeRemote, owner: &str, lines: &str) {
    let a = session("a");
    let Claimed::Granted(fence) = block_on(remote.claim(&a, &claim(owner))).unwrap() else {
        panic!("not granted")
    };
    let have = block_on(remote.state(&a)).unwrap().unwrap().position.length;
    let before = logged(remote, &a).unwrap_or_default();
    let unit = AppendUnit {
        session: a,
        fence,
        start: Position { generation: 0, length: have },
        bytes: lines.to_owned().into(),
        digest: Digest::of((before + lines).as_bytes()),
        meta: "".into(),
    };
    assert_eq!(block_on(remote.apply(&[unit])), [Ok(Applied::Ok)]);
}

fn a_held_session_waits_for_its_owner() {
    let remote = fake();
    let clock = Time::new();
    let mut host = Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &clock);
    let (a, b) = (session("a"), session("b"));
    write(&remote, "other", &header("a"));
    host.append(&a, &(header("a") + &message("1", "x")));
    host.append(&b, &header("b"));
    host.publish();
    assert_eq!(logged(&*remote, &a), Some(header("a")));
    assert_eq!(logged(&*remote, &b), Some(header("b")));
    let status = host.storage().publish_status(9).unwrap().unwrap();
    assert_eq!((status.held[0].key.clone(), &*status.held[0].owner), (a.clone(), "other"));
    remote.advance(Duration::from_secs(11));
    clock.advance(Duration::from_secs(11));
    host.publish();
    assert_eq!(logged(&*remote, &a).unwrap().as_bytes(), &host.read(&a)[..]);
}

fn what_another_host_wrote_stays() {
    let remote = fake();
    let clock = Time::new();
    let mut host = Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &clock);
    let a = session("a");
    host.append(&a, &header("a"));
    host.publish();
    write(&remote, "other", &message("1", "theirs"));
    host.append(&a, &message("2", "ours"));
    remote.advance(Duration::from_secs(11));
    clock.advance(Duration::from_secs(11));
    host.publish();
    let theirs = header("a") + &message("1", "theirs");
    assert_eq!(logged(&*remote, &a).as_ref(), Some(&theirs));
    assert_eq!(blocked(&host), [(a.to_string(), BlockKind::Fenced)]);
    // Once the file is as the remote has it, this host can go on.
    host.put(&a, &theirs);
    host.publish();
    assert_eq!(blocked(&host), []);
    host.append(&a, &message("3", "ours"));
    host.publish();
    assert_eq!(logged(&*remote, &a), Some(theirs + &message("3", "ours")));
}

fn an_artifact_of_another_host_stays() {
    let remote = fake();
    let mut host = Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &Time::new());
    let artifact = key("sessions/b/a/0.x.log");
    write(&remote, "other", &header("a"));
    let put = block_on(remote.put_object(&artifact, "theirs, newer".into()));
    assert_eq!(put, Ok(Put::Created));
    // As a copy that was fetched a while ago.
    host.put(&artifact, "theirs");
    host.append(&session("a"), &header("a"));
    host.publish();
    let there = block_on(remote.get_object(&artifact)).unwrap();
    assert_eq!(there.as_deref(), Some(&b"theirs, newer"[..]));
    assert_eq!(blocked(&host), []);
}
