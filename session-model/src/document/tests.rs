//! Whole files, ordinary and damaged.

use super::*;
use crate::DiagnosticCode as Code;

const HEADER: &str =
    r#"{"type":"session","version":3,"id":"s","timestamp":"2026-01-01T00:00:00.000Z","cwd":"/w"}"#;
const A: &str = r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-01-01T00:00:01.000Z","message":{"role":"user","content":"one"}}"#;
const B: &str = r#"{"type":"custom","id":"b","parentId":"a","n":1.0,"x":"\ud800","x":2}"#;

fn load(file: impl Into<Bytes>) -> Loaded {
    SessionDocument::load(file.into(), &LoadOptions::default()).unwrap()
}

fn ids(document: &SessionDocument) -> Vec<String> {
    let id = |entry: &Entry| entry.id().map_or_else(|| "-".to_owned(), |id| id.into_owned());
    document.tree().entries().iter().map(id).collect()
}

/// What was reported, as (code, line, bytes).
fn found(loaded: &Loaded) -> Vec<(Code, Option<u64>, Option<Range<u64>>)> {
    loaded.diagnostics.iter().map(|d| (d.code, d.line, d.bytes.clone())).collect()
}

fn codes(loaded: &Loaded) -> Vec<Code> {
    loaded.diagnostics.iter().map(|d| d.code).collect()
}

/// Loads a file, and checks that it is written back byte for byte.
fn kept(file: impl Into<Bytes>) -> Loaded {
    let file = file.into();
    let loaded = load(file.clone());
    assert_eq!(loaded.document.to_payload().to_bytes(), file);
    loaded
}

#[test]
fn an_ordinary_file_is_one_chunk_again() {
    let loaded = kept(format!("{HEADER}\n{A}\n{B}\n"));
    assert_eq!(ids(&loaded.document), ["a", "b"]);
    assert_eq!(codes(&loaded), []);
    assert_eq!(loaded.document.to_payload().chunks().len(), 1);
    assert_eq!(loaded.document.tree().leaf(), loaded.document.tree().find("b"));
}

#[test]
fn damaged_lines_stay_in_place_with_their_line_and_bytes() {
    let file = format!("{HEADER}\n{A}\n{{'a':1}}\n\n123\n[]\n{{}}\n{B}\nnul\n");
    let loaded = kept(file.clone());
    let at = |text: &str| {
        let start = file.find(text).unwrap() as u64;
        Some(start..start + text.len() as u64)
    };
    assert_eq!(ids(&loaded.document), ["a", "b"]);
    assert_eq!(
        found(&loaded),
        [
            (Code::DamagedLine, Some(3), at("{'a':1}\n")),
            (Code::NotAnEntry, Some(5), at("123")),
            (Code::NotAnEntry, Some(6), at("[]")),
            (Code::NotAnEntry, Some(7), at("{}")),
            (Code::DamagedLine, Some(9), at("nul\n")),
        ]
    );
}

#[test]
fn a_value_over_several_lines_is_no_record() {
    let loaded = kept(format!("{HEADER}\n{{\n\"type\":\"x\",\n\"id\":\"p\"\n}}\n{A}\n"));
    assert_eq!(ids(&loaded.document), ["a"]);
    assert_eq!(codes(&loaded), [Code::DamagedLine; 4]);
}

#[test]
fn only_lf_ends_a_record() {
    let separators = r#"{"type":"x","id":"u","parentId":null,"t":"a LS b PS c NEL"}"#
        .replace("LS", "\u{2028}")
        .replace("PS", "\u{2029}")
        .replace("NEL", "\u{85}");
    let loaded = kept(format!("{HEADER}\n{separators}\n"));
    assert_eq!((ids(&loaded.document), codes(&loaded)), (vec!["u".to_owned()], vec![]));
    let crlf = kept(format!("{HEADER}\r\n{A}\r\n{B}\r\n"));
    assert_eq!((ids(&crlf.document), codes(&crlf)), (vec!["a".to_owned(), "b".into()], vec![]));
}

