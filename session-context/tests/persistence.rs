//! Durability, shared sessions, and who is told how saving goes.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use std::sync::{Arc, Mutex};

use session_context::{
    NameSource, NewEntry, PersistenceObserver, SessionError, SessionManager, SharedSession,
};
use session_model::DiagnosticCode as Code;
use session_model::env::IdSource;
use session_model::json::RawJson;
use session_model::storage::{Durability, StorageErrorKind, StorageKey};
use session_store_memory::{MemoryStorage, Operation, When};
use support::store::{A, B, HEADER, all, codes, content, ids, key, open, put, user};
use support::{block_on, options};

fn started() -> MemoryStorage {
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}\n"));
    storage
}

async fn durable(storage: &MemoryStorage) -> SessionManager {
    open(storage, options("").durability(Durability::Durable)).await
}

fn whole(session: &SessionManager) -> String {
    String::from_utf8(session.document().to_payload().to_bytes().to_vec()).unwrap()
}

/// The appends and syncs of a recorded store.
fn writes(storage: &MemoryStorage) -> Vec<Operation> {
    let calls = storage.faults().operations().into_iter().map(|call| call.operation);
    calls.filter(|call| matches!(call, Operation::Append | Operation::Sync)).collect()
}

#[test]
fn only_a_durable_append_waits_for_the_disk() {
    block_on(async {
        let storage = started();
        let mut session = open(&storage, options("")).await;
        storage.faults().record();
        session.append_message(user("1")).await.unwrap();
        assert_eq!(writes(&storage), [Operation::Append]);
        drop(session);
        let mut session = durable(&storage).await;
        storage.faults().record();
        session.append_message(user("2")).await.unwrap();
        session.append_label_change("a", Some("x")).await.unwrap();
        let pair = [Operation::Append, Operation::Sync];
        assert_eq!(writes(&storage), [pair, pair].concat());
    });
}

