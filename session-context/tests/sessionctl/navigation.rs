//! Commands that move about a session: `navigate`, `checkpoint`, `rewind`; and `stats`.

use session_model::json::RawJson;

use crate::support::{Dir, json, session};

/// The id a command printed in its first line.
#[track_caller]
fn id(out: &str) -> &str {
    let id = out.lines().next().unwrap();
    assert!(id.len() == 8 && id.chars().all(|c| matches!(c, '0'..='9' | 'a'..='f')), "{out:?}");
    id
}

/// A field of the last entry of a session, as it is spelled.
#[track_caller]
fn last(dir: &Dir, field: &str) -> String {
    let file = dir.read("demo.jsonl");
    let line = RawJson::parse(file.lines().last().unwrap().to_owned()).unwrap();
    line.field(field).map(|value| value.to_string()).unwrap_or_default()
}

fn text(json: &RawJson, field: &str) -> String {
    json.field(field).unwrap().as_text().unwrap().into_owned()
}

#[test]
fn what_the_user_said_can_be_said_again() {
    let dir = Dir::with_example("demo");
    let before = dir.read("demo.jsonl");
    let out = dir.run("navigate demo.jsonl ec48c90d").quiet();
    let leaf = id(&out).to_owned();
    assert_eq!(out, format!("{leaf}\nto be said again\n  Please add a line to the changelog.\n"));
    assert!(dir.read("demo.jsonl").starts_with(&before));
    let parent = RawJson::parse(last(&dir, "parentId")).unwrap();
    let fields = ["type", "id", "fromId", "summary"].map(|field| last(&dir, field));
    assert_eq!(
        fields,
        ["\"branch_summary\"", &format!("\"{leaf}\""), parent.as_str(), "\"\""].map(str::to_owned)
    );
    let err = "error: entry f00 not found; list the entries to see which there are\n";
    dir.run("navigate demo.jsonl f00").failed(1, err);
}

#[test]
fn a_summary_names_the_files_and_json_tells_all() {
    let dir = Dir::with_example("demo");
    let out = dir.run_with("navigate demo.jsonl f1bbcd88 --json --summary", "Too slow.").quiet();
    let json = json(&out);
    let id = text(&json, "id");
    assert_eq!(
        json.as_str(),
        format!(
            r#"{{"id":"{id}","oldLeafId":"de049695","summaryId":"{id}","abandoned":["81af14c1","1fe68e72","be1e0823","5c5581d4","fa8cfb85","98c47536","36fbeee7","d5336898","736ae249","11a25bfa","afd9d5ab","4e114f5c","ec48c90d","8a8042be","28b7bc6f","c6ef3620","6526afd1","035e2982","a195a333","3fcd1ce4","de049695"]}}"#
        )
    );
    let fields = ["parentId", "summary", "details"].map(|field| last(&dir, field));
    assert_eq!(
        fields,
        [
            "\"f1bbcd88\"",
            "\"Too slow.\"",
            r#"{"readFiles":[],"modifiedFiles":["CHANGELOG.md","src/fetch.rs","tests/fetch.rs"]}"#
        ]
        .map(str::to_owned)
    );
}

#[test]
fn where_the_session_is_already_nothing_is_written() {
    let dir = Dir::with_example("demo");
    let before = dir.read("demo.jsonl");
    let note = "note: the session is there already\n";
    assert_eq!(dir.run("navigate demo.jsonl de049695").telling(note), "de049695\n");
    assert_eq!(dir.read("demo.jsonl"), before);
}

#[test]
fn a_question_is_answered_anew() {
    let dir = Dir::new();
    let entries = [
        r#"{"type":"message","id":"a","parentId":null,"message":{"role":"assistant","provider":"p","model":"m","content":[{"type":"toolCall","id":"t","name":"ask","arguments":{}}]}}"#,
        r#"{"type":"message","id":"b","parentId":"a","message":{"role":"toolResult","toolCallId":"t","toolName":"ask","content":"yes","isError":false}}"#,
    ];
    dir.write("demo.jsonl", session(&entries));
    let out = dir.run("navigate demo.jsonl b --answer no").quiet();
    assert_eq!(out, format!("{}\n", id(&out)));
    assert_eq!(last(&dir, "parentId"), "\"a\"");
    let message = RawJson::parse(last(&dir, "message")).unwrap();
    let fields = ["toolCallId", "toolName", "content"].map(|field| text(&message, field));
    assert_eq!(fields, ["t", "ask", "no"].map(str::to_owned));
    let err = "error: entry a is no answer to a question, so it cannot be answered anew\n";
    dir.run("navigate demo.jsonl a --answer no").failed(1, err);
}

