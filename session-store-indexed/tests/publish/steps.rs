//! What reaches the remote, and in which order.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use session_model::BlobRef;
use session_store_indexed::remote::{
    Change, FakeFaults, FakeRemote, Fence, Position, Remote, SessionMeta, Tombstone,
};

use super::host::{Host, Time};
use super::support::{Test, events, header, key, log, logged, message, session};

pub const TESTS: &[Test] = &[
    ("appends_arrive_in_order", appends_arrive_in_order),
    ("a_rewrite_replaces_the_log", a_rewrite_replaces_the_log),
    ("a_rename_travels", a_rename_travels),
    ("a_removed_session_can_come_back", a_removed_session_can_come_back),
    ("objects_go_before_lines", objects_go_before_lines),
    ("what_was_there_before_is_published", what_was_there_before_is_published),
    ("an_emptied_remote_is_filled_again", an_emptied_remote_is_filled_again),
    ("long_lines_are_cut", long_lines_are_cut),
    ("a_new_database_goes_on", a_new_database_goes_on),
    ("rows_in_a_row_are_one", rows_in_a_row_are_one),
];

pub fn fake() -> Arc<FakeRemote> {
    Arc::new(FakeRemote::new(FakeFaults::default(), 10_000))
}

fn host(remote: &Arc<FakeRemote>) -> Host {
    Host::new(Arc::clone(remote) as Arc<dyn Remote>, &Time::new())
}

fn appends_arrive_in_order() {
    let remote = fake();
    let mut host = host(&remote);
    let (a, b) = (session("a"), session("b"));
    host.append(&b, &header("b"));
    host.settle();
    host.append(&a, &header("a"));
    host.settle();
    host.append(&b, &message("1", "x"));
    host.publish();
    let second = header("b") + &message("1", "x");
    assert_eq!(logged(&*remote, &a), Some(header("a")));
    assert_eq!(logged(&*remote, &b), Some(second.clone()));
    let told: Vec<_> =
        block_on(events(&*remote)).into_iter().map(|event| (event.session, event.change)).collect();
    let written =
        |length: usize| Change::Written(Position { generation: 0, length: length as u64 });
    assert_eq!(
        told,
        [
            (b.clone(), written(header("b").len())),
            (a, written(header("a").len())),
            (b.clone(), written(second.len()))
        ]
    );
    let state = block_on(remote.state(&b)).unwrap().unwrap();
    let meta = SessionMeta {
        id: Some("b".into()),
        cwd: Some("/w".into()),
        title: Some("x".into()),
        created_ms: Some(1_767_225_600_000),
        activity_ms: Some(1_767_225_605_000),
        leaf: Some("1".into()),
        entries: Some(1),
        messages: Some(1),
        status: Some("pending".into()),
        writer: Some(host.publisher().owner().to_owned()),
        ..SessionMeta::default()
    };
    assert_eq!(SessionMeta::read(&state.meta), meta);
    assert_eq!(state.fence.owner, "", "nobody writes it any more");
    assert_eq!(host.storage().publish_status(9).unwrap().unwrap().rows, 0);
}

fn a_rewrite_replaces_the_log() {
    let remote = fake();
    let mut host = host(&remote);
    let a = session("a");
    host.append(&a, &(header("a") + &message("1", "old")));
    host.publish();
    for body in [header("a") + &message("1", "new"), header("a"), String::new()] {
        host.put(&a, &body);
        host.publish();
        assert_eq!(logged(&*remote, &a), Some(body));
    }
    host.append(&a, &header("a"));
    host.publish();
    assert_eq!(logged(&*remote, &a), Some(header("a")));
}

