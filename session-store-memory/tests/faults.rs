//! What injected faults do, what they leave, and what is recorded.

#![allow(clippy::unwrap_used)]

use bytes::Bytes;
use pollster::block_on;
use session_model::storage::{
    AppendOptions, AppendWriter, CopyOptions, Durability, ListOptions, Payload, PutOptions,
    ReadRange, RenameOptions, Result, SessionStorage, SessionStorageExt, StorageErrorKind,
    StorageKey,
};
use session_store_memory::{MemoryStorage, Operation, When};

fn key(name: &str) -> StorageKey {
    StorageKey::new(name).unwrap()
}

fn body(store: &MemoryStorage, name: &str) -> Result<Bytes> {
    block_on(store.read_all(&key(name))).map(|(_, body)| body)
}

/// A store with `a`, and an exclusive writer of it.
async fn written() -> (MemoryStorage, Box<dyn AppendWriter>) {
    let store = MemoryStorage::new();
    let mut writer = store.open_append(&key("a"), AppendOptions::exclusive("me")).await.unwrap();
    writer.append(Bytes::from("one\n")).await.unwrap();
    (store, writer)
}

/// Makes every call there is once, and returns the kinds of the errors met.
async fn every_call(store: &MemoryStorage) -> Vec<StorageErrorKind> {
    let mut errors = Vec::new();
    let mut note = |error: Option<StorageErrorKind>| errors.extend(error);
    macro_rules! call {
        ($call:expr) => {{
            let outcome = $call;
            note(outcome.as_ref().err().map(|error| error.kind()));
            outcome
        }};
    }
    let (a, b, c) = (key("d/a"), key("d/b"), key("d/c"));
    let _ = call!(store.put(&a, Payload::from("one"), PutOptions::default()).await);
    let _ = call!(store.head(&a).await);
    let _ = call!(store.read(&a, &[ReadRange::Full]).await);
    for peek in store.peek(std::slice::from_ref(&a), 1, 1).await {
        let _ = call!(peek);
    }
    let _ = call!(store.copy(&a, &b, CopyOptions::default()).await);
    let _ = call!(store.rename(&b, &c, RenameOptions::default()).await);
    for error in store.list_all(Some(&key("d")), ListOptions::default()).await.1 {
        let _ = call!(Err::<(), _>(error));
    }
    if let Ok(mut writer) = call!(store.open_append(&a, AppendOptions::exclusive("me")).await) {
        let _ = call!(writer.append(Bytes::from("two")).await);
        let _ = call!(writer.truncate(1).await);
        let _ = call!(writer.replace(Payload::from("three"), PutOptions::default()).await);
        let _ = call!(writer.adopt().await);
        let _ = call!(writer.sync(Durability::Durable).await);
        let _ = call!(writer.close().await);
    }
    let _ = call!(store.drain(Durability::Accepted).await);
    let _ = call!(store.remove(&a).await);
    let _ = call!(store.remove_all(&key("d")).await);
    errors
}

#[test]
fn a_sweep_meets_every_call_by_name() {
    block_on(async {
        let store = MemoryStorage::new();
        store.faults().record();
        assert_eq!(every_call(&store).await, []);
        let calls: Vec<_> = store.faults().operations().iter().map(ToString::to_string).collect();
        let want = [
            "put d/a",
            "look up d/a",
            "read d/a",
            "peek at d/a",
            "copy d/a d/b",
            "rename d/b d/c",
            "list d",
            "open for appending d/a",
            "append to d/a",
            "truncate d/a",
            "replace d/a",
            "adopt d/a",
            "sync d/a",
            "close d/a",
            "drain",
            "remove d/a",
            "remove all below d",
        ];
        assert_eq!(calls, want);

        for when in [When::Before, When::Partway(1), When::After] {
            for n in 0.. {
                let store = MemoryStorage::new();
                store.faults().fail_at(n, when, StorageErrorKind::Denied);
                let errors = every_call(&store).await;
                if !store.faults().fired() {
                    assert_eq!((n, errors), (want.len() as u64, vec![]));
                    break;
                }
                assert_eq!(errors[0], StorageErrorKind::Denied, "{when:?} {}", want[n as usize]);
            }
        }
    });
}

