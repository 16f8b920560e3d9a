//! What went wrong for users of similar tools.

use session_context::import::{Fate, Tool};

use crate::ours;
use crate::support::{converted, document};

/// What is said on the way to the leaf, without the quotes of JSON.
fn said(tool: Tool, source: &str) -> Vec<(String, Vec<String>)> {
    ours::path(&document(&converted(tool, source.as_bytes())))
}

fn plain(said: &[(&str, &[&str])]) -> Vec<(String, Vec<String>)> {
    let owned = |blocks: &[&str]| blocks.iter().map(|block| (*block).to_owned()).collect();
    said.iter().map(|(who, blocks)| ((*who).to_owned(), owned(blocks))).collect()
}

/// B92: text that shares a record with a result.
#[test]
fn text_beside_a_result_is_kept_behind_it() {
    let source = r#"{"type":"assistant","uuid":"a0000001","parentUuid":null,"sessionId":"c-0001","timestamp":"2026-03-01T09:00:01Z","cwd":"/w/app","isSidechain":false,"message":{"role":"assistant","content":[{"type":"tool_use","id":"tu1","name":"Bash","input":{"command":"ls"}}]}}
{"type":"user","uuid":"a0000002","parentUuid":"a0000001","sessionId":"c-0001","timestamp":"2026-03-01T09:00:02Z","cwd":"/w/app","isSidechain":false,"message":{"role":"user","content":[{"type":"tool_result","tool_use_id":"tu1","content":"a"},{"type":"text","text":"also fix the readme"}]}}
{"type":"future-kind","uuid":"a0000003","parentUuid":"a0000002","sessionId":"c-0001","timestamp":"2026-03-01T09:00:03Z","cwd":"/w/app","isSidechain":false,"content":"?","weird":{"x":1}}"#;
    let want = [
        ("assistant", &[r#"call "tu1" "Bash" {"command":"ls"}"#][..]),
        ("result tu1 of Bash", &["text \"a\""]),
        ("user", &["text \"also fix the readme\""]),
    ];
    assert_eq!(said(Tool::Claude, source), plain(&want));
    let report = converted(Tool::Claude, source.as_bytes()).report;
    assert_eq!(report.kinds()["future-kind"][&Fate::Unknown], 1);
}

/// B45: records of the tool in the chain.
#[test]
fn progress_in_the_chain_makes_no_branch() {
    let source = r#"{"type":"user","uuid":"a0000001","parentUuid":null,"message":{"role":"user","content":"build"}}
{"type":"assistant","uuid":"a0000002","parentUuid":"a0000001","message":{"role":"assistant","content":"calling tool"}}
{"type":"progress","uuid":"b0000003","parentUuid":"a0000002","content":"hook running"}
{"type":"user","uuid":"a0000004","parentUuid":"b0000003","message":{"role":"user","content":"tool result"}}
{"type":"assistant","uuid":"a0000005","parentUuid":"a0000004","message":{"role":"assistant","content":"built"}}
{"type":"progress","uuid":"b0000006","parentUuid":"b0000003","content":"hook done"}"#;
    let who: Vec<_> = said(Tool::Claude, source).into_iter().map(|(who, _)| who).collect();
    assert_eq!(who, ["user", "assistant", "user", "assistant"]);
}

/// B46: a snapshot names a message and is none.
#[test]
fn only_its_own_id_names_a_record() {
    let source = r#"{"type":"user","uuid":"a0000001","parentUuid":null,"message":{"role":"user","content":"start"}}
{"type":"file-history-snapshot","messageId":"a0000001","snapshot":{"messageId":"a0000001"}}
{"type":"assistant","uuid":"a0000002","parentUuid":"a0000001","message":{"role":"assistant","content":"ok"}}"#;
    let want = [("user", &["text \"start\""][..]), ("assistant", &["text \"ok\""])];
    assert_eq!(said(Tool::Claude, source), plain(&want));
}

/// B38: equal times tell no order.
#[test]
fn equal_times_keep_the_order_of_the_file() {
    let record = |n: usize| {
        format!(
            r#"{{"timestamp":"2026-03-01T09:00:00Z","type":"response_item","payload":{{"type":"message","role":"user","content":[{{"type":"input_text","text":"{n}"}}]}}}}"#
        )
    };
    let source: Vec<_> = (0..50).map(record).collect();
    let texts = said(Tool::Codex, &source.join("\n")).into_iter().map(|(_, blocks)| blocks);
    let want: Vec<_> = (0..50).map(|n| vec![format!("text \"{n}\"")]).collect();
    assert_eq!(texts.collect::<Vec<_>>(), want);
}

/// B26, B28: nothing depends on a provider, or on fields that are newer than a session.
#[test]
fn sessions_of_any_provider_and_age_are_taken() {
    let source = r#"{"timestamp":"2026-03-01T09:00:00Z","type":"session_meta","payload":{"id":"t-0001","cwd":"/w/app","model_provider":"prov-a"}}
{"timestamp":"2026-03-01T09:00:01Z","type":"response_item","payload":{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}}"#;
    assert_eq!(said(Tool::Codex, source), plain(&[("user", &["text \"hello\""])]));
    let old =
        r#"{"type":"message","role":"user","content":[{"type":"input_text","text":"hello"}]}"#;
    assert_eq!(said(Tool::Codex, old), plain(&[("user", &["text \"hello\""])]));
}

/// B43, B44, B30: NUL runs, invalid UTF-8 and fused records cost one record each.
#[test]
fn damage_costs_the_damaged_record_only() {
    let user = |uuid: &str, text: &str| {
        format!(
            r#"{{"type":"user","uuid":"{uuid}","message":{{"role":"user","content":"{text}"}}}}"#
        )
    };
    let mut source = user("u1", "one").into_bytes();
    source.extend(b"\n\0\0\0\0");
    source.extend(user("u2", "two").bytes());
    source.extend(b"\n{\"type\":\"user\",\"uuid\":\"u3\",\"x\":\"\xe6\x87\n");
    source.extend(b"{\"type\":\"user\",\"uuid\":\"lost");
    source.extend(user("u4", "four").bytes());
    source.extend(b"\n\0\0\0");
    let said = ours::path(&document(&converted(Tool::Claude, &source)));
    let texts: Vec<_> = said.into_iter().map(|(_, blocks)| blocks.concat()).collect();
    assert_eq!(texts, ["text \"one\"", "text \"two\"", "text \"four\""]);
}

/// B105: whoever worked for another agent is no conversation of the session.
#[test]
fn records_of_other_agents_are_counted() {
    let source = r#"{"type":"assistant","uuid":"a0000001","parentUuid":null,"isSidechain":true,"message":{"role":"assistant","content":"I will check the tests"},"agentId":"aaaa"}
{"type":"assistant","uuid":"a0000002","parentUuid":"a0000001","isSidechain":true,"message":{"role":"assistant","content":"All pass"},"agentId":"aaaa"}"#;
    let conversion = converted(Tool::Claude, source.as_bytes());
    assert!(conversion.is_empty());
    let json = conversion.report.to_json().to_string();
    assert!(json.contains(r#""leftOut":{"sidechain":2}"#), "{json}");
}
