//! The session manager over the memory backend: what is written, and when.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod support;

use session_context::{NameSource, NewSession, SessionError, SessionManager};
use session_model::DiagnosticCode as Code;
use session_model::json::RawJson;
use session_model::storage::{ListOptions, SessionStorageExt, StorageErrorKind};
use session_store_memory::{MemoryStorage, Operation};
use support::store::{A, HEADER, KEY, all, answer, codes, content, ids, key, open, put, user};
use support::{block_on, options, shared};

#[test]
fn nothing_is_written_before_the_first_answer() {
    block_on(async {
        let storage = MemoryStorage::new();
        let new = NewSession::in_cwd("/w/app");
        let mut session = SessionManager::create(shared(&storage), new, options("")).await.unwrap();
        session.append_message(user("q")).await.unwrap();
        session.flush().await.unwrap();
        assert_eq!(storage.list_all(None, ListOptions::default()).await.0, []);
        assert!(!session.is_on_disk());
        session.append_message(answer("r")).await.unwrap();
        session.append_thinking_level_change(None).await.unwrap();
        let key = session.key().clone();
        assert_eq!(key.as_str(), "sessions/--w-app--/2026-01-01T00-00-00-000Z_session-1.jsonl");
        session.close().await.unwrap();
        let (_, file) = storage.read_all(&key).await.unwrap();
        let want = [
            r#"{"type":"session","version":3,"id":"session-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w/app"}"#,
            r#"{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"q","timestamp":1}}"#,
            r#"{"type":"message","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:02.000Z","message":{"role":"assistant","content":[{"type":"text","text":"r"}],"provider":"p","model":"m","usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"stop","timestamp":2}}"#,
            r#"{"type":"thinking_level_change","id":"00000003","parentId":"00000002","timestamp":"2026-01-01T00:00:03.000Z","thinkingLevel":null}"#,
            "",
        ];
        let file = String::from_utf8(file.to_vec()).unwrap();
        assert_eq!(file.split('\n').collect::<Vec<_>>(), want);
    });
}

#[test]
fn a_host_can_have_the_file_at_once() {
    block_on(async {
        let storage = MemoryStorage::new();
        let new =
            NewSession::in_cwd("/w").id("x").parent_session("p").provider_prompt_cache_key("k");
        let mut late = SessionManager::create(shared(&storage), new, options("")).await.unwrap();
        late.append_message(user("q")).await.unwrap();
        late.ensure_on_disk().await.unwrap();
        late.append_message(user("again")).await.unwrap();
        let (_, file) = storage.read_all(late.key()).await.unwrap();
        assert_eq!(file, late.document().to_payload().to_bytes());
        assert_eq!(late.header().parent_session().as_deref(), Some("p"));
        assert_eq!(late.header().provider_prompt_cache_key().as_deref(), Some("k"));
        let new = NewSession::in_cwd("/w").id("y");
        let eager = options("").eager();
        let mut eager = SessionManager::create(shared(&storage), new, eager).await.unwrap();
        assert!(eager.is_on_disk());
        eager.append_message(user("q")).await.unwrap();
        let (_, file) = storage.read_all(eager.key()).await.unwrap();
        assert_eq!(file, eager.document().to_payload().to_bytes());
    });
}

#[test]
fn what_could_not_be_read_back_is_refused() {
    block_on(async {
        let mut small = options("");
        small.load.max_line_bytes = 200;
        let mut s = SessionManager::in_memory("/w", small).unwrap();
        let q = s.append_message(user("q")).await.unwrap();
        let refused = s.append_message(user(&"x".repeat(200))).await.unwrap_err();
        assert!(refused.to_string().contains("only 200 can be read back"), "{refused}");
        let header = session_model::body::EntryBody::from_json(
            &RawJson::parse(r#"{"type":"session","id":"x"}"#).unwrap(),
        );
        assert!(matches!(s.append(header).await, Err(SessionError::InvalidEntry { .. })));
        assert!(matches!(s.append_archive(&q, true).await, Err(SessionError::InvalidEntry { .. })));
        assert!(matches!(
            s.append_archive("no", true).await,
            Err(SessionError::UnknownEntry { .. })
        ));
        assert_eq!(s.entries().len(), 1);
        s.reset_leaf();
        s.append_archive(&q, true).await.unwrap();
        assert!(s.tree().is_archived(&q));
    });
}

#[test]
fn a_new_session_takes_the_place_of_the_old_one() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        session.append_message(user("last")).await.unwrap();
        let old = content(&storage, &key());
        let refused = session.new_session(NewSession::in_cwd("/w").id("../x")).await;
        assert!(matches!(refused, Err(SessionError::InvalidName(_))));
        assert_eq!(session.session_id(), "s");
        session.new_session(NewSession::in_cwd("/v").parent_session("s")).await.unwrap();
        assert_eq!((session.entries().len(), session.leaf_id()), (0, None));
        assert_eq!(session.header().parent_session().as_deref(), Some("s"));
        session.append_message(answer("first")).await.unwrap();
        assert!(session.key().as_str().starts_with("sessions/--v--/"), "{}", session.key());
        assert_eq!(content(&storage, &key()), old);
        open(&storage, options("9")).await.close().await.unwrap();
    });
}

