//! Sums over sessions.

use std::collections::BTreeMap;

use session_context::statistics::{Spent, Statistics};
use session_model::document::{LoadOptions, SessionDocument};

fn document(text: &str) -> SessionDocument {
    SessionDocument::load(text.to_owned().into(), &LoadOptions::default()).unwrap().document
}

#[test]
fn everything_that_costs_is_counted_once_and_where_it_belongs() {
    let first = document(concat!(
        r#"{"type":"session","version":3,"id":"s","cwd":"/a"}"#,
        "\n",
        r#"{"type":"message","id":"1","parentId":null,"timestamp":"2026-01-01T23:59:59.999Z","message":{"role":"user","content":"x"}}"#,
        "\n",
        r#"{"type":"message","id":"2","parentId":"1","timestamp":"2026-01-02T00:00:00.000Z","message":{"role":"assistant","provider":"p","model":"m","content":[{"type":"toolCall","id":"t","name":"read","arguments":{}},{"type":"toolCall","id":"u","name":"task","arguments":{}}],"usage":{"input":10,"output":1,"cacheRead":100,"cacheWrite":1000,"cost":{"total":0.5}}}}"#,
        "\n",
        r#"{"type":"message","id":"3","parentId":"2","timestamp":"2026-01-02T00:00:01.000Z","message":{"role":"toolResult","toolCallId":"t","toolName":"read","content":"","isError":true}}"#,
        "\n",
        r#"{"type":"message","id":"4","parentId":"3","timestamp":"2026-01-02T00:00:02.000Z","message":{"role":"toolResult","toolCallId":"u","toolName":"task","content":"","isError":false,"details":{"usage":{"input":3,"output":4}}}}"#,
        "\n",
        r#"{"type":"model_usage","id":"5","parentId":"4","timestamp":"2026-01-03T00:00:00.000Z","purpose":"title","api":"a","provider":"p","model":"small","usage":{"input":2},"stopReason":"stop"}"#,
        "\n",
        r#"{"type":"label","id":"6","parentId":"5","timestamp":"2026-01-04T00:00:00.000Z","targetId":"1","label":"l"}"#,
        "\n",
    ));
    let second = document(concat!(
        r#"{"type":"session","version":3,"id":"t"}"#,
        "\n",
        r#"{"type":"message","id":"1","parentId":null,"message":{"role":"assistant","provider":"p","model":"m","content":[]}}"#,
        "\n",
    ));
    let mut statistics = Statistics::default();
    statistics.add(&first);
    statistics.add(&second);
    let spent = |requests: u32, input: u32, output: u32, read: u32, write: u32, cost: &str| {
        format!(
            r#"{{"requests":{requests},"usage":{{"input":{input},"output":{output},"cacheRead":{read},"cacheWrite":{write},"premiumRequests":0,"cost":{cost}}}}}"#
        )
    };
    let (all, main) = (spent(4, 15, 5, 100, 1000, "0.5"), spent(2, 10, 1, 100, 1000, "0.5"));
    let (task, small) = (spent(1, 3, 4, 0, 0, "0"), spent(1, 2, 0, 0, 0, "0"));
    let second_day = spent(2, 13, 5, 100, 1000, "0.5");
    let unknown = spent(1, 0, 0, 0, 0, "0");
    let a = spent(3, 15, 5, 100, 1000, "0.5");
    assert_eq!(
        statistics.to_json().as_str(),
        [
            r#"{"sessions":2,"entries":7,"messages":{"assistant":2,"toolResult":2,"user":1},"#,
            &format!(r#""total":{all},"#),
            &format!(r#""models":{{"p/m":{main},"p/small":{small},"task":{task}}},"#),
            r#""tools":{"read":{"calls":1,"errors":1},"task":{"calls":1,"errors":0}},"#,
            &format!(r#""days":{{"2026-01-02":{second_day},"2026-01-03":{small},"unknown":{unknown}}},"#),
            &format!(r#""projects":{{"/a":{{"sessions":1,"spent":{a}}},"unknown":{{"sessions":1,"spent":{unknown}}}}}}}"#),
        ]
        .concat()
    );
    assert_eq!(statistics.total.tokens(), 1120);
}

#[test]
fn an_imported_answer_in_parts_is_one_request() {
    let mut statistics = Statistics::default();
    statistics.add(&document(concat!(
        r#"{"type":"session","version":3,"id":"s","cwd":"/a"}"#,
        "\n",
        r#"{"type":"custom","id":"1","parentId":null,"customType":"foreign_session_import","data":{"source":"claude"}}"#,
        "\n",
        r#"{"type":"message","id":"2","parentId":"1","message":{"role":"assistant","provider":"p","model":"m","content":[],"usage":{"input":0,"output":0,"cacheRead":0,"cacheWrite":0,"totalTokens":0}}}"#,
        "\n",
        r#"{"type":"message","id":"3","parentId":"2","message":{"role":"assistant","provider":"p","model":"m","content":[],"usage":{"input":0,"output":0,"cacheRead":7,"cacheWrite":0}}}"#,
        "\n",
    )));
    let requests = |of: &BTreeMap<String, Spent>| {
        of.iter().map(|(name, spent)| (name.clone(), spent.requests)).collect::<Vec<_>>()
    };
    assert_eq!((statistics.total.requests, statistics.total.tokens()), (1, 7));
    assert_eq!(requests(&statistics.models), [("p/m".to_owned(), 1)]);
    assert_eq!(statistics.messages, BTreeMap::from([("assistant".to_owned(), 2)]));
}
