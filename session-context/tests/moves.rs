//! Moving an open session to another directory, and what a move that is cut off leaves.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use session_context::{NewSession, SessionError, SessionManager};
use session_model::DiagnosticCode as Code;
use session_model::storage::{AppendOptions, SessionStorage, StorageErrorKind, StorageKey};
use session_store_memory::{MemoryStorage, When};
use support::store::{A, B, HEADER, KEY, all, answer, codes, content, ids, key, open, put, user};
use support::{block_on, options, shared};

const TO: &str = "sessions/--other--/s.jsonl";
const MOVED: &str = r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/other","previousSessionFiles":["sessions/--w--/s.jsonl"]}"#;

fn to() -> StorageKey {
    StorageKey::new(TO).unwrap()
}

fn child() -> StorageKey {
    StorageKey::new("sessions/--w--/s/agent.jsonl").unwrap()
}

/// A session with an artifact and the session of a child agent.
async fn prepared() -> (MemoryStorage, SessionManager) {
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}\n{B}\n"));
    let session = open(&storage, options("")).await;
    session.artifacts().unwrap().save("bash", "log").await.unwrap();
    storage.put(&child(), "child".into(), Default::default()).await.unwrap();
    let aside = StorageKey::new(format!("{KEY}.damaged-2026")).unwrap();
    storage.put(&aside, "aside".into(), Default::default()).await.unwrap();
    (storage, session)
}

