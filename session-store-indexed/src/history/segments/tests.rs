//! Answers are those of the plain way, whatever was done to the prompts, and by whom.

use proptest::prelude::*;
use proptest::test_runner::Config;
use rusqlite::types::Value;
use rusqlite::{Connection, params};

use super::super::words::Words;
use super::super::{HistoryEntry, HistoryScope, read, schema};
use super::{MOVED, catch_up, from_bytes, search};

fn database() -> Connection {
    let mut connection = Connection::open_in_memory().unwrap();
    schema::prepare(&mut connection, "history.db".as_ref(), None).unwrap();
    // Else replacing a row leaves the full-text index, and so the plain way, behind.
    connection.pragma_update(None, "recursive_triggers", true).unwrap();
    connection
}

fn insert(connection: &Connection, id: Option<i64>, prompt: &str, created_at: Value, cwd: u8) {
    let cwd = (cwd > 0).then(|| format!("/w/{cwd}"));
    connection
        .execute(
            "INSERT OR REPLACE INTO history (id, prompt, created_at, cwd, session_id)
             VALUES (?1, ?2, ?3, ?4, ?4)",
            params![id, prompt, created_at, cwd],
        )
        .unwrap();
}

/// What any program may do.
#[derive(Clone, Debug)]
enum Step {
    Insert(String, Value, u8),
    InsertAt(i64, String, Value),
    Reword(i64, String),
    Redate(i64, Value),
    Move(i64, i64),
    Rehome(i64, u8),
    Remove(i64),
    RemoveUpTo(i64),
    CatchUp,
    Search(String, usize, u8),
}

fn text() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "a", "ab", "abc", "b", "B", "É", "e", "漢", "漢字", "字漢", "x漢字y", "&&", "&", "%", "\"",
        "🎉", "\0", "ß",
    ]);
    let joint = prop::sample::select(vec![" ", " ", " ", "-", ""]);
    prop::collection::vec((word, joint), 1..6)
        .prop_map(|words| words.into_iter().map(|(word, joint)| format!("{word}{joint}")).collect())
}

fn time() -> impl Strategy<Value = Value> {
    prop_oneof![
        20 => (0_i64..6).prop_map(Value::Integer),
        1 => Just(Value::Real(2.5)),
        1 => Just(Value::Text("soon".to_owned())),
    ]
}

fn step() -> impl Strategy<Value = Step> {
    let id = || 0_i64..40;
    prop_oneof![
        16 => (text(), time(), 0_u8..3).prop_map(|(text, at, cwd)| Step::Insert(text, at, cwd)),
        2 => (id(), text(), time()).prop_map(|(id, text, at)| Step::InsertAt(id, text, at)),
        2 => (id(), text()).prop_map(|(id, text)| Step::Reword(id, text)),
        2 => (id(), time()).prop_map(|(id, at)| Step::Redate(id, at)),
        1 => (id(), id()).prop_map(|(from, to)| Step::Move(from, to)),
        1 => (id(), 0_u8..3).prop_map(|(id, cwd)| Step::Rehome(id, cwd)),
        1 => id().prop_map(Step::Remove),
        1 => (0_i64..15).prop_map(Step::RemoveUpTo),
        3 => Just(Step::CatchUp),
        8 => (text(), 0_usize..8, 0_u8..5)
            .prop_map(|(text, limit, scope)| Step::Search(text, limit, scope)),
    ]
}

fn run(connection: &mut Connection, step: Step) -> Result<(), TestCaseError> {
    let execute = |sql: &str, params: &[&dyn rusqlite::ToSql]| {
        connection.execute(sql, params).unwrap();
    };
    match step {
        Step::Insert(prompt, at, cwd) => insert(connection, None, &prompt, at, cwd),
        Step::InsertAt(id, prompt, at) => insert(connection, Some(id), &prompt, at, 1),
        Step::Reword(id, prompt) => {
            execute("UPDATE history SET prompt = ? WHERE id = ?", &[&prompt, &id]);
        }
        Step::Redate(id, at) => {
            execute("UPDATE OR ABORT history SET created_at = ? WHERE id = ?", &[&at, &id]);
        }
        Step::Move(from, to) => {
            execute("UPDATE OR IGNORE history SET id = ? WHERE id = ?", &[&to, &from]);
        }
        Step::Rehome(id, cwd) => {
            let cwd = format!("/w/{cwd}");
            execute("UPDATE history SET cwd = ? WHERE id = ?", &[&cwd, &id]);
        }
        Step::Remove(id) => execute("DELETE FROM history WHERE id = ?", &[&id]),
        Step::RemoveUpTo(id) => execute("DELETE FROM history WHERE id <= ?", &[&id]),
        Step::CatchUp => catch_up(connection).unwrap(),
        Step::Search(text, limit, scope) => {
            let scope = match scope {
                0 => HistoryScope::Cwd("/w/1"),
                1 => HistoryScope::Session("/w/2"),
                2 => HistoryScope::Cwd("/w"),
                _ => HistoryScope::Global,
            };
            let words = Words::new(&text);
            if words.is_empty() {
                return Ok(());
            }
            let expected = read::search(connection, &words, limit, scope).unwrap();
            let found = search(connection, &words, limit, scope).unwrap();
            prop_assert_eq!(found, expected, "{:?} {:?}", text, scope);
        }
    }
    Ok(())
}

