//! Sessions that are missing, behind, rewritten or damaged.

use bytes::Bytes;
use pollster::block_on;
use session_model::BlobRef;
use session_model::storage::{AppendOptions, SessionStorage};
use session_store_indexed::remote::{Applied, Digest, Position, Put, Remote, RemoteError};
use session_store_indexed::replica::{Origin, Outcome, ReplicaError};

use super::host::*;

#[test]
fn a_missing_session_comes_whole_with_its_objects_and_is_indexed() {
    let (remote, first, second) = two();
    let (blob, lost) = (BlobRef::of(b"picture"), BlobRef::of(b"lost"));
    first.append(&session(), &line("b", &format!("{blob} {lost}")));
    let artifacts = key("sessions/b/2026-01-01T00-00-00-000Z_s");
    for (name, body) in [("1.bash.log", "out"), ("deeper/2.x.log", "more")] {
        let body = Bytes::copy_from_slice(body.as_bytes());
        let put = block_on(remote.put_object(&artifacts.join(name).unwrap(), body)).unwrap();
        assert_eq!(put, Put::Created);
    }
    let blob_key = key(&format!("blobs/{}", blob.to_hex()));
    let put = remote.put_object(&blob_key, Bytes::from_static(b"picture"));
    assert_eq!(block_on(put).unwrap(), Put::Created);
    // Somebody put other bytes under this blob's name.
    let lost_key = key(&format!("blobs/{}", lost.to_hex()));
    let put = remote.put_object(&lost_key, Bytes::from_static(b"other"));
    assert_eq!(block_on(put).unwrap(), Put::Created);
    let fence = first.fence(&session());
    let have = block_on(remote.state(&session())).unwrap().unwrap().position;
    let log = first.read(&session()).into_bytes();
    assert_eq!(first.apply(&session(), &fence, have, &log), Applied::Ok);

    let pulled = block_on(second.replica.pull(&session())).unwrap();
    assert_eq!((pulled.outcome, pulled.missing), (Outcome::Installed, vec![lost_key]));
    let expected = [
        (blob_key.to_string(), "picture".to_owned()),
        (session().to_string(), first.read(&session())),
        (format!("{artifacts}/1.bash.log"), "out".to_owned()),
        (format!("{artifacts}/deeper/2.x.log"), "more".to_owned()),
    ];
    assert_eq!(second.all(), expected.into_iter().collect());
    second.storage.catch_up(|_| {}).unwrap();
    assert_eq!(second.storage.session(&session()).unwrap().unwrap().entries, 2);
    assert_eq!(second.pull(&session()), Outcome::Same);
}

#[test]
fn lines_are_appended_once_they_are_whole() {
    let (remote, first, second) = two();
    assert_eq!(second.pull(&session()), Outcome::Installed);
    let before = second.read(&session());
    let added = line("b", "two") + &line("c", "three");
    first.append(&session(), &added);
    let log = first.read(&session()).into_bytes();
    let fence = first.fence(&session());
    // A unit that ends inside of a record.
    let have = Position { generation: 0, length: before.len() as u64 };
    let cut = log.len() - 5;
    assert_eq!(first.apply(&session(), &fence, have, &log[..cut]), Applied::Ok);
    let bytes = line("b", "two").len() as u64;
    assert_eq!(second.pull(&session()), Outcome::Grown { bytes });
    assert_eq!(second.read(&session()), before + &line("b", "two"));
    assert_eq!(second.pull(&session()), Outcome::Same);
    let have = Position { generation: 0, length: cut as u64 };
    assert_eq!(first.apply(&session(), &fence, have, &log), Applied::Ok);
    assert_eq!(second.pull(&session()), Outcome::Grown { bytes: line("c", "three").len() as u64 });
    assert_eq!(second.read(&session()).as_bytes(), log);
    assert_eq!(block_on(remote.state(&session())).unwrap().unwrap().digest, Some(Digest::of(&log)));
}

