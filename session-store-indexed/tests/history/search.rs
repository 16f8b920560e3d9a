//! Finding prompts again.

use proptest::prelude::*;
use proptest::test_runner::Config;
use session_store_indexed::history::{HistoryScope, HistoryStorage};

use crate::support::{NOW, Place, options, place, prompts};

fn config(cases: u32) -> Config {
    Config { cases, failure_persistence: None, ..Config::default() }
}

/// A history of these prompts, oldest first.
fn history_of(texts: &[&str]) -> (Place, HistoryStorage) {
    let place = place();
    let history = place.open();
    for text in texts {
        history.add(text, None, None).unwrap();
    }
    history.flush().unwrap();
    (place, history)
}

fn search(history: &HistoryStorage, query: &str) -> Vec<String> {
    prompts(history.search(query, 1000, HistoryScope::Global).unwrap())
}

#[test]
fn finds_parts_of_text_without_spaces() {
    let (_place, history) =
        history_of(&["请修复登录测试", "ログインを直す", "แก้ไขการเข้าสู่ระบบ", "login"]);
    assert_eq!(search(&history, "登录"), ["请修复登录测试"]);
    assert_eq!(search(&history, "イン 直"), ["ログインを直す"]);
    assert_eq!(search(&history, "เข้าสู่"), ["แก้ไขการเข้าสู่ระบบ"]);
    assert_eq!(search(&history, "登录 login"), [""; 0]);
}

#[test]
fn finds_words_beside_text_without_spaces() {
    let (_place, history) = history_of(&["fix 登录 in Login.ts", "fix logout"]);
    assert_eq!(search(&history, "录 FIX log"), ["fix 登录 in Login.ts"]);
    assert_eq!(search(&history, "LOGIN.TS"), ["fix 登录 in Login.ts"]);
}

#[test]
fn finds_punctuation_and_symbols() {
    let (_place, history) = history_of(&["a && b", "100%", "under_score", "done 🎉", "[x]"]);
    assert_eq!(search(&history, "&&"), ["a && b"]);
    assert_eq!(search(&history, "%"), ["100%"]);
    assert_eq!(search(&history, "_"), ["under_score"]);
    assert_eq!(search(&history, "🎉"), ["done 🎉"]);
    assert_eq!(search(&history, "[ ]"), ["[x]"]);
    assert_eq!(search(&history, "b ||"), ["a && b"]);
}

#[test]
fn treats_nothing_as_an_operator() {
    let (_place, history) = history_of(&["NOT here", "NEAR(this)", "first second", "prompt: x"]);
    assert_eq!(search(&history, "NOT here"), ["NOT here"]);
    assert_eq!(search(&history, "NEAR(this"), ["NEAR(this)"]);
    assert_eq!(search(&history, "first OR here"), [""; 0]);
    assert_eq!(search(&history, "prompt:x"), ["prompt: x"]);
    assert_eq!(search(&history, "\"second first\""), ["first second"]);
}

#[test]
fn finds_code() {
    let (_place, history) = history_of(&["fix src/app.ts:42 in parse_header()", "don't touch c++"]);
    assert_eq!(search(&history, "src/app.ts"), ["fix src/app.ts:42 in parse_header()"]);
    assert_eq!(search(&history, "parse_head"), ["fix src/app.ts:42 in parse_header()"]);
    assert_eq!(search(&history, "header"), ["fix src/app.ts:42 in parse_header()"]);
    assert_eq!(search(&history, "don't"), ["don't touch c++"]);
    assert_eq!(search(&history, "c++"), ["don't touch c++"]);
}

#[test]
fn narrows_to_a_scope() {
    let place = place();
    let history = place.open();
    history.add("run tests a", Some("/a"), Some("s1")).unwrap();
    history.add("run tests b", Some("/b"), Some("s1")).unwrap();
    history.add("run tests c", Some("/a"), Some("s2")).unwrap();
    history.add("run tests 录", None, None).unwrap();
    history.flush().unwrap();
    let search = |query, scope| prompts(history.search(query, 10, scope).unwrap());

    let all = ["run tests 录", "run tests c", "run tests b", "run tests a"];
    assert_eq!(search("run", HistoryScope::Global), all);
    assert_eq!(search("run", HistoryScope::Cwd("/a")), ["run tests c", "run tests a"]);
    assert_eq!(search("run", HistoryScope::Session("s1")), ["run tests b", "run tests a"]);
    assert_eq!(search("run", HistoryScope::Cwd("")), [""; 0]);
    assert_eq!(search("录", HistoryScope::Cwd("/a")), [""; 0]);
    assert_eq!(search("c", HistoryScope::Session("s2")), ["run tests c"]);
}

#[test]
fn returns_at_most_a_thousand_newest_first() {
    let place = place();
    let history = place.open();
    let other = place.sqlite();
    other.execute_batch("BEGIN").unwrap();
    for number in 0..1100 {
        // Ten prompts a second: the row decides within one.
        let time = NOW + number / 10;
        other
            .execute(
                "INSERT INTO history (prompt, created_at) VALUES (?, ?)",
                (format!("run {number} 录"), time),
            )
            .unwrap();
    }
    other.execute_batch("COMMIT").unwrap();
    let expected: Vec<i64> = (101..=1100).rev().collect();
    let ids = |entries: Vec<session_store_indexed::history::HistoryEntry>| {
        entries.into_iter().map(|entry| entry.id).collect::<Vec<_>>()
    };
    for limit in [0, 1, 999, 1000, 1001, usize::MAX] {
        let expected = &expected[..limit.min(1000)];
        assert_eq!(ids(history.recent(limit).unwrap()), expected);
        for query in ["run", "录", "run 录"] {
            let found = history.search(query, limit, HistoryScope::Global).unwrap();
            assert_eq!(ids(found), expected, "{query}");
        }
    }
}

