//! Damaged session files: what is found, what a repair does, and that opening agrees.

use session_context::doctor::DoctorOptions;
use session_context::{SessionManager, SessionOptions};
use session_model::storage::StorageKey;

use crate::support::{Agent, HEADER, SESSION, entry};

/// A damaged file, what is found, what stays, and the ids that load in the end.
struct Case<'a> {
    file: Vec<u8>,
    found: Vec<&'static str>,
    mended: Vec<u8>,
    set_aside: Vec<(&'static str, Vec<u8>)>,
    again: Vec<&'static str>,
    ids: Vec<&'a str>,
}

const CAN: &str =
    " => can: give every record a line of its own, and move what is none into a file beside";

impl Case<'_> {
    fn check(self) {
        let agent = Agent::with(SESSION, &self.file);
        let want: Vec<_> = self.found.iter().map(|found| found.replace(" => can", CAN)).collect();
        assert_eq!(agent.look(), want);
        agent.fix();
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        assert_eq!(text(&agent.read(SESSION)), text(&self.mended));
        for (why, bytes) in &self.set_aside {
            let aside = agent.read(&format!("{SESSION}.{why}-2026-03-02T00-00-00-000Z"));
            assert_eq!(text(&aside), text(bytes));
        }
        assert_eq!(agent.look(), self.again);
        let before = agent.snapshot();
        assert_eq!(agent.fix(), self.again);
        let content =
            |s: crate::support::Snapshot| s.into_iter().map(|f| (f.0, f.1)).collect::<Vec<_>>();
        assert_eq!(content(agent.snapshot()), content(before), "a second repair changed something");

        let key = StorageKey::new(SESSION).unwrap();
        let open = SessionManager::open(agent.storage(), key, "/w/app", SessionOptions::default());
        let session = pollster::block_on(open).unwrap();
        assert_eq!(session.branch_ids().len(), session.branch_entries().len());
        let ids: Vec<_> = session.entries().iter().map(|e| e.id().unwrap().into_owned()).collect();
        assert_eq!(ids, self.ids);
        assert_eq!(session.diagnostics(), []);
    }
}

#[test]
fn fused_records_are_parted() {
    let torn = r#"{"type":"message","id":"a0000001","parentId":null,"timestamp":"2026-03-01T09:00:01Z","message":{"role":"toolResult","toolCallId":"call_9"#;
    let whole = entry("a0000002", "", "still here");
    Case {
        file: format!("{HEADER}\n{torn}{whole}\n").into(),
        found: vec![
            "fused-records S: line 2 (bytes 95..231): part of a record, with a whole one behind it on the line => can",
        ],
        mended: format!("{HEADER}\n{whole}\n").into(),
        set_aside: vec![("damaged", format!("{torn}\n").into())],
        again: vec![
            "set-aside S.damaged-2026-03-02T00-00-00-000Z: 137 bytes were put aside; of 0 records with an id in them 0 are in the session",
        ],
        ids: vec!["a0000002"],
    }
    .check();
}

#[test]
fn zero_bytes_are_cut() {
    let (one, two) = (entry("a0000001", "", "one"), entry("a0000002", "a0000001", "two"));
    let (middle, end) = ("\0".repeat(300), "\0".repeat(1728));
    Case {
        file: format!("{HEADER}\n{one}\n{middle}\n{two}\n{end}").into(),
        found: vec![
            "nul-run S: line 3 (bytes 223..524): 300 zero bytes skipped => can",
            "torn-tail S: line 5 (bytes 658..2386): the file ends in 1728 bytes that are no whole record => can",
        ],
        mended: format!("{HEADER}\n{one}\n{two}\n").into(),
        set_aside: vec![("damaged", format!("{middle}\n").into()), ("torn", end.into())],
        again: vec![
            "set-aside S.damaged-2026-03-02T00-00-00-000Z: 301 bytes were put aside; of 0 records with an id in them 0 are in the session",
            "set-aside S.torn-2026-03-02T00-00-00-000Z: 1728 bytes were put aside; of 0 records with an id in them 0 are in the session",
        ],
        ids: vec!["a0000001", "a0000002"],
    }
    .check();
}

