//! Every role and block, read and written.

use super::*;

fn raw(text: &str) -> RawJson {
    RawJson::parse(text.to_owned()).unwrap()
}

fn read(text: &str) -> Message {
    Message::from_json(&raw(text))
}

/// All roles, with all their fields in the order they are stored.
const FULL: &[&str] = &[
    r#"{"role":"user","content":"hi","attribution":"user","timestamp":1772355600000}"#,
    r#"{"role":"developer","content":[{"type":"text","text":"be brief"}],"attribution":"agent","timestamp":1772355600000}"#,
    r#"{"role":"assistant","content":[{"type":"thinking","thinking":"hm","thinkingSignature":"s1"},{"type":"redactedThinking","data":"x9"},{"type":"text","text":"ok","textSignature":"s2"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"cmd":"make","n":1.0},"thoughtSignature":"s3"},{"type":"hologram","z":1}],"api":"chat","provider":"acme","model":"big","usage":{"input":100,"output":20,"cacheRead":5,"cacheWrite":7,"totalTokens":132,"cost":{"input":0.001,"output":0.002,"cacheRead":0,"cacheWrite":0,"total":0.003},"premiumRequests":0.33},"stopReason":"toolUse","timestamp":1772355600000,"errorMessage":"late","providerPayload":{"type":"history"}}"#,
    r#"{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"done"},{"type":"image","data":"QUJD","mimeType":"image/png"}],"details":{"exit":0},"isError":false,"prunedAt":1772355700000,"timestamp":1772355600000}"#,
    r#"{"role":"bashExecution","command":"ls","output":"a\n","exitCode":0,"cancelled":false,"truncated":true,"fullOutputPath":"/tmp/o","timestamp":1772355600000,"excludeFromContext":true}"#,
    r#"{"role":"pythonExecution","code":"1+1","output":"2","exitCode":-9,"cancelled":true,"truncated":false,"fullOutputPath":"/tmp/o","timestamp":1772355600000,"excludeFromContext":false}"#,
    r#"{"role":"fileMention","files":[{"path":"a.rs","content":"fn","lineCount":1,"byteSize":2},{"path":"b.png","content":"","skippedReason":"tooLarge","image":{"type":"image","data":"QUJD","mimeType":"image/png"}}],"timestamp":1772355600000}"#,
    r#"{"role":"custom","customType":"ext","content":"x","display":true,"details":[1],"attribution":"agent","timestamp":1772355600000}"#,
    r#"{"role":"hookMessage","customType":"ext","content":"x","display":false,"timestamp":1772355600000}"#,
    r#"{"role":"branchSummary","summary":"left","fromId":"root","timestamp":1772355600000}"#,
    r#"{"role":"compactionSummary","summary":"S","shortSummary":"s","tokensBefore":42000,"tokensAfter":900,"providerPayload":{"items":[]},"timestamp":1772355600000}"#,
];

