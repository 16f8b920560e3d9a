//! What models read, byte for byte: providers cache by it.

use session_context::context::{ContextMessage, to_llm};

use super::*;

/// The one message these become, as (text of the first block, the message).
fn converted(message: &str) -> (String, RawJson) {
    let out = to_llm(&[ContextMessage::new(raw(message))]);
    let [only] = &out[..] else { panic!("{out:?}") };
    let content = only.json().field("content").unwrap();
    let first = content.as_array().unwrap().items()[0].field("text").unwrap();
    (first.as_text().unwrap().into_owned(), only.json().clone())
}

fn words(message: &str) -> String {
    converted(message).0
}

fn left_out(message: &str) -> bool {
    to_llm(&[ContextMessage::new(raw(message))]).is_empty()
}

#[test]
fn shell_commands() {
    let run =
        |rest: &str| words(&format!(r#"{{"role":"bashExecution","command":"ls -l",{rest}}}"#));
    assert_eq!(
        run(r#""output":"a\nb","exitCode":0,"cancelled":false,"truncated":false"#),
        "The user ran a shell command:\n\n```sh\nls -l\n```\n\nOutput:\n\n```\na\nb\n```"
    );
    assert_eq!(
        run(r#""output":"","exitCode":2"#),
        "The user ran a shell command:\n\n```sh\nls -l\n```\n\nIt printed nothing.\n\nIt ended with exit code 2."
    );
    assert_eq!(
        run(r#""output":"a\n","exitCode":130,"cancelled":true,"truncated":true"#),
        "The user ran a shell command:\n\n```sh\nls -l\n```\n\nOutput:\n\n```\na\n```\n\nIt was cancelled.\n\nThe output is cut."
    );
    assert_eq!(
        run(r#""output":"a","truncated":true,"fullOutputPath":"/o/1.log""#),
        "The user ran a shell command:\n\n```sh\nls -l\n```\n\nOutput:\n\n```\na\n```\n\nThe output is cut. All of it is in \"/o/1.log\"."
    );
}

#[test]
fn python_code() {
    assert_eq!(
        words(r#"{"role":"pythonExecution","code":"print(1)","output":"1\n","exitCode":0}"#),
        "The user ran Python code:\n\n```python\nprint(1)\n```\n\nOutput:\n\n```\n1\n```"
    );
}

#[test]
fn output_cannot_end_its_fence() {
    assert_eq!(
        words(r#"{"role":"bashExecution","command":"c","output":"```\nx ````"}"#),
        "The user ran a shell command:\n\n```sh\nc\n```\n\nOutput:\n\n`````\n```\nx ````\n`````"
    );
}

#[test]
fn mentioned_files() {
    let (said, message) = converted(concat!(
        r#"{"role":"fileMention","files":[{"path":"a.rs","content":"fn a() {}\n"},"#,
        r#"{"path":"b\n\".txt","content":""},{"path":"c.bin","content":"","skippedReason":"binary"},"#,
        r#"{"path":"d.png","content":"","image":{"type":"image","data":"QQ==","mimeType":"image/png"}}],"timestamp":7}"#
    ));
    assert_eq!(
        said,
        "The user mentioned these files:\n\n\"a.rs\":\n\n```\nfn a() {}\n```\n\n\"b\\n\\\".txt\" is empty.\n\n\"c.bin\" was left out: binary\n\n\"d.png\" is an image, attached below."
    );
    let rest = r#",{"type":"image","data":"QQ==","mimeType":"image/png"}],"attribution":"user","timestamp":7}"#;
    assert!(
        message.as_str().starts_with(r#"{"role":"user","content":[{"type":"text","#),
        "{message}"
    );
    assert!(message.as_str().ends_with(rest), "{message}");
    assert!(left_out(r#"{"role":"fileMention","files":[],"timestamp":7}"#));
}

#[test]
fn summaries() {
    let (said, message) = converted(
        r#"{"role":"compactionSummary","summary":"a <b> {c}","shortSummary":"s","tokensBefore":1,"providerPayload":{"type":"h","n":1.0},"timestamp":7}"#,
    );
    assert_eq!(
        said,
        "The conversation up to here was replaced by this summary of it:\n\n<summary>\na <b> {c}\n</summary>"
    );
    let text = RawJson::string(&said);
    let want = format!(
        r#"{{"role":"user","content":[{{"type":"text","text":{text}}}],"attribution":"agent","providerPayload":{{"type":"h","n":1.0}},"timestamp":7}}"#
    );
    assert_eq!(message.as_str(), want);
    assert_eq!(
        words(r#"{"role":"branchSummary","summary":"B","fromId":"x","timestamp":null}"#),
        "The conversation came back from another branch. A summary of that branch:\n\n<summary>\nB\n</summary>"
    );
}

#[test]
fn messages_of_extensions_speak_for_themselves() {
    let (_, message) = converted(
        r#"{"role":"custom","customType":"x","content":"c","display":true,"attribution":"agent","timestamp":7}"#,
    );
    let want = r#"{"role":"user","content":[{"type":"text","text":"c"}],"attribution":"agent","timestamp":7}"#;
    assert_eq!(message.as_str(), want);
    let (_, message) = converted(
        r#"{"role":"hookMessage","customType":"x","content":[{"type":"text","text":"h"}]}"#,
    );
    assert_eq!(message.as_str(), r#"{"role":"user","content":[{"type":"text","text":"h"}]}"#);
    for silent in [r#""""#, "[]", "null"] {
        assert!(left_out(&format!(r#"{{"role":"custom","content":{silent}}}"#)), "{silent}");
    }
}

#[test]
fn what_is_for_models_already_keeps_its_bytes() {
    let calls = assistant("toolUse", &[&call("1")]);
    let one = result("1", "a");
    let developer = r#"{ "role":"developer","content":"d","n":1.0}"#;
    let messages = [&*user("a"), developer, &calls, &one].map(|m| ContextMessage::new(raw(m)));
    assert_eq!(to_llm(&messages), messages);
}

#[test]
fn a_pruned_result_keeps_its_text_alone() {
    let with = |blocks: &[&str], pruned: &str| {
        format!(
            r#"{{"role":"toolResult","toolCallId":"1","toolName":"bash","content":[{}],"isError":false{pruned},"timestamp":3}}"#,
            blocks.join(",")
        )
    };
    let image = r#"{"type":"image","data":"QQ==","mimeType":"image/png"}"#;
    let sent = |message: &str| to_llm(&[ContextMessage::new(raw(message))])[0].json().to_string();
    let (kept, at) = (text("t"), r#","prunedAt":5"#);
    assert_eq!(sent(&with(&[&kept, image], at)), with(&[&kept], at));
    let note = text("The output was removed to save space.");
    assert_eq!(sent(&with(&[image], at)), with(&[&note], at));
    assert_eq!(sent(&with(&[&kept, image], "")), with(&[&kept, image], ""));
}

#[test]
fn excluded_and_unknown_messages_are_left_out() {
    for role in ["bashExecution", "pythonExecution"] {
        let run = |excluded: &str| {
            format!(r#"{{"role":"{role}","command":"c","code":"c","output":""{excluded}}}"#)
        };
        assert!(left_out(&run(r#","excludeFromContext":true"#)));
        assert!(!left_out(&run(r#","excludeFromContext":false"#)));
    }
    assert!(left_out(r#"{"role":"oracle","content":"x"}"#));
    assert!(left_out(r#"{"content":"x"}"#));
}
