//! Whatever the tree: nothing panics, plain contexts follow the rules, safe ones are sound.

use std::collections::HashSet;

use proptest::prelude::*;
use session_context::context::{PendingCalls, SafetyOptions, model_safe};
use session_model::message::Message;

use super::*;

/// What an entry of a random session is.
#[derive(Clone, Debug)]
enum Kind {
    Message(String),
    Custom { reminder: bool },
    BranchSummary(&'static str),
    Compaction { first_kept: usize, history: bool, through: usize },
    Reset,
    Model { role: &'static str, model: u8 },
    Answer(u8),
    Progress,
}

/// An entry, and the number of the one it hangs from; beyond the end is an unknown parent.
#[derive(Clone, Debug)]
struct Spec {
    parent: Option<usize>,
    kind: Kind,
}

const MOST: usize = 20;

fn random_message() -> impl Strategy<Value = String> {
    let id = || prop_oneof![4 => Just("1"), 4 => Just("2"), 1 => Just(""), 1 => Just(r"\ud800")];
    let block = prop_oneof![
        3 => id().prop_map(call),
        1 => Just(text("t")),
        1 => Just(r#"{"type":"toolCall","id":7}"#.to_owned()),
        1 => Just(r#"{"type":"redactedThinking","data":"d"}"#.to_owned()),
        1 => Just("null".to_owned()),
    ];
    let stop = prop_oneof![6 => Just("toolUse"), 1 => Just("error"), 1 => Just("aborted")];
    let answer = (stop, prop::collection::vec(block, 0..4)).prop_map(|(stop, blocks)| {
        let blocks: Vec<_> = blocks.iter().map(|block| &**block).collect();
        assistant(stop, &blocks)
    });
    prop_oneof![
        5 => answer,
        5 => id().prop_map(|id| result(id, "r")),
        2 => Just(user("u")),
        1 => Just(r#"{"role":"assistant","content":"text"}"#.to_owned()),
        1 => Just(r#"{"role":"toolResult"}"#.to_owned()),
        1 => Just(r#"{"role":7,"content":null}"#.to_owned()),
        1 => Just(r#"{"role":"bashExecution"}"#.to_owned()),
    ]
}

fn kind() -> impl Strategy<Value = Kind> {
    let model = (prop_oneof![Just("default"), Just("slow"), Just("plan")], 0u8..3);
    prop_oneof![
        8 => random_message().prop_map(Kind::Message),
        2 => (0u8..3).prop_map(Kind::Answer),
        2 => model.prop_map(|(role, model)| Kind::Model { role, model }),
        1 => any::<bool>().prop_map(|reminder| Kind::Custom { reminder }),
        1 => prop_oneof![Just(""), Just("B")].prop_map(Kind::BranchSummary),
        1 => (0..MOST, any::<bool>(), 0..MOST).prop_map(|(first_kept, history, through)| {
            Kind::Compaction { first_kept, history, through }
        }),
        1 => Just(Kind::Reset),
        1 => Just(Kind::Progress),
    ]
}

/// Mostly chains; some branches, unknown parents, cycles.
fn session() -> impl Strategy<Value = Vec<Spec>> {
    let parent = prop_oneof![8 => Just(None), 1 => (0..MOST + 2).prop_map(Some)];
    prop::collection::vec((parent, kind()), 1..MOST).prop_map(|entries| {
        let spec = |(at, (parent, kind)): (usize, (Option<usize>, Kind))| Spec {
            parent: parent.or_else(|| at.checked_sub(1)),
            kind,
        };
        entries.into_iter().enumerate().map(spec).collect()
    })
}

fn answer(model: u8) -> String {
    format!(r#"{{"role":"assistant","content":[],"provider":"p","model":"{model}"}}"#)
}

fn custom_type(reminder: bool) -> &'static str {
    if reminder { "checkpoint-active-reminder" } else { "note" }
}

fn spelled(at: usize, spec: &Spec, id: &str) -> String {
    let parent = spec.parent.map_or_else(|| "-".to_owned(), |parent| format!("e{parent}"));
    let entry = |entry_type, fields: &str| line(entry_type, id, &parent, fields);
    match &spec.kind {
        Kind::Message(json) => message(id, &parent, json),
        Kind::Answer(model) => message(id, &parent, &answer(*model)),
        Kind::Custom { reminder } => {
            let custom_type = custom_type(*reminder);
            let fields =
                format!(r#""customType":"{custom_type}","content":"c{at}","display":true"#);
            entry("custom_message", &fields)
        }
        Kind::BranchSummary(summary) => {
            entry("branch_summary", &format!(r#""fromId":"root","summary":"{summary}""#))
        }
        Kind::Compaction { first_kept, history, through } => {
            let provider = if *history { "p" } else { "" };
            entry(
                "compaction",
                &format!(
                    r#""summary":"S{at}","firstKeptEntryId":"e{first_kept}","tokensBefore":1,"providerReplayThroughEntryId":"e{through}","preserveData":{{"openaiRemoteCompaction":{{"provider":"{provider}","replacementHistory":[]}}}}"#
                ),
            )
        }
        Kind::Reset => entry("reset_boundary", ""),
        Kind::Model { role, model } => {
            entry("model_change", &format!(r#""model":"m/{model}","role":"{role}""#))
        }
        Kind::Progress => entry("progress", r#""message":{"role":"user"}"#),
    }
}

/// What an entry says by itself.
fn said(at: usize, spec: &Spec) -> Option<String> {
    match &spec.kind {
        Kind::Message(json) => Some(json.clone()),
        Kind::Answer(model) => Some(answer(*model)),
        Kind::Custom { reminder } => Some(format!(
            r#"{{"role":"custom","customType":"{}","content":"c{at}","display":true,"timestamp":{TIME_MS}}}"#,
            custom_type(*reminder)
        )),
        Kind::BranchSummary(summary) if !summary.is_empty() => Some(format!(
            r#"{{"role":"branchSummary","summary":"{summary}","fromId":"root","timestamp":{TIME_MS}}}"#
        )),
        _ => None,
    }
}

/// The path by the book: from the leaf up, until a parent is unknown or comes again.
fn path_of(specs: &[Spec], leaf: usize) -> Vec<usize> {
    let (mut path, mut next) = (Vec::new(), Some(leaf));
    while let Some(at) = next.filter(|at| *at < specs.len() && !path.contains(at)) {
        path.push(at);
        next = specs[at].parent;
    }
    path.reverse();
    path
}

/// The plain form by the book.
fn plain_by_the_book(specs: &[Spec], path: &[usize]) -> Vec<String> {
    let said = |part: &[usize]| -> Vec<String> {
        part.iter().filter_map(|&at| said(at, &specs[at])).collect()
    };
    let last = |wanted: fn(&Kind) -> bool| path.iter().rposition(|&at| wanted(&specs[at].kind));
    let compaction = last(|kind| matches!(kind, Kind::Compaction { .. }));
    let reset = last(|kind| matches!(kind, Kind::Reset));
    match (compaction, reset) {
        (None, None) => said(path),
        (None, Some(reset)) => said(&path[reset + 1..]),
        (Some(compaction), Some(reset)) if reset > compaction => said(&path[reset + 1..]),
        (Some(place), _) => {
            let Kind::Compaction { first_kept, history, through } = specs[path[place]].kind else {
                unreachable!()
            };
            let (before, after) = (&path[..place], &path[place + 1..]);
            let payload = if history {
                r#","providerPayload":{"type":"openaiResponsesHistory","provider":"p","items":[]}"#
            } else {
                ""
            };
            let mut out = vec![format!(
                r#"{{"role":"compactionSummary","summary":"S{}","tokensBefore":1{payload},"timestamp":{TIME_MS}}}"#,
                path[place]
            )];
            let kept = if history {
                before.iter().position(|&at| at == through).map(|at| at + 1)
            } else {
                before.iter().position(|&at| at == first_kept)
            };
            out.extend(said(kept.map_or(&[], |kept| &before[kept..])));
            out.extend(said(after));
            out
        }
    }
}

/// The models by the book: entry by entry.
fn models_by_the_book(specs: &[Spec], path: &[usize]) -> Vec<(String, String)> {
    let mut models: Vec<(String, String)> = Vec::new();
    let mut set = |role: &str, model: String| match models.iter_mut().find(|(r, _)| r == role) {
        Some((_, old)) => *old = model,
        None => models.push((role.to_owned(), model)),
    };
    let mut chosen = false;
    for &at in path {
        match &specs[at].kind {
            Kind::Model { role, model } => {
                chosen |= *role == "default";
                set(role, format!("m/{model}"));
            }
            Kind::Answer(model) if !chosen => set("default", format!("p/{model}")),
            Kind::Message(json) if !chosen && json.contains(r#""provider":"acme""#) => {
                set("default", "acme/big".to_owned());
            }
            _ => {}
        }
    }
    models
}

/// Asserts that calls and results are paired, each result right behind its assistant.
fn assert_sound(messages: &[ContextMessage], pending_may_stay: bool) {
    let mut open: Vec<String> = Vec::new();
    for message in messages {
        assert!(!message.json().as_str().contains("checkpoint-active-reminder"));
        assert!(!message.json().as_str().contains(r"\ud800"));
        match message.message() {
            Message::ToolResult(result) => {
                let place = open.iter().position(|id| *id == result.tool_call_id);
                open.remove(place.expect("a result without its call right before it"));
            }
            Message::Assistant(answer) => {
                assert_eq!(open, [""; 0], "calls without results");
                assert!(!answer.failed());
                open = answer.tool_calls().map(|call| call.id.clone()).collect();
                let unique: HashSet<_> = open.iter().collect();
                assert_eq!(unique.len(), open.len());
            }
            _ => assert_eq!(open, [""; 0], "calls without results"),
        }
    }
    assert!(pending_may_stay || open.is_empty(), "calls without results at the end: {open:?}");
}

proptest! {
    #[test]
    fn plain_contexts_follow_the_rules(specs in session(), leaf in 0..MOST) {
        let leaf = leaf.min(specs.len() - 1);
        let lines: Vec<_> =
            specs.iter().enumerate().map(|(at, s)| spelled(at, s, &format!("e{at}"))).collect();
        let tree = tree(&lines);
        let id = format!("e{leaf}");
        let context = build_session_context(&tree, LeafChoice::Id(&id), &ContextOptions::plain());
        let path = path_of(&specs, leaf);
        prop_assert_eq!(texts(&context.messages), plain_by_the_book(&specs, &path));
        let models: Vec<(String, String)> =
            context.models.iter().map(|(role, model)| (role.into(), model.into())).collect();
        prop_assert_eq!(models, models_by_the_book(&specs, &path));
    }

    #[test]
    fn safe_contexts_are_sound(specs in session(), ids in prop::collection::vec(0..MOST, MOST), keep: bool, bridge: bool) {
        // Ids at random, so that some are given twice.
        let lines: Vec<_> =
            specs.iter().zip(&ids).enumerate().map(|(at, (s, id))| spelled(at, s, &format!("e{id}"))).collect();
        let mut options = ContextOptions::default();
        options.bridge_gaps = bridge;
        options.safety.pending_calls = if keep { PendingCalls::Keep } else { PendingCalls::Interrupt };
        let tree = tree(&lines);
        let context = built(&tree, &options);
        assert_sound(&context.messages, keep);
        let again = model_safe(&context.messages, &options.safety);
        prop_assert_eq!(&again.messages, &context.messages);
        prop_assert_eq!(again.diagnostics, vec![]);
        let strict = model_safe(&context.messages, &SafetyOptions::default());
        assert_sound(&strict.messages, false);
        assert_sound(&session_context::context::to_llm(&strict.messages), false);
        let transcript = built(&tree, &ContextOptions::transcript());
        prop_assert!(transcript.messages.len() <= tree.len());
    }
}
