//! Going on in a copy: forks, copies of other sessions, and sessions of one branch.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, clippy::expect_used, reason = "tests")]

mod support;

use session_context::listing::{CwdFilter, ListingOptions, Scope, list_sessions};
use session_context::operations::{CopiedSession, copy_session};
use session_context::{ForkFrom, SessionError, SessionManager};
use session_model::DiagnosticCode as Code;
use session_model::json::RawJson;
use session_model::storage::{SessionStorage, StorageErrorKind, StorageKey};
use session_store_memory::{MemoryStorage, Operation, When};
use support::store::{A, B, HEADER, KEY, all, answer, codes, content, ids, key, open, put, user};
use support::{block_on, options, shared};

/// The key of the first new session, made at the first look at the clock.
fn copy_key() -> StorageKey {
    StorageKey::new("sessions/--w--/2026-01-01T00-00-00-000Z_session-1.jsonl").unwrap()
}

const COPY: &str = r#"{"type":"session","version":3,"id":"session-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","parentSession":"s","providerPromptCacheKey":"s"}"#;

fn names(storage: &MemoryStorage) -> Vec<String> {
    all(storage).into_iter().map(|(name, _)| name).collect()
}

#[test]
fn a_fork_goes_on_in_a_copy_and_leaves_the_old_file_as_it_was() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n{B}\nnot json\n"));
        let mut session = open(&storage, options("")).await;
        session.artifacts().unwrap().save("bash", "output").await.unwrap();
        session.branch("a").unwrap();
        let before = content(&storage, &key()).unwrap();

        let forked = session.fork().await.unwrap().unwrap();
        assert_eq!((&forked.from, &forked.to), (&key(), &copy_key()));
        assert_eq!((session.key(), session.leaf_id().as_deref()), (&copy_key(), Some("a")));
        session.append_message(user("after")).await.unwrap();
        let added = String::from_utf8(session.leaf_entry().unwrap().line().to_vec()).unwrap();
        let copy = format!("{COPY}\n{A}\n{B}\nnot json\n{added}");
        assert_eq!(
            all(&storage),
            [
                ("sessions/--w--/2026-01-01T00-00-00-000Z_session-1.jsonl", copy.as_str()),
                ("sessions/--w--/2026-01-01T00-00-00-000Z_session-1/0.bash.log", "output"),
                (KEY, before.as_str()),
                ("sessions/--w--/s/0.bash.log", "output"),
            ]
            .map(|(name, text)| (name.to_owned(), text.to_owned()))
        );
        // Nobody holds the old file any more, and a fork of the fork keeps its cache.
        let old = open(&storage, options("9")).await;
        session.fork().await.unwrap().unwrap();
        let header = session.header();
        assert_eq!(header.parent_session().as_deref(), Some("session-1"));
        assert_eq!(header.provider_prompt_cache_key().as_deref(), Some("s"));
        old.close().await.unwrap();
        session.close().await.unwrap();
    });
}

#[test]
fn what_could_not_be_saved_or_written_to_is_whole_in_a_fork() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        storage.faults().fail_nth(Operation::Append, 0, When::Before, StorageErrorKind::Full);
        session.append_message(user("unsaved")).await.unwrap_err();
        let mut reader =
            SessionManager::open_read_only(shared(&storage), key(), options("5")).await.unwrap();
        session.fork().await.unwrap().unwrap();
        assert!(session.persistence_error().is_none());
        session.flush().await.unwrap();
        let copy = content(&storage, session.key()).unwrap();
        assert!(copy.ends_with("\"content\":\"unsaved\",\"timestamp\":1}}\n"), "{copy}");
        let forked = reader.fork().await.unwrap().unwrap();
        assert_eq!(content(&storage, &forked.to).unwrap().lines().skip(1).collect::<Vec<_>>(), [A]);
        reader.append_message(user("it can be written")).await.unwrap();
        session.close().await.unwrap();
    });
}

