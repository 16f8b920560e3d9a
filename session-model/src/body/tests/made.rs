//! However an entry is made, it is the same.

use proptest::prelude::*;
use proptest::sample::select;

use super::any::entry;
use super::*;
use crate::Entry;
use crate::entry::NewEntries;
use crate::persisted::{ImagePolicy, OversizePolicy, PersistOptions};

/// Messages that are written in another form, or look as if they might be.
fn bulky() -> Vec<String> {
    let (image, word) = ("QUJD".repeat(300), "an image of a cat ".repeat(70));
    let content = [
        format!("\"{word}\""),
        format!("\"{}\"", "x".repeat(500_001)),
        format!("[{{\"type\":\"image\",\"data\":\"{image}\",\"mimeType\":\"image/png\"}}]"),
        "[{\"type\":\"image\",\"data\":\"QUJD\",\"mimeType\":\"image/png\"}]".to_owned(),
        format!("[{{\"image_url\":\"data:image/png;base64,{image}\"}}]"),
        format!("[{{\"type\":\"text\",\"text\":\"{word}\",\"jsonlEvents\":[1]}}]"),
        "[{\"type\":\"toolCall\",\"id\":\"c\",\"name\":\"n\",\"arguments\":{\"a\": [ 1.0 ]},\"partialJson\":\"{\"}]".to_owned(),
        "\"it says partialJson\"".to_owned(),
        "\"\\ud83d \\u0000 \\\" \\\\ \u{2028}\"".to_owned(),
    ];
    let roles = ["user", "assistant", "toolResult", "custom", "\\ud800", "new"];
    let message = |(role, content): (&str, &String)| {
        format!(
            r#"{{"type":"message","message":{{"role":"{role}","content":{content},"\ud800":1,"timestamp":5}}}}"#
        )
    };
    roles.iter().flat_map(|&role| content.iter().map(move |c| (role, c))).map(message).collect()
}

fn options() -> impl Strategy<Value = PersistOptions> {
    (
        select(&[ImagePolicy::Blob, ImagePolicy::Inline]),
        select(&[OversizePolicy::Cut, OversizePolicy::Blob]),
    )
        .prop_map(|(images, oversize)| PersistOptions { images, oversize })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 200, ..ProptestConfig::default() })]

    #[test]
    fn entries_made_in_one_buffer_are_those_made_one_by_one(
        texts in prop::collection::vec(prop_oneof![entry(), select(bulky())], 1..5),
        parent in select(&[None, Some("p"), Some("q\"\u{1}")]),
        options in options(),
    ) {
        let (mut made, mut want) = (NewEntries::default(), Vec::new());
        for (at, text) in texts.iter().enumerate() {
            let (body, id) = (EntryBody::from_json(&raw(text)), format!("é{at}"));
            let json = body.to_entry_json(&id, parent, TIME);
            let one = Entry::with_persisted_form(&json, &options);
            prop_assert_eq!(made.add(&body, &id, parent, TIME, &options), one.is_some());
            want.extend(one);
        }
        let (lines, entries) = made.take();
        prop_assert_eq!(&lines, &want.iter().flat_map(|entry| entry.line().to_vec()).collect::<Vec<_>>());
        prop_assert!(made.take().0.is_empty());
        prop_assert_eq!(entries.len(), want.len());
        for (entry, want) in entries.iter().zip(&want) {
            prop_assert_eq!(entry.line(), want.line());
            prop_assert_eq!(entry.json(), want.json());
            prop_assert_eq!((entry.kind(), entry.entry_type()), (want.kind(), want.entry_type()));
            prop_assert_eq!((entry.id(), entry.parent()), (want.id(), want.parent()));
            prop_assert_eq!(entry.timestamp(), want.timestamp());
            prop_assert_eq!((entry.is_shortened(), entry.blobs()), (want.is_shortened(), want.blobs()));
        }
    }
}
