//! Summaries of files, whole and in parts.

use super::*;
use crate::DiagnosticCode;
use crate::TitleSlot;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;

/// 2026-01-01T00:00:00.000Z.
const START: i64 = 1_767_225_600_000;

fn entry(second: u32, body: &str) -> String {
    format!(
        r#"{{"type":{body},"id":"{second:08}","parentId":null,"timestamp":"2026-01-01T00:00:{second:02}.000Z"}}"#
    )
}

fn message(second: u32, role: &str, content: &str, rest: &str) -> String {
    let message = format!(r#"{{"role":"{role}","content":"{content}"{rest}}}"#);
    entry(second, &format!(r#""message","message":{message}"#))
}

fn user(second: u32, text: &str) -> String {
    message(second, "user", text, "")
}

fn assistant(second: u32, stop: &str) -> String {
    message(second, "assistant", "ok", &format!(r#","stopReason":"{stop}""#))
}

fn file(lines: &[&str]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

fn whole(lines: &[&str]) -> SessionSummary {
    SessionSummary::from_parts(&FileParts::whole(file(lines))).unwrap()
}

/// The first and last bytes of a file changed a day later.
fn parts(file: &str, head: usize, tail: usize) -> FileParts {
    let bytes = bytes::Bytes::copy_from_slice(file.as_bytes());
    let head = head.min(bytes.len());
    let tail = bytes.len().saturating_sub(tail).max(head);
    FileParts {
        head: bytes.slice(..head),
        tail: bytes.slice(tail..),
        size: bytes.len() as u64,
        modified_ms: Some(START + 86_400_000),
    }
}

fn partial(file: &str) -> SessionSummary {
    SessionSummary::from_parts(&parts(file, HEAD_BYTES as usize, TAIL_BYTES as usize)).unwrap()
}

fn title(text: &str, origin: TitleOrigin) -> Option<Title> {
    Some(Title { text: text.into(), origin })
}

fn activity(second: i64, origin: ActivityOrigin) -> Option<Activity> {
    Some(Activity { at_ms: START + second * 1000, origin })
}

fn codes(summary: &SessionSummary) -> Vec<DiagnosticCode> {
    summary.diagnostics.iter().map(|diagnostic| diagnostic.code).collect()
}

#[test]
fn a_whole_file_is_known_exactly() {
    let header = HEADER.replace("}", r#","title":"Titled","parentSession":"p"}"#);
    let text = file(&[&header, &user(1, "hello"), &assistant(2, "stop")]);
    let parts = FileParts { modified_ms: Some(5), ..FileParts::whole(text.clone()) };
    let want = SessionSummary {
        id: "s".into(),
        version: 3.0,
        cwd: Some("/w".into()),
        parent_session: Some("p".into()),
        title: title("Titled", TitleOrigin::Header),
        created_ms: Some(START),
        activity: activity(2, ActivityOrigin::Message),
        modified_ms: Some(5),
        size: text.len() as u64,
        message_count: 2,
        message_count_is_exact: true,
        first_message: Some("hello".into()),
        status: SessionStatus::Complete,
        diagnostics: Vec::new(),
    };
    assert_eq!(SessionSummary::from_parts(&parts).unwrap(), want);
    let json = want.to_json("/s.jsonl");
    let want = format!(
        r#"{{"path":"/s.jsonl","id":"s","cwd":"/w","title":"Titled","parentSessionPath":"p","created":"2026-01-01T00:00:00.000Z","modified":"1970-01-01T00:00:00.005Z","messageCount":2,"firstMessage":"hello","messageCountIsExact":true,"titleOrigin":"header","lastActivity":"2026-01-01T00:00:02.000Z","activityOrigin":"message","status":"complete","size":{},"version":3,"diagnostics":[]}}"#,
        text.len()
    );
    assert_eq!(json.as_str(), want);
}

#[test]
fn two_parts_that_meet_are_the_whole_file() {
    let text = file(&[HEADER, &user(1, "hello"), &assistant(2, "stop")]);
    let summary = SessionSummary::from_parts(&parts(&text, 120, 4096)).unwrap();
    let whole = SessionSummary::from_parts(&FileParts::whole(text)).unwrap();
    assert_eq!(summary, SessionSummary { modified_ms: summary.modified_ms, ..whole });
}

#[test]
fn a_file_with_a_header_alone_is_a_session() {
    let summary = whole(&[r#"{"type":"session","id":""}"#]);
    let want = r#"{"path":"p","id":"","created":null,"modified":null,"messageCount":0,"firstMessage":"(no messages)","messageCountIsExact":true,"status":"unknown","size":27,"version":1,"diagnostics":[]}"#;
    assert_eq!(summary.to_json("p").as_str(), want);
}

#[test]
fn an_entry_without_its_message_is_none() {
    let summary = whole(&[HEADER, r#"{"type":"message","id":"a"}"#, &assistant(2, "stop")]);
    assert_eq!((summary.message_count, summary.first_message.clone()), (1, None));
    assert!(summary.to_json("p").as_str().contains(r#""firstMessage":"(no messages)""#));
}

#[test]
fn titles_by_precedence() {
    let header = HEADER.replace("}", r#","title":"header"}"#);
    let slot = |title: &str| {
        let slot = TitleSlot { title: title.into(), source: None, updated_at: "t".into() };
        String::from_utf8(slot.to_line()).unwrap().trim_end().to_owned()
    };
    let change = entry(1, r#""title_change","title":"first""#);
    let info = entry(2, r#""session_info","name":"in\nfo""#);
    let compaction = entry(3, r#""compaction","summary":"long","shortSummary":"short""#);
    let plain = entry(4, r#""compaction","summary":"long""#);
    let said = user(5, "please\\n do this");
    let (slot, emptied) = (slot("slot"), slot(""));
    let all = [&slot[..], &header, &change, &info, &compaction, &plain, &said];
    assert_eq!(whole(&all).title, title("slot", TitleOrigin::Slot));
    assert_eq!(whole(&all[1..]).title, title("header", TitleOrigin::Header));
    let from = |skip: usize| {
        let lines: Vec<_> = [HEADER].into_iter().chain(all[skip..].iter().copied()).collect();
        whole(&lines).title
    };
    assert_eq!(from(2), title("in fo", TitleOrigin::Entry));
    assert_eq!(from(4), title("short", TitleOrigin::Compaction));
    assert_eq!(from(5), title("please do this", TitleOrigin::FirstMessage));
    assert_eq!(from(7), None);
    let emptied = whole(&[&emptied, &header, &change]);
    assert_eq!(emptied.title, title("first", TitleOrigin::Entry));
}

#[test]
fn long_titles_are_cut() {
    let long = "x".repeat(300);
    let named = entry(1, &format!(r#""title_change","title":"{long}""#));
    assert_eq!(whole(&[HEADER, &named]).title.unwrap().text, format!("{}…", "x".repeat(199)));
    assert_eq!(whole(&[HEADER, &user(1, &long)]).title.unwrap().text.chars().count(), 80);
}

#[test]
fn only_messages_are_activity() {
    let label = entry(9, r#""label","targetId":"00000001","label":"x""#);
    let rename = entry(9, r#""title_change","title":"x""#);
    let state = entry(9, r#""custom","customType":"x""#);
    let lines = [HEADER, &user(1, "a"), &user(4, "b"), &user(3, "c"), &label, &rename, &state];
    assert_eq!(whole(&lines).activity, activity(4, ActivityOrigin::Message));
    assert_eq!(whole(&[HEADER, &label]).activity, activity(0, ActivityOrigin::Header));
    let undated = r#"{"type":"session","id":"s"}"#;
    let text = file(&[undated, &state]);
    let dated_file = FileParts { modified_ms: Some(START), ..FileParts::whole(text.clone()) };
    let summary = SessionSummary::from_parts(&dated_file).unwrap();
    assert_eq!(summary.activity, activity(0, ActivityOrigin::File));
    assert_eq!(SessionSummary::from_parts(&FileParts::whole(text)).unwrap().activity, None);
    let message = r#"{"type":"message","message":{"role":"user","timestamp":1767225607000}}"#;
    assert_eq!(whole(&[HEADER, message]).activity, activity(7, ActivityOrigin::Message));
}

#[test]
fn the_last_turn_makes_the_status() {
    let result = message(3, "toolResult", "r", "");
    let bash = r#"{"type":"message","message":{"role":"bashExecution","command":"ls"}}"#;
    let calls = r#"{"type":"message","message":{"role":"assistant","content":[{"type":"toolCall","id":"c","name":"n","arguments":{}}]}}"#;
    let bare = r#"{"type":"message","message":{"role":"assistant","content":[]}}"#;
    let asked = user(1, "q");
    for (last, want) in [
        (&assistant(2, "stop")[..], SessionStatus::Complete),
        (&assistant(2, "length"), SessionStatus::Complete),
        (&assistant(2, "toolUse"), SessionStatus::Interrupted),
        (&assistant(2, "error"), SessionStatus::Error),
        (&assistant(2, "aborted"), SessionStatus::Aborted),
        (&result, SessionStatus::Interrupted),
        (bash, SessionStatus::Pending),
        (calls, SessionStatus::Interrupted),
        (bare, SessionStatus::Complete),
        (&message(2, "developer", "d", ""), SessionStatus::Pending),
        ("{\"type\":\"message\"}", SessionStatus::Pending),
        (&entry(2, r#""label","targetId":"x""#), SessionStatus::Pending),
    ] {
        assert_eq!(whole(&[HEADER, &asked, last]).status, want, "{last}");
    }
    assert_eq!(whole(&[HEADER]).status, SessionStatus::Unknown);
}

/// A session too large for its parts to meet.
fn large(first: &str, last: &[&str]) -> String {
    let said = user(10, &"x".repeat(1000));
    let filler: Vec<_> =
        (0..100).map(|n| said.replace("00000010", &format!("filler{n:02}"))).collect();
    let lines = [HEADER, first].into_iter().chain(filler.iter().map(String::as_str));
    file(&lines.chain(last.iter().copied()).collect::<Vec<_>>())
}

#[test]
fn a_large_file_is_known_by_its_ends() {
    let renamed = entry(50, r#""title_change","title":"new""#);
    let text = large(&user(1, "hello"), &[&assistant(40, "error"), &renamed]);
    let summary = partial(&text);
    let seen = |part: &str| part.matches(r#""type":"message""#).count();
    let end = &text[text.len() - TAIL_BYTES as usize..];
    let want = SessionSummary {
        id: "s".into(),
        version: 3.0,
        cwd: Some("/w".into()),
        parent_session: None,
        title: title("new", TitleOrigin::Entry),
        created_ms: Some(START),
        activity: activity(40, ActivityOrigin::Message),
        modified_ms: Some(START + 86_400_000),
        size: text.len() as u64,
        message_count: (seen(&text[..4096]) + seen(end.split_once('\n').unwrap().1)) as u64,
        message_count_is_exact: false,
        first_message: Some("hello".into()),
        status: SessionStatus::Error,
        diagnostics: Vec::new(),
    };
    assert_eq!(summary, want);
    assert!(want.message_count > 20 && (seen(&text) as u64) > want.message_count);
}

#[test]
fn a_first_message_longer_than_the_beginning_is_cut() {
    let text = large(&user(1, &"word \\\" ".repeat(1000)), &[&assistant(40, "stop")]);
    let summary = partial(&text);
    let first = summary.first_message.unwrap();
    assert_eq!(first, format!("{}…", &"word \" ".repeat(200)[..1000]));
    assert_eq!(summary.title.unwrap().origin, TitleOrigin::FirstMessage);
    let blocks = format!(
        r#"{{"type":"message","id":"a","message":{{"role":"user","content":[{{"type":"text","text":"look"}},{{"type":"image","data":"{}"}}]}}}}"#,
        "A".repeat(9000)
    );
    assert_eq!(partial(&large(&blocks, &[])).first_message.as_deref(), Some("look"));
}

#[test]
fn a_message_the_beginning_cuts_off_counts() {
    for (role, first) in [("user", true), ("assistant", false), ("toolResult", false)] {
        let text = large(&message(1, role, &"x".repeat(5000), ""), &[&assistant(40, "stop")]);
        let summary = partial(&text);
        let end = &text[text.len() - TAIL_BYTES as usize..];
        let end = end.split_once('\n').unwrap().1.matches(r#""type":"message""#).count();
        assert_eq!(summary.message_count, 1 + end as u64, "{role}");
        assert_eq!(summary.first_message.is_some(), first, "{role}");
    }
}

#[test]
fn what_lies_unread_is_not_guessed() {
    let labels: Vec<_> =
        (0..400).map(|_| entry(30, r#""label","targetId":"00000001","label":"x""#)).collect();
    let labels: Vec<_> = labels.iter().map(String::as_str).collect();
    let summary = partial(&large(&user(1, "a"), &labels));
    assert_eq!(summary.activity, activity(30, ActivityOrigin::Entry));
    assert_eq!(summary.status, SessionStatus::Unknown);

    let long = format!(
        r#"{{"type":"message","id":"b","message":{{"role":"toolResult","content":"{}","timestamp":1767225635000}}}}"#,
        "y".repeat(50_000)
    );
    let summary = partial(&large(&user(1, "a"), &[&long]));
    assert_eq!(summary.activity, activity(35, ActivityOrigin::Message));
    assert_eq!(summary.status, SessionStatus::Unknown);

    let long = long.replace(",\"timestamp\":1767225635000", "");
    let summary = partial(&large(&user(1, "a"), &[&long]));
    assert_eq!(summary.activity, activity(86_400, ActivityOrigin::File));
}

#[test]
fn damage_costs_only_its_own_line() {
    let text = format!(
        "\u{feff}{HEADER}\r\n\0\0{}\r\n{{\"torn\n{}\r\n\0\0\0",
        user(1, "a"),
        assistant(2, "stop")
    );
    let summary = SessionSummary::from_parts(&FileParts::whole(text)).unwrap();
    assert_eq!((summary.message_count, summary.status), (2, SessionStatus::Complete));
    let want = [
        DiagnosticCode::ByteOrderMark,
        DiagnosticCode::NulRun,
        DiagnosticCode::DamagedLine,
        DiagnosticCode::TornTail,
    ];
    assert_eq!(codes(&summary), want);

    let text = large(&user(1, "a"), &["{\"damaged", &assistant(40, "stop")]) + "{\"type\":\"mess";
    let summary = partial(&text);
    assert_eq!(codes(&summary), [DiagnosticCode::DamagedLine, DiagnosticCode::TornTail]);
    assert_eq!(summary.status, SessionStatus::Complete);
    let torn = summary.diagnostics[1].bytes.clone().unwrap();
    assert_eq!(&text[torn.start as usize..torn.end as usize], "{\"type\":\"mess");
}

#[test]
fn a_long_header_needs_more() {
    let header = HEADER.replace("}", &format!(r#","pad":"{}","title":"T"}}"#, "p".repeat(20_000)));
    let slot = TitleSlot { title: "slot".into(), source: None, updated_at: String::new() };
    let slot = String::from_utf8(slot.to_line()).unwrap();
    for text in [large(&header, &[]).replacen(&format!("{HEADER}\n"), "", 1), slot + &header + "\n"]
    {
        let padded = text + &"\n".repeat(60_000);
        let (mut head, mut asked) = (HEAD_BYTES, Vec::new());
        let summary = loop {
            match SessionSummary::from_parts(&parts(&padded, head as usize, 32)) {
                Err(SummaryError::NeedMore { head: more }) => {
                    asked.push(more);
                    head = more;
                }
                other => break other.unwrap(),
            }
        };
        assert_eq!(asked, [16 << 10, 64 << 10]);
        assert_eq!(summary.id, "s");
    }
    let nothing_read = parts(&large(&header, &[]), 0, 0);
    let error = SessionSummary::from_parts(&nothing_read).unwrap_err();
    assert_eq!(error, SummaryError::NeedMore { head: HEAD_BYTES });
}

#[test]
fn what_is_no_session_says_why() {
    let error = |text: &str| {
        SessionSummary::from_parts(&parts(text, HEAD_BYTES as usize, 32)).unwrap_err().to_string()
    };
    assert_eq!(error(""), "the file is empty");
    assert_eq!(error(" \n"), "the file is empty");
    assert_eq!(error("garbage\n"), "not a session file: line 1 is no complete JSON record");
    assert_eq!(
        error(&file(&[&user(1, "a")])),
        "not a session file: line 1 is no session header with a string id"
    );
    let long = user(1, &"x".repeat(50_000));
    assert_eq!(error(&file(&[&long])), "not a session file: line 1 is no session header");
    assert_eq!(error(&"x".repeat(50_000)), "not a session file: line 1 is no session header");
}