#[test]
fn every_role_keeps_every_field() {
    for text in FULL {
        let message = read(text);
        assert!(!matches!(message, Message::Unknown(_)), "{text}");
        assert_eq!(message.to_json().as_str(), *text);
        assert_eq!(message.timestamp(), Some(1_772_355_600_000));
        let more = text.replacen(',', r#","mood\u0021":{"n":1e2},"#, 1);
        assert_eq!(read(&more).to_json().as_str(), more);
    }
}

#[test]
fn what_is_missing_or_odd_stays_so() {
    for text in FULL {
        let role = read(text).role().to_owned();
        let bare = format!(r#"{{"role":"{role}"}}"#);
        assert_eq!(read(&bare).to_json().as_str(), bare);
        assert_eq!(read(&bare).timestamp(), None);
        for odd in ["null", "7.5", "\"text\"", "[[]]", "[{\"type\":1}]", "{\"deep\":{}}", "true"] {
            let object = raw(text).as_object().unwrap();
            let fields: String = object.fields()[1..]
                .iter()
                .map(|field| format!(",{}:{odd}", field.raw_name()))
                .collect();
            let odd_message = format!(r#"{{"role":"{role}"{fields}}}"#);
            assert_eq!(read(&odd_message).to_json().as_str(), odd_message);
        }
    }
}

#[test]
fn what_is_no_known_message_is_kept_whole() {
    let cases = [
        (r#"{"role":"martian", "content":"x","timestamp":5}"#, "martian", Some(5)),
        (r#"{"role":"User","content":"x"}"#, "User", None),
        (r#"{"role":1,"content":"x"}"#, "", None),
        (r#"{"content":"x"}"#, "", None),
        ("[1.0]", "", None),
        ("null", "", None),
    ];
    for (text, role, timestamp) in cases {
        let message = read(text);
        let unknown = Unknown { tag: role.into(), raw: raw(text) };
        assert_eq!(message, Message::Unknown(unknown));
        assert_eq!((message.role(), message.timestamp()), (role, timestamp));
        assert_eq!(message.content(), None);
        assert_eq!(message.to_json(), raw(text));
    }
    assert_eq!(read(r#"{"role":"user","role":"developer"}"#).role(), "developer");
}

#[test]
fn new_messages_have_the_stored_form() {
    assert_eq!(
        Message::user("hi", 5).to_json().as_str(),
        r#"{"role":"user","content":"hi","timestamp":5}"#
    );
    assert_eq!(
        Message::developer("note", 5).to_json().as_str(),
        r#"{"role":"developer","content":"note","timestamp":5}"#
    );
    let call = ContentBlock::tool_call("c1", "bash", raw(r#"{"cmd":"ls"}"#));
    let blocks = vec![ContentBlock::text("Look:"), ContentBlock::image("QQ==", "image/png"), call];
    let answer = AssistantMessage {
        stop_reason: Some(StopReason::ToolUse),
        usage: Some(Usage { input: 3, ..Default::default() }),
        ..AssistantMessage::new("acme", "big", blocks, 6)
    };
    assert_eq!(
        Message::from(answer).to_json().as_str(),
        r#"{"role":"assistant","content":[{"type":"text","text":"Look:"},{"type":"image","data":"QQ==","mimeType":"image/png"},{"type":"toolCall","id":"c1","name":"bash","arguments":{"cmd":"ls"}}],"provider":"acme","model":"big","usage":{"input":3,"output":0,"cacheRead":0,"cacheWrite":0,"cost":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"total":0}},"stopReason":"toolUse","timestamp":6}"#
    );
    assert_eq!(
        Message::from(ToolResultMessage::text("c1", "bash", "a", 7)).to_json().as_str(),
        r#"{"role":"toolResult","toolCallId":"c1","toolName":"bash","content":[{"type":"text","text":"a"}],"isError":false,"timestamp":7}"#
    );
}

#[test]
fn content_reads_as_text_and_tool_calls() {
    let text = |content: &str| Content::from_json(&raw(content)).text().into_owned();
    assert_eq!(text(r#""plain""#), "plain");
    assert_eq!(text("[]"), "");
    assert_eq!(text("null"), "");
    assert_eq!(text(r#"[{"type":"text","text":"one"}]"#), "one");
    let mixed = r#"[{"type":"text","text":"a"},{"type":"image","data":"x"},7,{"type":"text","text":"b"},{"type":"text","text":"c"}]"#;
    assert_eq!(text(mixed), "a b c");
    let Message::Assistant(answer) = read(FULL[2]) else { panic!("no assistant") };
    let calls: Vec<_> = answer.tool_calls().map(|c| (&*c.id, &*c.name, &c.arguments)).collect();
    assert_eq!(calls, [("c1", "bash", &raw(r#"{"cmd":"make","n":1.0}"#))]);
    let types: Vec<_> = answer.content.blocks().iter().map(ContentBlock::block_type).collect();
    assert_eq!(types, ["thinking", "redactedThinking", "text", "toolCall", "hologram"]);
}

#[test]
fn an_assistant_names_its_model_and_whether_it_failed() {
    let answer = |text: &str| match read(text) {
        Message::Assistant(answer) => answer,
        other => panic!("{other:?}"),
    };
    let good = answer(FULL[2]);
    assert_eq!((good.model_ref().as_deref(), good.failed()), (Some("acme/big"), false));
    let nameless = answer(r#"{"role":"assistant","model":"big","stopReason":"aborted"}"#);
    assert_eq!((nameless.model_ref(), nameless.failed()), (None, true));
    let odd = answer(r#"{"role":"assistant","provider":"acme","model":1,"stopReason":"error"}"#);
    assert_eq!((odd.model_ref(), odd.failed()), (None, true));
}

#[test]
fn missing_parts_of_usage_are_zero() {
    let usage = |text: &str| Usage::from_json(&raw(text)).unwrap();
    assert_eq!(usage(r#"{"input":1e2,"cost":{"total":0.5}}"#).cost.total, 0.5);
    let odd = usage(r#"{"input":100.0,"output":-1,"cacheRead":0.5,"cost":7}"#);
    assert_eq!((odd.input, odd.output, odd.cache_read, odd.cost.total), (100, 0, 0, 0.0));
    let written = r#"{"input":100,"output":-1,"cacheRead":0.5,"cost":7}"#;
    assert_eq!(odd.to_json().as_str(), written);
    assert_eq!(Usage::from_json(&raw("null")), None);
}

#[test]
fn totals_are_summed_as_in_javascript() {
    let usage = |input, premium_requests, total| Usage {
        input,
        output: 2,
        cache_read: 5,
        cache_write: 7,
        premium_requests,
        cost: Cost { total, ..Default::default() },
        ..Default::default()
    };
    let mut totals = UsageTotals::default();
    for one in [usage(1000, Some(1.0), 0.003), usage(500, Some(0.33), 0.003), usage(7, None, 0.003)]
    {
        totals.add(&one);
    }
    assert_eq!(
        crate::json::to_json_string(&totals).unwrap(),
        r#"{"input":1507,"output":6,"cacheRead":15,"cacheWrite":21,"premiumRequests":1.33,"cost":0.009000000000000001}"#
    );
    totals.add(&usage(u64::MAX, None, 0.0));
    assert_eq!(totals.input, u64::MAX);
}

#[test]
fn serde_reads_and_writes_the_same_text() {
    let list = format!("[{},7]", FULL.join(","));
    let messages: Vec<Message> = serde_json::from_str(&list).unwrap();
    assert_eq!(messages[0], read(FULL[0]));
    assert_eq!(crate::json::to_json_string(&messages).unwrap(), list);
    let content: Content = serde_json::from_str("[{\"type\":\"text\",\"text\":\"a\"}]").unwrap();
    assert_eq!(content, vec![ContentBlock::text("a")].into());
}