fn named(objects: &[(&str, &str)]) -> Vec<(String, String)> {
    objects.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

fn at_old(file: &str) -> Vec<(String, String)> {
    let aside = format!("{KEY}.damaged-2026");
    named(&[
        (KEY, file),
        (&aside, "aside"),
        ("sessions/--w--/s/0.bash.log", "log"),
        (child().as_str(), "child"),
    ])
}

fn at_new(file: &str) -> Vec<(String, String)> {
    let child = "sessions/--other--/s/agent.jsonl";
    let aside = format!("{TO}.damaged-2026");
    named(&[
        (TO, file),
        (&aside, "aside"),
        ("sessions/--other--/s/0.bash.log", "log"),
        (child, "child"),
    ])
}

#[test]
fn file_and_artifacts_move_and_the_header_tells_from_where() {
    block_on(async {
        let (storage, mut session) = prepared().await;
        session.move_to("/other").await.unwrap();
        assert_eq!(all(&storage), at_new(&format!("{MOVED}\n{A}\n{B}\n")));
        assert_eq!((session.key(), session.session_id().as_str()), (&to(), "s"));
        session.append_message(user("after")).await.unwrap();
        // The claim moved along.
        let busy = SessionManager::open(shared(&storage), to(), "/w", options("9")).await;
        let kind = busy.unwrap_err().storage_error().unwrap().kind();
        assert_eq!(kind, StorageErrorKind::Busy);
        // The same directory again is no move.
        session.move_to("/other").await.unwrap();
        let file = content(&storage, &to()).unwrap();
        assert!(file.starts_with(&format!("{MOVED}\n")), "{file}");
        session.move_to("/w").await.unwrap();
        let places = session.header().json().field("previousSessionFiles").unwrap();
        assert_eq!(places.as_str(), format!(r#"["{KEY}","{TO}"]"#));
        session.close().await.unwrap();
    });
}

#[test]
fn a_session_nothing_was_written_of_moves_unwritten() {
    block_on(async {
        let storage = MemoryStorage::new();
        let new = NewSession::in_cwd("/w").file_name("s.jsonl");
        let mut session =
            SessionManager::create(shared(&storage), new.clone(), options("")).await.unwrap();
        session.append_message(user("u")).await.unwrap();
        session.move_to("/other").await.unwrap();
        assert_eq!(all(&storage), []);
        session.append_message(answer("a")).await.unwrap();
        assert_eq!((session.key(), session.cwd().as_deref()), (&to(), Some("/other")));
        assert_eq!(all(&storage)[0].0, TO);
        // With artifacts it is a session that is kept.
        let mut session =
            SessionManager::create(shared(&storage), new, options("1")).await.unwrap();
        session.artifacts().unwrap().save("bash", "log").await.unwrap();
        session.move_to("/third").await.unwrap();
        let names: Vec<_> = all(&storage).into_iter().map(|(name, _)| name).skip(1).collect();
        assert_eq!(names, ["sessions/--third--/s.jsonl", "sessions/--third--/s/0.bash.log"]);
    });
}

#[test]
fn a_move_is_refused_where_something_is_and_while_a_child_is_written() {
    block_on(async {
        let (storage, mut session) = prepared().await;
        let before = all(&storage);
        storage.put(&to(), "taken".into(), Default::default()).await.unwrap();
        let taken = session.move_to("/other").await.unwrap_err();
        assert_eq!(taken.storage_error().unwrap().kind(), StorageErrorKind::AlreadyExists);
        storage.remove(&to()).await.unwrap();
        let writer =
            storage.open_append(&child(), AppendOptions::exclusive("agent 7")).await.unwrap();
        let busy = session.move_to("/other").await.unwrap_err();
        assert!(busy.to_string().contains("in use by agent 7"), "{busy}");
        assert_eq!(all(&storage), before);
        drop(writer);
        session.move_to("/other").await.unwrap();
        session.close().await.unwrap();
        let mut reader =
            SessionManager::open_read_only(shared(&storage), to(), options("9")).await.unwrap();
        let refused = reader.move_to("/w").await;
        assert!(matches!(refused, Err(SessionError::ReadOnly { .. })), "{refused:?}");
    });
}

#[test]
fn a_fault_in_any_call_leaves_the_session_at_one_place_and_usable() {
    for when in [When::Before, When::After] {
        for n in 0.. {
            let fired = block_on(async {
                let (storage, mut session) = prepared().await;
                let before = all(&storage);
                storage.faults().fail_at(n, when, StorageErrorKind::Full);
                let result = session.move_to("/other").await;
                let fired = storage.faults().fired();
                storage.faults().clear();
                let what = format!("{when:?} at {n}: {result:?}");
                if session.persistence_error().is_some() {
                    session.save_again().await.expect(&what);
                }
                let moved = result.is_ok();
                assert_eq!(session.key(), &if moved { to() } else { key() }, "{what}");
                if !moved {
                    assert_eq!(all(&storage), before, "{what}");
                } else if !codes(&session).contains(&Code::ArtifactLeftBehind) {
                    assert_eq!(all(&storage), at_new(&format!("{MOVED}\n{A}\n{B}\n")), "{what}");
                }
                let added = session.append_message(answer("after")).await.expect(&what);
                session.close().await.expect(&what);
                let key = if moved { to() } else { key() };
                let session =
                    SessionManager::open(shared(&storage), key, "/w", options("9")).await.unwrap();
                assert_eq!(ids(&session), ["a", "b", added.as_str()], "{what}");
                assert_eq!(all(&storage).len(), 4, "{what}: opening takes the rest along");
                session.close().await.unwrap();
                fired
            });
            if !fired {
                break;
            }
        }
    }
}

#[test]
fn a_crash_in_any_call_leaves_the_session_whole_at_one_place() {
    let old = [HEADER, MOVED].map(|header| at_old(&format!("{header}\n{A}\n{B}\n")));
    let new = at_new(&format!("{MOVED}\n{A}\n{B}\n"));
    let (mut stayed, mut moved) = (0, 0);
    for when in [When::Before, When::After] {
        for n in 0.. {
            let fired = block_on(async {
                let (storage, mut session) = prepared().await;
                storage.faults().crash_at(n, when);
                let result = session.move_to("/other").await;
                let fired = storage.faults().fired();
                drop(session);
                let storage = storage.restarted();
                let left = all(&storage);
                let what = format!("{when:?} at {n}: {result:?} {left:?}");
                let has = |whole: &[(String, String)]| whole.iter().all(|o| left.contains(o));
                let key = match (content(&storage, &key()), content(&storage, &to())) {
                    (Some(_), None) => {
                        assert!(old.iter().any(|old| has(old)), "{what}");
                        stayed += 1;
                        key()
                    }
                    (None, Some(_)) => {
                        assert!(has(&new), "{what}");
                        moved += 1;
                        to()
                    }
                    _ => unreachable!("{what}"),
                };
                // Whoever opens it goes on, and another move brings it to its place.
                let mut session =
                    SessionManager::open(shared(&storage), key, "/w", options("9")).await.unwrap();
                session.move_to("/other").await.expect(&what);
                assert_eq!(all(&storage), new, "{what}");
                session.close().await.unwrap();
                fired
            });
            if !fired {
                break;
            }
        }
    }
    assert!(stayed > 5 && moved > 5, "{stayed} {moved}");
}
