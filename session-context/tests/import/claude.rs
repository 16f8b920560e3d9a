//! What becomes of each kind of record of Claude Code.

use std::fs;

use session_context::import::{Conversion, Note, Tool};
use session_context::{ContextOptions, LeafChoice, build_session_context};
use session_model::json::RawJson;
use session_model::message::UsageTotals;

use crate::ours;
use crate::support::{converted, document, fixture, text};

fn everything() -> Conversion {
    converted(Tool::Claude, &fs::read(fixture("claude/everything.jsonl")).unwrap())
}

fn of_type<'a>(conversion: &'a Conversion, entry_type: &str) -> Vec<&'a RawJson> {
    let is_meant = |entry: &&RawJson| text(entry, "type").as_deref() == Some(entry_type);
    conversion.entries.iter().filter(is_meant).collect()
}

#[test]
fn a_session_is_told_where_it_comes_from() {
    let conversion = everything();
    assert_eq!(conversion.source_id, "5f0c1c52-6f5d-4a8e-9c4d-0f3b8a2c7e11");
    assert_eq!(conversion.cwd.as_deref(), Some("/work/app"));
    assert_eq!(conversion.created_ms, 1_772_355_601_250);
    let title = conversion.title.clone().unwrap();
    assert_eq!((&*title.text, title.by_user), ("Build with cargo", true));
    assert_eq!(title.earlier, ["Of another session", "Build the app"]);
    let first = &conversion.entries[0];
    assert_eq!(
        first.field("data").unwrap().as_str(),
        r#"{"source":"claude","sourceId":"5f0c1c52-6f5d-4a8e-9c4d-0f3b8a2c7e11","sourcePath":"s.jsonl","sourceCwd":"/work/app"}"#
    );
    let id = uuid::Uuid::parse_str(&conversion.session_id).unwrap();
    assert_eq!(id.get_version_num(), 7);
    assert_eq!(everything(), conversion);
}

#[test]
fn parallel_calls_and_results_are_in_one_line_and_other_branches_stay() {
    let conversion = everything();
    let document = document(&conversion);
    let said: Vec<_> = ours::path(&document).into_iter().map(|(who, _)| who).collect();
    assert_eq!(
        said,
        [
            "user",
            "assistant",
            "assistant",
            "assistant",
            "result toolu_1 of Bash",
            "assistant",
            "assistant",
            "result toolu_2 of Read",
            "result toolu_3 of Read",
            "user",
            "assistant",
            "user",
            "summary",
            "user",
            "assistant",
            "assistant",
            "user"
        ]
    );
    let notes: Vec<_> = conversion.report.notes().iter().map(|(note, n)| (*note, *n)).collect();
    assert_eq!(
        notes,
        [
            (Note::ParentMissing, 2),
            (Note::CycleCut, 1),
            (Note::ParallelJoined, 1),
            (Note::BlockKept, 1),
            (Note::ImageNamed, 1),
            (Note::ImageCopyDropped, 1)
        ]
    );
}

#[test]
fn tokens_of_an_answer_in_several_records_count_once() {
    let mut totals = UsageTotals::default();
    for entry in document(&everything()).tree().entries() {
        entry.body().counted_usage().into_iter().for_each(|usage| totals.add(&usage));
    }
    // Of seven answers one tells 45 tokens in the end.
    let want = UsageTotals {
        input: 7 * 10,
        output: 45 + 6 * 5,
        cache_read: 7 * 100,
        cache_write: 7 * 20,
        ..UsageTotals::default()
    };
    assert_eq!(totals, want);
    let small = converted(Tool::Claude, &fs::read(fixture("claude/small.jsonl")).unwrap());
    let usage = document(&small).tree().entries().iter().find_map(|e| e.body().counted_usage());
    assert_eq!(usage.unwrap().cost.total, 0.0125);
}

#[test]
fn answers_tell_their_model_and_how_they_ended() {
    let conversion = everything();
    let stops: Vec<_> = of_type(&conversion, "message")
        .iter()
        .filter_map(|entry| text(&entry.field("message")?, "stopReason"))
        .collect();
    assert_eq!(
        stops,
        [
            "toolUse", "toolUse", "toolUse", "toolUse", "toolUse", "toolUse", "stop", "length",
            "error", "aborted"
        ]
    );
    let models: Vec<_> =
        of_type(&conversion, "model_change").iter().map(|e| text(e, "model").unwrap()).collect();
    let (opus, sonnet) = ("anthropic/claude-opus-4-5", "anthropic/claude-sonnet-4-5");
    assert_eq!(models, [opus, sonnet]);
    let failed = of_type(&conversion, "message");
    let failed = failed.iter().find_map(|e| text(&e.field("message")?, "errorMessage"));
    assert_eq!(failed.as_deref(), Some("API Error: 529"));
}

#[test]
fn a_context_begins_with_the_summary() {
    let conversion = everything();
    let compaction = of_type(&conversion, "compaction")[0];
    assert_eq!(compaction.field("tokensBefore").unwrap().as_i64(), Some(155_000));
    assert_eq!(text(compaction, "firstKeptEntryId"), text(compaction, "id"));
    let document = document(&conversion);
    let context =
        build_session_context(document.tree(), LeafChoice::Current, &ContextOptions::default());
    let roles: Vec<_> = context.messages.iter().map(|message| message.role()).collect();
    assert_eq!(roles, ["compactionSummary", "user", "user"]);
    assert_eq!(context.diagnostics, []);
}

