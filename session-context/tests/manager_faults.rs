//! The session manager when things go wrong: failing calls, crashes, other programs.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use session_context::{NameSource, SessionError, SessionManager};
use session_model::json::{ObjectEdit, RawJson};
use session_model::storage::StorageErrorKind;
use session_model::{DiagnosticCode as Code, Entry, EntryKind};
use session_store_memory::{MemoryStorage, Operation, When};
use support::store::{A, B, HEADER, answer, codes, content, ids, key, open, put, user};
use support::{block_on, options, shared};

#[test]
fn the_first_failure_to_save_stays_until_all_is_written_again() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        storage.faults().fail_nth(Operation::Append, 1, When::Partway(7), StorageErrorKind::Full);
        let saved = session.append_message(user("1")).await.unwrap();
        let SessionError::NotSaved { entry, source } =
            session.append_message(user("2")).await.unwrap_err()
        else {
            panic!("not reported")
        };
        let full = source.storage_error().map(|error| error.kind());
        assert_eq!((entry.as_str(), full), ("00000002", Some(StorageErrorKind::Full)));
        let SessionError::NotSaved { entry, source: again } =
            session.append_message(user("3")).await.unwrap_err()
        else {
            panic!("not latched")
        };
        assert_eq!((entry.as_str(), again.to_string()), ("00000003", source.to_string()));
        assert!(matches!(session.flush().await, Err(SessionError::Unsaved { .. })));
        assert!(matches!(session.ensure_on_disk().await, Err(SessionError::Unsaved { .. })));
        assert_eq!(session.persistence_error().map(ToString::to_string), Some(source.to_string()));
        assert_eq!(ids(&session), ["a", saved.as_str(), "00000002", "00000003"]);
        let file = content(&storage, &key()).unwrap();
        assert!(file.ends_with("\"content\":\"1\",\"timestamp\":1}}\n"), "{file}");
        session.save_again().await.unwrap();
        session.append_message(user("4")).await.unwrap();
        session.flush().await.unwrap();
        let file = content(&storage, &key()).unwrap();
        assert_eq!(file, whole(&session));
        session.close().await.unwrap();
    });
}

/// The work the sweeps do: every kind of write once.
async fn work(storage: &MemoryStorage, told: &mut Vec<String>) -> Result<(), SessionError> {
    let mut session = SessionManager::open(shared(storage), key(), "/w", options("")).await?;
    let result = async {
        told.push(session.append_message(user("1")).await?);
        told.push(session.append_message(answer("2")).await?);
        session.flush().await?;
        if session.set_session_name("name", NameSource::User).await? {
            told.push(session.leaf_id().unwrap());
        }
        told.push(session.append_label_change("a", Some("l")).await?);
        Ok(())
    }
    .await;
    session.close().await.and(result)
}

fn every_told_entry_is_there_once(storage: &MemoryStorage, told: &[String], what: &str) {
    let session =
        block_on(SessionManager::open(shared(storage), key(), "/w", options("9"))).unwrap();
    let there = ids(&session);
    for id in told.iter().map(String::as_str).chain(["a"]) {
        let count = there.iter().filter(|other| *other == id).count();
        assert_eq!(count, 1, "{what}: {id} of {there:?}");
    }
    block_on(session.close()).unwrap();
}

#[test]
fn a_fault_in_any_call_costs_nothing_that_was_told_saved() {
    for start in [
        format!("{HEADER}\n{A}\n"),
        format!("{{\"type\":\"session\",\"version\":2,\"id\":\"s\"}}\n{A}\n{{\"torn"),
    ] {
        for when in [When::Before, When::Partway(3), When::After] {
            for n in 0.. {
                let storage = MemoryStorage::new();
                put(&storage, &start);
                let mut told = Vec::new();
                storage.faults().fail_at(n, when, StorageErrorKind::Full);
                let result = block_on(work(&storage, &mut told));
                let fired = storage.faults().fired();
                storage.faults().clear();
                // A disk that fails only as the session ends costs nothing: all is written anew.
                let is_good =
                    if fired { result.is_err() || told.len() == 4 } else { result.is_ok() };
                assert!(is_good, "{when:?} at {n}: {result:?}");
                every_told_entry_is_there_once(&storage, &told, &format!("{when:?} at {n}"));
                if !fired {
                    break;
                }
            }
        }
    }
}