#[test]
fn finds_what_other_programs_make_of_many_prompts() {
    let place = place();
    let history = place.open();
    for number in 1..=2000 {
        history.add(&format!("common {number} src/app{number}.rs"), Some("/a"), None).unwrap();
    }
    history.flush().unwrap();
    let ids = |query: &str, limit: usize, scope: HistoryScope<'_>| -> Vec<i64> {
        let found = history.search(query, limit, scope).unwrap();
        found.into_iter().map(|entry| entry.id).collect()
    };
    let global = HistoryScope::Global;
    assert_eq!(ids("comm", 3, global), [2000, 1999, 1998]);
    assert_eq!(ids("src/app7", 1000, global).len(), 111);
    assert_eq!(ids("app7/src", 1000, global), [0; 0]);
    let other = place.sqlite();
    other
        .execute_batch(
            "UPDATE history SET prompt = 'uncommon', cwd = '/b' WHERE id = 1;
             UPDATE history SET created_at = created_at + 10 WHERE id = 2;
             DELETE FROM history WHERE id = 2000;
             INSERT INTO history (prompt, created_at) VALUES ('common latest', 0);",
        )
        .unwrap();
    assert_eq!(ids("comm", 3, global), [2, 1999, 1998]);
    assert_eq!(ids("unco", 3, global), [1]);
    assert_eq!(ids("un", 3, HistoryScope::Cwd("/b")), [1]);
    assert_eq!(ids("common 1 ", 1, HistoryScope::Cwd("/b")), [0; 0]);
    assert_eq!(ids("late", 3, global), [2001]);
    assert_eq!(ids("common late", 3, HistoryScope::Cwd("/a")), [0; 0]);
}

/// A program that holds the database locked does not keep anybody waiting for a search.
#[test]
fn finds_while_another_program_writes() {
    let place = place();
    let history = place.open();
    let other = place.sqlite();
    other.execute_batch("BEGIN").unwrap();
    for number in 0..2000 {
        let prompt = format!("common {number}");
        other
            .execute("INSERT INTO history (prompt, created_at) VALUES (?, ?)", (prompt, number))
            .unwrap();
    }
    other.execute_batch("COMMIT; BEGIN IMMEDIATE; DELETE FROM history WHERE id > 100").unwrap();
    let start = std::time::Instant::now();
    let found = history.search("comm", 1, HistoryScope::Global).unwrap();
    assert_eq!(prompts(found), ["common 1999"]);
    assert!(start.elapsed() < options().busy_timeout / 2, "{:?}", start.elapsed());
}

#[test]
fn takes_any_text() {
    let texts =
        ["don't touch \"src/app.ts\" (c++)", "修复 bug\0 nul", "a*b^c:d{e}+-f", "\u{301}x\u{600}"];
    let (_place, history) = history_of(&texts);
    let hostile = "[\\PC\\x00\"'*():^{}+\\-~&|%_\\\\ \u{301}\u{600}\u{ad}\u{200d}录aN]{0,12}";
    proptest!(config(500), |(query in prop_oneof![any::<String>(), hostile])| {
        for scope in [HistoryScope::Global, HistoryScope::Cwd(&query), HistoryScope::Session(&query)] {
            history.search(&query, 10, scope).unwrap();
        }
    });
}

#[test]
fn takes_very_long_text() {
    let (_place, history) = history_of(&["a b c"]);
    assert_eq!(search(&history, &"a b c ".repeat(20_000)), ["a b c"]);
    let many: String = (0..3_000).map(|number| format!("w{number} ")).collect();
    for query in [&many, &"a/".repeat(60_000), &"录 ".repeat(60_000), &"\"".repeat(60_000)] {
        assert_eq!(search(&history, query), [""; 0]);
    }
}

#[test]
fn finds_any_prompt_by_its_own_text() {
    let (_place, history) = history_of(&[]);
    proptest!(config(200), |(prompt in "[a-zA-Z0-9録音 .,;/_-]{1,20}")| {
        history.add(&prompt, None, None).unwrap();
        history.flush().unwrap();
        if let Some(stored) = prompts(history.recent(1).unwrap()).first() {
            prop_assert_eq!(&search(&history, stored)[0], stored);
        }
    });
}

/// What a search should find, by looking at every prompt.
fn oracle(prompts: &[String], query: &str) -> Vec<String> {
    let words: Vec<String> = query.split_whitespace().map(str::to_lowercase).collect();
    let holds = |prompt: &&String| {
        let prompt = prompt.to_lowercase();
        words.iter().all(|word| prompt.split_whitespace().any(|other| other.starts_with(word)))
    };
    if words.is_empty() {
        return Vec::new();
    }
    prompts.iter().rev().filter(holds).cloned().collect()
}

#[test]
fn finds_what_looking_at_every_prompt_finds() {
    let text = "[abAB1 ]{1,8}";
    proptest!(config(50), |(texts in prop::collection::vec(text, 0..12), queries in prop::collection::vec(text, 1..12))| {
        let (_place, history) = history_of(&texts.iter().map(String::as_str).collect::<Vec<_>>());
        let mut stored: Vec<String> = texts.iter().map(|text| text.trim().to_owned()).collect();
        stored.retain(|text| !text.is_empty());
        stored.dedup();
        for query in queries {
            prop_assert_eq!(search(&history, &query), oracle(&stored, &query), "{}", query);
        }
    });
}