#[test]
fn a_checkpoint_is_opened_shown_and_rewound() {
    let dir = Dir::with_example("demo");
    assert_eq!(dir.run("checkpoint demo.jsonl").quiet(), "no checkpoint is open\n");
    assert_eq!(dir.run("checkpoint demo.jsonl --json").quiet(), "{}\n");
    dir.run("rewind demo.jsonl done")
        .failed(1, "error: no checkpoint is open on the way to the leaf\n");

    let out = dir.run_with("checkpoint demo.jsonl --goal", "Is it the clock?").quiet();
    let checkpoint = id(&out).to_owned();
    let state = json(&dir.run("checkpoint demo.jsonl --json").quiet()).field("open").unwrap();
    let started = text(&state, "startedAt");
    assert_eq!(
        state.as_str(),
        format!(
            r#"{{"entryId":"{checkpoint}","goal":"Is it the clock?","startedAt":"{started}"}}"#
        )
    );
    let shown = dir.run("checkpoint demo.jsonl").quiet();
    assert_eq!(shown, format!("{checkpoint}  open since {started}\n  Is it the clock?\n"));
    let err = format!("error: checkpoint {checkpoint} is open; rewind it before opening another\n");
    dir.run("checkpoint demo.jsonl --goal again").failed(1, &err);

    dir.run("append demo.jsonl --text trying").quiet();
    let rewound = json(&dir.run("rewind demo.jsonl found --json").quiet());
    assert_eq!(text(&rewound, "checkpointId"), checkpoint);
    assert_eq!(last(&dir, "id"), format!("\"{}\"", text(&rewound, "id")));
    assert_eq!(last(&dir, "parentId"), format!("\"{}\"", text(&rewound, "summaryId")));
    let state = json(&dir.run("checkpoint demo.jsonl --json").quiet());
    let closed = text(&state.field("lastRewind").unwrap(), "rewoundAt");
    assert_eq!(
        state.as_str(),
        format!(
            r#"{{"lastRewind":{{"report":"found","startedAt":"{started}","rewoundAt":"{closed}"}}}}"#
        )
    );
    assert_eq!(
        dir.run("checkpoint demo.jsonl").quiet(),
        format!(
            "no checkpoint is open\nthe last one was open from {started} to {closed}\n  found\n"
        )
    );
    assert_eq!(dir.run_with("rewind demo.jsonl", "").code, Some(2));
}

#[test]
fn statistics_of_an_agent_directory_leave_out_what_cannot_be_read() {
    let dir = Dir::new();
    let file = session(&[
        r#"{"type":"message","id":"a","parentId":null,"timestamp":"2026-03-01T09:00:00Z","message":{"role":"assistant","provider":"p","model":"m","content":[],"usage":{"input":1,"output":2,"cost":{"total":0.25}}}}"#,
    ]);
    for name in ["--w-a--/1.jsonl", "--w-a--/2.jsonl", "--w-a--/2/child.jsonl", "--w-a--/.x.jsonl"]
    {
        dir.write(&format!("agent/sessions/{name}"), &file);
    }
    dir.write("agent/sessions/--w-a--/bad.jsonl", "no session\n");
    let spent = r#"{"requests":2,"usage":{"input":2,"output":4,"cacheRead":0,"cacheWrite":0,"premiumRequests":0,"cost":0.5}}"#;
    let expected = format!(
        r#"{{"sessions":2,"entries":2,"messages":{{"assistant":2}},"total":{spent},"models":{{"p/m":{spent}}},"tools":{{}},"days":{{"2026-03-01":{spent}}},"projects":{{"/w/app":{{"sessions":2,"spent":{spent}}}}},"unreadable":1}}"#
    ) + "\n";
    for args in ["stats agent --json", "stats agent/sessions --json", "stats --store agent --json"]
    {
        let run = dir.run(args);
        assert_eq!((run.code, run.out.as_str()), (Some(0), expected.as_str()), "{args}");
        assert!(run.err.starts_with("warning: not counted: ") && run.err.contains("bad.jsonl"));
        assert_eq!(run.err.lines().next(), run.err.lines().last(), "{}", run.err);
    }
    let note = format!("note: there is no agent directory {}/.xcsh/agent\n", dir.path().display());
    let none = dir.run("stats").telling(&note);
    assert!(none.starts_with("0 sessions, 0 entries, 0 requests\n"), "{none}");
    let one = dir.run("stats agent/sessions/--w-a--/1.jsonl --json").quiet();
    assert!(one.starts_with(r#"{"sessions":1,"#), "{one}");
}

#[test]
fn statistics_show_the_last_days_and_the_greatest_first() {
    let dir = Dir::new();
    let answer = |at: usize, model: &str, input: usize| {
        format!(
            r#"{{"type":"message","id":"{at}","parentId":null,"timestamp":"2026-03-0{at}T09:00:00Z","message":{{"role":"assistant","provider":"p","model":"{model}","content":[],"usage":{{"input":{input}}}}}}}"#
        )
    };
    let entries = [answer(1, "a", 5), answer(2, "b", 300), answer(3, "c", 150)];
    dir.write("s.jsonl", session(&entries.each_ref().map(String::as_str)));
    assert_eq!(
        dir.run("stats s.jsonl --rows 2").quiet(),
        format!(
            "1 session, 3 entries, 3 requests\n\
             455 tokens in, 0 out, 0 read from caches, 0 written to caches, $0.0000\n\n\
             days\n  1 before\n  2026-03-02  {}  300 tokens, $0.0000\n  2026-03-03  {:<30}  150 tokens, $0.0000\n\n\
             models\n  p/b  300 tokens, $0.0000\n  p/c  150 tokens, $0.0000\n  1 more\n\n\
             directories\n  /w/app  1 session, 455 tokens, $0.0000\n",
            "█".repeat(30),
            "█".repeat(15)
        )
    );
}