#[test]
fn a_compaction_keeps_the_segment_its_boundary_names() {
    let source = r#"{"type":"user","uuid":"u1","parentUuid":null,"message":{"role":"user","content":"one"}}
{"type":"assistant","uuid":"a1","parentUuid":"u1","message":{"role":"assistant","content":[{"type":"text","text":"two"}]}}
{"type":"system","subtype":"compact_boundary","uuid":"b","parentUuid":null,"logicalParentUuid":"a1","compactMetadata":{"preTokens":7,"preservedSegment":{"headUuid":"a1"}}}
{"type":"user","uuid":"s","parentUuid":"b","isCompactSummary":true,"message":{"role":"user","content":[{"type":"text","text":"Sum"}]}}"#;
    let conversion = converted(Tool::Claude, source.as_bytes());
    let context = build_session_context(
        document(&conversion).tree(),
        LeafChoice::Current,
        &ContextOptions::plain(),
    );
    let roles: Vec<_> = context.messages.iter().map(|message| message.role()).collect();
    assert_eq!(roles, ["compactionSummary", "assistant"]);
}

#[test]
fn a_result_keeps_what_the_tool_knows_of_it_and_one_copy_of_an_image() {
    let conversion = everything();
    let results: Vec<_> = of_type(&conversion, "message")
        .iter()
        .filter_map(|entry| entry.field("message")?.field("details"))
        .map(|details| details.to_string())
        .collect();
    assert_eq!(
        results,
        [
            r#"{"stdout":"Makefile\nsrc","stderr":"","interrupted":false}"#,
            r#"{"type":"image","file":{"type":"image/png","originalSize":68}}"#
        ]
    );
}

#[test]
fn records_are_counted_by_kind_and_reason() {
    let report = everything().report.to_json();
    let kinds = report.field("kinds").unwrap().as_array().unwrap();
    let kinds: Vec<_> = kinds
        .items()
        .iter()
        .map(|kind| {
            let field = |name| kind.field(name).unwrap().to_string();
            let counts = ["converted", "leftOut", "unknown"].map(field).join(" ");
            format!("{} {counts}", text(kind, "kind").unwrap())
        })
        .collect();
    assert_eq!(
        kinds,
        [
            r#"(unreadable) 0 {"unreadable":1,"torn":1} 0"#,
            "ai-title 1 {} 0",
            r#"assistant 10 {"sidechain":1} 0"#,
            r#"attachment/hook_success 0 {"bookkeeping":1} 0"#,
            "attachment/queued_command 1 {} 0",
            r#"attachment/todo_reminder 0 {"bookkeeping":1} 0"#,
            "custom-title 1 {} 0",
            r#"file-history-snapshot 0 {"bookkeeping":1} 0"#,
            "future-kind 0 {} 1",
            r#"permission-mode 0 {"bookkeeping":1} 0"#,
            r#"progress 0 {"bookkeeping":2} 0"#,
            "summary 1 {} 0",
            r#"system/compact_boundary 0 {"bookkeeping":1} 0"#,
            r#"user 14 {"sidechain":1,"meta":1,"duplicate":1,"incomplete":1} 0"#,
        ]
    );
}

#[test]
fn a_session_without_conversation_is_empty() {
    let source = "{\"type\":\"summary\",\"summary\":\"x\",\"leafUuid\":\"y\"}\n\
        {\"type\":\"file-history-snapshot\",\"messageId\":\"u\",\"snapshot\":{}}\n";
    assert!(converted(Tool::Claude, source.as_bytes()).is_empty());
    assert!(converted(Tool::Claude, b"").is_empty());
}

#[test]
fn records_of_before_they_named_parents_come_one_behind_the_other() {
    let source = r#"{"type":"user","message":{"role":"user","content":"one"}}
{"type":"assistant","message":{"role":"assistant","content":"two"}}"#;
    let said = ours::path(&document(&converted(Tool::Claude, source.as_bytes())));
    let want = [("user", "text \"one\""), ("assistant", "text \"two\"")];
    assert_eq!(said, want.map(|(who, text)| (who.to_owned(), vec![text.to_owned()])));
}

#[test]
fn a_session_that_begins_with_a_command_is_called_by_it() {
    let titled = |said: &[&str], more: &str| {
        let said = said.iter().map(|said| {
            let said = RawJson::string(said);
            format!(r#"{{"type":"user","message":{{"role":"user","content":{said}}}}}"#)
        });
        let source = said.chain([more.to_owned()]).collect::<Vec<_>>().join("\n");
        let title = converted(Tool::Claude, source.as_bytes()).title?;
        Some((title.text, title.earlier))
    };
    let text = "<command-message>review is running…</command-message>\n\
                <command-name>/review</command-name>\n<command-args> the tests\n</command-args>";
    let title = "/review the tests".to_owned();
    assert_eq!(titled(&[" ", text, "more"], ""), Some((title.clone(), vec![])));
    let made = r#"{"type":"ai-title","aiTitle":"Tests"}"#;
    assert_eq!(titled(&[text], made), Some(("Tests".to_owned(), vec![title])));
    assert_eq!(titled(&["<command-name>/init</command-name>"], "").unwrap().0, "/init");
    assert_eq!(titled(&["<command-name> </command-name>"], ""), None);
    assert_eq!(titled(&["<command-message>x"], ""), None);
    assert_eq!(titled(&["words", text], ""), None);
}
