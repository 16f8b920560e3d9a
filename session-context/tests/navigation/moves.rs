//! Where each kind of target leads, and what is written.

use session_context::SessionManager;
use session_context::navigation::{
    AskAnswer, EditorPrefill, NavigateOptions, NavigateOutcome, Navigation, SummarySource,
};
use session_model::Entry;
use session_model::message::ImageBlock;
use session_model::storage::StorageErrorKind;
use session_store_memory::{MemoryStorage, Operation, When};

use crate::support::store::{HEADER, content, ids, key, open, put};
use crate::support::{block_on, options};

/// A conversation with one of each kind: `u1 a1 q1 u2 c1 k1 a2` in a row, and `x1` behind `a1`.
pub(crate) fn conversation() -> String {
    let entry = |kind: &str, id: &str, parent: &str, fields: &str| {
        let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
        format!(
            r#"{{"type":"{kind}","id":"{id}","parentId":{parent},"timestamp":"2026-01-01T00:00:01.000Z",{fields}}}"#
        )
    };
    let message =
        |id, parent, message: &str| entry("message", id, parent, &format!("\"message\":{message}"));
    let custom = |id, parent, fields: &str| entry("custom_message", id, parent, fields);
    let calls = r#"{"role":"assistant","provider":"p","model":"m","content":[{"type":"toolCall","id":"t1","name":"read","arguments":{"path":"b.rs"}},{"type":"toolCall","id":"t2","name":"read","arguments":{"path":"a.rs"}},{"type":"toolCall","id":"t3","name":"edit","arguments":{"path":"b.rs"}},{"type":"toolCall","id":"t4","name":"write","arguments":{"path":"c.rs"}},{"type":"toolCall","id":"t5","name":"bash","arguments":{"path":"d.rs"}}]}"#;
    [
        HEADER.to_owned(),
        message(
            "u1",
            "",
            r#"{"role":"user","content":[{"type":"text","text":"look "},{"type":"image","data":"AAAA","mimeType":"image/png"},{"type":"text","text":"here"}]}"#,
        ),
        message(
            "a1",
            "u1",
            r#"{"role":"assistant","provider":"p","model":"m","content":[{"type":"toolCall","id":"t0","name":"ask","arguments":{}}]}"#,
        ),
        message(
            "x1",
            "a1",
            r#"{"role":"toolResult","toolCallId":"t0","toolName":"other","content":"left","isError":false}"#,
        ),
        message(
            "q1",
            "a1",
            r#"{"role":"toolResult","toolCallId":"t0","toolName":"ask","content":"yes","isError":false}"#,
        ),
        message("u2", "q1", r#"{"role":"user","content":"go on"}"#),
        custom(
            "c1",
            "u2",
            r#""customType":"note","content":"a note","display":true"#,
        ),
        custom(
            "k1",
            "c1",
            r#""customType":"skill-prompt","content":"do it well","display":true"#,
        ),
        message("a2", "k1", calls),
        String::new(),
    ]
    .join("\n")
}

pub(crate) fn opened() -> (MemoryStorage, SessionManager) {
    let storage = MemoryStorage::new();
    put(&storage, &conversation());
    let session = block_on(open(&storage, options("")));
    (storage, session)
}

pub(crate) fn done(outcome: NavigateOutcome) -> Navigation {
    let NavigateOutcome::Done(done) = outcome else { panic!("{outcome:?}") };
    *done
}

pub(crate) fn names(entries: &[Entry]) -> Vec<String> {
    entries.iter().map(|entry| entry.id().unwrap().into_owned()).collect()
}

fn text(text: &str) -> Option<EditorPrefill> {
    Some(EditorPrefill { text: text.to_owned(), images: vec![] })
}

#[test]
fn each_kind_of_target_leads_where_the_table_says() {
    let look = Some(EditorPrefill {
        text: "look here".to_owned(),
        images: vec![ImageBlock {
            data: "AAAA".to_owned(),
            mime_type: "image/png".to_owned(),
            ..Default::default()
        }],
    });
    type Row<'a> = (&'a str, &'a str, Option<&'a str>, Option<EditorPrefill>, &'a [&'a str]);
    let table: [Row<'_>; 13] = [
        // The leaf itself.
        ("a2", "a2", Some("a2"), None, &[]),
        ("c1", "c1", Some("c1"), None, &[]),
        ("k1", "k1", Some("k1"), None, &[]),
        ("q1", "q1", Some("q1"), None, &[]),
        ("u2", "u2", Some("q1"), text("go on"), &[]),
        // What the user said.
        ("a2", "u2", Some("q1"), text("go on"), &["c1", "k1", "a2"]),
        ("a2", "u1", None, look.clone(), &["a1", "q1", "u2", "c1", "k1", "a2"]),
        ("u1", "u1", None, look, &[]),
        // Messages of extensions.
        ("a2", "c1", Some("u2"), text("a note"), &["k1", "a2"]),
        ("a2", "k1", Some("k1"), None, &["a2"]),
        // All else.
        ("a2", "q1", Some("q1"), None, &["u2", "c1", "k1", "a2"]),
        ("a2", "x1", Some("x1"), None, &["q1", "u2", "c1", "k1", "a2"]),
        ("u1", "a2", Some("a2"), None, &[]),
    ];
    for (leaf, target, new_leaf, editor, abandoned) in table {
        let (storage, mut session) = opened();
        session.branch(leaf).unwrap();
        let moved = session.navigate_tree(target, NavigateOptions::default());
        let moved = done(block_on(moved).unwrap());
        let what = format!("{leaf} to {target}");
        assert_eq!(session.leaf_id().as_deref(), new_leaf, "{what}");
        assert_eq!((moved.old_leaf.as_deref(), moved.new_leaf.as_deref()), (Some(leaf), new_leaf));
        assert_eq!(moved.editor, editor, "{what}");
        assert_eq!(names(&moved.abandoned), abandoned, "{what}");
        assert_eq!((moved.answer_entry, moved.summary_entry), (None, None), "{what}");
        assert_eq!(moved.context, session.build_session_context(), "{what}");
        assert_eq!(content(&storage, &key()).unwrap(), conversation(), "{what}");
    }
}