#[test]
fn answers_are_those_of_the_plain_way() {
    let config = Config { cases: 32, failure_persistence: None, ..Config::default() };
    proptest!(config, |(steps in prop::collection::vec(step(), 1..80))| {
        let mut connection = database();
        for step in steps {
            run(&mut connection, step)?;
        }
    });
}

/// The ids of each segment, with its level.
fn segments(connection: &Connection) -> Vec<(i64, Vec<i64>)> {
    connection
        .prepare("SELECT level, ids FROM history_search_segment ORDER BY segment")
        .unwrap()
        .query_map([], |row| Ok((row.get(0)?, from_bytes(&row.get::<_, Vec<u8>>(1)?).unwrap())))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap()
}

fn found(connection: &mut Connection, query: &str) -> Vec<i64> {
    let words = Words::new(query);
    let found = search(connection, &words, 1000, HistoryScope::Global).unwrap();
    found.into_iter().map(|entry: HistoryEntry| entry.id).collect()
}

#[test]
fn many_prompts_become_few_segments_in_the_order_of_their_times() {
    let mut connection = database();
    for id in 1..=3 {
        insert(&connection, None, "same", Value::Integer(100 - id), 0);
    }
    catch_up(&mut connection).unwrap();
    assert_eq!(segments(&connection), []);
    insert(&connection, None, "same", Value::Integer(0), 0);
    catch_up(&mut connection).unwrap();
    assert_eq!(segments(&connection), [(0, vec![4, 3, 2, 1])]);
    for id in 5..=12 {
        insert(&connection, None, "same", Value::Integer(200 - id), 0);
        catch_up(&mut connection).unwrap();
    }
    let ids = vec![4, 3, 2, 1, 12, 11, 10, 9, 8, 7, 6, 5];
    assert_eq!(segments(&connection), [(1, ids.clone())]);
    assert_eq!(found(&mut connection, "sam"), ids.into_iter().rev().collect::<Vec<_>>());
}

#[test]
fn a_changed_prompt_leaves_its_segment() {
    let mut connection = database();
    for _ in 0..4 {
        insert(&connection, None, "one", Value::Integer(5), 0);
    }
    catch_up(&mut connection).unwrap();
    connection
        .execute("UPDATE history SET prompt = 'two', created_at = 7 WHERE id = 1", [])
        .unwrap();
    assert_eq!(found(&mut connection, "two"), [1]);
    for _ in 0..3 {
        insert(&connection, None, "two", Value::Integer(6), 0);
    }
    catch_up(&mut connection).unwrap();
    assert_eq!(segments(&connection), [(0, vec![MOVED, 2, 3, 4]), (0, vec![5, 6, 7, 1])]);
    assert_eq!(found(&mut connection, "two"), [1, 7, 6, 5]);
    assert_eq!(found(&mut connection, "one"), [4, 3, 2]);
}

#[test]
fn an_index_that_was_not_kept_in_step_is_made_anew() {
    let mut connection = database();
    for _ in 0..4 {
        insert(&connection, None, "one", Value::Integer(5), 0);
    }
    catch_up(&mut connection).unwrap();
    // As a tool does that brings the table to a new form.
    connection
        .execute_batch(
            "DROP TRIGGER history_search_au; UPDATE history SET prompt = 'two' WHERE id = 1;",
        )
        .unwrap();
    assert_eq!(found(&mut connection, "two"), [1]);
    connection.execute("UPDATE history SET prompt = 'three' WHERE id = 2", []).unwrap();
    assert_eq!(found(&mut connection, "three"), [2]);
}

#[test]
fn a_malformed_index_is_made_anew() {
    for damage in [
        "UPDATE history_search_block SET data = x'ff'",
        "UPDATE history_search_segment SET ids = x'00'",
        "UPDATE history_search_segment SET ids = x''",
    ] {
        let mut connection = database();
        for _ in 0..4 {
            insert(&connection, None, "one", Value::Integer(5), 0);
        }
        catch_up(&mut connection).unwrap();
        connection.execute(damage, []).unwrap();
        assert_eq!(found(&mut connection, "one"), [4, 3, 2, 1], "{damage}");
        assert_eq!(found(&mut connection, "one"), [4, 3, 2, 1], "{damage}");
        assert_eq!(segments(&connection), [(0, vec![1, 2, 3, 4])], "{damage}");
    }
}