fn a_rename_travels() {
    let remote = fake();
    let mut host = host(&remote);
    let (a, b) = (session("a"), session("b"));
    host.append(&a, &header("a"));
    host.publish();
    host.rename(&a, &b);
    host.publish();
    assert_eq!(logged(&*remote, &b), Some(header("a")));
    let state = block_on(remote.state(&a)).unwrap().unwrap();
    let by = Fence { epoch: 2, owner: host.publisher().owner().to_owned() };
    assert_eq!(state.tombstone, Some(Tombstone { by, moved_to: Some(b.clone()) }));
    let told: Vec<_> = block_on(events(&*remote)).into_iter().map(|event| event.session).collect();
    assert_eq!(told, [a.clone(), b, a], "it is at one of the two at every moment");
}

fn a_removed_session_can_come_back() {
    let remote = fake();
    let mut host = host(&remote);
    let a = session("a");
    for body in [header("a"), header("b") + &message("1", "x"), header("a")] {
        host.append(&a, &body);
        host.publish();
        assert_eq!(logged(&*remote, &a), Some(body));
        host.remove(&a);
        host.publish();
        let state = block_on(remote.state(&a)).unwrap().unwrap();
        let tombstone = state.tombstone.unwrap();
        assert_eq!((&*tombstone.by.owner, tombstone.moved_to), (host.publisher().owner(), None));
    }
    remote.save();
    // A remote that was set back to a time before.
    host.append(&a, &header("a"));
    host.publish();
    remote.save();
    host.remove(&a);
    host.publish();
    remote.restart();
    host.reopen();
    host.publish();
    assert_eq!(logged(&*remote, &a), None);
}

fn objects_go_before_lines() {
    let remote = fake();
    let mut host = host(&remote);
    let a = session("a");
    let blob = BlobRef::of(b"pixels");
    let blob_key = key(&format!("blobs/{}", blob.to_hex()));
    let artifact = key("sessions/b/a/0.bash.log");
    host.put(&blob_key, "pixels");
    host.put(&artifact, "output");
    host.append(&a, &(header("a") + &message("1", &blob.to_string())));
    remote.set_faults(FakeFaults { cut_before: 1000, ..FakeFaults::default() });
    assert!(host.step().is_err());
    remote.set_faults(FakeFaults::default());
    while block_on(log(&*remote, &a)).is_none() {
        host.step().unwrap();
    }
    let object = |key| block_on(remote.get_object(key)).unwrap();
    assert_eq!(object(&blob_key).as_deref(), Some(&b"pixels"[..]));
    assert_eq!(object(&artifact).as_deref(), Some(&b"output"[..]));
    host.put(&artifact, "more output");
    host.publish();
    assert_eq!(object(&artifact).as_deref(), Some(&b"more output"[..]));
    host.remove(&artifact);
    host.publish();
    assert_eq!(object(&artifact), None);
}

fn what_was_there_before_is_published() {
    let remote = fake();
    let clock = Time::new();
    let mut host = Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &clock);
    let (a, b) = (session("a"), session("b"));
    host.append(&a, &header("a"));
    host.publish();
    // By a program that knows nothing of the index.
    let artifact = key("sessions/b/b/0.x.log");
    std::fs::create_dir_all(host.root().join("sessions/b/b")).unwrap();
    std::fs::write(host.root().join(artifact.as_str()), "text").unwrap();
    std::fs::write(host.root().join(b.as_str()), header("b")).unwrap();
    std::fs::write(host.root().join(a.as_str()), header("a") + &message("1", "x")).unwrap();
    host.reopen();
    host.publish();
    assert_eq!(logged(&*remote, &a), Some(header("a") + &message("1", "x")));
    assert_eq!(logged(&*remote, &b), Some(header("b")));
    assert_eq!(block_on(remote.get_object(&artifact)).unwrap().as_deref(), Some(&b"text"[..]));
}

