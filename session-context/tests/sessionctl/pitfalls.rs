//! Odd and damaged sessions as other tools leave them: all that can be read is shown, once, and the
//! rest is told.

use crate::support::{Dir, session};

fn message(id: &str, parent: &str, content: &str) -> String {
    let parent = if parent.is_empty() { "null".to_owned() } else { format!("\"{parent}\"") };
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T09:00:01Z","message":{{"role":"user","content":"{content}"}}}}"#
    )
}

/// Asserts what `tree` and `verify` make of a file.
#[track_caller]
fn assert_looked_at(file: impl AsRef<[u8]>, tree: &str, found: &[&str]) {
    let dir = Dir::new();
    dir.write("s.jsonl", file);
    assert_eq!(dir.run("tree s.jsonl").out, tree);
    let verified = dir.run("verify s.jsonl").out;
    let lines: Vec<_> = verified.lines().filter_map(|line| line.strip_prefix("  ")).collect();
    assert_eq!(lines, found);
}

fn of_lines(lines: &[String]) -> String {
    session(&lines.iter().map(String::as_str).collect::<Vec<_>>())
}

#[test]
fn two_writers_at_once() {
    assert_looked_at(
        of_lines(&[
            message("a1", "", "seed"),
            message("a2", "a1", "from window one"),
            message("b2", "a1", "from window two"),
            message("a3", "a2", "one"),
            message("b3", "b2", "two"),
        ]),
        "• a1 user: seed\n├─ • b2 user: from window two\n│  • b3 user: two\n└─ a2 user: from window one\n   a3 user: one\n",
        &[
            "warning: interleaved-branches: line 6: branches were continued in turn 2 times, as when two programs write at once; all of them are loaded",
        ],
    );
}

#[test]
fn line_separators_of_unicode_are_text() {
    assert_looked_at(
        of_lines(&[message("a1", "", "note\u{2028}line\u{85}end")]),
        "• a1 user: note line end\n",
        &[],
    );
}

#[test]
fn zeros_between_records_and_behind_them() {
    let (one, two) = (message("a1", "", "one"), message("a2", "a1", "two"));
    let zeros = "\0".repeat(300);
    assert_looked_at(
        format!("{}{zeros}\n{two}\n{zeros}", of_lines(&[one])),
        "• a1 user: one\n• a2 user: two\n",
        &[
            "warning: nul-run: line 3 (bytes 217..518): 300 zero bytes skipped",
            "loss: torn-tail: line 5 (bytes 640..940): the file ends in 300 bytes that are no whole record",
        ],
    );
}

#[test]
fn a_character_cut_in_the_middle() {
    let mut file = session(&[]).into_bytes();
    file.extend(b"{\"type\":\"message\",\"id\":\"a0\",\"message\":{\"role\":\"user\",\"content\":\"\xe6\x87\n");
    file.extend(message("a1", "", "fine").bytes());
    file.push(b'\n');
    assert_looked_at(
        file,
        "• a1 user: fine\n",
        &[
            "loss: damaged-line: line 2 (bytes 95..162): control character (\\u0000-\\u001F) found while parsing a string at line 1 column 66",
        ],
    );
}

#[test]
fn a_file_saved_anew_by_an_editor() {
    let file = of_lines(&[message("a1", "", "hi")]).replace('\n', "\r\n");
    assert_looked_at(
        format!("\u{feff}{file}"),
        "• a1 user: hi\n",
        &[
            "note: byte-order-mark: line 1 (bytes 0..3): skipped, and dropped when the file is written anew",
        ],
    );
}

#[test]
fn ids_given_twice() {
    assert_looked_at(
        of_lines(&[
            message("a1", "", "one"),
            message("a2", "a1", "two"),
            message("a1", "", "one again"),
            message("a2", "a1", "two again"),
            message("a3", "a2", "three"),
        ]),
        "├─ • a1 user: one again\n│  • a2 user: two again\n│  • a3 user: three\n└─ a1 user: one\n   a2 user: two\n",
        &[
            "warning: duplicate-id: line 2: a later entry has the id \"a1\" too; look-ups find that one",
            "warning: duplicate-id: line 3: a later entry has the id \"a2\" too; look-ups find that one",
        ],
    );
}

#[test]
fn entries_that_are_their_own_ancestors() {
    assert_looked_at(
        of_lines(&[
            message("a1", "a3", "one"),
            message("a2", "a1", "two"),
            message("a3", "a2", "three"),
        ]),
        "• a1 user: one\n• a2 user: two\n• a3 user: three\n",
        &["warning: parent-cycle: line 2: the entry is its own ancestor, in a cycle of 3 entries"],
    );
}

#[test]
fn a_compaction_that_keeps_from_nowhere() {
    let compaction = r#"{"type":"compaction","id":"a2","parentId":"a1","timestamp":"2026-03-01T09:00:03Z","summary":"sum","firstKeptEntryId":"dead","tokensBefore":9}"#;
    assert_looked_at(
        of_lines(&[message("a1", "", "one"), compaction.to_owned(), message("a3", "a2", "next")]),
        "• a1 user: one\n• a2 [compaction] sum\n• a3 user: next\n",
        &[
            "warning: first-kept-missing: firstKeptEntryId is \"dead\", which is no entry before the compaction on its path; nothing before it is kept",
        ],
    );
}