#[test]
fn a_session_nothing_was_written_of_is_written_by_a_fork() {
    block_on(async {
        let storage = MemoryStorage::new();
        let new = session_context::NewSession::in_cwd("/w").id("first");
        let mut session = SessionManager::create(shared(&storage), new, options("")).await.unwrap();
        session.append_message(user("u")).await.unwrap();
        let forked = session.fork().await.unwrap().unwrap();
        assert_eq!(names(&storage), [forked.to.as_str()]);
        assert_eq!(content(&storage, &forked.to).unwrap().lines().count(), 2);
        let mut memory = SessionManager::in_memory("/w", options("")).unwrap();
        assert_eq!(memory.fork().await.unwrap(), None);
    });
}

#[test]
fn a_copy_of_a_session_in_use_leaves_its_writer_alone() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut parent = open(&storage, options("p")).await;
        parent.artifacts().unwrap().save("bash", "log").await.unwrap();
        let fork = ForkFrom::new(key(), "/other").provider_prompt_cache_key("pinned");
        let mut child =
            SessionManager::fork_from(shared(&storage), fork, options("c")).await.unwrap();
        child.append_message(answer("in the child")).await.unwrap();
        let told = parent.append_message(answer("in the parent")).await.unwrap();
        assert_eq!((ids(&parent), parent.key()), (vec!["a".to_owned(), told], &key()));
        assert_eq!(ids(&child), ["a", "c0000001"]);
        let file = content(&storage, &key()).unwrap();
        assert!(file.contains("in the parent") && !file.contains("in the child"), "{file}");
        let child_key = "sessions/--other--/2026-01-01T00-00-00-000Z_session-1.jsonl";
        assert_eq!(child.key().as_str(), child_key);
        let header = child.header().json();
        let want = r#"{"type":"session","version":3,"id":"session-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/other","parentSession":"s","providerPromptCacheKey":"pinned"}"#;
        assert_eq!(header.as_str(), want);
        assert_eq!(child.artifacts().unwrap().get("0").await.unwrap().unwrap(), "log");
    });
}

#[test]
fn an_old_format_is_brought_up_to_date_in_the_copy_only() {
    block_on(async {
        let storage = MemoryStorage::new();
        let old = "{\"type\":\"session\",\"id\":\"s\"}\n{\"type\":\"custom\",\"customType\":\"x\"}\n{\"torn";
        put(&storage, old);
        let fork = ForkFrom::new(key(), "/w");
        let copy = SessionManager::fork_from(shared(&storage), fork, options("")).await.unwrap();
        assert_eq!(content(&storage, &key()).unwrap(), old);
        assert_eq!(codes(&copy), [Code::TornTail, Code::Migrated]);
        assert_eq!(
            content(&storage, copy.key()).unwrap().lines().last().unwrap(),
            r#"{"type":"custom","customType":"x","id":"00000001","parentId":null}"#
        );
        put(&storage, "{\"type\":\"session\",\"version\":9,\"id\":\"s\"}\n");
        let fork = ForkFrom::new(key(), "/w");
        let newer = SessionManager::fork_from(shared(&storage), fork, options("")).await;
        assert!(matches!(newer, Err(SessionError::ReadOnly { .. })), "{newer:?}");
    });
}

#[test]
fn a_session_of_one_branch_has_its_labels_at_the_end_and_no_gaps() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        session.artifacts().unwrap().save("bash", "log").await.unwrap();
        session.append_label_change("a", Some("kept")).await.unwrap();
        let on_path = session.append_message(user("below the label")).await.unwrap();
        session.append_message(answer("left out")).await.unwrap();
        session.append_label_change("a", Some("kept, changed")).await.unwrap();
        let before = content(&storage, &key()).unwrap();
        let forked = session.create_branched_session(&on_path).await.unwrap().unwrap();
        assert_eq!(content(&storage, &key()).unwrap(), before);
        let lines: Vec<String> =
            content(&storage, &forked.to).unwrap().lines().map(str::to_owned).collect();
        let field = |line: &String, name: &str| {
            RawJson::parse(line.clone()).unwrap().field(name).unwrap().as_str().to_owned()
        };
        assert_eq!(field(&lines[0], "parentSession"), format!("\"{KEY}\""));
        assert_eq!(lines[1], A);
        assert_eq!(field(&lines[2], "parentId"), "\"a\"");
        let label = r#"{"type":"label","id":"00000005","parentId":"00000002","timestamp":"2026-01-01T00:00:04.000Z","targetId":"a","label":"kept, changed"}"#;
        assert_eq!(lines[3..], [label]);
        assert_eq!(session.artifacts().unwrap().get("0").await.unwrap().unwrap(), "log");
        let unknown = session.create_branched_session("nobody").await;
        assert!(matches!(unknown, Err(SessionError::UnknownEntry { .. })), "{unknown:?}");
        assert_eq!(session.key(), &forked.to);
    });
}