#[test]
fn a_torn_tail_is_set_apart_and_never_glued_to() {
    for tail in ["{\"type\":\"message\",\"id\":\"c\",\"mess", "{\"a\":", "\"", "7", "\0\0\0\0"] {
        let file = format!("{HEADER}\n{A}\n{tail}");
        let start = (file.len() - tail.len()) as u64;
        let mut loaded = kept(file.clone());
        assert_eq!(found(&loaded), [(Code::TornTail, Some(3), Some(start..file.len() as u64))]);
        assert_eq!(
            (ids(&loaded.document), &loaded.document.torn_tail()[..]),
            (vec!["a".into()], tail.as_bytes())
        );
        let mut glued = loaded.document.clone();
        glued.push(load(format!("{HEADER}\n{B}\n")).document.tree().entries()[0].clone());
        assert_eq!(glued.to_payload().to_bytes(), format!("{HEADER}\n{A}\n{tail}\n{B}\n"));
        loaded.document.forget_torn_tail();
        assert!(loaded.document.ends_line());
        assert_eq!(loaded.document.to_payload().to_bytes(), format!("{HEADER}\n{A}\n"));
    }
}

#[test]
fn a_torn_multibyte_character_is_a_torn_tail() {
    let mut file = format!("{HEADER}\n{A}\n{{\"type\":\"x\",\"t\":\"日").into_bytes();
    file.pop();
    assert_eq!(codes(&kept(file)), [Code::TornTail]);
}

#[test]
fn a_whole_record_without_line_end_loads_and_the_next_starts_a_line() {
    let b = load(format!("{HEADER}\n{B}\n")).document.tree().entries()[0].clone();
    for (file, code) in [
        (format!("{HEADER}\n{A}"), Code::NoFinalNewline),
        (HEADER.to_owned(), Code::NoFinalNewline),
        (format!("{HEADER}\n{A} junk"), Code::NoFinalNewline),
    ] {
        let mut loaded = kept(file.clone());
        assert_eq!(loaded.diagnostics[0].code, code);
        assert!(!loaded.document.ends_line());
        assert_eq!(loaded.document.push(b.clone()), format!("\n{B}\n"));
        assert_eq!(loaded.document.to_payload().to_bytes(), format!("{file}\n{B}\n"));
        assert_eq!(loaded.document.push(b.clone()), format!("{B}\n"));
    }
}

#[test]
fn blank_text_at_the_end_is_no_damage() {
    let mut loaded = kept(format!("{HEADER}\n{A}\n  "));
    assert_eq!(codes(&loaded), []);
    let b = load(format!("{HEADER}\n{B}\n")).document.tree().entries()[0].clone();
    assert_eq!(loaded.document.push(b), format!("\n{B}\n"));
}

#[test]
fn fused_records_are_recovered() {
    let torn = r#"{"type":"message","id":"t","parentId":"a","message":{"toolCallId":"call_9"#;
    let loaded = kept(format!("{HEADER}\n{A}\n{torn}{B}\n"));
    assert_eq!(ids(&loaded.document), ["a", "b"]);
    let start = (HEADER.len() + A.len() + 2) as u64;
    assert_eq!(
        found(&loaded),
        [(Code::FusedRecords, Some(3), Some(start..start + torn.len() as u64))]
    );
    let joined = kept(format!("{HEADER}\n{A}{B}\n"));
    assert_eq!(
        (ids(&joined.document), codes(&joined)),
        (vec!["a".to_owned(), "b".into()], vec![Code::JoinedRecords])
    );
    let glued_to_header = kept(format!("{HEADER}{A}\n{B}\n"));
    assert_eq!(ids(&glued_to_header.document), ["a", "b"]);
    let unended = kept(format!("{HEADER}\n{A}\n{torn}{B}"));
    assert_eq!(ids(&unended.document), ["a", "b"]);
}