#[test]
fn branches_labels_and_summaries_hang_where_they_should() {
    block_on(async {
        let mut s = SessionManager::in_memory("/w", options("")).unwrap();
        let q = s.append_message(user("q")).await.unwrap();
        let a = s.append_message(answer("a")).await.unwrap();
        let label = s.append_label_change(&q, Some("start")).await.unwrap();
        s.branch(&q).unwrap();
        let b = s.append_message(answer("b")).await.unwrap();
        assert_eq!(s.branch_ids(), [q.as_str(), b.as_str()]);
        let sum = s.branch_with_summary(Some(&a), "left b", None, Some(true)).await.unwrap();
        assert_eq!(s.branch_ids(), [q.as_str(), a.as_str(), sum.as_str()]);
        let want = format!(
            r#"{{"type":"branch_summary","id":"{sum}","parentId":"{a}","timestamp":"2026-01-01T00:00:05.000Z","fromId":"{a}","summary":"left b","fromExtension":true}}"#
        );
        assert_eq!(s.entry(&sum).unwrap().json().as_str(), want);
        let root = s.branch_durably(None).await.unwrap();
        assert_eq!(s.entry(&root).unwrap().fields().text("fromId").unwrap(), "root");
        s.reset_leaf();
        assert_eq!((s.leaf_id(), s.branch_ids()), (None, vec![]));
        let second = s.append_message(user("new root")).await.unwrap();
        assert_eq!(s.branch_ids(), [second.as_str()]);
        assert_eq!(s.label(&q), Some("start"));
        s.append_label_change(&q, Some("")).await.unwrap();
        assert_eq!(s.label(&q), None);
        let children: Vec<_> =
            s.children(&q).unwrap().iter().map(|e| e.id().unwrap().into_owned()).collect();
        assert_eq!(children, [a.as_str(), b.as_str()]);
        assert_eq!(s.children(&a).unwrap()[0].id().unwrap(), label);
        let before = (s.leaf_id(), s.entries().len());
        for unknown in [
            s.branch("nope"),
            s.branch_with_summary(Some("nope"), "x", None, None).await.map(drop),
            s.append_label_change("nope", Some("x")).await.map(drop),
        ] {
            assert_eq!(
                unknown.unwrap_err().to_string(),
                "entry nope not found; list the entries to see which there are"
            );
        }
        assert_eq!((s.leaf_id(), s.entries().len()), before);
    });
}

