//! What becomes of each kind of record of Codex.

use std::fs;

use session_context::import::{Conversion, Note, Tool};
use session_model::json::RawJson;
use session_model::message::UsageTotals;

use crate::support::{converted, document, fixture, text};

fn of(name: &str) -> Conversion {
    converted(Tool::Codex, &fs::read(fixture(&format!("codex/{name}.jsonl"))).unwrap())
}

fn of_type<'a>(conversion: &'a Conversion, entry_type: &str) -> Vec<&'a RawJson> {
    let is_meant = |entry: &&RawJson| text(entry, "type").as_deref() == Some(entry_type);
    conversion.entries.iter().filter(is_meant).collect()
}

#[test]
fn a_session_is_told_where_it_comes_from() {
    let conversion = of("everything");
    assert_eq!(conversion.source_id, "019ed50c-2fb3-7002-a384-360bea6e7f04");
    assert_eq!(conversion.cwd.as_deref(), Some("/work/app"));
    let title = conversion.title.unwrap();
    assert_eq!((&*title.text, title.by_user), ("Files", true));
    let first = of("first-format");
    assert_eq!(first.source_id, "0c5a7e6e-8f1b-4d2b-9a75-2f60c1d8e412");
    let title = first.title.unwrap();
    assert_eq!((&*title.text, title.by_user), ("hello", false));
}

#[test]
fn models_and_thinking_levels_are_told_where_they_change() {
    let conversion = of("everything");
    let models: Vec<_> =
        of_type(&conversion, "model_change").iter().map(|e| text(e, "model").unwrap()).collect();
    assert_eq!(models, ["openai/gpt-5.5", "openai/gpt-5.6"]);
    let levels = of_type(&conversion, "thinking_level_change");
    let levels: Vec<_> = levels.iter().map(|e| text(e, "thinkingLevel").unwrap()).collect();
    assert_eq!(levels, ["high", "off"]);
}

#[test]
fn tokens_told_twice_count_once() {
    let mut totals = UsageTotals::default();
    for entry in document(&of("everything")).tree().entries() {
        entry.body().counted_usage().into_iter().for_each(|usage| totals.add(&usage));
    }
    let want = UsageTotals { input: 20, output: 10, cache_read: 100, ..UsageTotals::default() };
    assert_eq!(totals, want);
}

#[test]
fn what_a_provider_sealed_goes_along_whole() {
    let conversion = of("everything");
    let thought = of_type(&conversion, "message")
        .iter()
        .find_map(|entry| {
            let content = entry.field("message")?.field("content")?;
            text(&content.as_array()?.items()[0], "thinkingSignature")
        })
        .unwrap();
    assert_eq!(
        thought,
        r#"{"type":"reasoning","id":"rs_1","summary":[{"type":"summary_text","text":"**Listing**"}],"encrypted_content":"gAAAA"}"#
    );
}

#[test]
fn a_compaction_keeps_nothing_and_only_the_last_has_its_history() {
    let conversion = of("everything");
    let compactions = of_type(&conversion, "compaction");
    let summaries: Vec<_> = compactions.iter().map(|e| text(e, "summary").unwrap()).collect();
    assert_eq!(summaries, ["List the files", "They listed the files."]);
    for compaction in &compactions {
        assert_eq!(text(compaction, "firstKeptEntryId"), text(compaction, "id"));
        assert_eq!(compaction.field("preserveData"), None);
    }
    let old = conversion.report.notes().get(&Note::OldHistoryDropped);
    assert_eq!(old, Some(&1));
    let source = r#"{"type":"compacted","payload":{"message":"","replacement_history":[{"type":"compaction","encrypted_content":"x"}]}}"#;
    let conversion = converted(Tool::Codex, source.as_bytes());
    assert_eq!(
        of_type(&conversion, "compaction")[0].field("preserveData").unwrap().as_str(),
        r#"{"openaiRemoteCompaction":{"provider":"openai","replacementHistory":[{"type":"compaction","encrypted_content":"x"}]}}"#
    );
}

#[test]
fn what_a_provider_does_itself_has_a_call_and_a_result() {
    let conversion = of("everything");
    let messages = of_type(&conversion, "message");
    let results: Vec<_> = messages
        .iter()
        .filter_map(|entry| {
            let message = entry.field("message")?;
            let tool = text(&message, "toolName")?;
            let content = message.field("content")?.as_array()?.items().first()?.to_string();
            matches!(&*tool, "web_search" | "image_generation").then_some((tool, content))
        })
        .collect();
    let image = results[1].1.starts_with(r#"{"type":"image","data":"iVBOR"#);
    assert!(image, "{}", results[1].1);
    let found = RawJson::string(r#"[{"title":"Cargo","url":"https://example.invalid"}]"#);
    assert_eq!(results[0], ("web_search".into(), format!(r#"{{"type":"text","text":{found}}}"#)));
}

#[test]
fn records_are_counted_by_kind_and_reason() {
    let report = of("everything").report.to_json();
    let kinds = report.field("kinds").unwrap().as_array().unwrap();
    let others: Vec<_> = kinds
        .items()
        .iter()
        .filter_map(|kind| {
            let field = |name| kind.field(name).unwrap().to_string();
            let [left_out, unknown] = ["leftOut", "unknown"].map(field);
            let name = text(kind, "kind").unwrap();
            (left_out != "{}" || unknown != "0").then(|| format!("{name} {left_out} {unknown}"))
        })
        .collect();
    assert_eq!(
        others,
        [
            r#"event_msg/agent_message {"duplicate":2} 0"#,
            r#"event_msg/agent_reasoning {"duplicate":1} 0"#,
            r#"event_msg/context_compacted {"bookkeeping":1} 0"#,
            "event_msg/something_new {} 1",
            r#"event_msg/task_started {"bookkeeping":1} 0"#,
            r#"event_msg/token_count {"duplicate":1} 0"#,
            r#"event_msg/user_message {"duplicate":3} 0"#,
            r#"event_msg/web_search_end {"bookkeeping":1} 0"#,
            r#"response_item/ghost_snapshot {"bookkeeping":1} 0"#,
            "response_item/something_new {} 1",
            r#"session_meta {"duplicate":1} 0"#,
            "something_new {} 1",
            r#"turn_context {"bookkeeping":1} 0"#,
            r#"world_state {"bookkeeping":1} 0"#,
        ]
    );
}
