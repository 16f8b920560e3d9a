//! What a model's provider takes.

use session_context::context::{ContextMessage, PendingCalls, SafetyOptions, model_safe, to_llm};

use super::*;

const DANGLING: DiagnosticCode = DiagnosticCode::DanglingToolCall;
const ORPHAN: DiagnosticCode = DiagnosticCode::OrphanToolResult;

fn keep() -> ContextOptions {
    let mut options = ContextOptions::default();
    options.safety.pending_calls = PendingCalls::Keep;
    options
}

/// Asserts what the model-safe form of these messages is, and what it reports.
#[track_caller]
fn check(messages: &[&str], want: &[&str], reported: &[(DiagnosticCode, &str)]) {
    let context = safe(&chain(messages));
    assert_eq!(texts(&context.messages), want);
    assert_eq!(found(&context.diagnostics), reported);
    let again = model_safe(&context.messages, &SafetyOptions::default());
    assert_eq!((again.messages, again.diagnostics), (context.messages, vec![]));
}

#[test]
fn what_is_sound_keeps_its_bytes() {
    let ask = r#"{ "role":"user","content":"\ud83d\ude00 \u00e9","x":1.0 }"#;
    let odd = r#"{"role":"oracle","n":1e3}"#;
    let calls = assistant("toolUse", &[&text("t"), &call("1"), &call("2")]);
    let messages = [ask, &calls, &result("1", "a"), &result("2", "b"), odd, &user("next")];
    check(&messages, &messages, &[]);
}

#[test]
fn a_call_without_a_result_counts_as_interrupted() {
    let calls = assistant("toolUse", &[&call("1"), &call("2")]);
    let (one, next) = (result("1", "a"), user("hello?"));
    check(
        &[&user("run"), &calls, &one, &next],
        &[&user("run"), &calls, &one, &interrupted("2"), &next],
        &[(DANGLING, "m1")],
    );
    check(&[&calls], &[&calls, &interrupted("1"), &interrupted("2")], &[(DANGLING, "m0"); 2]);
}

#[test]
fn calls_at_the_end_can_be_kept_as_running() {
    let calls = assistant("toolUse", &[&call("1"), &call("2")]);
    let (one, old) = (result("1", "a"), assistant("toolUse", &[&call("0")]));
    let tree = chain(&[&old, &calls, &one]);
    let context = built(&tree, &keep());
    assert_eq!(texts(&context.messages), [&old, &interrupted("0"), &calls, &one]);
    assert_eq!(found(&context.diagnostics), [(DANGLING, "m0")]);
    for behind in [user("hello?"), assistant("aborted", &[])] {
        let context = built(&chain(&[&calls, &one, &behind]), &keep());
        let want = [&calls, &one, &interrupted("2"), &behind];
        let want = if behind.contains("aborted") { &want[..3] } else { &want };
        assert_eq!(texts(&context.messages), want);
    }
}

#[test]
fn results_follow_their_calls_in_the_order_of_the_calls() {
    let calls = assistant("toolUse", &[&call("1"), &call("2")]);
    let (one, two) = (result("1", "a"), result("2", "b"));
    check(
        &[&calls, &user("meanwhile"), &two, &assistant("stop", &[&text("x")]), &one],
        &[&calls, &one, &two, &user("meanwhile"), &assistant("stop", &[&text("x")])],
        &[],
    );
}

#[test]
fn results_without_a_call_are_left_out() {
    let calls = assistant("toolUse", &[&call("1")]);
    let one = result("1", "a");
    let nameless = r#"{"role":"toolResult","content":[]}"#;
    check(
        &[&result("1", "early"), &calls, &one, &result("1", "again"), &result("9", "x"), nameless],
        &[&calls, &one],
        &[(ORPHAN, "m0"), (ORPHAN, "m3"), (ORPHAN, "m4"), (ORPHAN, "m5")],
    );
}