#[test]
fn json_is_appended_with_every_spelling_kept() {
    block_on(async {
        let mut s = SessionManager::in_memory("/w", options("")).unwrap();
        let raw = |text: &str| RawJson::parse(text.to_owned()).unwrap();
        s.append_message_json(&raw("{ \"role\": \"odd\", \"n\": 1.0,\n\"x\":\"\\ud800\" }"))
            .await
            .unwrap();
        s.append_entry_json(&raw(r#"{"id":"mine","n":1e2,"type":"my_type","parentId":"x"}"#))
            .await
            .unwrap();
        s.append_entry_json(&raw(r#"{"type":"custom","customType":"c","data":1}"#)).await.unwrap();
        let lines: Vec<_> = s.entries().iter().map(|e| e.json().to_string()).collect();
        let want = [
            r#"{"type":"message","id":"00000001","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"odd","n":1.0,"x":"\ud800"}}"#,
            r#"{"type":"my_type","id":"00000002","parentId":"00000001","timestamp":"2026-01-01T00:00:02.000Z","n":1e2}"#,
            r#"{"type":"custom","customType":"c","data":1,"id":"00000003","parentId":"00000002","timestamp":"2026-01-01T00:00:03.000Z"}"#,
        ];
        assert_eq!(lines, want);
        for refused in [
            "[]",
            "{}",
            r#"{"type":7}"#,
            r#"{"type":"session","id":"s"}"#,
            r#"{"type":"message"}"#,
            r#"{"type":"message","message":{"role":1}}"#,
        ] {
            let error = s.append_entry_json(&raw(refused)).await.unwrap_err();
            assert!(matches!(error, SessionError::InvalidEntry { .. }), "{refused}: {error}");
        }
        assert!(s.append_entry_json(&raw(r#"{"type":"label","targetId":"nope"}"#)).await.is_err());
        assert_eq!(s.entries().len(), 3);
    });
}

#[test]
fn names_follow_who_gave_them() {
    block_on(async {
        let storage = MemoryStorage::new();
        let new = NewSession::in_cwd("/w");
        let mut s = SessionManager::create(shared(&storage), new, options("")).await.unwrap();
        assert!(s.set_session_name(" first\u{7}  guess ", NameSource::Auto).await.unwrap());
        assert!(s.set_session_name("better", NameSource::Auto).await.unwrap());
        s.append_message(answer("a")).await.unwrap();
        assert!(s.set_session_name("mine", NameSource::User).await.unwrap());
        assert!(!s.set_session_name("guess", NameSource::Auto).await.unwrap());
        assert!(!s.set_session_name(" \n", NameSource::User).await.unwrap());
        assert_eq!(s.session_name().as_deref(), Some("mine"));
        let last = s.entries().last().unwrap().json().to_string();
        let want = r#"{"type":"title_change","id":"00000004","parentId":"00000003","timestamp":"2026-01-01T00:00:04.000Z","title":"mine","previousTitle":"better","source":"user"}"#;
        assert_eq!(last, want);
        let (_, file) = storage.read_all(s.key()).await.unwrap();
        assert_eq!(file, s.document().to_payload().to_bytes());
        assert!(file.starts_with(br#"{"type":"session","version":3,"id":"session-1","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w","title":"mine","titleSource":"user"}"#));
    });
}

#[test]
fn opening_repairs_under_the_claim_and_says_what_it_did() {
    let storage = MemoryStorage::new();
    let torn = r#"{"type":"message","id":"c","#;
    put(&storage, &format!("{HEADER}\n{A}\nbad\n{torn}"));
    let mut session = block_on(open(&storage, options("")));
    assert_eq!(codes(&session), [Code::DamagedLine, Code::TornTail, Code::TailMovedAside]);
    block_on(session.append_message(user("next"))).unwrap();
    let next = r#"{"type":"message","id":"00000001","parentId":"a","timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"next","timestamp":1}}"#;
    let aside = format!("{KEY}.torn-2026-01-01T00-00-00-000Z");
    assert_eq!(
        all(&storage),
        [(KEY.to_owned(), format!("{HEADER}\n{A}\nbad\n{next}\n")), (aside, torn.to_owned())]
    );
    block_on(session.close()).unwrap();
}

#[test]
fn a_last_record_without_line_end_is_kept_and_the_next_starts_a_line() {
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}"));
    let mut session = block_on(open(&storage, options("")));
    assert_eq!(content(&storage, &key()).unwrap(), format!("{HEADER}\n{A}"));
    block_on(session.append_thinking_level_change(Some("low"))).unwrap();
    let file = content(&storage, &key()).unwrap();
    assert!(file.starts_with(&format!("{HEADER}\n{A}\n{{\"type\":\"thinking")), "{file}");
    assert_eq!(
        file,
        String::from_utf8(session.document().to_payload().to_bytes().to_vec()).unwrap()
    );
}

#[test]
fn an_old_format_is_rewritten_at_once_and_only_once() {
    let storage = MemoryStorage::new();
    let old = concat!(r#"{"type":"session","id":"s"}"#, "\n", r#"{"type":"custom","n":1.0}"#, "\n");
    put(&storage, old);
    let session = block_on(open(&storage, options("")));
    let new = concat!(
        r#"{"type":"session","id":"s","version":3}"#,
        "\n",
        r#"{"type":"custom","n":1.0,"id":"00000001","parentId":null}"#,
        "\n"
    );
    assert_eq!(
        (codes(&session), content(&storage, &key()).as_deref()),
        (vec![Code::Migrated], Some(new))
    );
    block_on(session.close()).unwrap();
    storage.faults().record();
    let session = block_on(open(&storage, options("")));
    block_on(session.close()).unwrap();
    let changing = [Operation::Put, Operation::Replace, Operation::Append, Operation::Truncate];
    let calls = storage.faults().operations();
    assert!(calls.iter().all(|call| !changing.contains(&call.operation)), "{calls:?}");
}

#[test]
fn what_is_no_session_is_moved_aside_and_never_overwritten() {
    for damaged in [
        "{\"type\":\"sess",
        "\0\u{1}binary",
        "[1]\n",
        &format!("{A}\n{HEADER}\n"),
        r#"{"type":"session","id":7}"#,
    ] {
        let storage = MemoryStorage::new();
        put(&storage, damaged);
        let mut session = block_on(open(&storage, options("")));
        assert_eq!(codes(&session), [Code::FileMovedAside]);
        block_on(session.append_message(answer("a"))).unwrap();
        let aside = format!("{KEY}.damaged-2026-01-01T00-00-00-000Z");
        let want = String::from_utf8(session.document().to_payload().to_bytes().to_vec()).unwrap();
        assert_eq!(all(&storage), [(KEY.to_owned(), want), (aside, damaged.to_owned())]);
    }
}

#[test]
fn nothing_at_a_key_is_a_new_session_at_that_key() {
    for before in [None, Some(""), Some(" \n\n")] {
        let storage = MemoryStorage::new();
        before.inspect(|text| put(&storage, text));
        let mut session = block_on(open(&storage, options("")));
        assert_eq!((codes(&session), session.cwd().as_deref()), (vec![], Some("/w")));
        let file = |session: &SessionManager| session.document().to_payload().to_bytes();
        assert_eq!(content(&storage, &key()).unwrap().as_bytes(), file(&session));
        block_on(session.append_message(answer("a"))).unwrap();
        let want = String::from_utf8(session.document().to_payload().to_bytes().to_vec()).unwrap();
        assert_eq!(all(&storage), [(KEY.to_owned(), want)]);
    }
}

#[test]
fn a_newer_format_is_read_and_never_written() {
    block_on(async {
        let storage = MemoryStorage::new();
        let file = format!("{}\n{A}\n", HEADER.replace("\"version\":3", "\"version\":99"));
        put(&storage, &file);
        let mut session = open(&storage, options("")).await;
        assert_eq!(ids(&session), ["a"]);
        let refused = [
            session.append_message(user("x")).await.unwrap_err(),
            session.set_session_name("x", NameSource::User).await.unwrap_err(),
            session.branch_with_summary(Some("a"), "x", None, None).await.unwrap_err(),
            session.rewrite_entries(|e| Some(e.clone())).await.unwrap_err(),
        ];
        for error in refused {
            let want = "sessions/--w--/s.jsonl is open read-only: its format version 99 is newer than this program's 3; update the program to write it";
            assert_eq!(error.to_string(), want);
        }
        assert_eq!(ids(&session), ["a"]);
        session.close().await.unwrap();
        assert_eq!(content(&storage, &key()), Some(file));
    });
}

#[test]
fn opening_for_reading_only_reads() {
    let torn = format!("{HEADER}\n{A}\n{{\"torn");
    for (file, error) in [
        (r#"{"type":"session","id":"s"}"#.to_owned() + "\n" + r#"{"type":"custom"}"#, None),
        (torn, None),
        (
            "junk\n".to_owned(),
            Some("sessions/--w--/s.jsonl cannot be opened as a session; it was left as it is"),
        ),
        (
            String::new(),
            Some("sessions/--w--/s.jsonl cannot be opened as a session; it was left as it is"),
        ),
    ] {
        let storage = MemoryStorage::new();
        put(&storage, &file);
        storage.faults().record();
        let opened = block_on(SessionManager::open_read_only(shared(&storage), key(), options("")));
        assert_eq!(opened.as_ref().err().map(ToString::to_string).as_deref(), error);
        let calls = storage.faults().operations();
        assert!(calls.iter().all(|call| call.operation == Operation::Read), "{calls:?}");
        assert_eq!(all(&storage), [(KEY.to_owned(), file)]);
        if let Ok(mut session) = opened {
            let refused = block_on(session.append_message(user("x"))).unwrap_err();
            assert!(matches!(refused, SessionError::ReadOnly { .. }));
        }
    }
    let missing =
        block_on(SessionManager::open_read_only(shared(&MemoryStorage::new()), key(), options("")));
    assert!(matches!(missing.unwrap_err(), SessionError::NotFound { .. }));
}

#[test]
fn a_second_writer_is_told_who_the_first_is() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n"));
        let first = open(&storage, options("one")).await;
        let second = SessionManager::open(shared(&storage), key(), "/w", options("two")).await;
        let SessionError::Storage(busy) = second.unwrap_err() else { panic!("not busy") };
        assert_eq!(busy.kind(), StorageErrorKind::Busy);
        assert!(busy.to_string().contains("test one"), "{busy}");
        let reader = SessionManager::open_read_only(shared(&storage), key(), options("")).await;
        assert_eq!(reader.unwrap().session_id(), "s");
        drop(first);
        open(&storage, options("two")).await.close().await.unwrap();
    });
}

#[test]
fn a_restored_state_forgets_in_memory_only() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        let state = session.capture_state();
        session.append_message(user("rolled back")).await.unwrap();
        session.restore_state(state);
        session.append_message(user("after")).await.unwrap();
        assert_eq!(ids(&session), ["a", "00000002"]);
        session.close().await.unwrap();
        assert_eq!(ids(&open(&storage, options("9")).await), ["a", "00000001", "00000002"]);
    });
}

#[test]
fn usage_is_summed_over_all_branches() {
    block_on(async {
        let mut s = SessionManager::in_memory("/w", options("")).unwrap();
        let raw = |text: &str| RawJson::parse(text.to_owned()).unwrap();
        let q = s.append_message(user("q")).await.unwrap();
        let one = raw(
            r#"{"role":"assistant","content":[],"usage":{"input":100,"output":20,"cost":{"total":0.003},"premiumRequests":0.33}}"#,
        );
        s.append_message_json(&one).await.unwrap();
        assert_eq!(s.usage_statistics().input, 100);
        s.branch(&q).unwrap();
        s.append_message_json(&one).await.unwrap();
        s.append_message_json(&raw(r#"{"role":"assistant","content":[]}"#)).await.unwrap();
        s.append_message_json(&raw(r#"{"role":"toolResult","toolName":"task","details":{"usage":{"input":5,"cost":{"total":0.003}}}}"#)).await.unwrap();
        s.append_message_json(&raw(
            r#"{"role":"toolResult","toolName":"bash","details":{"usage":{"input":5}}}"#,
        ))
        .await
        .unwrap();
        s.append_entry_json(&raw(r#"{"type":"model_usage","usage":{"input":1,"output":1}}"#))
            .await
            .unwrap();
        let totals = s.usage_statistics();
        assert_eq!(
            (totals.input, totals.output, totals.cost, totals.premium_requests),
            (206, 41, 0.009_000_000_000_000_001, 0.66)
        );
    });
}

#[test]
fn memory_keeps_the_whole_of_what_the_file_holds_cut() {
    block_on(async {
        let storage = MemoryStorage::new();
        put(&storage, &format!("{HEADER}\n{A}\n"));
        let mut session = open(&storage, options("")).await;
        let long = "x".repeat(600_000);
        let id = session.append_message(user(&long)).await.unwrap();
        let text = |session: &SessionManager| {
            let message = session.entry(&id).unwrap().message().unwrap();
            message.as_object().unwrap().text("content").unwrap().into_owned()
        };
        assert_eq!(text(&session), long);
        session.set_session_name("n", NameSource::User).await.unwrap();
        assert_eq!(text(&session), long);
        session.close().await.unwrap();
        let cut = "x".repeat(500_000 - session_model::persisted::NOTICE.len());
        let again = open(&storage, options("9")).await;
        assert_eq!(text(&again), cut + session_model::persisted::NOTICE);
    });
}
