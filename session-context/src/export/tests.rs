//! What every format holds, and what none does.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use session_model::document::{LoadOptions, SessionDocument};
use session_model::json::RawJson;

use super::*;
use crate::redact::encodings::encodings;
use crate::redact::tests::texts;

fn document(lines: &[String]) -> SessionDocument {
    let file = lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    SessionDocument::load(file.into(), &LoadOptions::default()).unwrap().document
}

fn export(lines: &[String], options: &ExportOptions) -> Export {
    Export::new(&document(lines), options).unwrap()
}

/// A session in which a text stands wherever text can.
fn told_everywhere(text: &str) -> Vec<String> {
    let said = RawJson::string(text);
    let escaped = RawJson::string(&format!("{{\"note\":{said}}}"));
    let units: String = text.chars().map(|c| format!("\\u{:04x}", u32::from(c))).collect();
    let base64 = STANDARD.encode(format!("note: {text}\n"));
    let header = format!(
        r#"{{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T09:00:00Z","cwd":"/w","title":{said},"parentSession":{said}}}"#
    );
    let bodies = [
        format!(r#""type":"message","message":{{"role":"user","content":{said}}}"#),
        format!(r#""type":"message","message":{{"role":"user","content":"{units}"}}"#),
        format!(
            r#""type":"message","message":{{"role":"assistant","provider":"p","model":"m","stopReason":"error","errorMessage":{said},"content":[{{"type":"text","text":{said}}},{{"type":"thinking","thinking":{said}}},{{"type":"toolCall","id":"c","name":{said},"arguments":{{"cmd":{said},"json":{escaped},"list":[{said}],{said}:1}}}},{{"type":"new","x":{said}}}]}}"#
        ),
        format!(
            r#""type":"message","message":{{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{{"type":"text","text":"out {base64}"}},{{"type":"text","text":{escaped}}}],"details":{{"x":{said}}},"isError":true}}"#
        ),
        format!(
            r#""type":"message","message":{{"role":"bashExecution","command":{said},"output":{said},"cancelled":false,"truncated":false}}"#
        ),
        format!(
            r#""type":"message","message":{{"role":"fileMention","files":[{{"path":{said},"content":{said},"skippedReason":{said}}}]}}"#
        ),
        format!(r#""type":"message","message":{{"role":"strange","x":{said}}}"#),
        format!(
            r#""type":"compaction","summary":{said},"shortSummary":{said},"firstKeptEntryId":"e0""#
        ),
        format!(r#""type":"branch_summary","fromId":"e0","summary":{said}"#),
        format!(r#""type":"custom","customType":{said},"data":{{"x":{said}}}"#),
        format!(r#""type":"custom_message","customType":{said},"content":{said},"display":true"#),
        format!(r#""type":"label","targetId":"e0","label":{said}"#),
        format!(r#""type":"title_change","title":{said},"previousTitle":{said},"source":"user""#),
        format!(r#""type":"session_init","systemPrompt":{said},"task":{said},"tools":[{said}]"#),
        format!(r#""type":"model_change","model":{said}"#),
        format!(r#""type":"something","x":{said}"#),
    ];
    let entry = |(at, body): (usize, String)| {
        let parent = at.checked_sub(1).map_or("null".to_owned(), |at| format!("\"e{at}\""));
        format!(
            r#"{{{body},"id":"e{at}","parentId":{parent},"timestamp":"2026-03-01T09:00:00.000Z"}}"#
        )
    };
    std::iter::once(header).chain(bodies.into_iter().enumerate().map(entry)).collect()
}

#[test]
fn a_secret_of_each_kind_is_in_no_format() {
    for (kind, text, secret) in texts() {
        let lines = told_everywhere(&text);
        let escaped = RawJson::string(&secret).as_str().trim_matches('"').to_owned();
        let base64 = STANDARD.encode(format!("note: {text}\n"));
        for scope in [Scope::All, Scope::Path(None)] {
            let export = export(&lines, &ExportOptions::default().scope(scope));
            assert!(export.hidden().unwrap().kinds().any(|(hidden, _)| hidden == kind), "{kind}");
            for format in Format::ALL {
                let out = export.render(format);
                let leak =
                    [&secret, &escaped, &base64].into_iter().find(|s| out.contains(s.as_str()));
                assert_eq!(leak, None, "{kind} in {format}");
                assert!(out.contains("[redacted:") || out.contains("\\[redacted:"), "{format}");
            }
        }
        let open = export(&lines, &ExportOptions::default().without_redaction());
        assert_eq!(open.hidden(), None);
        assert!(open.render(Format::Json).contains(&escaped), "{kind}");
    }
}

/// All text of an export as it can be read.
fn readable(format: Format, out: &str) -> String {
    let mut text = String::new();
    match format {
        Format::Json | Format::Claude | Format::Codex => {
            let documents = if format == Format::Json { vec![out] } else { out.lines().collect() };
            for document in documents {
                RawJson::parse(document.to_owned()).unwrap().map_strings(|string| {
                    text.push_str(&format!("{}\n", string.text));
                    None
                });
            }
        }
        Format::Html => {
            text = out.replace("&quot;", "\"").replace("&lt;", "<").replace("&gt;", ">");
            text = text.replace("&amp;", "&");
        }
        _ => text = out.to_owned(),
    }
    text
}

#[test]
fn no_encoding_of_a_secret_is_in_any_format() {
    let mut kinds = std::collections::BTreeSet::new();
    let wanted = ["named-secret", "private-key"];
    let chosen =
        texts().into_iter().filter(|(kind, ..)| wanted.contains(kind) && kinds.insert(*kind));
    for (kind, text, secret) in chosen.collect::<Vec<_>>() {
        let all = encodings(&text, &secret);
        let texts: Vec<_> = all.iter().map(|encoded| encoded.text.as_str()).collect();
        let texts = texts.join("\n;\n");
        let open = RawJson::string(&texts);
        let lines = [
            format!(r#"{{"type":"session","version":3,"id":"s","cwd":"/w","title":{open}}}"#),
            format!(
                r#"{{"type":"message","id":"a","parentId":null,"message":{{"role":"assistant","content":[{{"type":"text","text":{open}}},{{"type":"toolCall","id":"c","name":"bash","arguments":{{"command":{open}}}}}]}}}}"#
            ),
            format!(
                r#"{{"type":"message","id":"b","parentId":"a","message":{{"role":"toolResult","toolCallId":"c","toolName":"bash","content":[{{"type":"text","text":{open}}}]}}}}"#
            ),
            format!(
                r#"{{"type":"branch_summary","id":"c","parentId":"b","fromId":"a","summary":{open}}}"#
            ),
            format!(r#"{{"type":"label","id":"d","parentId":"c","targetId":"a","label":{open}}}"#),
        ];
        let options = ExportOptions::default().scope(Scope::All);
        let (hidden, open) =
            (export(&lines, &options), export(&lines, &options.without_redaction()));
        let json = readable(Format::Json, &open.render(Format::Json));
        for encoded in &all {
            assert!(encoded.is_in(&json), "{kind} as {} is not in the session", encoded.way);
        }
        for format in Format::ALL {
            let out = readable(format, &hidden.render(format));
            for encoded in &all {
                assert!(!encoded.is_in(&out), "{kind} as {} is in {format}", encoded.way);
            }
        }
    }
}

#[test]
fn progress_is_told_to_the_end() {
    let mut told = Vec::new();
    let document = document(&branches());
    let options = ExportOptions::default().scope(Scope::All);
    Export::with_progress(&document, &options, |done, all| told.push((done, all))).unwrap();
    let all = branches()[1..].iter().map(|line| line.len() as u64).sum::<u64>() * 2;
    assert!(told.is_sorted() && told.iter().all(|(_, of)| *of == all), "{told:?}");
    assert_eq!(told.last(), Some(&(all, all)));
}

fn said(id: &str, parent: &str, text: &str) -> String {
    let parent = if parent.is_empty() { RawJson::null() } else { RawJson::string(parent) };
    let text = RawJson::string(text);
    format!(
        r#"{{"type":"message","id":"{id}","parentId":{parent},"timestamp":"2026-03-01T09:00:00.000Z","message":{{"role":"user","content":{text}}}}}"#
    )
}

/// `a`, with the branches `b`, `c` and `d`; the leaf is `d`.
fn branches() -> Vec<String> {
    let header = r#"{"type":"session","version":3,"id":"s","cwd":"/w","title":"Ways *out*"}"#;
    let label = r#"{"type":"label","id":"l","parentId":"c","targetId":"a","label":"start"}"#;
    vec![
        header.to_owned(),
        said("a", "", "begin"),
        said("b", "a", "one way"),
        said("c", "b", "on"),
        label.to_owned(),
        said("d", "a", "the `other` way"),
    ]
}

#[test]
fn the_scope_says_which_entries_there_are() {
    let ids = |scope| {
        let export = export(&branches(), &ExportOptions::default().scope(scope));
        let ids = export.tree().entries().iter().map(|e| e.id().unwrap().into_owned());
        let leaf = export.tree().leaf().map(|leaf| export.tree().entry(leaf).id().unwrap());
        format!("{} leaf {}", ids.collect::<Vec<_>>().join(" "), leaf.unwrap_or_default())
    };
    assert_eq!(ids(Scope::default()), "a d leaf d");
    assert_eq!(ids(Scope::Path(Some("c".into()))), "a b c leaf c");
    assert_eq!(ids(Scope::Branch("b".into())), "a b c l leaf l");
    assert_eq!(ids(Scope::All), "a b c l d leaf d");
    let unknown = ExportOptions::default().scope(Scope::Branch("x".into()));
    let error = Export::new(&document(&branches()), &unknown).unwrap_err();
    assert!(error.to_string().starts_with("entry x not found"), "{error}");
}

#[test]
fn text_is_as_it_was_said() {
    let export = export(&branches(), &ExportOptions::default());
    assert_eq!(
        export.render(Format::Text),
        "Ways *out*\n==========\nSession:   s\nDirectory: /w\nHolds:     2 entries\n\n\
         User [start]  2026-03-01T09:00:00.000Z  a\n  begin\n\n\
         User  2026-03-01T09:00:00.000Z  d\n  the `other` way\n"
    );
}

#[test]
fn markdown_tells_of_branches() {
    let export = export(&branches(), &ExportOptions::default().scope(Scope::Branch("a".into())));
    assert_eq!(
        export.render(Format::Markdown),
        "# Ways \\*out\\*\n\n- Session: `s`\n- Directory: `/w`\n- Holds: `5 entries`\n\
         \n## User\n\n**[start]** · 2026-03-01T09:00:00.000Z · `a`\n\nbegin\n\
         \n## User\n\n2026-03-01T09:00:00.000Z · `b`\n\none way\n\
         \n## User\n\n2026-03-01T09:00:00.000Z · `c`\n\non\n\
         \n*\\[label\\] start a* · `l`\n\
         \n---\n\n*Another branch, from `a`.*\n\
         \n## User\n\n2026-03-01T09:00:00.000Z · `d`\n\nthe `other` way\n"
    );
}

#[test]
fn json_holds_entries_as_they_are_spelled() {
    let mut lines = branches();
    lines[2] = lines[2].replace("\"one way\"", "\"\\u006fne way\",\"n\":1.0");
    let export = export(&lines, &ExportOptions::default().scope(Scope::Path(Some("b".into()))));
    assert_eq!(
        export.render(Format::Json),
        format!(
            "{{\"format\":\"session-export\",\"version\":1,\"header\":{},\"title\":\"Ways *out*\",\
             \"scope\":\"path\",\"leafId\":\"b\",\"labels\":{{\"a\":\"start\"}},\"redacted\":[],\
             \"entries\":[\n{},\n{}\n]}}\n",
            lines[0], lines[1], lines[2]
        )
    );
}

#[test]
fn a_long_chain_is_written_without_recursion() {
    let mut lines = vec![branches()[0].clone()];
    lines.extend((0..20_000).map(|at: u32| {
        let parent = at.checked_sub(1).map(|at| format!("n{at}")).unwrap_or_default();
        said(&format!("n{at}"), &parent, "step")
    }));
    let export = export(&lines, &ExportOptions::default().scope(Scope::All).without_redaction());
    for format in Format::ALL {
        // Other tools have ids of their own.
        let is_handed = matches!(format, Format::Claude | Format::Codex);
        let out = export.render(format);
        assert!(out.matches("step").count() >= 20_000, "{format}");
        assert_eq!(out.contains("n19999"), !is_handed, "{format}");
    }
}
