//! Checkpoints and going back to them.

use session_context::checkpoint::{
    CheckpointState, CompletedRewind, OpenCheckpoint, checkpoint_started_at, completed_rewind,
    is_successful_checkpoint,
};
use session_context::navigation::NavigateOptions;
use session_context::{SessionError, SessionManager};
use session_model::Entry;
use session_model::json::RawJson;
use session_model::storage::StorageErrorKind;
use session_store_memory::{MemoryStorage, Operation, When};

use crate::support::store::{A, HEADER, answer, ids, key, open, put, user};
use crate::support::{block_on, options, shared};

fn entry(json: &str) -> Entry {
    Entry::from_json(&RawJson::parse(json.to_owned()).unwrap()).unwrap()
}

fn result(fields: &str) -> Entry {
    entry(&format!(
        r#"{{"type":"message","id":"c","parentId":null,"timestamp":"T","message":{{"role":"toolResult","toolCallId":"t","content":"",{fields}}}}}"#
    ))
}

fn report(fields: &str) -> Entry {
    entry(&format!(
        r#"{{"type":"custom_message","id":"r","parentId":"c","timestamp":"T","display":false,{fields}}}"#
    ))
}

#[test]
fn results_of_the_tool_open_a_checkpoint() {
    let with_details =
        r#""toolName":"checkpoint","isError":false,"details":{"goal":"g","startedAt":"S"}"#;
    for (fields, started) in [
        (with_details, Some("S")),
        (r#""toolName":"checkpoint","details":{"startedAt":""}"#, Some("T")),
        (r#""toolName":"checkpoint""#, Some("T")),
        (r#""toolName":"checkpoint","isError":true,"details":{"startedAt":"S"}"#, None),
        (r#""toolName":"rewind","isError":false,"details":{"startedAt":"S"}"#, None),
    ] {
        let entry = result(fields);
        assert_eq!(is_successful_checkpoint(&entry), started.is_some(), "{fields}");
        assert_eq!(checkpoint_started_at(&entry).as_deref(), started, "{fields}");
    }
}

#[test]
fn reports_close_a_checkpoint() {
    let rewind = |report: &str| {
        Some(CompletedRewind {
            report: report.to_owned(),
            started_at: "S".to_owned(),
            rewound_at: "R".to_owned(),
        })
    };
    for (fields, expected) in [
        (
            r#""customType":"rewind-report","content":"x","details":{"startedAt":"S","rewoundAt":"R","report":" found "}"#,
            rewind("found"),
        ),
        (
            r#""customType":"rewind-report","content":"a\nReport:\nb\nReport:\n old ","details":{"startedAt":"S","rewoundAt":"R"}"#,
            rewind("old"),
        ),
        (
            r#""customType":"rewind-report","content":[{"type":"text","text":"in"},{"type":"text","text":"parts"}],"details":{"startedAt":"S","rewoundAt":"R"}"#,
            rewind("in\nparts"),
        ),
        (
            r#""customType":"rewind-report","content":"","details":{"startedAt":"S","rewoundAt":"R"}"#,
            None,
        ),
        (
            r#""customType":"rewind-report","content":"x","details":{"startedAt":"S","report":"y"}"#,
            None,
        ),
        (r#""customType":"rewind-report","content":"x""#, None),
        (
            r#""customType":"other","content":"x","details":{"startedAt":"S","rewoundAt":"R","report":"y"}"#,
            None,
        ),
    ] {
        assert_eq!(completed_rewind(&report(fields)), expected, "{fields}");
    }
}

fn opened() -> (MemoryStorage, SessionManager) {
    let storage = MemoryStorage::new();
    put(&storage, &format!("{HEADER}\n{A}\n"));
    let session = block_on(open(&storage, options("")));
    (storage, session)
}

fn open_state(session: &SessionManager) -> (Option<String>, Option<String>) {
    let CheckpointState { open, last_rewind, .. } = session.checkpoint_state();
    (open.map(|open| open.entry_id), last_rewind.map(|rewind| rewind.report))
}

#[test]
fn a_rewind_goes_back_and_keeps_the_report() {
    block_on(async {
        let (storage, mut session) = opened();
        let checkpoint = session.open_checkpoint("t1", "is it the clock?").await.unwrap();
        let opened = OpenCheckpoint {
            entry_id: checkpoint.clone(),
            goal: "is it the clock?".to_owned(),
            started_at: "2026-01-01T00:00:00.000Z".to_owned(),
        };
        assert_eq!(session.checkpoint_state().open, Some(opened.clone()));
        session.append_message(answer("trying")).await.unwrap();
        let rewound = session.rewind(" It is. ").await.unwrap();
        assert_eq!(rewound.checkpoint, opened);
        assert_eq!(
            session.branch_ids(),
            ["a", &checkpoint, &rewound.summary_entry, &rewound.report_entry]
        );
        assert_eq!(ids(&session), ["a", "00000001", "00000002", "00000003", "00000004"]);
        let line = |id: &str| session.entry(id).unwrap().json().to_string();
        assert_eq!(
            line("00000003"),
            r#"{"type":"branch_summary","id":"00000003","parentId":"00000001","timestamp":"2026-01-01T00:00:04.000Z","fromId":"00000001","summary":"It is."}"#
        );
        assert_eq!(
            line("00000004"),
            r#"{"type":"custom_message","customType":"rewind-report","content":"The session is back at its checkpoint. The summary above is all that is kept of what was done since.","display":false,"details":{"startedAt":"2026-01-01T00:00:00.000Z","rewoundAt":"2026-01-01T00:00:03.000Z","report":"It is."},"attribution":"agent","id":"00000004","parentId":"00000003","timestamp":"2026-01-01T00:00:05.000Z"}"#
        );
        assert_eq!(open_state(&session), (None, Some("It is.".to_owned())));
        assert_eq!(session.checkpoint_state().last_rewind, Some(rewound.rewind));
        assert!(matches!(session.rewind("again").await, Err(SessionError::NoOpenCheckpoint)));

        // The state is what the way to the leaf says: after moving, and after opening again.
        session.branch("00000002").unwrap();
        assert_eq!(open_state(&session), (Some(checkpoint.clone()), None));
        let moved = session.navigate_tree("a", NavigateOptions::default()).await.unwrap();
        assert_eq!(open_state(&session), (None, None));
        assert_eq!(crate::moves::done(moved).checkpoint, CheckpointState::default());
        let moved = session.navigate_tree("00000002", NavigateOptions::default()).await.unwrap();
        assert_eq!(crate::moves::done(moved).checkpoint.open.unwrap().entry_id, checkpoint);
        session.close().await.unwrap();
        let mut session = open(&storage, options("9")).await;
        assert_eq!(open_state(&session), (None, Some("It is.".to_owned())));
        let again = session.open_checkpoint("t2", "and now?").await.unwrap();
        assert_eq!(open_state(&session), (Some(again), None));
    });
}

#[test]
fn what_cannot_be_done_changes_nothing() {
    block_on(async {
        let (storage, mut session) = opened();
        assert!(matches!(session.rewind("x").await, Err(SessionError::NoOpenCheckpoint)));
        session.open_checkpoint("t1", "one").await.unwrap();
        let error = session.open_checkpoint("t2", "two").await.unwrap_err();
        assert_eq!(
            error.to_string(),
            "checkpoint 00000001 is open; rewind it before opening another"
        );
        assert!(matches!(session.rewind(" \n").await, Err(SessionError::EmptyReport)));
        assert_eq!(session.branch_ids(), ["a", "00000001"]);
        session.close().await.unwrap();
        let opened = SessionManager::open_read_only(shared(&storage), key(), options(""));
        let mut session = opened.await.unwrap();
        assert!(matches!(session.rewind("x").await, Err(SessionError::ReadOnly { .. })));
        assert_eq!(session.branch_ids(), ["a", "00000001"]);
    });
}

#[test]
fn a_rewind_that_cannot_be_saved_is_whole_in_memory() {
    block_on(async {
        for when in [When::Before, When::Partway(200), When::After] {
            let (storage, mut session) = opened();
            session.open_checkpoint("t1", "one").await.unwrap();
            session.append_message(user("trying")).await.unwrap();
            let full = StorageErrorKind::Full;
            storage.faults().fail_nth(Operation::Append, 0, when, full);
            let error = session.rewind("found").await.unwrap_err();
            assert!(matches!(error, SessionError::NotSaved { .. }), "{error:?}");
            assert_eq!(open_state(&session), (None, Some("found".to_owned())));
            session.save_again().await.unwrap();
            session.close().await.unwrap();
            let session = open(&storage, options("9")).await;
            assert_eq!(session.branch_ids(), ["a", "00000001", "00000003", "00000004"]);
        }
    });
}

#[test]
fn a_crash_leaves_a_rewind_whole_or_undone() {
    block_on(async {
        for (when, open_again) in
            [(When::Before, true), (When::Partway(300), true), (When::After, false)]
        {
            let (storage, mut session) = opened();
            let checkpoint = session.open_checkpoint("t1", "one").await.unwrap();
            storage.faults().crash_nth(Operation::Append, 0, when);
            session.rewind("found").await.unwrap_err();
            drop(session);
            let storage = storage.restarted();
            let session = open(&storage, options("9")).await;
            let state = open_state(&session);
            match open_again {
                true => assert_eq!(state, (Some(checkpoint), None), "{when:?}"),
                false => assert_eq!(state, (None, Some("found".to_owned())), "{when:?}"),
            }
        }
    });
}
