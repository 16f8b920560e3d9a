//! Whatever a file holds, it is written back byte for byte, and edits touch only their fields.
#![allow(clippy::expect_used, reason = "a test")]

use proptest::prelude::*;
use session_model::TitleSlot;
use session_model::document::{LoadOptions, SessionDocument};
use session_model::json::{ObjectEdit, RawJson};

/// JSON text of any shape, spelled in any way.
fn json_text() -> impl Strategy<Value = String> {
    let number = prop_oneof![
        Just("1.0".to_owned()),
        Just("-0".to_owned()),
        Just("1E400".to_owned()),
        Just("12345678901234567890".to_owned()),
        any::<i32>().prop_map(|n| n.to_string()),
    ];
    let string = prop_oneof![
        Just(r#""\ud800""#.to_owned()),
        Just(r#""\u00e9\/\u0041\ud83d\ude00""#.to_owned()),
        Just("\"\u{2028}\u{85}\u{7f}\"".to_owned()),
        "[a-z \\PC]{0,8}".prop_map(|s| RawJson::string(&s).to_string()),
    ];
    let leaf = prop_oneof![number, string, Just("null".to_owned()), Just("true".to_owned())];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let key = prop_oneof![Just("dup".to_owned()), "[a-z0-9]{1,3}"];
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4)
                .prop_map(|v| format!("[ {} ]", v.join(" , "))),
            prop::collection::vec((key, inner), 0..4).prop_map(|fields| {
                let fields: Vec<_> = fields.iter().map(|(k, v)| format!("\"{k}\" :{v}")).collect();
                format!("{{{}}}", fields.join(","))
            }),
        ]
    })
}

fn entry_line() -> impl Strategy<Value = String> {
    let id =
        prop_oneof!["[a-f]".prop_map(|id| format!("\"{id}\"")), Just("7".to_owned()), json_text()];
    let kind = prop_oneof![Just("message"), Just("label"), Just("compaction"), Just("new_kind")];
    (kind, id.clone(), id, json_text()).prop_map(|(kind, id, parent, body)| {
        format!(
            r#"{{"type":"{kind}","id":{id},"parentId":{parent},"message":{body},"targetId":"a"}}"#
        )
    })
}

fn line() -> impl Strategy<Value = Vec<u8>> {
    let end = prop_oneof![Just("\n"), Just("\r\n"), Just(" \n"), Just("")];
    let text = prop_oneof![
        6 => entry_line(),
        1 => (entry_line(), 0usize..60).prop_map(|(l, n)| l.chars().take(n).collect()),
        1 => json_text(),
        1 => Just(String::new()),
        1 => Just("\0\0\0".to_owned()),
    ];
    let bytes = prop_oneof![
        9 => text.prop_map(String::into_bytes),
        1 => prop::collection::vec(any::<u8>(), 0..20),
    ];
    (bytes, end).prop_map(|(mut bytes, end)| {
        bytes.extend_from_slice(end.as_bytes());
        bytes
    })
}

fn file() -> impl Strategy<Value = Vec<u8>> {
    let header = prop_oneof![
        Just(r#"{"type":"session","version":3,"id":"s","cwd":"/w","new":1.0}"#),
        Just(r#"{"type":"session","id":"s"}"#),
        Just(r#"{ "id" : "s", "type":"session" , "version" : 2 } tail"#),
    ];
    let slot = TitleSlot { title: "T".into(), source: None, updated_at: "t".into() }.to_line();
    let before = prop_oneof![
        3 => Just(Vec::new()),
        1 => Just("\u{feff}".into()),
        1 => Just(b" \r\n\n".into()),
        1 => Just(b"\0\0\n".into()),
        1 => Just(slot.clone()),
        1 => Just([b"\xef\xbb\xbf", &*slot].concat()),
    ];
    let lines = prop::collection::vec(line(), 0..12);
    (before, header, lines).prop_map(|(before, header, lines)| {
        let mut file: Vec<u8> = [&before, header.as_bytes()].concat();
        file.push(b'\n');
        lines.iter().for_each(|line| file.extend_from_slice(line));
        file
    })
}

fn load(file: Vec<u8>) -> SessionDocument {
    let loaded = SessionDocument::load(file.into(), &LoadOptions::default());
    loaded.expect("the header is valid").document
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_file_is_written_back_as_it_was(file in file()) {
        let document = load(file.clone());
        prop_assert_eq!(document.to_payload().to_bytes(), file);
        for node in document.tree().nodes() {
            let path = document.tree().path_to(node);
            prop_assert_eq!(path.last(), Some(&node));
        }
        let rows = document.tree().rows(Default::default());
        let mut shown: Vec<_> = rows.iter().map(|row| row.node).collect();
        shown.sort();
        prop_assert_eq!(shown, document.tree().nodes().collect::<Vec<_>>());
        RawJson::parse(document.tree().rows_json(&rows)).unwrap();
    }

    #[test]
    fn any_bytes_load_or_say_why_not(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        let _ = SessionDocument::load(bytes.into(), &LoadOptions::default());
    }

    #[test]
    fn an_appended_entry_is_found_after_reading_the_file_again(file in file(), line in entry_line()) {
        let mut document = load(file);
        let entry = session_model::Entry::from_json(&RawJson::parse(line).unwrap()).unwrap();
        let before = document.tree().len();
        document.push(entry.clone());
        let again = load(document.to_payload().to_bytes().to_vec());
        prop_assert!(again.tree().len() > before);
        prop_assert_eq!(again.tree().entries().last().unwrap().json(), entry.json());
    }

    #[test]
    fn an_edit_leaves_every_other_field_as_spelled(object in json_text(), value in json_text(), name in "[a-z0-9]{1,3}") {
        let object = RawJson::parse(object).unwrap();
        let value = RawJson::parse(value).unwrap();
        let Some(before) = object.as_object() else { return Ok(()) };
        let set = ObjectEdit::new().set(name.as_str(), &value).apply(&object).unwrap();
        let after = RawJson::parse(set.as_bytes().clone()).unwrap().as_object().unwrap();
        prop_assert_eq!(after.get(&name), Some(&value));
        let gone = ObjectEdit::new().remove(name.as_str()).apply(&object).unwrap();
        let gone = RawJson::parse(gone.as_bytes().clone()).unwrap().as_object().unwrap();
        let others: Vec<_> = before.fields().iter().filter(|f| f.name() != name).cloned().collect();
        prop_assert_eq!(gone.fields(), &others[..]);
        let kept: Vec<_> = after.fields().iter().filter(|f| f.name() != name).cloned().collect();
        prop_assert_eq!(kept, others);
    }
}
