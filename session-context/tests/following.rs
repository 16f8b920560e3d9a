//! Following a session while somebody writes it.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::future::poll_fn;
use std::pin::Pin;
use std::time::Duration;

use futures_core::Stream;
use session_context::reader::Follower;
use session_context::{FollowEvent, FollowOptions, NameSource, SessionReader};
use session_store_memory::MemoryStorage;
use support::store::{A, B, HEADER, content, key, open, put, user};
use support::{block_on, options, shared};

fn follower(storage: &MemoryStorage, from_start: bool) -> Follower {
    SessionReader::new(shared(storage), key()).follower(from_start)
}

/// What a look finds: ids of entries, and other events by name.
fn look(follower: &mut Follower) -> Vec<String> {
    block_on(follower.look()).unwrap().iter().map(name).collect()
}

fn name(event: &FollowEvent) -> String {
    match event {
        FollowEvent::Entry(entry) => {
            entry.id().map_or_else(|| entry.entry_type().into_owned(), |id| id.into_owned())
        }
        FollowEvent::Reloaded => "reloaded".to_owned(),
        FollowEvent::Removed => "removed".to_owned(),
        FollowEvent::Diagnostic(found) => found.code.to_string(),
        other => panic!("{other:?}"),
    }
}

fn overwrite(storage: &MemoryStorage, content: Option<String>) {
    storage.faults().overwrite(&key(), content.map(Into::into)).unwrap();
}

const NOTHING: [&str; 0] = [];

#[test]
fn what_is_there_comes_first_only_if_asked_for() {
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}\n"));
    let (mut all, mut new) = (follower(&storage, true), follower(&storage, false));
    assert_eq!((look(&mut all), look(&mut new)), (vec!["a".to_owned()], vec![]));
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n{B}\n")));
    assert_eq!((look(&mut all), look(&mut new)), (vec!["b".to_owned()], vec!["b".to_owned()]));
    assert_eq!(look(&mut all), NOTHING);
}

#[test]
fn a_follower_sees_each_entry_once_through_appends_and_rewrites() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        let (mut follower, mut seen) = (follower(&storage, true), Vec::new());
        let mut told = vec!["a".to_owned()];
        for n in 0..30 {
            told.push(session.append_message(user(&n.to_string())).await.unwrap());
            if n % 3 == 0 {
                session.set_session_name(&format!("name {n}"), NameSource::User).await.unwrap();
                told.push(session.leaf_id().unwrap());
            }
            if n % 2 == 0 {
                let found = look(&mut follower);
                seen.extend(found.into_iter().filter(|name| name != "reloaded"));
            }
        }
        seen.extend(look(&mut follower).into_iter().filter(|name| name != "reloaded"));
        assert_eq!(seen, told);
    });
}

#[test]
fn a_torn_line_is_told_only_when_it_stays_and_its_entry_when_it_is_whole() {
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}\n{}", &B[..20]));
    let mut follower = follower(&storage, true);
    assert_eq!(look(&mut follower), ["a"]);
    for _ in 0..9 {
        assert_eq!(look(&mut follower), NOTHING);
    }
    assert_eq!(look(&mut follower), ["torn-tail"]);
    assert_eq!(look(&mut follower), NOTHING);
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n{B}")));
    assert_eq!(look(&mut follower), NOTHING);
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n{B}\n")));
    assert_eq!(look(&mut follower), ["b"]);
}

#[test]
fn what_grows_while_a_line_is_half_there_is_told_once_it_is_whole() {
    let c = B.replace("\"b\"", "\"c\"");
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}\n{}", &B[..20]));
    let mut follower = follower(&storage, true);
    let until_told =
        |follower: &mut Follower| (0..10).flat_map(|_| look(follower)).collect::<Vec<_>>();
    assert_eq!(look(&mut follower), ["a"]);
    assert_eq!(until_told(&mut follower), ["torn-tail"]);
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n{B}\n{}", &c[..20])));
    assert_eq!(look(&mut follower), ["b"]);
    assert_eq!(until_told(&mut follower), ["torn-tail"]);
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n{B}\n{c}\n")));
    assert_eq!(look(&mut follower), ["c"]);
}