#[test]
fn a_line_that_is_no_text_is_moved_aside() {
    let cut = b"{\"type\":\"message\",\"id\":\"a0000001\",\"parentId\":null,\"message\":{\"role\":\"user\",\"content\":\"cut \xe6\x87";
    let fine = entry("a0000002", "", "fine");
    Case {
        file: [HEADER.as_bytes(), b"\n", cut, b"\n", fine.as_bytes(), b"\n"].concat(),
        found: vec![
            "damaged-line S: line 2 (bytes 95..188): control character (\\u0000-\\u001F) found while parsing a string at line 1 column 92 => can",
        ],
        mended: format!("{HEADER}\n{fine}\n").into(),
        set_aside: vec![("damaged", [&cut[..], b"\n"].concat())],
        again: vec![
            "set-aside S.damaged-2026-03-02T00-00-00-000Z: 93 bytes were put aside; of 0 records with an id in them 0 are in the session",
        ],
        ids: vec!["a0000002"],
    }
    .check();
}

#[test]
fn a_byte_order_mark_goes_and_line_ends_stay() {
    let hi = entry("a0000001", "", "hi");
    Case {
        file: format!("\u{feff}{HEADER}\r\n{hi}\r\n").into(),
        found: vec!["byte-order-mark S: line 1 (bytes 0..3): skipped, and dropped when the file is written anew => can"],
        mended: format!("{HEADER}\r\n{hi}\r\n").into(),
        set_aside: vec![],
        again: vec![],
        ids: vec!["a0000001"],
    }
    .check();
}

#[test]
fn joined_records_get_lines_of_their_own() {
    let [a, b, c] = [("a", ""), ("b", "a"), ("c", "b")].map(|(id, up)| entry(id, up, "x"));
    Case {
        file: format!("{HEADER}\n{a}{b}{c} rest\n").into(),
        found: vec![
            "joined-records S: line 2 (bytes 213..453): several records on one line; all are loaded => can",
            "trailing-text S: line 2 (bytes 448..453): text behind a complete record => can",
        ],
        mended: format!("{HEADER}\n{a}\n{b}\n{c} \n").into(),
        set_aside: vec![("damaged", b"rest\n".to_vec())],
        again: vec![
            "set-aside S.damaged-2026-03-02T00-00-00-000Z: 5 bytes were put aside; of 0 records with an id in them 0 are in the session",
        ],
        ids: vec!["a", "b", "c"],
    }
    .check();
}

#[test]
fn what_is_odd_and_loads_is_told_and_left() {
    let lines = [
        HEADER.replace("\"version\":3", "\"version\":2"),
        entry("a", "gone", "x"),
        entry("b", "b", "x"),
        entry("b", "a", "y"),
        r#"{"type":"label","id":"l","parentId":"b","targetId":"nowhere","label":"x"}"#.to_owned(),
        r#"{"type":"compaction","id":"c","parentId":"l","summary":"s","firstKeptEntryId":"lost","tokensBefore":1}"#.to_owned(),
        entry("d", "e", "x"),
        entry("e", "d", "x"),
    ];
    let agent = Agent::with(SESSION, lines.join("\n") + "\n");
    let found = [
        "unknown-parent S: line 2: its parent \"gone\" is nowhere in the file; what came before is not on its path",
        "duplicate-id S: line 3: a later entry has the id \"b\" too; look-ups find that one",
        "self-parent S: line 3: the entry names itself as its parent",
        "parent-cycle S: line 7: the entry is its own ancestor, in a cycle of 2 entries",
        "older-version S: format version 2 is older than 3; opening it for writing brings it up to date",
        "dangling-reference S: entry l refers to \"nowhere\", which is nowhere in the file",
        "dangling-reference S: entry c refers to \"lost\", which is nowhere in the file",
    ];
    let mut looked = agent.look();
    looked.sort();
    let mut want = found.map(str::to_owned);
    want.sort();
    assert_eq!(looked, want);
    let before = agent.read(SESSION);
    agent.fix();
    assert_eq!(agent.read(SESSION), before);
}

