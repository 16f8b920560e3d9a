//! What searches of sessions in memory find.

use std::sync::Arc;
use std::time::Duration;

use pollster::block_on;
use proptest::prelude::*;
use session_model::search::{TextFilter, TextKind};
use session_model::storage::{SessionStorageExt, StorageKey};
use session_store_memory::MemoryStorage;

use super::*;
use crate::listing::{CwdFilter, Place, SessionCatalog};

fn key(name: &str) -> StorageKey {
    StorageKey::new(format!("sessions/{name}")).unwrap()
}

/// Sessions of these names and texts in memory.
fn storage(sessions: &[(&str, String)]) -> Arc<MemoryStorage> {
    let storage = Arc::new(MemoryStorage::new());
    for (name, text) in sessions {
        block_on(storage.append_once(&key(name), text.clone().into())).unwrap();
    }
    storage
}

fn search_in(storage: Arc<MemoryStorage>) -> SessionSearch {
    SessionSearch::new(SessionCatalog::new(vec![Place::agent_dir(storage).unwrap()]))
}

fn header(id: &str, cwd: &str) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00Z\",\"cwd\":\"{cwd}\"}}\n"
    )
}

fn message(id: &str, day: u32, message: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id}\",\"parentId\":null,\"timestamp\":\"2026-01-{day:02}T00:00:00Z\",\"message\":{message}}}\n"
    )
}

