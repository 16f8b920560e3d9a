//! What the tool whose databases we share did, recorded call by call.

use serde_json::{Value, json};
use session_store_indexed::history::{HistoryEntry, HistoryScope, HistoryStorage};

use crate::support::{as_rows, place};

const VECTORS: &str = include_str!("../golden/history-vectors/vectors.json");
const ROWS: &str = include_str!("../golden/history-vectors/rows.json");
const SCHEMA: &str = include_str!("../golden/history-vectors/schema.json");
const REOPEN: &str = include_str!("../golden/history-reopen/ops.json");
const REOPEN_RECENT: &str = include_str!("../golden/history-reopen/expected-recent.json");

fn parse(text: &str) -> Vec<Value> {
    serde_json::from_str(text).unwrap()
}

/// An entry as the recordings write it: absent where there is no directory.
fn recorded(entry: &HistoryEntry) -> Value {
    match &entry.cwd {
        Some(cwd) => json!({"id": entry.id, "prompt": entry.prompt, "cwd": cwd}),
        None => json!({"id": entry.id, "prompt": entry.prompt}),
    }
}

fn all_recorded(entries: &[HistoryEntry]) -> Vec<Value> {
    entries.iter().map(recorded).collect()
}

#[test]
fn answers_every_recorded_call() {
    let place = place();
    let history = place.open();
    let mut not_a_limit = Vec::new();
    for vector in parse(VECTORS) {
        let arguments = vector["args"].as_array().unwrap();
        let text = arguments[0].as_str().unwrap();
        let answer = match vector["call"].as_str().unwrap() {
            "add" => {
                history.add(text, arguments.get(1).and_then(Value::as_str), None).unwrap();
                continue;
            }
            "getRecent" => match text.parse() {
                Ok(limit) => {
                    history.flush().unwrap();
                    history.recent(limit).unwrap()
                }
                Err(_) => {
                    not_a_limit.push(text.to_owned());
                    continue;
                }
            },
            "search" => {
                let limit = arguments[1].as_u64().unwrap() as usize;
                history.search(text, limit, HistoryScope::Global).unwrap()
            }
            other => panic!("unknown call {other}"),
        };
        assert_eq!(json!(all_recorded(&answer)), vector["result"], "{vector}");
    }
    assert_eq!(not_a_limit, ["-1", "2.9", "NaN", "Infinity"]);
}

#[test]
fn stores_the_recorded_rows() {
    let place = place();
    let history = place.open();
    for vector in parse(VECTORS).iter().filter(|vector| vector["call"] == "add") {
        let arguments = vector["args"].as_array().unwrap();
        let cwd = arguments.get(1).and_then(Value::as_str);
        history.add(arguments[0].as_str().unwrap(), cwd, None).unwrap();
    }
    history.close().unwrap();

    let rows: Vec<Value> = place
        .rows()
        .into_iter()
        .map(|(id, prompt, _, cwd, _)| json!({"id": id, "prompt": prompt, "cwd": cwd}))
        .collect();
    assert_eq!(rows, parse(ROWS));
}

#[test]
fn makes_the_recorded_schema_and_adds_to_it() {
    let place = place();
    drop(place.open());

    let names = |schema: &[Value]| -> Vec<(String, String)> {
        let mut names: Vec<_> = schema
            .iter()
            .map(|object| {
                let text = |key: &str| object[key].as_str().unwrap().to_owned();
                (text("type"), text("name"))
            })
            .collect();
        names.sort();
        names
    };
    let mut expected = names(&parse(SCHEMA));
    for (kind, name) in [
        ("trigger", "history_ad"),
        ("trigger", "history_au"),
        ("trigger", "history_search_ai"),
        ("trigger", "history_search_au"),
        ("table", "history_search_block"),
        ("table", "history_search_changed"),
        ("table", "history_search_segment"),
        ("index", "history_search_last"),
        ("index", "history_search_term"),
    ] {
        expected.push((kind.to_owned(), name.to_owned()));
    }
    expected.sort();
    let connection = place.sqlite();
    let mut statement = connection.prepare("SELECT type, name FROM sqlite_schema").unwrap();
    let schema: Vec<Value> = statement
        .query_map([], |row| {
            Ok(json!({"type": row.get::<_, String>(0)?, "name": row.get::<_, String>(1)?}))
        })
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    assert_eq!(names(&schema), expected);
}

#[test]
fn remembers_the_last_prompt_across_reopening() {
    let place = place();
    let mut history = place.open();
    let mut recent = Vec::new();
    for operation in parse(REOPEN) {
        let operation = operation.as_str().unwrap();
        if operation == "reopen" {
            history.close().unwrap();
            history = HistoryStorage::open(&place.database, crate::support::options()).unwrap();
        } else if let Some(prompt) = operation.strip_prefix("add ") {
            history.add(prompt.trim_matches('\''), None, None).unwrap();
        } else {
            assert_eq!(operation, "getRecent(10)");
            history.flush().unwrap();
            recent = history.recent(10).unwrap();
        }
    }
    assert_eq!(all_recorded(&recent), parse(REOPEN_RECENT), "{:?}", as_rows(recent));
}