#[test]
fn a_batch_is_one_write_and_one_sync() {
    block_on(async {
        let storage = started();
        let mut session = durable(&storage).await;
        storage.faults().record();
        let entry = RawJson::parse(r#"{"type":"custom","customType":"x","role":"r"}"#).unwrap();
        let batch = [
            NewEntry::message(user("1")),
            NewEntry::from_json(entry),
            NewEntry::message(user("2")),
        ];
        let told = session.append_batch(batch).await.unwrap();
        assert_eq!(told, ["00000001", "00000002", "00000003"]);
        assert_eq!(session.branch_ids(), ["a", "00000001", "00000002", "00000003"]);
        assert_eq!(session.tree().entries()[2].entry_type(), "custom");
        assert_eq!(writes(&storage), [Operation::Append, Operation::Sync]);
        assert_eq!(content(&storage, &key()), Some(whole(&session)));
        assert_eq!(session.append_batch([]).await.unwrap(), Vec::<String>::new());
    });
}

#[test]
fn a_batch_with_something_bad_in_it_appends_nothing() {
    block_on(async {
        let storage = started();
        let mut session = open(&storage, options("")).await;
        let before = content(&storage, &key());
        let bad = |text: &'static str| NewEntry::from_json(RawJson::parse(text).unwrap());
        let unknown = bad(r#"{"type":"label","targetId":"?"}"#);
        let error =
            session.append_batch([NewEntry::message(user("1")), unknown]).await.unwrap_err();
        assert!(matches!(error, SessionError::UnknownEntry { .. }), "{error}");
        let nothing = bad(r#"{"type":7}"#);
        let error =
            session.append_batch([NewEntry::message(user("2")), nothing]).await.unwrap_err();
        assert!(matches!(error, SessionError::InvalidEntry { .. }), "{error}");
        assert_eq!(ids(&session), ["a"]);
        assert_eq!(content(&storage, &key()), before);
        let good = session.append_message(user("3")).await.unwrap();
        assert_eq!(ids(&session), ["a", &good]);
        assert_eq!(content(&storage, &key()), Some(whole(&session)));
    });
}

/// Gives every id twice.
#[derive(Debug, Default)]
struct Twice(u32);

impl IdSource for Twice {
    fn entry_id(&mut self) -> String {
        self.0 += 1;
        format!("{:08x}", self.0 / 2)
    }

    fn session_id(&mut self) -> String {
        "s".to_owned()
    }
}

#[test]
fn no_id_is_given_twice_in_a_batch() {
    block_on(async {
        let mut session = open(&started(), options("").ids(Twice::default())).await;
        let batch = |texts: [&str; 3]| texts.map(|text| NewEntry::message(user(text)));
        let first = session.append_batch(batch(["1", "2", "3"])).await.unwrap();
        assert_eq!(first, ["00000000", "00000001", "00000002"]);
        let then = session.append_batch(batch(["4", "5", "6"])).await.unwrap();
        assert_eq!(then, ["00000003", "00000004", "00000005"]);
    });
}

#[tokio::test(flavor = "current_thread")]
async fn tasks_that_append_at_once_share_a_sync() {
    let storage = started();
    let shared = SharedSession::from(durable(&storage).await);
    storage.faults().record();
    let task = |n: u32| {
        let shared = shared.clone();
        tokio::spawn(async move { shared.append_message(user(&n.to_string())).await.unwrap() })
    };
    let tasks: Vec<_> = (0..64).map(task).collect();
    let mut told = vec!["a".to_owned()];
    for task in tasks {
        told.push(task.await.unwrap());
    }
    let calls = writes(&storage);
    assert_eq!(calls, [vec![Operation::Append; 64], vec![Operation::Sync]].concat());
    let session = shared.into_manager().unwrap();
    assert_eq!(ids(&session), told);
    assert_eq!(content(&storage, &key()), Some(whole(&session)));
}

#[tokio::test(flavor = "current_thread")]
async fn a_failed_sync_is_told_to_all_that_share_it() {
    let storage = started();
    let shared = SharedSession::from(durable(&storage).await);
    storage.faults().fail_nth(Operation::Sync, 0, When::Before, StorageErrorKind::Other);
    let task = |n: u32| {
        let shared = shared.clone();
        tokio::spawn(async move { shared.append_message(user(&n.to_string())).await })
    };
    let tasks: Vec<_> = (0..3).map(task).collect();
    let mut failed = Vec::new();
    for task in tasks {
        let SessionError::NotSaved { entry, .. } = task.await.unwrap().unwrap_err() else {
            panic!("a failed sync was not told")
        };
        failed.push(entry);
    }
    assert_eq!(failed, ["00000001", "00000002", "00000003"]);
    shared.lock().await.save_again().await.unwrap();
    shared.append_message(user("4")).await.unwrap();
    let session = shared.into_manager().unwrap();
    assert_eq!(ids(&session), ["a", "00000001", "00000002", "00000003", "00000004"]);
    assert_eq!(content(&storage, &key()), Some(whole(&session)));
}

#[test]
fn a_snapshot_does_not_change() {
    block_on(async {
        let mut session = open(&started(), options("")).await;
        let before = session.snapshot();
        session.append_message(user("1")).await.unwrap();
        assert_eq!((before.tree().len(), session.snapshot().tree().len()), (1, 2));
    });
}

/// Notes what it is told; panics if it is to.
#[derive(Debug, Default)]
struct Notes {
    told: Mutex<Vec<String>>,
    panics: bool,
}

impl Notes {
    fn note(&self, what: String) {
        self.told.lock().unwrap().push(what);
        assert!(!self.panics, "on purpose");
    }

    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.told.lock().unwrap())
    }
}

impl PersistenceObserver for Notes {
    fn save_failed(&self, session: &StorageKey, error: &SessionError) {
        self.note(format!("failed {session}: {error}"));
    }

    fn saved_again(&self, session: &StorageKey) {
        self.note(format!("again {session}"));
    }

    fn durable(&self, session: &StorageKey, entries: usize) {
        self.note(format!("durable {session} {entries}"));
    }
}

#[test]
fn observers_are_told_once_and_late_ones_at_once() {
    block_on(async {
        let storage = started();
        let (early, late) = (Arc::new(Notes::default()), Arc::new(Notes::default()));
        let mut session = open(&storage, options("").observer(early.clone())).await;
        storage.faults().fail_nth(Operation::Append, 0, When::Before, StorageErrorKind::Full);
        assert!(session.append_message(user("1")).await.is_err());
        assert!(session.append_message(user("2")).await.is_err());
        let failed = format!(
            "failed {key}: could not append to {key}: no space is left; free some and try again",
            key = key()
        );
        assert_eq!(early.take(), vec![failed.clone()]);
        session.subscribe(late.clone());
        assert_eq!(late.take(), [failed]);
        session.save_again().await.unwrap();
        session.flush().await.unwrap();
        let good = [format!("again {}", key()), format!("durable {} 3", key())];
        assert_eq!((early.take(), late.take()), (good.to_vec(), good.to_vec()));
    });
}

#[test]
fn a_panic_of_an_observer_hurts_nobody() {
    block_on(async {
        let storage = started();
        let panics = Arc::new(Notes { panics: true, ..Notes::default() });
        let calm = Arc::new(Notes::default());
        let observed = options("").observer(panics.clone()).observer(calm.clone());
        let mut session = open(&storage, observed.durability(Durability::Durable)).await;
        session.append_message(user("1")).await.unwrap();
        let told = [format!("durable {} 2", key())];
        assert_eq!((panics.take(), calm.take()), (told.to_vec(), told.to_vec()));
        assert_eq!(content(&storage, &key()), Some(whole(&session)));
    });
}

#[test]
fn closing_writes_once_more_what_could_not_be_saved() {
    block_on(async {
        for (operation, kind) in [
            (Operation::Append, StorageErrorKind::Full),
            (Operation::Sync, StorageErrorKind::Other),
        ] {
            let storage = started();
            let mut session = durable(&storage).await;
            storage.faults().fail_nth(operation, 0, When::Before, kind);
            assert!(session.append_message(user("1")).await.is_err());
            let want = whole(&session);
            session.close().await.unwrap();
            assert_eq!(content(&storage, &key()), Some(want), "{operation:?}");
        }
    });
}

#[test]
fn closing_writes_all_anew_if_the_disk_fails_only_then() {
    block_on(async {
        let storage = started();
        let mut session = open(&storage, options("")).await;
        session.append_message(user("1")).await.unwrap();
        let want = whole(&session);
        storage.faults().fail_nth(Operation::Sync, 0, When::Before, StorageErrorKind::Other);
        storage.faults().record();
        session.close().await.unwrap();
        let calls = storage.faults().operations().into_iter().map(|call| call.operation);
        let calls: Vec<_> =
            calls.filter(|o| matches!(o, Operation::Replace | Operation::Sync)).collect();
        assert_eq!(calls, [Operation::Sync, Operation::Replace, Operation::Sync]);
        assert_eq!(content(&storage, &key()), Some(want));
    });
}

#[test]
fn a_file_that_was_written_anew_as_it_was_is_nothing_to_tell_of() {
    block_on(async {
        let storage = started();
        let mut session = open(&storage, options("")).await;
        let same = content(&storage, &key()).unwrap();
        storage.faults().overwrite(&key(), Some(same.into())).unwrap();
        session.append_message(user("1")).await.unwrap();
        let same = content(&storage, &key()).unwrap();
        storage.faults().overwrite(&key(), Some(same.into())).unwrap();
        session.flush().await.unwrap();
        assert_eq!(codes(&session), []);
        assert_eq!(content(&storage, &key()), Some(whole(&session)));
    });
}

#[test]
fn an_edit_in_place_is_taken_over_by_the_next_flush() {
    block_on(async {
        let storage = started();
        let mut session = open(&storage, options("")).await;
        let edited = content(&storage, &key()).unwrap().replace("\"one\"", "\"ONE\"");
        storage.faults().overwrite(&key(), Some(edited.clone().into())).unwrap();
        session.flush().await.unwrap();
        assert_eq!(codes(&session), [Code::EntryChanged, Code::ForeignChange]);
        assert_eq!(whole(&session), edited);
    });
}

#[test]
fn every_failing_call_leaves_all_in_memory_and_save_again_brings_it_to_the_file() {
    for when in [When::Before, When::Partway(5), When::After] {
        for n in 0.. {
            let storage = started();
            let (fired, session) = block_on(async {
                let mut session = durable(&storage).await;
                storage.faults().fail_at(n, when, StorageErrorKind::Other);
                let first = session.append_message(user("1")).await;
                let batch = [NewEntry::message(user("2")), NewEntry::message(user("3"))];
                let second = session.append_batch(batch).await;
                let latched = session.persistence_error().is_some();
                assert_eq!(first.is_err() || second.is_err(), latched, "{when:?} at {n}");
                let fired = storage.faults().fired();
                storage.faults().clear();
                session.save_again().await.unwrap();
                session.append_message(user("4")).await.unwrap();
                (fired, session)
            });
            let four = ["a", "00000001", "00000002", "00000003", "00000004"];
            assert_eq!(ids(&session), four, "{when:?} at {n}");
            assert_eq!(content(&storage, &key()), Some(whole(&session)), "{when:?} at {n}");
            if !fired {
                break;
            }
        }
    }
}

#[test]
fn what_another_program_changed_in_place_is_kept_both_ways() {
    block_on(async {
        let storage = started();
        let mut session = open(&storage, options("")).await;
        let edited = A.replace("\"one\"", "\"ONE\"");
        let file = format!("{HEADER}\n{edited}\n{B}\n");
        storage.faults().overwrite(&key(), Some(file.clone().into())).unwrap();
        assert!(session.set_session_name("name", NameSource::User).await.unwrap());
        assert_eq!(ids(&session), ["a", "b", "00000001"]);
        let found = [Code::EntryChanged, Code::ForeignChange, Code::InterleavedBranches];
        assert_eq!(codes(&session), found);
        let [(_, now), (aside, kept)] = &all(&storage)[..] else { panic!("nothing was kept") };
        assert!(now.contains(&edited) && now.contains(B), "{now}");
        assert!(aside.starts_with(&format!("{}.changed-", key())), "{aside}");
        assert_eq!(*kept, format!("{A}\n"));
    });
}

#[test]
fn the_present_state_of_an_old_file_is_what_a_migration_replaces() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, "{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"custom\"}\n{\"torn");
        let session = open(&storage, options("")).await;
        assert_eq!(codes(&session), [Code::TornTail, Code::TailMovedAside, Code::Migrated]);
        assert_eq!(content(&storage, &key()), Some(whole(&session)));
        assert_eq!(all(&storage)[1].1, "{\"torn");
    });
}
