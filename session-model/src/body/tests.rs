//! Every entry type, read and written.

use super::*;
use crate::record::Nullable;

const TIME: &str = "2026-03-01T09:00:00.000Z";

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).unwrap()
}

/// The entry with these body fields, in the order it is stored.
fn line(entry_type: &str, fields: &str) -> String {
    let envelope = format!(r#""id":"a1b2c3d4","parentId":"00000001","timestamp":"{TIME}""#);
    let parts = match entry_type {
        "custom" | "custom_message" => [fields, &envelope],
        _ => [&envelope, fields],
    };
    let parts: Vec<_> = parts.into_iter().filter(|part| !part.is_empty()).collect();
    format!(r#"{{"type":"{entry_type}",{}}}"#, parts.join(","))
}

fn body(entry_type: &str, fields: &str) -> EntryBody {
    EntryBody::from_json(&raw(&line(entry_type, fields)))
}

fn assert_round_trip(entry_type: &str, fields: &str) {
    let want = line(entry_type, fields);
    let body = EntryBody::from_json(&raw(&want));
    assert_eq!(body.entry_type(), entry_type);
    assert_eq!(body.to_entry_json("a1b2c3d4", Some("00000001"), TIME).as_str(), want);
}

/// All types, with all their fields in the order they are stored.
const FULL: &[(&str, &str)] = &[
    ("message", r#""message":{"role":"user","content":"hi","timestamp":1772355600000}"#),
    ("thinking_level_change", r#""thinkingLevel":"high","configured":"auto:high""#),
    ("model_change", r#""model":"acme/big","role":"smol","resolvedModelIsFallback":true"#),
    (
        "service_tier_change",
        r#""serviceTier":{"openai":"flex","anthropic":"priority","google":"x"}"#,
    ),
    (
        "compaction",
        r#""summary":"S","shortSummary":"s","firstKeptEntryId":"00000001","tokensBefore":42000,"tokensAfter":900,"method":"remote","providerReplayThroughEntryId":"00000002","details":{"readFiles":["a"]},"fromExtension":false,"preserveData":{"k":1.0},"warning":"short""#,
    ),
    ("branch_summary", r#""fromId":"root","summary":"","details":[1],"fromExtension":true"#),
    ("reset_boundary", ""),
    ("custom", r#""customType":"ext","data":{"b":1,"a":[2.50]}"#),
    (
        "custom_message",
        r#""customType":"ext","content":[{"type":"text","text":"t"}],"display":true,"details":null,"attribution":"agent""#,
    ),
    ("label", r#""targetId":"00000001","label":"mark""#),
    ("title_change", r#""title":"New","previousTitle":"Old","source":"auto","trigger":"first""#),
    ("ttsr_injection", r#""injectedRules":["r1","r1","r2"]"#),
    ("credential_pin", r#""provider":"acme","hash":"9f""#),
    (
        "session_init",
        r#""systemPrompt":["a","b"],"task":"do","tools":["read"],"outputSchema":{"type":"object"},"agent":"scout","spawns":"*""#,
    ),
    ("mode_change", r#""mode":"plan","data":{"planFile":"/p.md"}"#),
    (
        "model_usage",
        r#""purpose":"title","role":"smol","api":"chat","provider":"acme","model":"small","usage":{"input":1,"output":2,"cacheRead":3,"cacheWrite":4,"cost":{"input":0.5,"output":0,"cacheRead":0,"cacheWrite":0,"total":0.5}},"stopReason":"error","errorMessage":"busy""#,
    ),
    ("archive", r#""targetId":"00000001","archived":true"#),
    ("mcp_tool_selection", r#""selectedToolNames":["a","b"]"#),
    ("context_change", r#""contextName":"prod","tenant":"acme","namespace":"default""#),
    ("session_info", r#""name":"A title""#),
    ("quantum_change", r#""z":1.0,"a":{"type":"x"}"#),
];

#[test]
fn every_type_keeps_every_field() {
    for (entry_type, fields) in FULL {
        assert_round_trip(entry_type, fields);
        let comma = if fields.is_empty() { "" } else { "," };
        assert_round_trip(entry_type, &format!("{fields}{comma}\"new\\u0020field\":{{\"x\":1e2}}"));
    }
}

#[test]
fn every_known_type_is_typed_and_reads_all_its_fields() {
    for (entry_type, fields) in FULL.iter().filter(|(name, _)| *name != "quantum_change") {
        let body = body(entry_type, fields);
        assert!(!matches!(body, EntryBody::Unknown(_)), "{entry_type}");
    }
}

#[test]
fn what_is_missing_or_odd_stays_so() {
    for (entry_type, fields) in FULL {
        assert_round_trip(entry_type, "");
        let view = raw(&format!("{{{fields}}}")).as_object().unwrap();
        for odd in ["null", "7.50", "\"text\"", "[[]]", "{\"deep\":{}}", "true"] {
            let fields: Vec<_> =
                view.fields().iter().map(|f| format!("{}:{odd}", f.raw_name())).collect();
            assert_round_trip(entry_type, &fields.join(","));
        }
    }
}

#[test]
fn thinking_level_is_off_unless_given() {
    let level = |fields| match body("thinking_level_change", fields) {
        EntryBody::ThinkingLevelChange(change) => change,
        other => panic!("{other:?}"),
    };
    assert_eq!(level(r#""thinkingLevel":"high""#).level(), "high");
    assert_eq!(level(r#""thinkingLevel":null"#).level(), "off");
    assert_eq!(level("").level(), "off");
    assert_eq!(level(r#""thinkingLevel":null"#).thinking_level, Nullable::Null);
    assert_eq!(level("").thinking_level, Nullable::Absent);
}