/// Goes on in a copy in one of both ways.
async fn go_on(session: &mut SessionManager, branch: bool) -> Result<(), SessionError> {
    if branch {
        session.create_branched_session("b").await?;
    } else {
        session.fork().await?;
    }
    Ok(())
}

#[test]
fn a_fault_in_any_call_leaves_the_old_session_or_makes_the_new_one() {
    for (branch, when) in
        [false, true].into_iter().flat_map(|b| [(b, When::Before), (b, When::After)])
    {
        for n in 0.. {
            let fired = block_on(async {
                let storage = MemoryStorage::new();
                put(&storage, &format!("{HEADER}\n{A}\n{B}\n"));
                let mut session = open(&storage, options("")).await;
                session.artifacts().unwrap().save("bash", "log").await.unwrap();
                let before = all(&storage);
                storage.faults().fail_at(n, when, StorageErrorKind::Full);
                let result = go_on(&mut session, branch).await;
                let fired = storage.faults().fired();
                storage.faults().clear();
                let what = format!("branch {branch}, {when:?} at {n}: {result:?}");
                let added = session.append_message(answer("after")).await.expect(&what);
                session.flush().await.expect(&what);
                match &result {
                    Ok(()) => {
                        assert_ne!(session.key(), &key(), "{what}");
                        assert_eq!(
                            content(&storage, &key()).as_ref(),
                            Some(&before[0].1),
                            "{what}"
                        );
                        // What was not copied is told.
                        let copied = session.artifacts().unwrap().get("0").await.unwrap();
                        let told = codes(&session).contains(&Code::ArtifactLeftBehind);
                        assert!(copied.is_some() || told, "{what}");
                    }
                    Err(_) => {
                        assert_eq!(session.key(), &key(), "{what}");
                        let others: Vec<_> = all(&storage).into_iter().skip(1).collect();
                        assert_eq!(others, before[1..], "{what}");
                    }
                }
                let again = SessionManager::open_read_only(
                    shared(&storage),
                    session.key().clone(),
                    options("9"),
                );
                assert_eq!(ids(&again.await.unwrap()), ["a", "b", added.as_str()], "{what}");
                session.close().await.expect(&what);
                fired
            });
            if !fired {
                break;
            }
        }
    }
}

#[test]
fn a_crash_in_any_call_leaves_the_old_session_whole() {
    for when in [When::Before, When::After] {
        for n in 0..12 {
            block_on(async {
                let storage = MemoryStorage::new();
                put(&storage, &format!("{HEADER}\n{A}\n{B}\n"));
                let mut session = open(&storage, options("")).await;
                session.artifacts().unwrap().save("bash", "log").await.unwrap();
                let before = content(&storage, &key());
                storage.faults().crash_at(n, when);
                let result = session.fork().await;
                drop(session);
                let storage = storage.restarted();
                let what = format!("{when:?} at {n}: {result:?}");
                assert_eq!(content(&storage, &key()), before, "{what}");
                if let Some(copy) = content(&storage, &copy_key()) {
                    assert_eq!(copy, format!("{COPY}\n{A}\n{B}\n"), "{what}");
                    assert!(names(&storage).iter().any(|n| n.ends_with("session-1/0.bash.log")));
                }
            });
        }
    }
}