#[test]
fn a_crash_in_any_call_costs_nothing_that_was_told_saved() {
    for start in [
        format!("{HEADER}\n{A}\n"),
        format!("{{\"type\":\"session\",\"version\":2,\"id\":\"s\"}}\n{A}\n{{\"torn"),
    ] {
        for when in [When::Before, When::Partway(9), When::After] {
            for n in 0.. {
                let storage = MemoryStorage::new();
                put(&storage, &start);
                let mut told = Vec::new();
                storage.faults().crash_at(n, when);
                let result = block_on(work(&storage, &mut told));
                let fired = storage.faults().fired();
                assert_eq!(result.is_ok(), !fired, "{when:?} at {n}: {result:?}");
                let after = storage.restarted();
                every_told_entry_is_there_once(&after, &told, &format!("{when:?} at {n}"));
                if !fired {
                    break;
                }
            }
        }
    }
}

#[test]
fn entries_another_program_wrote_are_taken_over() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        session.append_message(user("mine")).await.unwrap();
        let file = content(&storage, &key()).unwrap() + B + "\n{\"torn";
        storage.faults().overwrite(&key(), Some(file.into())).unwrap();
        session.append_message(user("next")).await.unwrap();
        assert_eq!(ids(&session), ["a", "00000001", "b", "00000002"]);
        assert_eq!(session.branch_ids(), ["a", "00000001", "00000002"]);
        let found =
            [Code::TailMovedAside, Code::TornTail, Code::ForeignChange, Code::InterleavedBranches];
        assert_eq!(codes(&session), found);
        let file = content(&storage, &key()).unwrap();
        assert_eq!(file, whole(&session));
    });
}

#[test]
fn a_rewrite_keeps_what_another_program_wrote() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        let file = content(&storage, &key()).unwrap() + B + "\n";
        storage.faults().overwrite(&key(), Some(file.into())).unwrap();
        assert!(session.set_session_name("mine", NameSource::User).await.unwrap());
        assert_eq!(ids(&session), ["a", "b", "00000001"]);
        storage.faults().overwrite(&key(), None).unwrap();
        let edit = ObjectEdit::new().set("x", &RawJson::null());
        let change = |e: &Entry| (e.kind() == EntryKind::Custom).then(|| e.edited(&edit)).flatten();
        assert_eq!(session.rewrite_entries(change).await.unwrap(), 1);
        assert_eq!(
            codes(&session),
            [Code::ForeignChange, Code::InterleavedBranches, Code::FileRestored]
        );
        let file = content(&storage, &key()).unwrap();
        assert_eq!(file, whole(&session));
    });
}

#[test]
fn a_removed_or_truncated_file_is_written_again() {
    block_on(async {
        for left in [None, Some(format!("{HEADER}\n")), Some("junk\n".to_owned())] {
            let storage = MemoryStorage::new();
            put(&storage, &format!("{HEADER}\n{A}\n"));
            let mut session = open(&storage, options("")).await;
            session.append_message(user("1")).await.unwrap();
            storage.faults().overwrite(&key(), left.clone().map(Into::into)).unwrap();
            session.append_message(user("2")).await.unwrap();
            let file = content(&storage, &key()).unwrap();
            assert_eq!(file, whole(&session));
            assert_eq!(ids(&session), ["a", "00000001", "00000002"], "{left:?}");
        }
    });
}

