//! Sources made at random: of likely records in unlikely order, and damaged.

#[path = "../../../session-model/fuzz/src/properties.rs"]
#[allow(dead_code, reason = "other tests use the rest")]
mod properties;

use proptest::prelude::*;
use session_context::import::{Conversion, Note, Tool};

use crate::support::{converted, document, records, reread, text};
use crate::{ours, walk_claude, walk_codex};

/// One of few ids, so that records often meet.
fn id() -> impl Strategy<Value = String> {
    (0..12_u8).prop_map(|n| format!("u{n}"))
}

fn parent() -> impl Strategy<Value = String> {
    prop_oneof![
        8 => id().prop_map(|id| format!("\"{id}\"")),
        1 => Just("null".to_owned()),
        1 => Just("\"nowhere\"".to_owned()),
    ]
}

fn words() -> impl Strategy<Value = String> {
    prop_oneof![
        Just("hello".to_owned()),
        Just("\\ud83d".to_owned()),
        Just("<environment_context>".to_owned()),
        Just(String::new()),
        "[a-z ]{0,12}",
    ]
}

fn claude_block() -> impl Strategy<Value = String> {
    let call =
        |n: u8| format!(r#"{{"type":"tool_use","id":"t{n}","name":"Bash","input":{{"n":{n}}}}}"#);
    let result = |(n, words): (u8, String)| {
        format!(r#"{{"type":"tool_result","tool_use_id":"t{n}","content":"{words}"}}"#)
    };
    prop_oneof![
        words().prop_map(|words| format!(r#"{{"type":"text","text":"{words}"}}"#)),
        words().prop_map(|words| format!(r#"{{"type":"thinking","thinking":"{words}"}}"#)),
        (0..4_u8).prop_map(call),
        (0..4_u8, words()).prop_map(result),
        Just(r#"{"type":"odd","x":[1.0]}"#.to_owned()),
    ]
}

fn claude_record() -> impl Strategy<Value = String> {
    let blocks = |role: &'static str| {
        let blocks = prop::collection::vec(claude_block(), 1..4);
        (id(), parent(), blocks, 0..3_u8, any::<bool>()).prop_map(
            move |(uuid, parent, blocks, answer, aside)| {
                let blocks: Vec<_> = blocks
                    .into_iter()
                    .filter(|b| (role == "user") == b.contains("tool_result") || b.contains("text"))
                    .collect();
                let message = format!(
                    r#"{{"role":"{role}","id":"m{answer}","model":"x","content":[{}]}}"#,
                    blocks.join(",")
                );
                let aside = aside && answer == 0;
                format!(
                    r#"{{"type":"{role}","uuid":"{uuid}","parentUuid":{parent},"isSidechain":{aside},"message":{message}}}"#
                )
            },
        )
    };
    let plain = |(uuid, parent, words)| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"message":{{"role":"user","content":"{words}"}}}}"#
        )
    };
    let other = |(uuid, parent): (String, String)| {
        format!(r#"{{"type":"progress","uuid":"{uuid}","parentUuid":{parent},"data":{{}}}}"#)
    };
    let summary = |(uuid, parent): (String, String)| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","parentUuid":{parent},"isCompactSummary":true,"message":{{"role":"user","content":"sum"}}}}"#
        )
    };
    prop_oneof![
        4 => blocks("user"),
        6 => blocks("assistant"),
        3 => (id(), parent(), words()).prop_map(plain),
        2 => (id(), parent()).prop_map(other),
        1 => (id(), parent()).prop_map(summary),
    ]
}

fn codex_record() -> impl Strategy<Value = String> {
    let item = |payload: String| {
        format!(
            r#"{{"timestamp":"2026-03-01T09:00:00Z","type":"response_item","payload":{payload}}}"#
        )
    };
    let message = |(who, words): (bool, String)| {
        let (role, kind) = if who { ("user", "input") } else { ("assistant", "output") };
        format!(
            r#"{{"type":"message","role":"{role}","content":[{{"type":"{kind}_text","text":"{words}"}}]}}"#
        )
    };
    let call = |n: u8| {
        format!(
            r#"{{"type":"function_call","call_id":"c{n}","name":"sh","arguments":"{{\"n\":{n}}}"}}"#
        )
    };
    let output = |(n, words): (u8, String)| {
        format!(r#"{{"type":"function_call_output","call_id":"c{n}","output":"{words}"}}"#)
    };
    let event = |(who, words): (bool, String)| {
        let kind = if who { "user_message" } else { "agent_message" };
        format!(r#"{{"type":"event_msg","payload":{{"type":"{kind}","message":"{words}"}}}}"#)
    };
    let compacted =
        |words| format!(r#"{{"type":"compacted","payload":{{"message":"sum {words}"}}}}"#);
    let words = || "[a-c]{1,2}";
    prop_oneof![
        4 => (any::<bool>(), words()).prop_map(message).prop_map(item),
        3 => (0..4_u8).prop_map(call).prop_map(item),
        3 => (0..4_u8, words()).prop_map(output).prop_map(item),
        3 => (any::<bool>(), words()).prop_map(event),
        1 => words().prop_map(compacted),
    ]
}

fn ids(conversion: &Conversion) -> Vec<String> {
    conversion.entries.iter().filter_map(|entry| text(entry, "id")).collect()
}

/// The same records, those that name a later one as roots: no tool writes a child first.
fn without_later_parents(lines: Vec<String>) -> Vec<String> {
    let mut seen = Vec::new();
    let mut earlier = |line: String| {
        let record = &records(line.as_bytes())[0];
        let parent = text(record, "parentUuid").filter(|parent| !seen.contains(parent));
        let line = match parent {
            Some(parent) => {
                line.replace(&format!("\"parentUuid\":\"{parent}\""), "\"parentUuid\":null")
            }
            None => line,
        };
        seen.extend(text(record, "uuid"));
        line
    };
    lines.into_iter().map(&mut earlier).collect()
}

/// Cuts, and bytes that stand where others were.
fn damaged(lines: Vec<String>, at: Vec<(usize, u8)>) -> Vec<u8> {
    let mut source = lines.join("\n").into_bytes();
    let len = source.len().max(1);
    for (place, byte) in at {
        if let Some(there) = source.get_mut(place % len) {
            *there = byte;
        }
    }
    source
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(128) })]

    #[test]
    fn claude_sources_say_the_same_in_the_same_order(
        lines in prop::collection::vec(claude_record(), 1..25),
    ) {
        let source = lines.join("\n").into_bytes();
        let conversion = converted(Tool::Claude, &source);
        let ours = ours::walk(&document(&conversion));
        let kept = walk_claude::walk(&records(&source));
        let want: Vec<_> = kept.iter().flat_map(|record| record.said.clone()).collect();
        prop_assert_eq!(ours.iter().map(|(said, _)| said.clone()).collect::<Vec<_>>(), want);
        let places = kept.iter().scan(0, |end, record| {
            *end += record.said.len();
            Some(*end - 1)
        });
        let places: Vec<usize> = places.collect();
        if !conversion.report.notes().contains_key(&Note::ParallelJoined) {
            for (record, last) in kept.iter().zip(&places) {
                let after = ours[last + 1 - record.said.len()].1;
                prop_assert_eq!(after, record.parent.map(|parent| places[parent]));
            }
        }
        properties::import_claude(&source);
    }

    #[test]
    fn codex_sources_say_the_same_in_the_same_order(
        lines in prop::collection::vec(codex_record(), 1..25),
    ) {
        let source = lines.join("\n").into_bytes();
        let ours = ours::path(&reread(&document(&converted(Tool::Codex, &source))));
        prop_assert_eq!(ours, walk_codex::walk(&records(&source)));
        properties::import_codex(&source);
    }

    #[test]
    fn a_source_that_grows_keeps_its_entries(
        lines in prop::collection::vec(claude_record(), 1..25), cut in 0..25_usize,
    ) {
        let lines = without_later_parents(lines);
        let whole = ids(&converted(Tool::Claude, lines.join("\n").as_bytes()));
        let cut = cut.min(lines.len());
        let part = ids(&converted(Tool::Claude, lines[..cut].join("\n").as_bytes()));
        prop_assert_eq!(&whole[..part.len()], &part[..]);
    }

    #[test]
    fn damage_never_stops_an_import(
        claude in prop::collection::vec(claude_record(), 1..10),
        codex in prop::collection::vec(codex_record(), 1..10),
        at in prop::collection::vec((any::<usize>(), any::<u8>()), 0..20),
    ) {
        properties::import_claude(&damaged(claude, at.clone()));
        properties::import_codex(&damaged(codex, at));
    }
}