#[test]
fn before_leaves_nothing_and_after_leaves_all() {
    block_on(async {
        for (when, left) in [(When::Before, None), (When::After, Some("one"))] {
            let store = MemoryStorage::new();
            store.faults().fail_nth(Operation::Put, 0, when, StorageErrorKind::Full);
            let outcome = store.put(&key("a"), Payload::from("one"), PutOptions::default()).await;
            assert_eq!(outcome.unwrap_err().kind(), StorageErrorKind::Full);
            assert_eq!(body(&store, "a").ok(), left.map(Bytes::from));
        }
    });
}

#[test]
fn every_kind_can_be_injected_and_names_the_key() {
    use StorageErrorKind::*;
    block_on(async {
        for kind in [
            NotFound,
            AlreadyExists,
            Conflict,
            Busy,
            Closed,
            Invalid,
            Unsupported,
            Denied,
            Full,
            Unavailable,
            Corrupt,
            Fenced,
            Other,
        ] {
            let store = MemoryStorage::new();
            store.faults().fail_at(0, When::Before, kind);
            let error = store.head(&key("a")).await.unwrap_err();
            let named = (!matches!(kind, Invalid | Unsupported)).then(|| key("a"));
            assert_eq!((error.kind(), error.key()), (kind, named.as_ref()));
        }
    });
}

#[test]
fn only_calls_of_the_kind_count() {
    block_on(async {
        let (store, mut writer) = written().await;
        store.faults().fail_nth(Operation::Append, 2, When::Before, StorageErrorKind::Full);
        writer.append(Bytes::from("two\n")).await.unwrap();
        store.head(&key("a")).await.unwrap();
        writer.append(Bytes::from("three\n")).await.unwrap();
        assert!(!store.faults().fired());
        let error = writer.append(Bytes::from("four\n")).await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "could not append to a: no space is left; free some and try again"
        );
        assert!(store.faults().fired());
        assert_eq!(body(&store, "a").unwrap(), "one\ntwo\nthree\n");
    });
}

#[test]
fn several_faults_count_for_themselves() {
    block_on(async {
        let store = MemoryStorage::new();
        store.faults().fail_at(1, When::Before, StorageErrorKind::Full);
        store.faults().fail_at(3, When::Before, StorageErrorKind::Denied);
        let mut kinds = Vec::new();
        for _ in 0..5 {
            kinds.push(store.head(&key("a")).await.unwrap_err().kind());
        }
        use StorageErrorKind::{Denied, Full, NotFound};
        assert_eq!(kinds, [NotFound, Full, NotFound, Denied, NotFound]);
    });
}

#[test]
fn cleared_faults_do_not_strike() {
    block_on(async {
        let store = MemoryStorage::new();
        store.faults().fail_at(0, When::Before, StorageErrorKind::Full);
        store.faults().clear();
        store.put(&key("a"), Payload::from("one"), PutOptions::default()).await.unwrap();
        assert!(!store.faults().fired());
    });
}

#[test]
fn short_append_is_cut_back_and_closes_the_writer() {
    block_on(async {
        let (store, mut writer) = written().await;
        let before = store.head(&key("a")).await.unwrap();
        store.faults().fail_at(0, When::Partway(2), StorageErrorKind::Full);
        writer.append(Bytes::from("two\n")).await.unwrap_err();
        assert_eq!(store.head(&key("a")).await.unwrap(), before);
        let error = writer.append(Bytes::from("three\n")).await.unwrap_err();
        assert_eq!(error.kind(), StorageErrorKind::Closed);
        assert_eq!(body(&store, "a").unwrap(), "one\n");
    });
}