#[test]
fn what_follows_the_header_is_not_read_from_memory_but_copied() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n{B}\n"));
        let mut session = open(&storage, options("")).await;
        // No fork reads the file anew; so what it holds now can only be there by a copy of it.
        let changed = format!("{HEADER}\n{}\n{B}\n", A.replace("one", "ONE"));
        storage.faults().overwrite(&key(), Some(changed.into())).unwrap();
        session.fork().await.unwrap().unwrap();
        let copy = content(&storage, &copy_key()).unwrap();
        assert_eq!(copy, format!("{COPY}\n{}\n{B}\n", A.replace("one", "ONE")));
        session.close().await.unwrap();

        // Where the file is not what memory holds, memory is written.
        let other = MemoryStorage::new();
        put(&other, &format!("{HEADER}\n{A}\n{B}\n"));
        let mut session = open(&other, options("")).await;
        other.faults().overwrite(&key(), Some(format!("{HEADER}\n").into())).unwrap();
        session.fork().await.unwrap().unwrap();
        assert_eq!(content(&other, &copy_key()).unwrap(), format!("{COPY}\n{A}\n{B}\n"));
        session.close().await.unwrap();
    });
}

/// Copies the session without opening it.
async fn copied(storage: &MemoryStorage) -> Result<CopiedSession, SessionError> {
    copy_session(&shared(storage), ForkFrom::new(key(), "/other"), options("")).await
}

#[test]
fn a_closed_session_is_copied_by_its_header_alone() {
    block_on(async {
        let other_key = "sessions/--other--/2026-01-01T00-00-00-000Z_session-1.jsonl";
        let header = COPY.replace("\"/w\"", "\"/other\"");
        let long = HEADER.replace("}", &format!(",\"pad\":\"{}\"}}", "p".repeat(9000)));
        let slot = r#"{"type":"title","v":1,"title":"T","updatedAt":"u","pad":""#;
        let slot = format!("{slot}{}\"}}", " ".repeat(256 - slot.len() - 3));
        for (first, new) in [
            (HEADER.to_owned(), header.clone()),
            (format!("\n{HEADER}"), header.clone()),
            (format!("\u{feff}{HEADER}"), header.clone()),
            (format!("{slot}\n{HEADER}"), format!("{slot}\n{header}")),
            (
                long.clone(),
                header.replace(
                    "\"cwd\":\"/other\"",
                    &format!("\"cwd\":\"/other\",\"pad\":\"{}\"", "p".repeat(9000)),
                ),
            ),
        ] {
            let storage = MemoryStorage::new();
            let rest = format!("{A}\nno json at all\n");
            put(&storage, &format!("{first}\n{rest}"));
            let log = StorageKey::new("sessions/--w--/s/0.bash.log").unwrap();
            storage.put(&log, "log".into(), Default::default()).await.unwrap();
            storage.faults().record();
            let copy = copied(&storage).await.unwrap();
            assert_eq!((copy.key.as_str(), copy.header.id().as_str()), (other_key, "session-1"));
            assert_eq!(copy.header.parent_session().as_deref(), Some("s"));
            assert_eq!(copy.diagnostics, []);
            let reads = storage.faults().operations().into_iter();
            let reads = reads.filter(|call| call.operation == Operation::Read).count();
            assert_eq!(reads, 1, "the part that is copied");
            let text = content(&storage, &copy.key).unwrap();
            assert_eq!(text, format!("{new}\n{rest}"));
            let artifact = StorageKey::new(other_key.replace(".jsonl", "/0.bash.log")).unwrap();
            assert_eq!(content(&storage, &artifact).as_deref(), Some("log"));
            assert_eq!(content(&storage, &key()).unwrap(), format!("{first}\n{rest}"));
        }
    });
}

#[test]
fn what_is_not_wholly_as_usual_is_copied_by_opening_it() {
    block_on(async {
        for (file, want) in [
            (format!("{HEADER}\n{A}\n{{\"torn"), vec![A]),
            (format!("{HEADER}\n{A}"), vec![A]),
            (HEADER.to_owned(), vec![]),
        ] {
            let storage = MemoryStorage::new();
            put(&storage, &file);
            let copy = copied(&storage).await.unwrap();
            let text = content(&storage, &copy.key).unwrap();
            assert_eq!(text.lines().skip(1).collect::<Vec<_>>(), want, "{file}");
        }
        let storage = MemoryStorage::new();
        let missing = copied(&storage).await;
        assert!(matches!(missing, Err(SessionError::NotFound { .. })), "{missing:?}");
        put(&storage, "garbage\n");
        let garbage = copied(&storage).await;
        assert!(matches!(garbage, Err(SessionError::NotASession { .. })), "{garbage:?}");
        put(&storage, "{\"type\":\"session\",\"version\":9,\"id\":\"s\"}\n");
        let newer = copied(&storage).await;
        assert!(matches!(newer, Err(SessionError::ReadOnly { .. })), "{newer:?}");
        assert_eq!(names(&storage), [KEY]);
    });
}

