//! Previews of every kind of entry, and how far they read.

use super::*;
use crate::json::RawJson;

fn preview(entry: &str, max_chars: usize) -> Preview {
    let json = RawJson::parse(entry.to_owned()).unwrap();
    Preview::of(&Entry::from_json(&json).unwrap(), max_chars)
}

fn message(message: &str) -> Preview {
    preview(&format!(r#"{{"type":"message","id":"a","message":{message}}}"#), 80)
}

#[test]
fn messages_by_role() {
    for (json, want) in [
        (r#"{"role":"user","content":"a\n\tb"}"#, "user: a b"),
        (
            r#"{"role":"developer","content":[{"type":"text","text":"x"},{"type":"image","data":"A"}]}"#,
            "developer: x [image]",
        ),
        (r#"{"role":"user","content":null}"#, "user: "),
        (
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"}]}"#,
            "assistant: hm",
        ),
        (
            r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm"},{"type":"text","text":"yes"},{"type":"toolCall","name":"read","arguments":{"path":"/a\nb","limit":2}}],"stopReason":"toolUse"}"#,
            "assistant: yes [read path=/a b limit=2]",
        ),
        (
            r#"{"role":"assistant","content":[],"stopReason":"error","errorMessage":"overloaded"}"#,
            "assistant: [error] overloaded",
        ),
        (
            r#"{"role":"assistant","content":[{"type":"text","text":"par"}],"stopReason":"aborted"}"#,
            "assistant: [aborted] par",
        ),
        (
            r#"{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"no"}],"isError":true}"#,
            "toolResult: [error] bash: no",
        ),
        (r#"{"role":"bashExecution","command":"ls -l","output":"x"}"#, "bashExecution: $ ls -l"),
        (r#"{"role":"pythonExecution","code":"1\n2"}"#, "pythonExecution: >>> 1 2"),
        (r#"{"role":"fileMention","files":[{"path":"a"},{"path":"b"}]}"#, "fileMention: @a @b"),
        (r#"{"role":"hookMessage","customType":"h","content":"c"}"#, "hookMessage: [h] c"),
        (r#"{"role":"compactionSummary","summary":"s"}"#, "compactionSummary: s"),
        (r#"{"role":"n\u001bew","content":"c"}"#, "n ew: c"),
        (r#"{"content":"c"}"#, ": c"),
    ] {
        assert_eq!(message(json).to_string(), want, "{json}");
    }
}

#[test]
fn other_entries_name_their_kind() {
    for (fields, want) in [
        (r#""type":"message""#, "message: [message without content]"),
        (r#""type":"compaction","summary":"long","shortSummary":"short""#, "[compaction] short"),
        (r#""type":"compaction","summary":"long","shortSummary":"""#, "[compaction] long"),
        (r#""type":"branch_summary","summary":"""#, "[branch summary]"),
        (r#""type":"thinking_level_change","thinkingLevel":null"#, "[thinking]"),
        (r#""type":"model_change","model":"a/b""#, "[model] a/b"),
        (r#""type":"model_change","provider":"a","modelId":"b""#, "[model] a b"),
        (r#""type":"label","targetId":"x","label":"good""#, "[label] good x"),
        (r#""type":"ttsr_injection","injectedRules":["r",  1]"#, r#"[rules] ["r",1]"#),
        (r#""type":"session_info","name":"n\u202en""#, "[title] n n"),
        (r#""type":"custom_message","customType":"ext","content":"hi""#, "[ext] hi"),
        (r#""type":"custom_message","content":"hi""#, "[custom message] hi"),
        (r#""type":"from_afar","x":1"#, "[from_afar]"),
    ] {
        assert_eq!(preview(&format!("{{{fields}}}"), 80).to_string(), want, "{fields}");
    }
}

#[test]
fn roles_are_message_roles_or_types() {
    assert_eq!(message(r#"{"role":"user","content":""}"#).role, "user");
    assert_eq!(preview(r#"{"type":"reset_boundary"}"#, 80).role, "reset_boundary");
}

#[test]
fn only_silent_tool_calls_count_as_such() {
    let call = r#"{"type":"toolCall","name":"t","arguments":{}}"#;
    for (content, stop, want) in [
        (call.to_owned(), "toolUse", true),
        (format!(r#"{{"type":"thinking","thinking":"x"}},{call}"#), "toolUse", true),
        (format!(r#"{{"type":"text","text":" \n"}},{call}"#), "toolUse", true),
        (format!(r#"{{"type":"text","text":"x"}},{call}"#), "toolUse", false),
        (format!(r#"{{"type":"new"}},{call}"#), "toolUse", false),
        (call.to_owned(), "error", false),
        (call.to_owned(), "aborted", false),
        (r#"{"type":"thinking","thinking":"x"}"#.to_owned(), "stop", false),
        (String::new(), "stop", false),
    ] {
        let json = format!(r#"{{"role":"assistant","content":[{content}],"stopReason":"{stop}"}}"#);
        assert_eq!(message(&json).only_tool_calls, want, "{json}");
    }
}

#[test]
fn a_long_text_is_cut_at_a_character() {
    for (max, want) in
        [(0, "…"), (1, "…"), (2, "ä…"), (3, "äö…"), (4, "äö…"), (5, "äö 😀…"), (6, "äö 😀ü!")]
    {
        let json =
            r#"{"type":"message","message":{"role":"user","content":"äö \n\ud83d\ude00\u00fc!"}}"#;
        assert_eq!(preview(json, max).text, want, "{max}");
    }
}

#[test]
fn escapes_are_decoded_across_pieces() {
    let text = "x".repeat(255) + "é" + "\\ud83d\\ude00\\ud800\\u0041\\\\n\\\"";
    let json = format!(r#"{{"type":"message","message":{{"role":"user","content":"{text}"}}}}"#);
    let want = "x".repeat(255) + "é😀\u{fffd}A\\n\"";
    assert_eq!(preview(&json, 1000).text, want);
}