#[test]
fn a_cut_removed_or_replaced_file_is_followed_on() {
    let storage = MemoryStorage::new();
    let mut follower = follower(&storage, true);
    assert_eq!(look(&mut follower), NOTHING);
    put(&storage, "");
    assert_eq!(look(&mut follower), NOTHING);
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n{B}\n")));
    assert_eq!(look(&mut follower), ["a", "b"]);
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n")));
    assert_eq!(look(&mut follower), ["reloaded"]);
    overwrite(&storage, None);
    assert_eq!(look(&mut follower), ["removed"]);
    assert_eq!(look(&mut follower), NOTHING);
    let c = B.replace("\"b\"", "\"c\"");
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n{B}\n{c}\n{c}\n")));
    assert_eq!(look(&mut follower), ["reloaded", "c", "c"]);
    let other = HEADER.replace("\"id\":\"s\"", "\"id\":\"other\"");
    overwrite(&storage, Some(format!("{other}\n{A}\n")));
    assert_eq!(look(&mut follower), ["reloaded", "a"]);
    overwrite(&storage, Some("no session\n".to_owned()));
    assert!(block_on(follower.look()).is_err());
    overwrite(&storage, Some(format!("{other}\n{A}\ndamaged\n{B}\n")));
    assert_eq!(look(&mut follower), ["b", "damaged-line"]);
}

#[test]
fn a_migration_brings_nothing_new() {
    block_on(async {
        let storage = MemoryStorage::new();
        let entry = r#"{"type":"custom","customType":"x"}"#;
        let file = format!("{{\"type\":\"session\",\"id\":\"s\"}}\n{entry}\n");
        put(&storage, &file);
        let mut follower = follower(&storage, true);
        assert_eq!(look(&mut follower), ["custom"]);
        overwrite(&storage, Some(format!("{file}{entry}\n")));
        assert_eq!(look(&mut follower), ["custom"]);
        let mut session = open(&storage, options("")).await;
        let new = session.append_message(user("1")).await.unwrap();
        assert_eq!(look(&mut follower), ["reloaded".to_owned(), new]);
        let new = session.append_message(user("2")).await.unwrap();
        assert_eq!(look(&mut follower), [new]);
    });
}

#[tokio::test(start_paused = true)]
async fn the_stream_waits_between_looks_and_survives_dropped_waits() {
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}\n"));
    let options = FollowOptions::default().from_start().interval(Duration::from_secs(1));
    let mut follow = SessionReader::new(shared(&storage), key()).follow(options);
    let mut next = async |limit| {
        let event = poll_fn(|cx| Pin::new(&mut follow).poll_next(cx));
        let event = tokio::time::timeout(Duration::from_millis(limit), event).await;
        event.ok().map(|event| name(&event.unwrap().unwrap()))
    };
    assert_eq!(next(10).await.as_deref(), Some("a"));
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n{B}\n")));
    assert_eq!(next(600).await, None);
    assert_eq!(next(600).await.as_deref(), Some("b"));
    assert_eq!(content(&storage, &key()), Some(format!("{HEADER}\n{A}\n{B}\n")));
}

#[tokio::test(start_paused = true)]
async fn the_stream_gives_an_error_once_until_looks_succeed_again() {
    let storage = MemoryStorage::new();
    put(&storage, "no session\n");
    let options = FollowOptions::default().from_start().interval(Duration::from_secs(1));
    let mut follow = SessionReader::new(shared(&storage), key()).follow(options);
    let mut next = async || {
        let event = poll_fn(|cx| Pin::new(&mut follow).poll_next(cx));
        let event = tokio::time::timeout(Duration::from_secs(5), event).await.ok()?.unwrap();
        Some(event.map_or_else(|_| "error".to_owned(), |event| name(&event)))
    };
    assert_eq!([next().await, next().await], [Some("error".to_owned()), None]);
    overwrite(&storage, Some(format!("{HEADER}\n{A}\n")));
    assert_eq!(next().await.as_deref(), Some("a"));
    overwrite(&storage, Some("no session\n".to_owned()));
    assert_eq!([next().await, next().await], [Some("error".to_owned()), None]);
}