fn an_emptied_remote_is_filled_again() {
    let remote = fake();
    let mut host = host(&remote);
    let (a, b) = (session("a"), session("b"));
    let blob = BlobRef::of(b"pixels");
    let blob_key = key(&format!("blobs/{}", blob.to_hex()));
    host.put(&blob_key, "pixels");
    host.append(&a, &(header("a") + &message("1", &blob.to_string())));
    host.append(&b, &header("b"));
    host.publish();
    for empty in [true, false] {
        if !empty {
            remote.save();
        }
        host.append(&b, &message("2", "y"));
        host.publish();
        remote.restart();
        // Without an error nobody looks; the next append finds out, or the next connection.
        host.append(&b, &message("3", "z"));
        host.publish();
        assert_eq!(logged(&*remote, &b).unwrap().as_bytes(), &host.read(&b)[..]);
        host.reopen();
        host.publish();
        assert_eq!(logged(&*remote, &a).unwrap().as_bytes(), &host.read(&a)[..]);
        assert!(block_on(remote.get_object(&blob_key)).unwrap().is_some());
    }
}

fn long_lines_are_cut() {
    let remote = fake();
    let mut host = host(&remote);
    let a = session("a");
    let blob = BlobRef::of(b"pixels");
    host.put(&key(&format!("blobs/{}", blob.to_hex())), "pixels");
    // The reference lies across the bound of two units.
    let long = "x".repeat((1 << 20) - header("a").len() - message("1", "").len() - 20);
    let long = format!("{long}{blob}{}", "y".repeat(3 << 20));
    host.append(&a, &(header("a") + &message("1", &long) + &message("2", "z")));
    host.publish();
    assert_eq!(logged(&*remote, &a).unwrap().as_bytes(), &host.read(&a)[..]);
    assert!(
        block_on(remote.get_object(&key(&format!("blobs/{}", blob.to_hex())))).unwrap().is_some()
    );
}

fn a_new_database_goes_on() {
    let remote = fake();
    let clock = Time::new();
    let mut host = Host::new(Arc::clone(&remote) as Arc<dyn Remote>, &clock);
    let a = session("a");
    host.append(&a, &header("a"));
    host.publish();
    let before = block_on(remote.state(&a)).unwrap().unwrap();
    for suffix in ["", "-wal", "-shm"] {
        let _ = std::fs::remove_file(host.root().join(format!(".~index.db{suffix}")));
    }
    host.reopen();
    host.publish();
    assert_eq!(block_on(remote.state(&a)).unwrap().unwrap(), before, "it was there already");
    host.append(&a, &message("1", "x"));
    clock.advance(Duration::from_secs(60));
    host.publish();
    assert_eq!(logged(&*remote, &a).unwrap().as_bytes(), &host.read(&a)[..]);
    assert_eq!(block_on(remote.state(&a)).unwrap().unwrap().position.generation, 0);
}

fn rows_in_a_row_are_one() {
    let remote = fake();
    let mut host = host(&remote);
    let (a, b) = (session("a"), session("b"));
    let mut rows = Vec::new();
    for (key, line) in [
        (&a, header("a")),
        (&a, message("1", "x")),
        (&b, header("b")),
        (&b, message("1", "x")),
        (&a, message("2", "x")),
    ] {
        host.append(key, &line);
        host.settle();
        rows.push(host.storage().publish_status(9).unwrap().unwrap().rows);
    }
    assert_eq!(rows, [1, 1, 2, 2, 3]);
    let status = host.storage().publish_status(9).unwrap().unwrap();
    let lag: Vec<_> = status.sessions.iter().map(|lag| (lag.key.as_str(), lag.entries)).collect();
    assert_eq!(lag, [(a.as_str(), 2), (b.as_str(), 1)]);
    assert_eq!(status.entries, 3);
    assert_eq!(status.bytes, (host.read(&a).len() + host.read(&b).len()) as u64);
    host.publish();
    assert_eq!(logged(&*remote, &a).unwrap().as_bytes(), &host.read(&a)[..]);
    assert_eq!(logged(&*remote, &b).unwrap().as_bytes(), &host.read(&b)[..]);
}