#[test]
fn crash_leaves_what_was_written_and_stops_the_store() {
    block_on(async {
        for (when, left) in [
            (When::Before, "one\n"),
            (When::Partway(2), "one\ntw"),
            (When::Partway(99), "one\ntwo\n"),
            (When::After, "one\ntwo\n"),
        ] {
            let (store, mut writer) = written().await;
            store.faults().crash_at(0, when);
            let error = writer.append(Bytes::from("two\n")).await.unwrap_err();
            assert_eq!(error.kind(), StorageErrorKind::Unavailable);
            assert_eq!(body(&store, "a").unwrap_err().kind(), StorageErrorKind::Unavailable);
            let put = store.put(&key("b"), Payload::from("late"), PutOptions::default()).await;
            assert_eq!(put.unwrap_err().kind(), StorageErrorKind::Unavailable);
            let (objects, errors) = store.list_all(None, ListOptions::default()).await;
            assert_eq!((objects, errors[0].key()), (vec![], Some(&key("a"))));

            let after = store.restarted();
            assert_eq!(body(&after, "a").unwrap(), left);
            let mut next =
                after.open_append(&key("a"), AppendOptions::exclusive("next")).await.unwrap();
            assert_eq!(next.append(Bytes::from("+")).await.unwrap(), left.len() as u64);
            drop(writer);
            let busy = after.remove(&key("a")).await.unwrap_err();
            assert_eq!(busy.kind(), StorageErrorKind::Busy);
        }
    });
}

#[test]
fn crash_of_one_kind_of_call_waits_for_it() {
    block_on(async {
        let (store, mut writer) = written().await;
        store.faults().crash_nth(Operation::Replace, 0, When::Partway(3));
        writer.append(Bytes::from("two\n")).await.unwrap();
        writer.replace(Payload::from("new\n"), PutOptions::default()).await.unwrap_err();
        assert_eq!(body(&store.restarted(), "a").unwrap(), "one\ntwo\n");
    });
}

#[test]
fn restarted_store_is_another_one_in_the_same_state() {
    block_on(async {
        let (store, mut writer) = written().await;
        let after = store.restarted();
        let meta = store.head(&key("a")).await.unwrap();
        assert_eq!(after.head(&key("a")).await.unwrap(), meta);
        writer.append(Bytes::from("two\n")).await.unwrap();
        after.append_once(&key("a"), Bytes::from("other\n")).await.unwrap();
        assert_eq!(body(&store, "a").unwrap(), "one\ntwo\n");
        assert_eq!(body(&after, "a").unwrap(), "one\nother\n");
    });
}

#[test]
fn failed_listing_hides_one_object_and_goes_on() {
    block_on(async {
        let store = MemoryStorage::new();
        for name in ["a", "b", "c"] {
            store.put(&key(name), Payload::from(name), PutOptions::default()).await.unwrap();
        }
        store.faults().fail_nth(Operation::List, 0, When::Before, StorageErrorKind::Denied);
        let (objects, errors) = store.list_all(None, ListOptions::default()).await;
        let keys: Vec<_> = objects.into_iter().map(|meta| meta.key).collect();
        assert_eq!(keys, [key("b"), key("c")]);
        let failed: Vec<_> = errors.iter().map(|error| (error.kind(), error.key())).collect();
        assert_eq!(failed, [(StorageErrorKind::Denied, Some(&key("a")))]);
    });
}

#[test]
fn failed_open_after_its_effect_leaves_no_claim() {
    block_on(async {
        let store = MemoryStorage::new();
        store.faults().fail_at(0, When::After, StorageErrorKind::Unavailable);
        let options = AppendOptions::exclusive("me");
        store.open_append(&key("a"), options.clone()).await.unwrap_err();
        store.open_append(&key("a"), options).await.unwrap();
    });
}

#[test]
fn nothing_is_recorded_unless_asked() {
    block_on(async {
        let store = MemoryStorage::new();
        store.head(&key("a")).await.unwrap_err();
        assert_eq!(store.faults().operations(), []);
        store.faults().record();
        store.head(&key("b")).await.unwrap_err();
        let calls = store.faults().operations();
        assert_eq!(calls.len(), 1);
        assert_eq!((calls[0].operation, &calls[0].keys), (Operation::Head, &vec![key("b")]));
    });
}
