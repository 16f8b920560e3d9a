//! Every entry type, read and written.

mod any;
mod made;

use super::*;
use crate::entry::EntryKind;
use crate::message::{Content, ContentBlock, UsageTotals};
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

fn read(entry_type: &str, fields: &str) -> EntryBody {
    EntryBody::from_json(&raw(&line(entry_type, fields)))
}

fn written(body: impl Into<EntryBody>) -> String {
    body.into().to_entry_json("a1b2c3d4", Some("00000001"), TIME).to_string()
}

/// Reads the entry as the type of one variant.
macro_rules! read_as {
    ($variant:ident, $fields:expr) => {
        match read(EntryBody::$variant(Default::default()).entry_type(), $fields) {
            EntryBody::$variant(record) => record,
            other => panic!("{other:?}"),
        }
    };
}

/// All types, with all their fields in the order they are stored.
const FULL: &[(&str, &str)] = &[
    ("message", r#""message":{"role":"user","content":"hi","timestamp":1772355600000}"#),
    ("thinking_level_change", r#""thinkingLevel":"high","configured":"auto:high""#),
    (
        "model_change",
        r#""model":"acme/big","role":"smol","resolvedModelIsFallback":true,"provider":"acme","modelId":"big""#,
    ),
    (
        "service_tier_change",
        r#""serviceTier":{"openai":"flex","anthropic":"priority","google":"x"}"#,
    ),
    (
        "compaction",
        r#""summary":"S","shortSummary":"s","firstKeptEntryId":"00000001","tokensBefore":42000,"tokensAfter":900,"method":"remote","providerReplayThroughEntryId":"00000002","details":{"readFiles":["a"]},"fromExtension":false,"fromHook":true,"preserveData":{"k":1.0},"warning":"short""#,
    ),
    (
        "branch_summary",
        r#""fromId":"root","summary":"","details":[1],"fromExtension":true,"fromHook":true"#,
    ),
    ("reset_boundary", ""),
    ("custom", r#""customType":"ext","data":{"b":1,"a":[2.50]}"#),
    (
        "custom_message",
        r#""customType":"ext","content":[{"type":"text","text":"t"}],"display":true,"details":{"n":1.0},"attribution":"agent""#,
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
fn every_known_type_is_typed() {
    let typed: Vec<_> = FULL
        .iter()
        .filter(|(name, fields)| !matches!(read(name, fields), EntryBody::Unknown(_)))
        .map(|(name, _)| *name)
        .collect();
    let known: Vec<_> = EntryKind::KNOWN.iter().filter_map(|kind| kind.as_str()).collect();
    assert_eq!(typed, known);
}

#[test]
fn every_type_keeps_every_field() {
    for (entry_type, fields) in FULL {
        let comma = if fields.is_empty() { "" } else { "," };
        let more = format!("\"new\\u0020field\":{{\"x\":1e2}}{comma}{fields}");
        for fields in [*fields, &more] {
            let body = read(entry_type, fields);
            assert_eq!(body.entry_type(), *entry_type);
            assert_eq!(written(body), line(entry_type, fields));
        }
    }
}

#[test]
fn what_is_missing_or_odd_stays_so() {
    for (entry_type, fields) in FULL {
        assert_eq!(written(read(entry_type, "")), line(entry_type, ""));
        let view = raw(&format!("{{{fields}}}")).as_object().unwrap();
        for odd in ["null", "7.5", "\"text\"", "[[]]", "{\"deep\":{}}", "true"] {
            let odd_fields: Vec<_> =
                view.fields().iter().map(|field| format!("{}:{odd}", field.raw_name())).collect();
            let odd_fields = odd_fields.join(",");
            assert_eq!(written(read(entry_type, &odd_fields)), line(entry_type, &odd_fields));
        }
    }
}

#[test]
fn any_depth_passes() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    for (entry_type, name) in [
        ("message", "message"),
        ("thinking_level_change", "thinkingLevel"),
        ("service_tier_change", "serviceTier"),
        ("custom", "data"),
        ("custom_message", "content"),
        ("session_init", "systemPrompt"),
        ("model_usage", "usage"),
        ("quantum_change", "more"),
    ] {
        let fields = format!("\"{name}\":{deep}");
        assert!(written(read(entry_type, &fields)) == line(entry_type, &fields), "{entry_type}");
    }
}

#[test]
fn new_entries_have_the_stored_form() {
    assert_eq!(
        written(Message::user("hi", 5)),
        line("message", r#""message":{"role":"user","content":"hi","timestamp":5}"#)
    );
    let compaction = Compaction {
        summary: "S".into(),
        first_kept_entry_id: "00000001".into(),
        tokens_before: 10,
        ..Default::default()
    };
    assert_eq!(
        written(compaction),
        line("compaction", r#""summary":"S","firstKeptEntryId":"00000001","tokensBefore":10"#)
    );
    assert_eq!(
        written(CustomMessageEntry::new("ext", "hello", true, None)),
        line(
            "custom_message",
            r#""customType":"ext","content":"hello","display":true,"attribution":"agent""#
        )
    );
    let level = |thinking_level| ThinkingLevelChange { thinking_level, ..Default::default() };
    assert_eq!(written(level(Nullable::Absent)), line("thinking_level_change", ""));
    assert_eq!(
        written(level(Nullable::Null)),
        line("thinking_level_change", r#""thinkingLevel":null"#)
    );
    assert_eq!(
        written(Label { target_id: "00000001".into(), ..Default::default() }),
        line("label", r#""targetId":"00000001""#)
    );
    let root = EntryBody::from(ResetBoundary::default()).to_entry_json("a", None, TIME);
    let want =
        format!(r#"{{"type":"reset_boundary","id":"a","parentId":null,"timestamp":"{TIME}"}}"#);
    assert_eq!(root.as_str(), want);
}

#[test]
fn an_unknown_entry_changes_only_its_envelope() {
    let old = r#"{ "z":1.0, "type":"x", "id":"old", "a":[ 1 ],"timestamp":"t" }"#;
    let body = EntryBody::from_json(&raw(old));
    assert_eq!(body, EntryBody::Unknown(Unknown { tag: "x".into(), raw: raw(old) }));
    let want = format!(
        r#"{{"z":1.0,"type":"x","id":"a1b2c3d4","a":[1],"timestamp":"{TIME}","parentId":"00000001"}}"#
    );
    assert_eq!(written(body), want);
    let odd = |tag: &str, text: &str| {
        written(EntryBody::Unknown(Unknown { tag: tag.into(), raw: raw(text) }))
    };
    assert_eq!(odd("", r#"{"type":7}"#), line("", "").replace("\"\"", "7"));
    assert_eq!(odd("y", r#"{"type":"x"}"#), line("y", ""));
    assert_eq!(odd("y", "[]"), line("y", ""));
}

#[test]
fn thinking_level_is_off_unless_given() {
    assert_eq!(read_as!(ThinkingLevelChange, r#""thinkingLevel":"high""#).level(), "high");
    assert_eq!(read_as!(ThinkingLevelChange, r#""thinkingLevel":null"#).level(), "off");
    assert_eq!(read_as!(ThinkingLevelChange, r#""thinkingLevel":3"#).level(), "off");
    assert_eq!(read_as!(ThinkingLevelChange, "").level(), "off");
}

#[test]
fn models_are_read_in_both_spellings() {
    let cases = [
        (r#""model":"acme/big""#, Some("acme/big"), "default"),
        (
            r#""model":"acme/big","role":"smol","provider":"x","modelId":"y""#,
            Some("acme/big"),
            "smol",
        ),
        (r#""provider":"acme","modelId":"a/b""#, Some("acme/a/b"), "default"),
        (r#""model":"","role":"""#, None, ""),
        (r#""provider":"acme""#, None, "default"),
        (r#""provider":"","modelId":"b""#, None, "default"),
    ];
    for (fields, model, role) in cases {
        let change = read_as!(ModelChange, fields);
        assert_eq!((change.model_ref().as_deref(), change.role_or_default()), (model, role));
    }
}

#[test]
fn tiers_are_read_in_both_forms() {
    let tiers = |openai: &str, anthropic: &str, google: &str| {
        let tier = |text: &str| (!text.is_empty()).then(|| text.to_owned());
        ServiceTiers {
            openai: tier(openai),
            anthropic: tier(anthropic),
            google: tier(google),
            ..Default::default()
        }
    };
    let cases = [
        ("\"priority\"", tiers("priority", "priority", "priority")),
        ("\"openai-only\"", tiers("priority", "", "")),
        ("\"claude-only\"", tiers("", "priority", "")),
        ("\"auto\"", tiers("auto", "", "")),
        ("\"default\"", tiers("default", "", "")),
        ("\"flex\"", tiers("flex", "", "")),
        ("\"scale\"", tiers("scale", "", "")),
        ("\"other\"", tiers("", "", "")),
        (r#"{"anthropic":"priority","google":"x"}"#, tiers("", "priority", "x")),
        ("null", tiers("", "", "")),
        ("7", tiers("", "", "")),
    ];
    for (value, want) in cases {
        let change = read_as!(ServiceTierChange, &format!("\"serviceTier\":{value}"));
        assert_eq!(change.tiers(), want, "{value}");
    }
}

#[test]
fn views_even_out_old_and_odd_forms() {
    let prompts = |fields| read_as!(SessionInit, fields).system_prompts().to_vec();
    assert_eq!(prompts(r#""systemPrompt":"a""#), ["a"]);
    assert_eq!(prompts(r#""systemPrompt":["a","b"]"#), ["a", "b"]);
    assert_eq!(prompts(""), Vec::<String>::new());
    assert_eq!(read_as!(Label, r#""label":"x""#).label(), Some("x"));
    assert_eq!(read_as!(Label, r#""label":"""#).label(), None);
    assert_eq!(read_as!(Label, "").label(), None);
    assert_eq!(read_as!(ModeChange, r#""mode":"plan""#).mode_or_none(), "plan");
    assert_eq!(read_as!(ModeChange, "").mode_or_none(), "none");
    for (fields, want) in [
        (r#""fromHook":true"#, true),
        (r#""fromExtension":false,"fromHook":true"#, false),
        ("", false),
    ] {
        assert_eq!(read_as!(Compaction, fields).is_from_extension(), want);
        assert_eq!(read_as!(BranchSummary, fields).is_from_extension(), want);
    }
    let message = read_as!(CustomMessage, r#""content":[{"type":"text","text":"t"}]"#);
    assert_eq!(message.content, Content::Blocks(vec![ContentBlock::text("t")]));
}

#[test]
fn usage_of_answers_tasks_and_side_requests_counts() {
    let usage = r#""usage":{"input":2,"cost":{"total":0.5}}"#;
    let message = |text: String| read("message", &format!("\"message\":{text}"));
    let bodies = [
        message(format!(r#"{{"role":"assistant",{usage}}}"#)),
        message(format!(r#"{{"role":"toolResult","toolName":"task","details":{{{usage}}}}}"#)),
        message(format!(r#"{{"role":"toolResult","toolName":"bash","details":{{{usage}}}}}"#)),
        message(format!(r#"{{"role":"user",{usage}}}"#)),
        message(r#"{"role":"assistant","usage":null}"#.into()),
        read("model_usage", usage),
        read("other", usage),
    ];
    let counted: Vec<_> = bodies.iter().map(|body| body.counted_usage().is_some()).collect();
    assert_eq!(counted, [true, true, false, false, false, true, false]);
    let mut totals = UsageTotals::default();
    bodies.iter().filter_map(EntryBody::counted_usage).for_each(|usage| totals.add(&usage));
    assert_eq!((totals.input, totals.cost), (6, 1.5));
}