#[test]
fn a_fault_or_crash_in_any_call_makes_a_whole_copy_or_none() {
    let source = format!("{HEADER}\n{A}\n{B}\n");
    let log = StorageKey::new("sessions/--w--/s/0.bash.log").unwrap();
    for (crash, opened, when) in [
        (false, false, When::Before),
        (false, false, When::After),
        (false, true, When::Before),
        (false, true, When::After),
        (true, false, When::Before),
        (true, false, When::After),
        (true, true, When::Before),
        (true, true, When::After),
    ] {
        for n in 0.. {
            let fired = block_on(async {
                let storage = MemoryStorage::new();
                put(&storage, &source);
                storage.put(&log, "log".into(), Default::default()).await.unwrap();
                let faults = storage.faults();
                match crash {
                    true => faults.crash_at(n, when),
                    false => faults.fail_at(n, when, StorageErrorKind::Full),
                }
                let fork = ForkFrom::new(key(), "/w");
                let result = match opened {
                    true => SessionManager::fork_from(shared(&storage), fork, options(""))
                        .await
                        .map(|session| session.diagnostics().len()),
                    false => copy_session(&shared(&storage), fork, options(""))
                        .await
                        .map(|copy| copy.diagnostics.len()),
                };
                let fired = faults.fired();
                let what = format!("crash {crash}, opened {opened}, {when:?} at {n}: {result:?}");
                faults.clear();
                let storage = if crash { storage.restarted() } else { storage.clone() };
                assert_eq!(content(&storage, &key()).as_ref(), Some(&source), "{what}");
                let copy = content(&storage, &copy_key());
                let whole = format!("{COPY}\n{A}\n{B}\n");
                assert!(copy.as_ref().is_none_or(|copy| *copy == whole), "{what}: {copy:?}");
                let copied_log =
                    names(&storage).iter().any(|n| n.ends_with("session-1/0.bash.log"));
                match &result {
                    Ok(told) => assert!(copy.is_some() && (copied_log || *told > 0), "{what}"),
                    // Only a crash leaves what nothing refers to yet, and only a lost answer a copy.
                    Err(_) if !crash => assert!(copy.is_none() || when == When::After, "{what}"),
                    Err(_) => {}
                }
                fired
            });
            if !fired {
                break;
            }
        }
    }
}

#[test]
fn copies_of_one_template_keep_their_sessions_apart() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        for (cwd, prefix) in [("/w/clone-a", "a"), ("/w/clone-b", "b")] {
            let fork = ForkFrom::new(key(), cwd);
            let copy = SessionManager::fork_from(shared(&storage), fork, options(prefix)).await;
            copy.unwrap().close().await.unwrap();
        }
        let options = ListingOptions::default().cwd(CwdFilter::local("/w/clone-a"));
        let all = Scope::All(StorageKey::new("sessions").unwrap());
        let rows = list_sessions(&storage, &all, options).await.unwrap();
        let keys: Vec<_> = rows.iter().map(|row| row.key.as_str()).collect();
        assert_eq!(keys, ["sessions/--w-clone-a--/2026-01-01T00-00-00-000Z_session-1.jsonl"]);
    });
}

#[test]
fn opening_again_goes_on_in_the_same_file() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        for text in ["1", "2", "3"] {
            let mut session = open(&storage, options(text)).await;
            session.append_message(user(text)).await.unwrap();
            session.close().await.unwrap();
        }
        assert_eq!(names(&storage), [KEY]);
        assert_eq!(content(&storage, &key()).unwrap().lines().count(), 5);
    });
}
