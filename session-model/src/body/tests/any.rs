//! Whatever an entry holds, nothing of it is lost.

use proptest::prelude::*;
use proptest::sample::select;

use super::*;
use crate::json::JsonKind;

/// Names of fields somewhere in entries and messages, and others.
const NAMES: &[&str] = &[
    "type",
    "id",
    "parentId",
    "timestamp",
    "message",
    "role",
    "content",
    "text",
    "usage",
    "cost",
    "input",
    "total",
    "details",
    "files",
    "image",
    "tools",
    "systemPrompt",
    "serviceTier",
    "thinkingLevel",
    "model",
    "summary",
    "tokensBefore",
    "fromHook",
    "display",
    "isError",
    "data",
    "label",
    "injectedRules",
    "arguments",
    "new",
    "\\u0074ext",
    "\\ud800",
    "",
];

const LEAVES: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "7",
    "1.50",
    "-3",
    "1e2",
    "1e400",
    "9007199254740993",
    "\"\"",
    "\"x\"",
    "\"\\ud83d\\u00e9\"",
    "\"user\"",
    "\"assistant\"",
    "\"toolResult\"",
    "\"text\"",
    "\"fileMention\"",
    "\"toolCall\"",
    "\"priority\"",
    "{}",
    "[]",
];

fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    prop::collection::vec((select(NAMES), value), 0..8).prop_map(|fields| {
        let fields: Vec<_> = fields.iter().map(|(name, v)| format!("\"{name}\":{v}")).collect();
        format!("{{{}}}", fields.join(","))
    })
}

fn value() -> impl Strategy<Value = String> {
    select(LEAVES).prop_map(str::to_owned).prop_recursive(5, 40, 8, |inner| {
        prop_oneof![
            object(inner.clone()),
            prop::collection::vec(inner, 0..4).prop_map(|items| format!("[{}]", items.join(","))),
        ]
    })
}

/// An entry of a known type: the `type` in front is in force unless another follows.
pub(super) fn entry() -> impl Strategy<Value = String> {
    let types: Vec<_> = FULL.iter().map(|(name, _)| *name).collect();
    (select(types), object(value())).prop_map(|(entry_type, fields)| {
        format!(r#"{{"type":"{entry_type}",{}"#, &fields[1..]).replace(",}", "}")
    })
}

/// Tells whether JavaScript would read the same values.
fn same(a: &RawJson, b: &RawJson) -> bool {
    match (a.kind(), b.kind()) {
        (JsonKind::Object, JsonKind::Object) => same_fields(a, b, &[]),
        (JsonKind::Array, JsonKind::Array) => {
            let (a, b) = (a.as_array().unwrap(), b.as_array().unwrap());
            a.items().len() == b.items().len()
                && a.items().iter().zip(b.items()).all(|(a, b)| same(a, b))
        }
        (JsonKind::Number, JsonKind::Number) => a.as_f64() == b.as_f64(),
        (JsonKind::String, JsonKind::String) => a.as_text() == b.as_text(),
        _ => a == b,
    }
}

fn same_fields(a: &RawJson, b: &RawJson, but: &[&str]) -> bool {
    let (a, b) = (a.as_object().unwrap(), b.as_object().unwrap());
    a.fields().iter().chain(b.fields()).map(|field| field.name()).all(|name| {
        but.contains(&&*name)
            || matches!((a.get(&name), b.get(&name)), (Some(a), Some(b)) if same(a, b))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1_000, ..ProptestConfig::default() })]

    #[test]
    fn every_value_in_force_is_written_again(text in entry()) {
        let old = raw(&text);
        let body = EntryBody::from_json(&old);
        let new = body.to_entry_json("a", None, TIME);
        prop_assert_eq!(&RawJson::parse(new.as_bytes().clone()).unwrap(), &new);
        prop_assert!(same_fields(&old, &new, &["id", "parentId", "timestamp"]), "{} {}", old, new);
        if !matches!(body, EntryBody::Unknown(_)) {
            prop_assert_eq!(EntryBody::from_json(&new), body);
        }
    }

    #[test]
    fn any_value_is_read(text in value()) {
        let value = raw(&text);
        let body = EntryBody::from_json(&value);
        let message = Message::from_json(&value);
        prop_assert!(same(&message.to_json(), &value));
        let _ = (body.counted_usage(), message.timestamp());
    }
}
