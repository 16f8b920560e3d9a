//! Deleting sessions to the trash, bringing them back, and deleting for good.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use session_context::SessionError;
use session_context::operations::{
    delete_session, delete_session_forever, list_trash, restore_session,
};
use session_model::storage::{AppendOptions, SessionStorage, StorageErrorKind, StorageKey};
use session_store_memory::{MemoryStorage, When};
use support::store::{A, HEADER, KEY, all, content, key, put};
use support::{Ticking, block_on, shared};

const TRASHED: &str = "trash/2026-01-01T00-00-00-000Z_s";
const RECORD: &str = r#"{"from":"sessions/--w--/s.jsonl","deletedAt":"2026-01-01T00:00:00.000Z"}"#;

fn prepared() -> MemoryStorage {
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}\n"));
    for (name, text) in [
        ("sessions/--w--/s/0.bash.log", "log"),
        ("sessions/--w--/s/agent.jsonl", "child"),
        ("sessions/--w--/s.jsonl.torn-2026", "torn"),
        ("sessions/--w--/t.jsonl", "another"),
    ] {
        let name = StorageKey::new(name).unwrap();
        block_on(storage.put(&name, text.into(), Default::default())).unwrap();
    }
    storage
}

fn in_trash() -> Vec<(String, String)> {
    let session = format!("{HEADER}\n{A}\n");
    [
        ("sessions/--w--/t.jsonl".to_owned(), "another"),
        (format!("{TRASHED}/origin.json"), RECORD),
        (format!("{TRASHED}/s.jsonl"), session.as_str()),
        (format!("{TRASHED}/s.jsonl.torn-2026"), "torn"),
        (format!("{TRASHED}/s/0.bash.log"), "log"),
        (format!("{TRASHED}/s/agent.jsonl"), "child"),
    ]
    .map(|(name, text)| (name, text.to_owned()))
    .into()
}

fn kind(error: &SessionError) -> Option<StorageErrorKind> {
    error.storage_error().map(|error| error.kind())
}

#[test]
fn a_deleted_session_comes_back_as_it_was() {
    block_on(async {
        let storage = prepared();
        let before = all(&storage);
        let deleted = delete_session(&shared(&storage), &key(), &Ticking::default()).await.unwrap();
        assert!(deleted.left_behind.is_empty());
        assert_eq!(all(&storage), in_trash());
        // The same name at the same time gets a place of its own.
        put(&storage, HEADER);
        let second = delete_session(&shared(&storage), &key(), &Ticking::default()).await.unwrap();
        assert_eq!(second.key.as_str(), format!("{TRASHED}-2/s.jsonl"));
        delete_session_forever(&shared(&storage), &second.key).await.unwrap();
        assert_eq!(all(&storage), in_trash());

        let trash = list_trash(&storage).await.unwrap();
        let shown: Vec<_> = trash.iter().map(|t| (&t.key, &t.from, &*t.deleted_at)).collect();
        assert_eq!(shown, [(&deleted.key, &key(), "2026-01-01T00:00:00.000Z")]);
        put(&storage, "taken");
        let taken = restore_session(&shared(&storage), &trash[0]).await.unwrap_err();
        assert_eq!(kind(&taken), Some(StorageErrorKind::AlreadyExists));
        assert_eq!(content(&storage, &key()).unwrap(), "taken");
        storage.remove(&key()).await.unwrap();
        restore_session(&shared(&storage), &trash[0]).await.unwrap();
        assert_eq!(all(&storage), before);
        assert_eq!(list_trash(&storage).await.unwrap(), []);
    });
}

