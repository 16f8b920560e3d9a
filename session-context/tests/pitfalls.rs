//! Inputs that broke other tools, and what is right for each.
#![cfg(feature = "memory")]
#![allow(clippy::unwrap_used, reason = "tests")]

mod support;

use session_context::{ContextOptions, LeafChoice, SessionManager};
use session_model::DiagnosticCode as Code;
use session_model::storage::SessionStorage;
use session_store_memory::MemoryStorage;
use support::store::{codes, content, ids, key, user};
use support::{block_on, options, shared};

const HEADER: &str = r#"{"type":"session","version":3,"id":"s-0001","timestamp":"2026-03-01T09:00:00Z","cwd":"/w/app"}"#;

fn entry(id: &str, parent: &str, rest: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T09:00:01Z","message":{{{rest}}}}}"#
    )
}

fn said(id: &str, parent: &str, text: &str) -> String {
    entry(id, parent, &format!(r#""role":"user","content":"{text}""#))
}

/// Opens a file for writing; the store keeps it.
fn opened(file: &[u8]) -> (MemoryStorage, SessionManager) {
    let storage = MemoryStorage::new();
    block_on(storage.put(&key(), file.to_vec().into(), Default::default())).unwrap();
    let session = block_on(SessionManager::open(shared(&storage), key(), "/w/app", options("")));
    (storage, session.unwrap())
}

fn lines(lines: &[String]) -> Vec<u8> {
    let mut file = HEADER.to_owned() + "\n";
    lines.iter().for_each(|line| file.extend([line.as_str(), "\n"]));
    file.into_bytes()
}

/// Roles and texts of what a model is sent.
fn sent(session: &SessionManager) -> Vec<String> {
    let context = session.build_session_context();
    context.messages.iter().map(|m| format!("{} {}", m.role(), m.json())).collect()
}

#[test]
fn two_writers_in_turn_load_as_two_branches_and_are_reported() {
    let (_, session) = opened(&lines(&[
        said("a1", "", "seed"),
        said("a2", "a1", "SEED"),
        said("a3", "a2", "from window one"),
        said("b3", "a2", "from window two"),
        said("a4", "a3", "ONE"),
        said("b4", "b3", "TWO"),
    ]));
    assert_eq!(codes(&session), [Code::InterleavedBranches]);
    assert_eq!(session.branch_ids(), ["a1", "a2", "b3", "b4"]);
    let tip = session.tree().path_to(session.tree().find("a4").unwrap());
    assert_eq!(tip.len(), 4);
}

#[test]
fn a_torn_last_line_costs_itself_only_and_is_kept() {
    let torn = r#"{"type":"message","id":"a2","parentId":"a1","timestamp":"2026-03-0"#;
    let file = [lines(&[said("a1", "", "rename")]), torn.into()].concat();
    let (storage, mut session) = opened(&file);
    assert_eq!(codes(&session), [Code::TornTail, Code::TailMovedAside]);
    block_on(session.append_message(user("again"))).unwrap();
    let text = content(&storage, &key()).unwrap();
    assert_eq!(text.lines().count(), 3);
    let aside = key().with_file_name("s.jsonl.torn-2026-01-01T00-00-00-000Z").unwrap();
    assert_eq!(content(&storage, &aside).as_deref(), Some(torn));
}

#[test]
fn a_missing_parent_is_a_reported_gap_that_can_be_bridged() {
    let (_, session) = opened(&lines(&[
        said("a1", "", "first"),
        said("a2", "a1", "done"),
        said("a3", "ffff0000", "second"),
        said("a4", "a3", "also done"),
    ]));
    assert_eq!(codes(&session), [Code::UnknownParent]);
    assert_eq!(session.diagnostics()[0].entry.as_deref(), Some("a3"));
    let mut bridged = ContextOptions::plain();
    bridged.bridge_gaps = true;
    let whole = session.session_context(LeafChoice::Current, &bridged);
    let entries: Vec<_> = whole.messages.iter().map(|m| m.entry_id().unwrap()).collect();
    assert_eq!(entries, ["a1", "a2", "a3", "a4"]);
}

#[test]
fn a_lone_surrogate_stays_in_the_file_and_never_reaches_a_model() {
    let call = entry(
        "a1",
        "",
        r#""role":"assistant","content":[{"type":"toolCall","id":"c","name":"bash","arguments":{}}],"stopReason":"toolUse""#,
    );
    let result = entry(
        "a2",
        "a1",
        r#""role":"toolResult","toolCallId":"c","toolName":"bash","content":[{"type":"text","text":"ok \ud83d"}],"isError":false"#,
    );
    let file = lines(&[call, result]);
    let (storage, session) = opened(&file);
    assert_eq!((codes(&session), content(&storage, &key()).unwrap().into_bytes()), (vec![], file));
    assert!(sent(&session)[1].contains("ok \u{fffd}"), "{:?}", sent(&session));
}

#[test]
fn separators_that_are_no_lf_are_data() {
    let text = "note\u{2028}line\u{2029}and\u{85}end";
    let file = lines(&[said("a1", "", text)]);
    let (storage, session) = opened(&file);
    assert_eq!((codes(&session), ids(&session)), (vec![], vec!["a1".to_owned()]));
    assert_eq!(content(&storage, &key()).unwrap().into_bytes(), file);
    assert!(sent(&session)[0].contains(text));
}

#[test]
fn order_comes_from_the_parents_and_not_from_the_clock() {
    let at = |line: String, time: &str| line.replace("09:00:01", time);
    let (_, session) = opened(&lines(&[
        at(said("a1", "", "q1"), "09:10:00"),
        at(said("a2", "a1", "r1"), "09:01:00"),
        at(said("a3", "a2", "q2"), "09:09:00"),
        at(said("a4", "a3", "r2"), "never"),
    ]));
    assert_eq!(
        (codes(&session), session.branch_ids()),
        (vec![], ["a1", "a2", "a3", "a4"].map(String::from).to_vec())
    );
}

#[test]
fn a_result_without_its_call_is_not_sent() {
    let (_, session) = opened(&lines(&[
        said("a1", "", "go"),
        entry("a2", "a1", r#""role":"assistant","content":[{"type":"toolCall","id":"call_A","name":"edit","arguments":{}}],"stopReason":"toolUse""#),
        r#"{"type":"compaction","id":"a3","parentId":"a2","timestamp":"2026-03-01T09:00:03Z","summary":"Work so far","firstKeptEntryId":"a4","tokensBefore":90000}"#.into(),
        entry("a4", "a3", r#""role":"toolResult","toolCallId":"call_A","toolName":"edit","content":[{"type":"text","text":"ok"}],"isError":false"#),
        said("a5", "a4", "next"),
    ]));
    let roles: Vec<_> =
        sent(&session).iter().map(|m| m.split(' ').next().unwrap().to_owned()).collect();
    assert_eq!(roles, ["compactionSummary", "user"]);
}

#[test]
fn a_call_that_never_got_its_result_is_answered_as_interrupted() {
    let (storage, session) = opened(&lines(&[
        said("a1", "", "run the tests"),
        entry(
            "a2",
            "a1",
            r#""role":"assistant","content":[{"type":"toolCall","id":"call_C","name":"bash","arguments":{}}],"stopReason":"toolUse""#,
        ),
        said("a3", "a2", "hello?"),
    ]));
    let sent = sent(&session);
    let roles: Vec<_> = sent.iter().map(|m| m.split(' ').next().unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "toolResult", "user"]);
    assert!(
        sent[2].contains("\"toolCallId\":\"call_C\"") && sent[2].contains("nterrupted"),
        "{}",
        sent[2]
    );
    assert_eq!(content(&storage, &key()).unwrap().lines().count(), 4);
}

#[test]
fn saving_that_stops_is_said_at_once_and_made_good() {
    let (storage, mut session) = opened(&lines(&[said("a1", "", "one")]));
    block_on(session.append_message(user("saved"))).unwrap();
    storage.faults().overwrite(&key(), None).unwrap();
    block_on(session.append_message(user("also saved"))).unwrap();
    assert_eq!(codes(&session), [Code::FileRestored]);
    assert_eq!(content(&storage, &key()).unwrap().lines().count(), 4);
}

#[test]
fn a_record_fused_to_a_torn_one_is_recovered() {
    let torn = r#"{"type":"message","id":"a1","parentId":null,"message":{"role":"toolResult","toolCallId":"call_9"#;
    let (_, session) = opened(&lines(&[format!("{torn}{}", said("a2", "", "still here"))]));
    assert_eq!((codes(&session), ids(&session)), (vec![Code::FusedRecords], vec!["a2".to_owned()]));
}

#[test]
fn zero_bytes_hide_nothing() {
    let file = [
        lines(&[said("a1", "", "one")]),
        vec![0; 300],
        b"\n".to_vec(),
        said("a2", "a1", "two").into_bytes(),
        b"\n".to_vec(),
        vec![0; 1728],
    ]
    .concat();
    let (storage, session) = opened(&file);
    assert_eq!(ids(&session), ["a1", "a2"]);
    assert_eq!(codes(&session), [Code::NulRun, Code::TornTail, Code::TailMovedAside]);
    assert!(session.diagnostics()[0].detail.contains("300"), "{}", session.diagnostics()[0]);
    assert_eq!(content(&storage, &key()).unwrap().len(), file.len() - 1728);
}

#[test]
fn invalid_utf8_in_one_record_leaves_the_others_alone() {
    let cut = [
        &b"{\"type\":\"message\",\"id\":\"a1\",\"message\":{\"content\":\"cut \xe6\x87"[..],
        b"\n",
    ]
    .concat();
    let file = [lines(&[]), cut, said("a2", "", "fine").into_bytes(), b"\n".to_vec()].concat();
    let (_, session) = opened(&file);
    assert_eq!((codes(&session), ids(&session)), (vec![Code::DamagedLine], vec!["a2".to_owned()]));
}

#[test]
fn records_of_no_known_type_do_not_break_the_chain() {
    let (_, session) = opened(&lines(&[
        said("a1", "", "build"),
        r#"{"type":"progress","id":"b2","parentId":"a1","timestamp":"2026-03-01T09:00:02Z","content":"hook running"}"#.into(),
        said("a3", "b2", "built"),
        r#"{"type":"file-history-snapshot","messageId":"a3","snapshot":{"messageId":"a3"},"id":"f4","parentId":"a3"}"#.into(),
    ]));
    assert_eq!(codes(&session), []);
    assert_eq!(session.branch_ids(), ["a1", "b2", "a3", "f4"]);
    let entries: Vec<_> = session
        .build_session_context()
        .messages
        .iter()
        .map(|m| m.entry_id().unwrap().to_owned())
        .collect();
    assert_eq!(entries, ["a1", "a3"]);
    assert_eq!(session.entry("a3").unwrap().fields().text("type").unwrap(), "message");
}