#[test]
fn what_is_no_session_or_newer_needs_the_user() {
    let agent =
        Agent::with(SESSION, "{\"type\":\"session\",\"id\":\n{\"type\":\"x\",\"id\":\"a\"}\n");
    let newer = HEADER.replace("\"version\":3", "\"version\":9").replace("s-0001", "n");
    agent.write("sessions/--w-app--/n.jsonl", format!("{newer}\n{}", &entry("a", "", "x")[..40]));
    let found = [
        "not-a-session S: not a session file: line 1 is no complete JSON record => you: mend its first line, which is to be the session's header; opening it for writing would move it aside and begin anew",
        "newer-version sessions/--w-app--/n.jsonl: format version 9 is newer than 3; the session can be read and not changed",
        "torn-tail sessions/--w-app--/n.jsonl: line 2 (bytes 90..130): the file ends in 40 bytes that are no whole record => you: repair it with a program that knows its format",
    ];
    let sorted = |mut lines: Vec<String>| {
        lines.sort();
        lines
    };
    let want = sorted(found.map(str::to_owned).to_vec());
    assert_eq!(sorted(agent.look()), want);
    let before = agent.snapshot();
    assert_eq!(sorted(agent.fix()), want);
    assert_eq!(agent.snapshot(), before);
}

#[test]
fn a_file_of_zeros_is_told_and_an_empty_one_is_not() {
    let agent = Agent::with(SESSION, [0; 4096]);
    agent.write("sessions/--w-app--/empty.jsonl", " \n");
    let found = [
        "not-a-session S: 4096 zero bytes and no record, as a power cut leaves them => you: bring it back from a backup, or delete it",
    ];
    assert_eq!(agent.look(), found);
    let before = agent.snapshot();
    assert_eq!(agent.fix(), found);
    assert_eq!(agent.snapshot(), before);
}

#[test]
fn thousands_of_joined_records_take_one_repair() {
    let ids: Vec<_> = (0..3000).map(|n| format!("id{n}")).collect();
    let parents = std::iter::once("").chain(ids.iter().map(String::as_str));
    let lines: Vec<_> = ids.iter().zip(parents).map(|(id, up)| entry(id, up, "é")).collect();
    Case {
        file: format!("{HEADER}{}\n", lines.join("")).into(),
        found: vec![
            "joined-records S: line 1 (bytes 94..381871): several records on one line; all are loaded => can",
        ],
        mended: format!("{HEADER}\n{}\n", lines.join("\n")).into(),
        set_aside: vec![],
        again: vec![],
        ids: ids.iter().map(String::as_str).collect(),
    }
    .check();
}

#[test]
fn a_line_over_the_limit_is_told_and_left() {
    let long = entry("a", "", &"x".repeat(64 << 20));
    let agent = Agent::with(SESSION, format!("{HEADER}\n{long}\n{}\n", entry("b", "", "y")));
    let found = agent.look();
    let (size, end) = (long.len() + 1, long.len() + 96);
    assert_eq!(
        found,
        [format!(
            "line-too-long S: line 2 (bytes 95..{end}): {size} bytes, more than the limit of 67108864 => you: see what wrote so long a line"
        )]
    );
    let before = agent.snapshot();
    assert_eq!(agent.fix(), found);
    let content =
        |s: crate::support::Snapshot| s.into_iter().map(|f| (f.0, f.1)).collect::<Vec<_>>();
    assert!(content(agent.snapshot()) == content(before), "a repair changed something");
}

#[test]
fn progress_counts_the_sessions() {
    let agent = Agent::with(SESSION, format!("{HEADER}\n"));
    for id in ["b", "c"] {
        agent.write(&format!("sessions/--w-app--/{id}.jsonl"), HEADER.replace("s-0001", id) + "\n");
    }
    let mut told = Vec::new();
    let options = DoctorOptions::default();
    let storage = agent.storage();
    let mut note = |done, total| told.push((done, total));
    let examined = session_context::doctor::examine(&storage, &options, &mut note);
    assert_eq!(pollster::block_on(examined).unwrap(), []);
    assert_eq!(told, [(1, 3), (2, 3), (3, 3)]);
}

#[test]
fn a_record_is_told_to_be_long_before_it_cannot_be_read() {
    let long = entry("a", "", &"x".repeat(33 << 20)) + "\n";
    let agent = Agent::with(SESSION, format!("{HEADER}\n{long}"));
    let size = long.len();
    assert_eq!(
        agent.look(),
        [format!("oversized S: its longest record has {size} bytes; over 67108864 it is not read")]
    );
}