#[test]
fn what_is_in_use_or_not_there_is_refused() {
    block_on(async {
        let storage = prepared();
        let before = all(&storage);
        let child = StorageKey::new("sessions/--w--/s/agent.jsonl").unwrap();
        for held in [&key(), &child] {
            let writer =
                storage.open_append(held, AppendOptions::exclusive("agent 7")).await.unwrap();
            let busy = [
                delete_session(&shared(&storage), &key(), &Ticking::default()).await,
                delete_session_forever(&shared(&storage), &key()).await,
            ];
            for busy in busy.map(Result::unwrap_err) {
                assert_eq!(kind(&busy), Some(StorageErrorKind::Busy));
                assert!(busy.to_string().contains("in use by agent 7"), "{busy}");
            }
            drop(writer);
        }
        assert_eq!(all(&storage), before);
        let nobody = StorageKey::new("sessions/--w--/nobody.jsonl").unwrap();
        for missing in [
            delete_session(&shared(&storage), &nobody, &Ticking::default()).await,
            delete_session_forever(&shared(&storage), &nobody).await,
        ] {
            assert!(matches!(missing, Err(SessionError::NotFound { .. })), "{missing:?}");
        }
        delete_session_forever(&shared(&storage), &key()).await.unwrap();
        assert_eq!(all(&storage), before[4..]);
    });
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Step {
    Delete,
    Restore,
}

/// Does one of both to a session that is where the step begins, with a fault armed.
async fn step(storage: &MemoryStorage, step: Step, arm: impl Fn()) -> Result<(), SessionError> {
    let store = shared(storage);
    if step == Step::Delete {
        arm();
        return delete_session(&store, &key(), &Ticking::default()).await.map(|_| ());
    }
    delete_session(&store, &key(), &Ticking::default()).await.unwrap();
    let trash = list_trash(storage).await.unwrap();
    arm();
    restore_session(&store, &trash[0]).await.map(|_| ())
}

/// Tells where the session is, whole; there is exactly one.
fn place(storage: &MemoryStorage, what: &str) -> StorageKey {
    let left = all(storage);
    let sessions: Vec<_> = left.iter().filter(|(name, _)| name.ends_with("/s.jsonl")).collect();
    let [(name, text)] = sessions[..] else { unreachable!("{what}: {left:?}") };
    assert_eq!(text, &format!("{HEADER}\n{A}\n"), "{what}");
    let stem = name.strip_suffix(".jsonl").unwrap();
    for (rest, text) in [("0.bash.log", "log"), ("agent.jsonl", "child")] {
        let artifact = (format!("{stem}/{rest}"), text.to_owned());
        assert!(left.contains(&artifact), "{what}: {left:?}");
    }
    let aside = (format!("{name}.torn-2026"), "torn".to_owned());
    assert!(left.contains(&aside), "{what}: {left:?}");
    StorageKey::new(name).unwrap()
}

#[test]
fn a_fault_in_any_call_leaves_all_of_it_at_one_place() {
    for (which, when) in [Step::Delete, Step::Restore]
        .into_iter()
        .flat_map(|which| [(which, When::Before), (which, When::After)])
    {
        for n in 0.. {
            let storage = prepared();
            let faults = storage.faults();
            let arm = || faults.fail_at(n, when, StorageErrorKind::Full);
            let result = block_on(step(&storage, which, arm));
            let fired = faults.fired();
            faults.clear();
            let what = format!("{which:?} {when:?} at {n}: {result:?}");
            let done = result.is_ok();
            assert_eq!(place(&storage, &what) == key(), done == (which == Step::Restore), "{what}");
            if !fired {
                break;
            }
        }
    }
}

#[test]
fn a_crash_in_any_call_leaves_all_of_it_at_one_place_from_where_it_comes_back() {
    for (which, when) in [Step::Delete, Step::Restore]
        .into_iter()
        .flat_map(|which| [(which, When::Before), (which, When::After)])
    {
        for n in 0.. {
            let crashing = prepared();
            let faults = crashing.faults();
            let result = block_on(step(&crashing, which, || faults.crash_at(n, when)));
            let storage = crashing.restarted();
            let what = format!("{which:?} {when:?} at {n}: {result:?}");
            if place(&storage, &what) != key() {
                let trash = block_on(list_trash(&storage)).unwrap();
                block_on(restore_session(&shared(&storage), &trash[0])).unwrap();
            }
            assert_eq!(place(&storage, &what), key(), "{what}");
            assert_eq!(block_on(list_trash(&storage)).unwrap(), [], "{what}");
            if !faults.fired() {
                break;
            }
        }
    }
}

#[test]
fn names_of_any_length_fit_into_the_trash() {
    block_on(async {
        let storage = MemoryStorage::new();
        let name = format!("{}.jsonl", "é".repeat(117));
        let long = StorageKey::new(format!("sessions/{name}")).unwrap();
        storage.put(&long, "x".into(), Default::default()).await.unwrap();
        let deleted = delete_session(&shared(&storage), &long, &Ticking::default()).await.unwrap();
        assert_eq!(deleted.key.file_name(), name);
        let trash = list_trash(&storage).await.unwrap();
        assert_eq!(trash[0].from, long);
    });
}

#[test]
fn whoever_comes_next_finishes_what_was_cut_off() {
    let other = StorageKey::new("sessions/--w--/t.jsonl").unwrap();
    let (mut in_trash, mut at_home) = (0, 0);
    for (which, when) in [Step::Delete, Step::Restore]
        .into_iter()
        .flat_map(|which| [(which, When::Before), (which, When::After)])
    {
        for n in 0.. {
            let crashing = prepared();
            let faults = crashing.faults();
            let result = block_on(step(&crashing, which, || faults.crash_at(n, when)));
            let storage = crashing.restarted();
            let what = format!("{which:?} {when:?} at {n}: {result:?}");
            block_on(delete_session(&shared(&storage), &other, &Ticking::default())).unwrap();
            let home = place(&storage, &what) == key();
            let (named, stray) = if home { (KEY, TRASHED) } else { (TRASHED, "sessions/--w--/s") };
            let left = all(&storage);
            // A record nothing belongs to is all that may be left.
            let strays: Vec<_> = left
                .iter()
                .filter(|(name, _)| name.starts_with(stray) && !name.starts_with(named))
                .filter(|(name, _)| !name.ends_with("/origin.json") && !name.contains("_t"))
                .collect();
            assert!(strays.is_empty(), "{what}: {strays:?}");
            assert!(!left.iter().any(|(name, _)| name.ends_with("unfinished.json")), "{what}");
            *if home { &mut at_home } else { &mut in_trash } += 1;
            if !faults.fired() {
                break;
            }
        }
    }
    assert!(in_trash > 10 && at_home > 10, "{in_trash} {at_home}");
}

#[test]
fn what_was_changed_since_stays_where_it_is() {
    block_on(async {
        let storage = prepared();
        delete_session(&shared(&storage), &key(), &Ticking::default()).await.unwrap();
        // As a deletion leaves it that was cut off, with one artifact written to since.
        for (name, text) in [
            (format!("{TRASHED}/unfinished.json"), RECORD),
            ("sessions/--w--/s/0.bash.log".to_owned(), "log"),
            ("sessions/--w--/s/agent.jsonl".to_owned(), "changed"),
        ] {
            let name = StorageKey::new(name).unwrap();
            storage.put(&name, text.into(), Default::default()).await.unwrap();
        }
        let other = StorageKey::new("sessions/--w--/t.jsonl").unwrap();
        delete_session(&shared(&storage), &other, &Ticking::default()).await.unwrap();
        let left = all(&storage);
        let text = |name: &str| left.iter().find(|(n, _)| n == name).map(|(_, text)| text.as_str());
        assert_eq!(text("sessions/--w--/s/agent.jsonl"), Some("changed"));
        assert_eq!(text(&format!("{TRASHED}/s/agent.jsonl")), Some("child"));
        assert_eq!(text("sessions/--w--/s/0.bash.log"), None);
        assert_eq!(text(&format!("{TRASHED}/unfinished.json")), Some(RECORD));
    });
}

#[test]
fn what_is_in_use_may_not_be_cut_off() {
    block_on(async {
        let storage = prepared();
        let note = StorageKey::new(format!("{TRASHED}/unfinished.json")).unwrap();
        let copy = StorageKey::new(format!("{TRASHED}/s/0.bash.log")).unwrap();
        for (name, text) in [(&note, RECORD), (&copy, "log")] {
            storage.put(name, text.into(), Default::default()).await.unwrap();
        }
        let writer = storage.open_append(&key(), AppendOptions::exclusive("rm")).await.unwrap();
        let other = StorageKey::new("sessions/--w--/t.jsonl").unwrap();
        delete_session(&shared(&storage), &other, &Ticking::default()).await.unwrap();
        assert!(content(&storage, &note).is_some() && content(&storage, &copy).is_some());
        drop(writer);
        storage.put(&other, "another".into(), Default::default()).await.unwrap();
        delete_session(&shared(&storage), &other, &Ticking::default()).await.unwrap();
        assert_eq!((content(&storage, &note), content(&storage, &copy)), (None, None));
    });
}
