//! Prompts on their way into the database.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use rusqlite::Connection;
use session_store_indexed::DatabaseError;
use session_store_indexed::history::{HistoryError, HistoryStorage};

use crate::support::{NOW, Place, SetClock, options, place, prompts, row};

/// Holds the database locked for writing until it is dropped.
fn lock(place: &Place) -> Connection {
    let connection = place.sqlite();
    connection.execute_batch("BEGIN IMMEDIATE").unwrap();
    connection
}

fn stored(place: &Place) -> Vec<String> {
    place.rows().into_iter().map(|row| row.1).collect()
}

fn impatient(place: &Place) -> HistoryStorage {
    HistoryStorage::open(&place.database, options().busy_timeout(Duration::ZERO)).unwrap()
}

/// Fails unless `result` says that so many prompts wait for a lock.
#[track_caller]
fn assert_waiting(result: Result<(), HistoryError>, expected: usize) {
    match result {
        Err(HistoryError::NotSaved { pending, source: DatabaseError::Busy { .. } }) => {
            assert_eq!(pending, expected);
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn stores_all_that_is_known_of_a_prompt() {
    let place = place();
    let history = place.open();
    history.add("  one\n", Some("/a"), Some("s")).unwrap();
    history.add("two\n  lines", None, None).unwrap();
    history.close().unwrap();
    assert_eq!(
        place.rows(),
        [row(1, "one", NOW, Some("/a"), Some("s")), row(2, "two\n  lines", NOW, None, None),]
    );
}

#[test]
fn stores_no_blank_prompt() {
    let place = place();
    let history = place.open();
    for blank in ["", "   ", "\n\t", "\u{feff}", "\u{3000}"] {
        history.add(blank, Some("/a"), None).unwrap();
    }
    history.close().unwrap();
    assert_eq!(place.rows(), []);
}

#[test]
fn dates_a_prompt_when_it_is_added() {
    let place = place();
    let clock = Arc::new(SetClock(AtomicI64::new(100)));
    let history = HistoryStorage::open(&place.database, options().clock(clock.clone())).unwrap();
    let lock = lock(&place);
    history.add("one", None, None).unwrap();
    clock.0.store(200, Ordering::SeqCst);
    drop(lock);
    history.close().unwrap();
    assert_eq!(place.rows(), [row(1, "one", 100, None, None)]);
}

#[test]
fn stores_a_prompt_soon_without_being_asked() {
    let place = place();
    let history = place.open();
    history.add("one", None, None).unwrap();
    let start = Instant::now();
    while history.recent(1).unwrap().is_empty() {
        assert!(start.elapsed() < Duration::from_secs(120));
        thread::yield_now();
    }
    assert_eq!(stored(&place), ["one"]);
}

#[test]
fn saves_what_waits_when_dropped() {
    let place = place();
    let history = place.open();
    for number in 0..100 {
        history.add(&format!("prompt {number}"), None, None).unwrap();
    }
    drop(history);
    let expected: Vec<String> = (0..100).map(|number| format!("prompt {number}")).collect();
    assert_eq!(stored(&place), expected);
}

#[test]
fn waits_for_a_lock_that_is_held_for_a_while() {
    let place = place();
    let history = place.open();
    let lock = lock(&place);
    history.add("one", None, None).unwrap();
    let (sender, flushed) = channel();
    thread::scope(|scope| {
        scope.spawn(|| sender.send(history.flush()).unwrap());
        let early = flushed.recv_timeout(Duration::from_millis(300));
        assert!(matches!(early, Err(RecvTimeoutError::Timeout)), "{early:?}");
        drop(lock);
        flushed.recv().unwrap().unwrap();
    });
    assert_eq!(stored(&place), ["one"]);
}

#[test]
fn keeps_prompts_while_they_cannot_be_saved() {
    let place = place();
    let history = impatient(&place);
    let lock = lock(&place);
    history.add("one", None, None).unwrap();
    history.add("two", None, None).unwrap();
    assert_waiting(history.flush(), 2);
    assert_waiting(history.add("three", None, None), 3);
    assert_waiting(history.flush(), 3);
    drop(lock);
    history.flush().unwrap();
    history.add("four", None, None).unwrap();
    history.close().unwrap();
    assert_eq!(stored(&place), ["one", "two", "three", "four"]);
}

#[test]
fn says_on_closing_what_is_not_saved() {
    let place = place();
    let history = impatient(&place);
    let lock = lock(&place);
    history.add("one", None, None).unwrap();
    assert_waiting(history.close(), 1);
    drop(lock);
    assert_eq!(place.rows(), []);
}

#[test]
fn refuses_prompts_beyond_the_size_of_its_queue() {
    let place = place();
    let history = HistoryStorage::open(&place.database, options().queue_bytes(1000)).unwrap();
    let lock = lock(&place);
    let large = "x".repeat(2000);
    history.add(&large, None, None).unwrap();
    let refused = history.add("two", None, None);
    assert!(matches!(refused, Err(HistoryError::QueueFull { limit: 1000 })), "{refused:?}");
    drop(lock);
    history.flush().unwrap();
    history.add("three", None, None).unwrap();
    history.close().unwrap();
    assert_eq!(stored(&place), [large.as_str(), "three"]);
}

#[test]
fn stores_prompts_in_a_row_once() {
    let place = place();
    let history = place.open();
    for prompt in ["one", "one", " one ", "two", "one"] {
        history.add(prompt, None, None).unwrap();
    }
    history.close().unwrap();
    let history = place.open();
    history.add("one", None, None).unwrap();
    history.add("two", None, None).unwrap();
    history.close().unwrap();
    assert_eq!(stored(&place), ["one", "two", "one", "two"]);
}

#[test]
fn stores_prompts_in_a_row_once_across_windows() {
    let place = place();
    let (left, right) = (place.open(), place.open());
    let add = |window: &HistoryStorage, prompt| {
        window.add(prompt, None, None).unwrap();
        window.flush().unwrap();
    };
    add(&left, "one");
    add(&right, "one");
    add(&right, "two");
    add(&left, "one");
    assert_eq!(stored(&place), ["one", "two"]);
    add(&right, "one");
    assert_eq!(stored(&place), ["one", "two", "one"]);
}

#[test]
fn stores_a_prompt_again_that_was_removed() {
    let place = place();
    let history = place.open();
    history.add("one", None, None).unwrap();
    history.flush().unwrap();
    place.sqlite().execute("DELETE FROM history", []).unwrap();
    history.add("one", None, None).unwrap();
    history.close().unwrap();
    assert_eq!(place.rows(), [row(2, "one", NOW, None, None)]);
}

#[test]
fn stores_any_text_as_it_is() {
    let place = place();
    let history = place.open();
    let texts = ["nul \0 inside", "\u{fffd}\u{10ffff}", "'; DROP TABLE history; --", "line\r\nend"];
    for text in texts {
        history.add(text, Some(text), Some(text)).unwrap();
    }
    history.flush().unwrap();
    let mut expected = texts;
    expected.reverse();
    let entries = history.recent(10).unwrap();
    let directories: Vec<_> = entries.iter().map(|entry| entry.cwd.clone().unwrap()).collect();
    assert_eq!(directories, expected);
    assert_eq!(prompts(entries), expected);
}