#[test]
fn a_rewrite_replaces_a_copy_without_lines_of_its_own() {
    let (_remote, first, second) = two();
    second.pull(&session());
    first.put(&session(), header() + &line("a", "ONE") + &line("b", "two"));
    first.publish_rewritten(&session());
    assert_eq!(second.pull(&session()), Outcome::Replaced);
    assert_eq!(second.all(), first.all());
    assert_eq!(second.pull(&session()), Outcome::Same);
}

#[test]
fn a_copy_nobody_remembers_is_compared() {
    let (remote, first, second) = two();
    let third = Host::new("third", &remote);
    // As after a loss of the database: the files are there, what was agreed is not.
    second.append(&session(), &header());
    third.append(&session(), &(first.read(&session()) + &line("x", "more")));
    let bytes = line("a", "one").len() as u64;
    assert_eq!(second.pull(&session()), Outcome::Grown { bytes });
    assert_eq!(second.all(), first.all());
    assert_eq!(third.pull(&session()), Outcome::Ahead);
    assert_eq!(third.pull(&session()), Outcome::Ahead);
}

#[test]
fn a_session_in_use_is_left_alone_until_it_is_closed() {
    let (_remote, first, second) = two();
    second.pull(&session());
    let before = second.read(&session());
    first.append(&session(), &line("b", "two"));
    first.publish(&session());
    let options = AppendOptions::exclusive("an agent");
    let writer = block_on(second.storage.open_append(&session(), options)).unwrap();
    let Outcome::InUse(holder) = second.pull(&session()) else { panic!() };
    assert_eq!(holder.owner.as_deref(), Some("an agent"));
    assert_eq!(second.read(&session()), before);
    block_on(writer.close()).unwrap();
    assert_eq!(second.pull(&session()), Outcome::Grown { bytes: line("b", "two").len() as u64 });
    assert_eq!(second.all(), first.all());
}

#[test]
fn what_is_damaged_on_the_remote_is_not_taken() {
    let (remote, first, second) = two();
    let fence = first.fence(&session());
    let have = block_on(remote.state(&session())).unwrap().unwrap().position;
    let mut log = first.read(&session()).into_bytes();
    log.extend_from_slice(b"{}\n");
    // The digest is that of other bytes.
    let unit = session_store_indexed::remote::AppendUnit {
        session: session(),
        fence,
        start: have,
        bytes: Bytes::from_static(b"{}\n"),
        digest: Digest::of(b"other"),
        meta: Bytes::new(),
    };
    assert_eq!(block_on(remote.apply(&[unit])), [Ok(Applied::Ok)]);
    let error = block_on(second.replica.pull(&session())).unwrap_err();
    let damaged = |error: &ReplicaError| matches!(error, ReplicaError::Remote(RemoteError::Damaged(key)) if *key == session());
    assert!(damaged(&error), "{error:?}");
    let error = block_on(first.replica.pull(&session())).unwrap_err();
    assert!(damaged(&error), "{error:?}");
    assert!(second.all().is_empty());
}

#[test]
fn both_are_in_one_list() {
    let (_remote, first, second) = two();
    let own = key("sessions/b/own.jsonl");
    second.append(&own, &header().replace("\"s\"", "\"own\""));
    second.storage.catch_up(|_| {}).unwrap();
    let list = || {
        let rows = block_on(second.replica.sessions()).unwrap().rows;
        let row = |row: session_store_indexed::replica::SharedRow| {
            let title = row.remote.as_ref().and_then(|remote| remote.meta.title.clone());
            (row.session.clone(), row.origin(), title)
        };
        rows.into_iter().map(row).collect::<Vec<_>>()
    };
    let title = Some("of first".to_owned());
    let own = (own, Origin::Here, None);
    assert_eq!(list(), [(session(), Origin::Remote, title.clone()), own.clone()]);
    second.pull(&session());
    second.storage.catch_up(|_| {}).unwrap();
    assert_eq!(list(), [(session(), Origin::Both, title), own]);
    drop(first);
}