#[test]
fn text_behind_a_record_is_reported_and_kept() {
    let loaded = kept(format!("{HEADER} h\n{A} trailing , ] }} text\n{B}\n"));
    assert_eq!(ids(&loaded.document), ["a", "b"]);
    let h = HEADER.len() as u64;
    let a = h + 3 + A.len() as u64;
    assert_eq!(
        found(&loaded),
        [
            (Code::TrailingText, Some(1), Some(h + 1..h + 3)),
            (Code::TrailingText, Some(2), Some(a + 1..a + 21)),
        ]
    );
}

#[test]
fn zero_bytes_are_skipped_wherever_they_are() {
    let zeros = "\0".repeat(300);
    let loaded = kept(format!("{HEADER}\n{A}\n{zeros}\n\0\0{B}\0\n{zeros}"));
    assert_eq!(ids(&loaded.document), ["a", "b"]);
    assert_eq!(codes(&loaded), [Code::NulRun, Code::NulRun, Code::NulRun, Code::TornTail]);
}

#[test]
fn invalid_utf8_costs_only_its_own_characters() {
    let bad = b"{\"type\":\"x\",\"id\":\"bad\",\"parentId\":null,\"t\":\"cut \xe6\x87\"}\n";
    let broken = b"{\"type\":\"x\",\"id\":\"broken\",\"t\":\"\xff\n";
    let file = [HEADER.as_bytes(), b"\n", bad, broken, A.as_bytes(), b"\n"].concat();
    let loaded = kept(file);
    assert_eq!(ids(&loaded.document), ["bad", "a"]);
    assert_eq!(codes(&loaded), [Code::InvalidUtf8, Code::DamagedLine]);
    let text = loaded.document.tree().entries()[0].fields().text("t").unwrap().into_owned();
    assert_eq!(text, "cut \u{fffd}");
}

#[test]
fn a_byte_order_mark_is_skipped_and_dropped_when_asked() {
    let slot = crate::TitleSlot { title: "T".into(), source: None, updated_at: "t".into() };
    let slot = String::from_utf8(slot.to_line()).unwrap();
    for slot in [String::new(), slot] {
        let loaded = kept(format!("\u{feff}{slot}{HEADER}\n{A}\n"));
        assert_eq!(
            (ids(&loaded.document), codes(&loaded)),
            (vec!["a".to_owned()], vec![Code::ByteOrderMark])
        );
        let without = format!("{slot}{HEADER}\n{A}\n");
        let mut written_anew = loaded.document.clone();
        written_anew.drop_byte_order_mark();
        assert_eq!(written_anew.to_payload().to_bytes(), without);
        let mut copy = loaded.document;
        copy.begin_with(copy.header().clone());
        assert_eq!(copy.to_payload().to_bytes(), without);
    }
}

#[test]
fn what_has_no_header_is_no_session() {
    let refused = |file: &[u8]| {
        let error =
            SessionDocument::load(file.to_vec().into(), &LoadOptions::default()).unwrap_err();
        error.to_string()
    };
    assert_eq!(refused(b""), "the file is empty");
    assert_eq!(refused(b" \n\r\n\t"), "the file is empty");
    let no_record = "not a session file: line 1 is no complete JSON record";
    let torn = format!("{}\n{A}\n", &HEADER[..40]);
    assert_eq!(refused(torn.as_bytes()), no_record);
    assert_eq!(refused(b"\x00\xff\x01\n"), no_record);
    let no_header = "is no session header with a string id";
    for first in [r#"{"type":"session","id":7}"#, r#"{"type":"session"}"#, A] {
        let file = format!("\n{first}\n{HEADER}\n");
        assert_eq!(refused(file.as_bytes()), format!("not a session file: line 2 {no_header}"));
    }
    assert_eq!(refused(b"[1]\n"), "not a session file: line 1 is no object with a type");
}

#[test]
fn a_second_header_is_kept_and_no_entry() {
    let loaded = kept(format!("{HEADER}\n{A}\n{HEADER}\n{B}\n"));
    assert_eq!(
        (ids(&loaded.document), codes(&loaded)),
        (vec!["a".to_owned(), "b".into()], vec![Code::ExtraHeader])
    );
}