fn user(id: &str, day: u32, text: &str) -> String {
    message(id, day, &format!(r#"{{"role":"user","content":"{text}"}}"#))
}

fn run(search: &SessionSearch, request: SearchRequest) -> SearchResults {
    block_on(search.search(request, |_| {})).unwrap()
}

/// The entries found, as `session/entry`.
fn ids(results: &SearchResults) -> Vec<String> {
    let name = |hit: &SearchHit| {
        let entry = hit.entry.as_deref().unwrap_or("-");
        format!("{}/{entry}", hit.session.id.as_deref().unwrap_or("-"))
    };
    results.hits.iter().map(name).collect()
}

#[test]
fn a_hit_tells_where_it_stands() {
    let text =
        header("s", "/w") + "damaged\n" + &user("a", 1, "one") + &user("b", 2, "fix the\\nlogin");
    let offset = text.find("{\"type\":\"message\",\"id\":\"b\"").unwrap() as u64;
    let search = search_in(storage(&[("-w/x.jsonl", text)]));
    let results = run(&search, SearchRequest::new("login"));
    let [hit] = &results.hits[..] else { panic!("{results:?}") };
    assert_eq!((hit.line, hit.offset, hit.role.as_str()), (4, offset, "user"));
    assert_eq!(
        (hit.snippet.text.as_str(), hit.snippet.highlights.as_slice()),
        ("fix the login", std::slice::from_ref(&(8..13)))
    );
    assert_eq!(hit.written_ms, Some(1_767_312_000_000));
    assert_eq!(hit.session.cwd.as_deref(), Some("/w"));
    assert_eq!(hit.session.location(), "sessions/-w/x.jsonl");
    assert_eq!((results.total, results.total_is_exact), (1, true));
    assert!(results.coverage.is_complete());
}

#[test]
fn filters_narrow_the_search() {
    let call = r#"{"role":"assistant","provider":"acme","model":"big","content":[{"type":"thinking","thinking":"word deep"},{"type":"toolCall","name":"bash","arguments":{"cmd":"word"}}]}"#;
    let result =
        r#"{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"word"}]}"#;
    let one = header("one", "/w/one")
        + &user("u", 1, "word")
        + &message("a", 2, call)
        + &message("t", 3, result);
    let two = header("two", "/w/two") + &user("u", 4, "word");
    let search = search_in(storage(&[("-w/1.jsonl", one), ("-w/2.jsonl", two)]));
    let found = |request: SearchRequest| {
        let mut found = ids(&run(&search, request));
        found.sort();
        found
    };
    let filtered = |change: fn(&mut TextFilter)| {
        let mut filter = TextFilter::default();
        change(&mut filter);
        found(SearchRequest::new("word").filter(filter))
    };
    assert_eq!(found(SearchRequest::new("word")), ["one/a", "one/t", "one/u", "two/u"]);
    assert_eq!(filtered(|f| f.role = Some("user".into())), ["one/u", "two/u"]);
    assert_eq!(filtered(|f| f.role = Some("tool".into())), ["one/t"]);
    assert_eq!(filtered(|f| f.tool = Some("bash".into())), ["one/a", "one/t"]);
    assert_eq!(filtered(|f| f.model = Some("acme".into())), ["one/a"]);
    assert_eq!(filtered(|f| f.since_ms = Some(1_767_398_400_000)), ["one/t", "two/u"]);
    assert_eq!(filtered(|f| f.until_ms = Some(1_767_312_000_000)), ["one/u"]);
    assert_eq!(found(SearchRequest::new("word").cwd(CwdFilter::named("/w/two"))), ["two/u"]);
    assert_eq!(found(SearchRequest::new("word").session(key("-w/2.jsonl"))), ["two/u"]);
    assert_eq!(found(SearchRequest::new("deep")), Vec::<String>::new());
    let filter = TextFilter { thinking: true, ..TextFilter::default() };
    let thought = run(&search, SearchRequest::new("deep").filter(filter));
    assert_eq!(
        (ids(&thought), thought.hits[0].kind),
        (vec!["one/a".to_owned()], TextKind::Thinking)
    );
}

#[test]
fn the_only_answer_is_found_wherever_it_is() {
    let mut sessions: Vec<_> = (0..200)
        .map(|n| {
            (
                format!("-w{}/{n}.jsonl", n % 7),
                header(&format!("s{n}"), "/w") + &user("a", 20, "other words"),
            )
        })
        .collect();
    sessions[0].1 = header("s0", "/elsewhere") + &user("a", 1, "needle");
    let sessions: Vec<_> =
        sessions.iter().map(|(name, text)| (name.as_str(), text.clone())).collect();
    let results = run(&search_in(storage(&sessions)), SearchRequest::new("needle"));
    assert_eq!((ids(&results), results.coverage.sessions), (vec!["s0/a".to_owned()], 200));
    assert!(results.coverage.is_complete());
}

#[test]
fn better_and_later_answers_come_first_and_ties_have_an_order() {
    let text = header("s", "/w")
        + &user("rarely", 1, &format!("needle {}", "hay ".repeat(100)))
        + &user("often", 1, "needle needle hay")
        + &user("b", 3, "needle hay x")
        + &user("a", 3, "needle hay y")
        + &user("later", 30, "needle hay z");
    let search = search_in(storage(&[("-w/1.jsonl", text)]));
    for _ in 0..3 {
        let results = run(&search, SearchRequest::new("needle"));
        assert_eq!(ids(&results), ["s/later", "s/often", "s/b", "s/a", "s/rarely"]);
    }
    let results = run(&search, SearchRequest::new("needle").limit(2));
    assert_eq!((ids(&results).len(), results.total, results.total_is_exact), (2, 5, true));
}

#[test]
fn what_cannot_be_searched_is_told() {
    let good = header("s", "/w") + &user("a", 1, "needle");
    let long = header("l", "/w") + &user("a", 1, &format!("needle {}", "x ".repeat(40_000)));
    let search = search_in(storage(&[
        ("-w/bad.jsonl", "no session\n".to_owned()),
        ("-w/good.jsonl", good.clone()),
        ("-w/good/child.jsonl", header("child", "/w") + user("c", 1, "needle").trim_end()),
        ("-w/good/data.jsonl", "{\"no\":\"session\"}\n".to_owned()),
        ("-w/long.jsonl", long),
    ]));
    let results = run(&search, SearchRequest::new("needle"));
    assert_eq!(ids(&results), ["s/a", "child/c", "l/a"]);
    let SearchCoverage { sessions, unreadable, cut_entries, .. } = &results.coverage;
    assert_eq!((*sessions, *cut_entries), (3, 1));
    let [bad] = &unreadable[..] else { panic!("{unreadable:?}") };
    assert_eq!(bad.location, "sessions/-w/bad.jsonl");
    assert!(bad.reason.contains("not a session file"), "{}", bad.reason);
    assert!(!results.coverage.is_complete());

    let hurried = run(&search, SearchRequest::new("needle").time_limit(Duration::ZERO));
    assert_eq!((hurried.total, hurried.coverage.not_reached), (0, 3));
    assert!(!hurried.coverage.is_complete());
}

#[test]
fn titles_are_found() {
    let titled = "{\"type\":\"session\",\"id\":\"s\",\"title\":\"Mend the parser\"}\n".to_owned();
    let later = "{\"type\":\"title_change\",\"id\":\"t\",\"parentId\":null,\"title\":\"Mend all\",\"source\":\"user\"}\n";
    let search = search_in(storage(&[("-w/1.jsonl", titled + later)]));
    let title = TextFilter { role: Some("title".into()), ..TextFilter::default() };
    let results = run(&search, SearchRequest::new("mend").filter(title));
    assert_eq!(ids(&results), ["s/t", "s/-"]);
    assert_eq!(results.hits[1].snippet.text, "Mend the parser");
    let alone = "{\"type\":\"session\",\"id\":\"s\",\"title\":\"Mend the parser\"}".to_owned();
    let results = run(&search_in(storage(&[("-w/1.jsonl", alone)])), SearchRequest::new("mend"));
    assert_eq!(ids(&results), ["s/-"]);
}

#[test]
fn a_large_session_is_read_in_parts() {
    let filler = user("f", 1, &"hay ".repeat(1000));
    let mut text = header("s", "/w");
    while text.len() < 9 << 20 {
        text.push_str(&filler);
    }
    let line = text.lines().count() as u64 + 1;
    text.push_str(&user("last", 1, "needle"));
    let search = search_in(storage(&[("-w/1.jsonl", text)]));
    let results = run(&search, SearchRequest::new("needle"));
    assert_eq!((ids(&results), results.hits[0].line), (vec!["s/last".to_owned()], line));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_text_is_a_query(query in ".{0,40}", text in "[a-z \"'*().,:/-]{0,40}") {
        let entry = user("a", 1, &text.replace('"', "\\\""));
        let search = search_in(storage(&[("-w/1.jsonl", header("s", "/w") + &entry)]));
        let results = run(&search, SearchRequest::new(&query));
        prop_assert_eq!(results.hits.len() as u64, results.total);
        let quoted = run(&search, SearchRequest::new(&format!("\"{}\"", text.replace('"', " "))));
        let has_words = text.contains(char::is_alphanumeric);
        prop_assert_eq!(quoted.total, u64::from(has_words));
    }
}