#[test]
fn another_session_in_the_files_place_is_left_alone() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        let other = format!("{}\n{B}\n", HEADER.replace("\"id\":\"s\"", "\"id\":\"other\""));
        storage.faults().overwrite(&key(), Some(other.clone().into())).unwrap();
        assert!(matches!(
            session.append_message(user("1")).await,
            Err(SessionError::NotSaved { .. })
        ));
        assert!(session.save_again().await.is_err());
        assert_eq!(content(&storage, &key()), Some(other));
        assert_eq!(ids(&session), ["a", "00000001"]);
    });
}

fn whole(session: &SessionManager) -> String {
    String::from_utf8(session.document().to_payload().to_bytes().to_vec()).unwrap()
}

#[test]
fn a_rewrite_keeps_what_memory_was_rolled_back_from() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        let state = session.capture_state();
        session.append_message(user("acknowledged")).await.unwrap();
        session.restore_state(state);
        assert!(session.set_session_name("name", NameSource::User).await.unwrap());
        assert_eq!(ids(&session), ["a", "00000001", "00000002"]);
        assert_eq!(session.branch_ids(), ["a", "00000002"]);
        assert_eq!(content(&storage, &key()), Some(whole(&session)));
    });
}

#[test]
fn no_write_goes_over_another_session() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        let other = format!("{}\n{B}\n", HEADER.replace("\"id\":\"s\"", "\"id\":\"other\""));
        storage.faults().overwrite(&key(), Some(other.clone().into())).unwrap();
        assert!(session.append_message(user("1")).await.is_err());
        assert!(session.set_session_name("name", NameSource::User).await.is_err());
        assert!(session.rewrite_entries(|entry| Some(entry.clone())).await.is_err());
        assert!(session.save_again().await.is_err());
        assert!(session.flush().await.is_err());
        assert_eq!(content(&storage, &key()), Some(other));
        assert_eq!(ids(&session), ["a", "00000001"]);
    });
}

#[test]
fn a_flush_makes_good_what_others_took_away() {
    block_on(async {
        for left in [None, Some(format!("{HEADER}\n"))] {
            let storage = MemoryStorage::new();
            put(&storage, &format!("{HEADER}\n{A}\n"));
            let mut session = open(&storage, options("")).await;
            session.append_message(user("1")).await.unwrap();
            storage.faults().overwrite(&key(), left.map(Into::into)).unwrap();
            session.flush().await.unwrap();
            assert_eq!(content(&storage, &key()), Some(whole(&session)));
            assert_eq!(ids(&session), ["a", "00000001"]);
        }
    });
}

#[test]
fn writing_again_keeps_what_others_changed_and_damaged() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        storage.faults().fail_nth(Operation::Append, 0, When::Before, StorageErrorKind::Full);
        assert!(session.append_message(user("1")).await.is_err());
        let titled = HEADER.replace("}", ",\"title\":\"theirs\"}");
        let changed = format!("{titled}\n{A}\ndamaged\n");
        storage.faults().overwrite(&key(), Some(changed.clone().into())).unwrap();
        session.save_again().await.unwrap();
        assert_eq!(session.session_name().as_deref(), Some("theirs"));
        assert_eq!(codes(&session), [Code::ForeignChange, Code::DamagedLine]);
        let file = content(&storage, &key()).unwrap();
        assert!(file.starts_with(&changed) && file == whole(&session), "{file}");
        session.append_message(user("2")).await.unwrap();
    });
}

#[test]
fn a_name_is_not_told_saved_while_nothing_is() {
    block_on(async {
        let storage = MemoryStorage::new();
        let new = session_context::NewSession::in_cwd("/w");
        let mut session = SessionManager::create(shared(&storage), new, options("")).await.unwrap();
        storage.faults().fail_nth(Operation::OpenAppend, 0, When::Before, StorageErrorKind::Full);
        assert!(session.append_message(answer("1")).await.is_err());
        assert!(session.set_session_name("name", NameSource::User).await.is_err());
        session.save_again().await.unwrap();
        assert!(session.set_session_name("name", NameSource::User).await.unwrap());
        assert_eq!(content(&storage, session.key()), Some(whole(&session)));
    });
}