#[test]
fn a_title_slot_is_kept_and_updated_in_its_place() {
    let slot = crate::TitleSlot { title: "T".into(), source: None, updated_at: "t".into() };
    let line = String::from_utf8(slot.to_line()).unwrap();
    let mut loaded = kept(format!("{line}{HEADER}\n{A}\n"));
    assert_eq!(loaded.document.title().as_deref(), Some("T"));
    loaded.document.header_mut().set_title("New", "user", "2026-01-01T00:00:00.000Z");
    let file = loaded.document.to_payload().to_bytes();
    assert_eq!(&file[crate::TITLE_SLOT_BYTES..], format!("{HEADER}\n{A}\n").as_bytes());
    assert_eq!(load(file).document.title().as_deref(), Some("New"));
    let with_gap = kept(format!("{line}\n{HEADER}\n"));
    assert_eq!(with_gap.document.title().as_deref(), Some("T"));
    let late = kept(format!("{HEADER}\n{line}{A}\n"));
    assert_eq!(late.document.title(), None);
}

#[test]
fn a_long_line_is_kept_unread() {
    let options = LoadOptions { max_line_bytes: B.len() + 1, ..LoadOptions::default() };
    let file = format!("{HEADER}\n{A}\n{B}\n");
    let loaded = SessionDocument::load(file.clone().into(), &options).unwrap();
    assert_eq!(ids(&loaded.document), ["b"]);
    assert_eq!(loaded.diagnostics[0].code, Code::LineTooLong);
    assert_eq!(loaded.document.to_payload().to_bytes(), file);
}

#[test]
fn a_newer_file_says_so() {
    let newer = HEADER.replace("\"version\":3", "\"version\":99");
    let loaded = kept(format!("{newer}\n{A}\n"));
    assert!(loaded.document.header().is_newer());
    assert_eq!(codes(&loaded), [Code::NewerVersion]);
}

#[test]
fn an_edit_changes_one_line_and_leaves_the_damage_around_it() {
    let mut loaded = load(format!("{HEADER}\nbad\n{A}\n{B} tail\nworse\n"));
    loaded.document.edit_entries(|_, entry| {
        let edit = crate::json::ObjectEdit::new().set("n", &crate::json::RawJson::null());
        (entry.id().as_deref() == Some("b")).then(|| entry.edited(&edit)).flatten()
    });
    let edited = B.replace("1.0", "null");
    let want = format!("{HEADER}\nbad\n{A}\n{edited} tail\nworse\n");
    assert_eq!(loaded.document.to_payload().to_bytes(), want);
}

#[test]
fn lines_added_by_another_writer_are_taken_up_to_the_last_line_end() {
    let mut document = load(format!("{HEADER}\n{A}\n")).document;
    let offset = document.to_payload().len();
    let (taken, diagnostics) =
        document.extend(format!("{B}\nbad\n{{\"type\":").into(), offset, &LoadOptions::default());
    assert_eq!(taken, offset..offset + B.len() as u64 + 5);
    assert_eq!(
        diagnostics.iter().map(|d| (d.code, d.line)).collect::<Vec<_>>(),
        [(Code::DamagedLine, None)]
    );
    assert_eq!(ids(&document), ["a", "b"]);
    assert_eq!(document.to_payload().to_bytes(), format!("{HEADER}\n{A}\n{B}\nbad\n"));
}

#[test]
fn a_line_of_a_hundred_thousand_records_is_read_without_recursion() {
    let records = r#"{"type":"x","id":"r"}"#.repeat(100_000);
    for file in [format!("{HEADER}{records}\n"), format!("{HEADER}\n{records}\n")] {
        let loaded = kept(file);
        assert_eq!(loaded.document.tree().len(), 100_000);
        let joined = loaded.diagnostics.iter().filter(|d| d.code == Code::JoinedRecords);
        assert_eq!(joined.count(), 1);
    }
}