#[test]
fn an_id_used_again_belongs_to_the_nearest_call_before() {
    let calls = assistant("toolUse", &[&call("1")]);
    let (a, b) = (result("1", "a"), result("1", "b"));
    check(&[&calls, &a, &calls, &b], &[&calls, &a, &calls, &b], &[]);
    check(
        &[&calls, &calls, &a, &b],
        &[&calls, &interrupted("1"), &calls, &a],
        &[(ORPHAN, "m3"), (DANGLING, "m0")],
    );
}

#[test]
fn failed_answers_go_with_their_results() {
    let (ask, next) = (user("a"), user("b"));
    for reason in ["error", "aborted"] {
        let failed = assistant(reason, &[&text("half"), &call("1")]);
        check(&[&ask, &failed, &result("1", "a"), &next], &[&ask, &next], &[]);
    }
    let nameless = assistant("error", &[r#"{"type":"toolCall","name":"bash"}"#]);
    let lost = r#"{"role":"toolResult","content":[]}"#;
    check(&[&ask, &nameless, lost], &[&ask], &[(ORPHAN, "m2")]);
    let length = assistant("length", &[&text("half")]);
    check(&[&ask, &length, &next], &[&ask, &length, &next], &[]);
}

#[test]
fn calls_no_result_can_name_are_removed_with_all_signatures() {
    let signed = |calls: &[&str], extra: &[&str]| {
        let thinking = r#"{"type":"thinking","thinking":"t""#;
        let parts = [&[thinking][..], calls].concat().join("");
        assistant("toolUse", &[&[&*parts][..], extra].concat())
    };
    let before = signed(
        &[r#","thinkingSignature":"s"}"#],
        &[
            r#"{"type":"redactedThinking","data":"d"}"#,
            r#"{"type":"text","text":"x","textSignature":"s","more":1}"#,
            r#"{"type":"toolCall","id":"1","name":"bash","arguments":{},"thoughtSignature":"s"}"#,
            &call("1"),
            r#"{"type":"toolCall","name":"bash","arguments":{}}"#,
            r#"{"type":"other","thinkingSignature":"kept"}"#,
        ],
    );
    let after = signed(
        &["}"],
        &[
            r#"{"type":"text","text":"x","more":1}"#,
            &call("1"),
            r#"{"type":"other","thinkingSignature":"kept"}"#,
        ],
    );
    let one = result("1", "a");
    check(&[&before, &one], &[&after, &one], &[(DANGLING, "m0"); 2]);
    let nothing_left = assistant("toolUse", &[r#"{"type":"toolCall","name":"bash"}"#]);
    check(&[&nothing_left, &user("b")], &[&user("b")], &[(DANGLING, "m0")]);
}

#[test]
fn a_result_kept_by_a_compaction_without_its_call_is_left_out() {
    let lines = [
        message("a", "-", &user("go")),
        message("b", "a", &assistant("toolUse", &[&call("1")])),
        line("compaction", "c", "b", r#""summary":"S","firstKeptEntryId":"d","tokensBefore":9"#),
        message("d", "c", &result("1", "ok")),
        message("e", "d", &assistant("stop", &[&text("done")])),
    ];
    let context = safe(&tree(&lines));
    let roles: Vec<_> = context.messages.iter().map(ContextMessage::role).collect();
    assert_eq!(roles, ["compactionSummary", "assistant"]);
    let missing = DiagnosticCode::FirstKeptMissing;
    assert_eq!(found(&context.diagnostics), [(missing, "c"), (ORPHAN, "d")]);
}

#[test]
fn a_lone_surrogate_can_be_sent() {
    let cut = result("1", r"build ok \ud83d");
    let calls = assistant("toolUse", &[&call("1")]);
    let tree = chain(&[&calls, &cut]);
    assert_eq!(texts(&plain(&tree).messages)[1], cut);
    let sent = safe(&tree);
    assert_eq!(texts(&sent.messages)[1], cut.replace(r"\ud83d", "\u{fffd}"));
    assert_eq!(sent.messages[1].entry_id(), Some("m1"));
    let same = r#"{"type":"toolCall","id":"\ud800","name":"bash","arguments":{}}"#;
    let context = safe(&chain(&[&assistant("toolUse", &[same]), &result(r"\ud800", "a")]));
    assert_eq!((context.messages.len(), context.diagnostics), (2, vec![]));
}

#[test]
fn attachments_over_the_limit_become_notes() {
    let mut options = ContextOptions::default();
    options.safety.max_attachment_bytes = Some(8);
    let image =
        |data: &str| format!(r#"{{"type":"image","data":"{data}","mimeType":"image/png"}}"#);
    let note = text("[image/png left out: 9 bytes, more than the limit of 8]");
    let with = |blocks: &[&str]| {
        format!(r#"{{"role":"user","content":[{}],"x":[{{"y":1.0}}]}}"#, blocks.join(","))
    };
    let file = |path: &str, content: &str, rest: &str| {
        format!(r#"{{"path":"{path}","content":"{content}"{rest}}}"#)
    };
    let files = |files: &[&str]| {
        format!(r#"{{"role":"fileMention","files":[{}],"timestamp":1}}"#, files.join(","))
    };
    let skipped = r#","skippedReason":"9 bytes, more than the limit of 8""#;
    let large_image = format!(r#","image":{}"#, image("123456789"));
    let small_image = format!(r#","image":{}"#, image("12345678"));
    let context = built(
        &chain(&[
            &with(&[&text("see"), &image("123456789"), &image("12345678")]),
            &files(&[
                &file("a", "123456789", ""),
                &file("b", "12345678", ""),
                &file("c", "", &large_image),
                &file("d", "", &small_image),
            ]),
            &user("a long text is no attachment"),
        ]),
        &options,
    );
    assert_eq!(
        texts(&context.messages),
        [
            &with(&[&text("see"), &note, &image("12345678")]),
            &files(&[
                &file("a", "", skipped),
                &file("b", "12345678", ""),
                &file("c", "", skipped),
                &file("d", "", &small_image),
            ]),
            &user("a long text is no attachment"),
        ]
    );
}

#[test]
fn another_providers_reasoning_is_left_out() {
    let thinking = r#"{"type":"thinking","thinking":"t","thinkingSignature":"s"}"#;
    let signed = r#"{"type":"text","text":"x","textSignature":"s"}"#;
    let answer = assistant("stop", &[thinking, signed]);
    let only_thought = assistant("stop", &[thinking]);
    let payload = |provider: &str| {
        format!(
            r#"{{"role":"user","content":"a","providerPayload":{{"type":"h","provider":"{provider}","items":[]}}}}"#
        )
    };
    let sealed = answer.replace(r#","stopReason""#, r#","providerPayload":{"k":1},"stopReason""#);
    let tree = chain(&[&payload("acme"), &payload("other"), &answer, &sealed, &only_thought]);
    let to = |provider: &str| {
        let mut options = ContextOptions::default();
        options.safety.provider = Some(provider.to_owned());
        built(&tree, &options)
    };
    let own =
        [&payload("acme"), r#"{"role":"user","content":"a"}"#, &answer, &sealed, &only_thought];
    assert_eq!(texts(&to("acme").messages), own);
    let bare = assistant("stop", &[&text("x")]);
    let foreign = [r#"{"role":"user","content":"a"}"#, &payload("other"), &bare, &bare];
    assert_eq!(texts(&to("other").messages), foreign);
}

#[test]
fn checkpoint_reminders_never_reach_a_model() {
    let reminder = |role: &str| {
        format!(
            r#"{{"role":"{role}","customType":"checkpoint-active-reminder","content":"rewind","display":false}}"#
        )
    };
    let note = r#"{"role":"custom","customType":"note","content":"n","display":false}"#;
    let (custom, hook) = (reminder("custom"), reminder("hookMessage"));
    let tree = chain(&[&custom, &hook, note]);
    assert_eq!(texts(&plain(&tree).messages), [&custom, &hook, note]);
    assert_eq!(texts(&safe(&tree).messages), [note]);
    assert_eq!(to_llm(&plain(&tree).messages).len(), 1);
}