#[test]
fn from_above_all_entries_nothing_is_left() {
    let (_, mut session) = opened();
    session.reset_leaf();
    let moved = session.navigate_tree("q1", NavigateOptions::default());
    let moved = done(block_on(moved).unwrap());
    assert_eq!((moved.old_leaf, names(&moved.abandoned)), (None, vec![]));
    assert_eq!(session.leaf_id().as_deref(), Some("q1"));
}

#[test]
fn a_question_is_answered_anew_beside_the_old_answer() {
    for leaf in ["a2", "q1"] {
        let (storage, mut session) = opened();
        session.branch(leaf).unwrap();
        let answer = AskAnswer { content: "no".into(), details: None, timestamp: Some(5) };
        let options = NavigateOptions::default().answer(answer).durable();
        let moved = done(block_on(session.navigate_tree("q1", options)).unwrap());
        assert_eq!(moved.answer_entry.as_deref(), Some("00000001"));
        assert_eq!((moved.new_leaf.as_deref(), moved.editor), (Some("00000001"), None));
        let file = content(&storage, &key()).unwrap();
        let added = file.strip_prefix(&conversation()).unwrap();
        assert_eq!(
            added,
            "{\"type\":\"message\",\"id\":\"00000001\",\"parentId\":\"a1\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"t0\",\"toolName\":\"ask\",\"content\":\"no\",\"isError\":false,\"timestamp\":5}}\n"
        );
    }
}

#[test]
fn what_is_no_question_cannot_be_answered_anew() {
    let (storage, mut session) = opened();
    for target in ["x1", "u1", "a2", "c1"] {
        let options = NavigateOptions::default().answer(AskAnswer::default());
        let error = block_on(session.navigate_tree(target, options)).unwrap_err();
        assert_eq!(
            error.to_string(),
            format!("entry {target} is no answer to a question, so it cannot be answered anew")
        );
    }
    let error = block_on(session.navigate_tree("nope", NavigateOptions::default())).unwrap_err();
    assert_eq!(error.to_string(), "entry nope not found; list the entries to see which there are");
    assert_eq!(session.leaf_id().as_deref(), Some("a2"));
    assert_eq!(content(&storage, &key()).unwrap(), conversation());
}

#[test]
fn a_summary_names_the_files_of_what_is_left() {
    let (storage, mut session) = opened();
    let options = NavigateOptions::default().summary(SummarySource::Given("too slow".to_owned()));
    let moved = done(block_on(session.navigate_tree("u2", options)).unwrap());
    assert_eq!(moved.summary_entry.as_deref(), Some("00000001"));
    assert_eq!(moved.new_leaf.as_deref(), Some("00000001"));
    let file = content(&storage, &key()).unwrap();
    assert_eq!(
        file.strip_prefix(&conversation()).unwrap(),
        "{\"type\":\"branch_summary\",\"id\":\"00000001\",\"parentId\":\"q1\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"fromId\":\"q1\",\"summary\":\"too slow\",\"details\":{\"readFiles\":[\"a.rs\"],\"modifiedFiles\":[\"b.rs\",\"c.rs\"]}}\n"
    );
    assert_eq!(moved.context.messages.last().unwrap().role(), "branchSummary");
    // Leaving the branch with the summary hands its files on.
    let options = NavigateOptions::default().summary(SummarySource::Given("again".to_owned()));
    let moved = done(block_on(session.navigate_tree("x1", options)).unwrap());
    assert_eq!(names(&moved.abandoned), ["q1", "00000001"]);
    let last = session.leaf_entry().unwrap().json().field("details").unwrap();
    assert_eq!(last.as_str(), r#"{"readFiles":["a.rs"],"modifiedFiles":["b.rs","c.rs"]}"#);
}

#[test]
fn a_durable_move_is_there_after_opening_again() {
    let (storage, mut session) = opened();
    let options = NavigateOptions::default().durable();
    let moved = done(block_on(session.navigate_tree("u1", options)).unwrap());
    assert_eq!((moved.new_leaf, moved.context.messages), (Some("00000001".to_owned()), vec![]));
    block_on(session.close()).unwrap();
    let session = block_on(open(&storage, options_again()));
    assert_eq!(session.branch_ids(), ["00000001"]);
}

fn options_again() -> session_context::SessionOptions {
    options("9")
}

#[test]
fn what_cannot_be_saved_has_moved_in_memory_as_a_whole() {
    let (storage, mut session) = opened();
    storage.faults().fail_nth(Operation::Append, 0, When::Before, StorageErrorKind::Full);
    let options = NavigateOptions::default()
        .answer(AskAnswer { content: "no".into(), ..Default::default() })
        .summary(SummarySource::Given("left".to_owned()));
    let error = block_on(session.navigate_tree("q1", options)).unwrap_err();
    assert!(matches!(error, session_context::SessionError::NotSaved { .. }), "{error:?}");
    assert_eq!(session.branch_ids(), ["u1", "a1", "00000001", "00000002"]);
    block_on(session.save_again()).unwrap();
    block_on(session.close()).unwrap();
    let session = block_on(open(&storage, options_again()));
    assert_eq!(
        ids(&session),
        ["u1", "a1", "x1", "q1", "u2", "c1", "k1", "a2", "00000001", "00000002"]
    );
    assert_eq!(session.branch_ids(), ["u1", "a1", "00000001", "00000002"]);
}
