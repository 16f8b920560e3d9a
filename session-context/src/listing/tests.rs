//! Lists of every kind of file.

use std::time::Duration;

use pollster::block_on;
use session_model::storage::{Payload, PutOptions};
use session_model::summary::SessionStatus;
use session_store_memory::{MemoryStorage, Operation, When};

use super::*;
use crate::SessionError;

fn key(key: &str) -> StorageKey {
    StorageKey::new(key).unwrap()
}

fn put(storage: &MemoryStorage, name: &str, text: &str) {
    let body = Payload::from(text.to_owned());
    block_on(storage.put(&key(name), body, PutOptions::default())).unwrap();
}

/// A session whose one message was said on this day of January 2026.
fn session(id: &str, cwd: &str, day: u32) -> String {
    format!(
        "{{\"type\":\"session\",\"version\":3,\"id\":\"{id}\",\"timestamp\":\"2026-01-01T00:00:00.000Z\",\"cwd\":\"{cwd}\"}}\n\
         {{\"type\":\"message\",\"id\":\"a\",\"parentId\":null,\"timestamp\":\"2026-01-{day:02}T00:00:00.000Z\",\
         \"message\":{{\"role\":\"user\",\"content\":\"hello\"}}}}\n"
    )
}

fn all() -> Scope {
    Scope::All(key("sessions"))
}

fn list(storage: &MemoryStorage, scope: &Scope, options: ListingOptions<'_>) -> Vec<SessionRow> {
    block_on(list_sessions(storage, scope, options)).unwrap()
}

/// The names of the listed files.
fn names(rows: &[SessionRow]) -> Vec<&str> {
    rows.iter().map(|row| row.key.as_str().strip_prefix("sessions/").unwrap()).collect()
}

fn listed(storage: &MemoryStorage, scope: &Scope, options: ListingOptions<'_>) -> Vec<String> {
    names(&list(storage, scope, options)).into_iter().map(str::to_owned).collect()
}

#[test]
fn order_is_by_activity_inside_and_then_by_key() {
    let storage = MemoryStorage::new();
    // Written in this order, so that the files' times say otherwise.
    put(&storage, "sessions/x/late.jsonl", &session("l", "/w", 9));
    put(&storage, "sessions/y/b.jsonl", &session("b", "/w", 5));
    put(&storage, "sessions/x/c.jsonl", &session("c", "/w", 5));
    put(&storage, "sessions/x/early.jsonl", &session("e", "/w", 2));
    let label = r#"{"type":"label","id":"z","targetId":"a","label":"x","timestamp":"2026-02-01T00:00:00.000Z"}"#;
    put(&storage, "sessions/x/named.jsonl", &(session("n", "/w", 3) + label + "\n"));
    let want = ["x/late.jsonl", "x/c.jsonl", "y/b.jsonl", "x/named.jsonl", "x/early.jsonl"];
    assert_eq!(listed(&storage, &all(), ListingOptions::default()), want);
}

#[test]
fn only_session_files_of_the_scope_are_listed() {
    let storage = MemoryStorage::new();
    for name in [
        "sessions/x/a.jsonl",
        "sessions/x/a/0.bash.log",
        "sessions/x/a/child.jsonl",
        "sessions/x/.hidden.jsonl",
        "sessions/x/notes.txt",
        "sessions/x/upper.JSONL",
        "sessions/x/old.jsonl.damaged-1",
        "sessions/y/b.jsonl",
        "sessions/flat.jsonl",
        "blobs/c.jsonl",
    ] {
        put(&storage, name, &session("s", "/w", 1));
    }
    let everything = ListingOptions::default();
    assert_eq!(listed(&storage, &all(), everything), ["flat.jsonl", "x/a.jsonl", "y/b.jsonl"]);
    let bucket = Scope::Bucket(key("sessions/x"));
    assert_eq!(listed(&storage, &bucket, ListingOptions::default()), ["x/a.jsonl"]);
    let missing = Scope::Bucket(key("sessions/none"));
    assert_eq!(listed(&storage, &missing, ListingOptions::default()), [""; 0]);
}

#[test]
fn the_header_says_whose_a_session_is() {
    let storage = MemoryStorage::new();
    put(&storage, "sessions/--w-a-b--/1.jsonl", &session("1", "/w/a-b", 1));
    put(&storage, "sessions/--w-a-b--/2.jsonl", &session("2", "/w/a/b", 2));
    put(&storage, "sessions/elsewhere/3.jsonl", &session("3", "/w/a-b/", 3));
    put(
        &storage,
        "sessions/--w-a-b--/4.jsonl",
        "{\"type\":\"session\",\"id\":\"4\",\"timestamp\":\"2025-12-31\"}\n",
    );
    let of = |cwd| ListingOptions::default().cwd(CwdFilter::named(cwd));
    let want = ["elsewhere/3.jsonl", "--w-a-b--/1.jsonl", "--w-a-b--/4.jsonl"];
    assert_eq!(listed(&storage, &all(), of("/w/a-b")), want);
    let bucket = Scope::Bucket(key("sessions/--w-a-b--"));
    let want = ["--w-a-b--/2.jsonl", "--w-a-b--/4.jsonl"];
    assert_eq!(listed(&storage, &bucket, of("/w/a/b")), want);
}

#[test]
fn what_is_no_session_comes_last_and_says_why() {
    let storage = MemoryStorage::new();
    put(&storage, "sessions/x/a.jsonl", "garbage\n");
    put(&storage, "sessions/x/b.jsonl", "");
    put(&storage, "sessions/x/c.jsonl", &session("c", "/w", 1));
    put(&storage, "sessions/x/d.jsonl", &session("d", "/w", 2));
    let options = || ListingOptions::default().cwd(CwdFilter::named("/w"));
    let rows = list(&storage, &all(), options().limit(1));
    assert_eq!(names(&rows), ["x/d.jsonl", "x/a.jsonl", "x/b.jsonl"]);
    let json: Vec<_> = rows[1..].iter().map(|row| row.to_json().to_string()).collect();
    let want = [
        r#"{"path":"sessions/x/a.jsonl","size":8,"error":"sessions/x/a.jsonl cannot be opened as a session; it was left as it is: not a session file: line 1 is no complete JSON record"}"#,
        r#"{"path":"sessions/x/b.jsonl","size":0,"error":"sessions/x/b.jsonl cannot be opened as a session; it was left as it is: the file is empty"}"#,
    ];
    assert_eq!(json, want);
    assert_eq!(names(&list(&storage, &all(), options().limit(0))), ["x/a.jsonl", "x/b.jsonl"]);
}

#[test]
fn a_file_that_cannot_be_read_costs_only_its_own_row() {
    let storage = MemoryStorage::new();
    put(&storage, "sessions/x/a.jsonl", &session("a", "/w", 1));
    put(&storage, "sessions/x/b.jsonl", &session("b", "/w", 2));
    storage.faults().fail_at(0, When::Before, StorageErrorKind::Denied);
    let rows = list(&storage, &all(), ListingOptions::default());
    assert_eq!(names(&rows), ["x/b.jsonl", "x/a.jsonl"]);
    let error = rows[1].summary.as_ref().unwrap_err();
    assert!(matches!(error, SessionError::Storage(e) if e.kind() == StorageErrorKind::Denied));
    assert_eq!(rows[1].meta, None);

    storage.faults().fail_at(1, When::Before, StorageErrorKind::Unavailable);
    let rows = list(&storage, &all(), ListingOptions::default());
    assert_eq!(names(&rows), ["x/a.jsonl", "x/b.jsonl"]);
    assert!(rows.iter().all(|row| row.summary.is_err() && row.meta.is_some()));

    storage.faults().fail_at(1, When::Before, StorageErrorKind::NotFound);
    assert_eq!(listed(&storage, &all(), ListingOptions::default()), [""; 0]);
}

#[test]
fn a_listing_that_fails_is_no_empty_list() {
    let storage = MemoryStorage::new();
    put(&storage, "sessions/x/a.jsonl", &session("a", "/w", 1));
    storage.faults().fail_at(0, When::Before, StorageErrorKind::Unsupported);
    let failed = block_on(list_sessions(&storage, &all(), ListingOptions::default()));
    let error = failed.unwrap_err();
    assert!(matches!(error, SessionError::Storage(e) if e.kind() == StorageErrorKind::Unsupported));
}

#[test]
fn more_is_read_for_a_long_header_alone() {
    let storage = MemoryStorage::new();
    let grown = |id, day| {
        let text = session(id, "/w", day);
        let (header, message) = text.split_once('\n').unwrap();
        format!("{header}\n{}", message.repeat(400))
    };
    let pad = format!(",\"pad\":\"{}\"}}", "p".repeat(9000));
    put(&storage, "sessions/x/long.jsonl", &grown("long", 1).replacen('}', &pad, 1));
    put(&storage, "sessions/x/plain.jsonl", &grown("plain", 2));
    storage.faults().record();
    let rows = list(&storage, &all(), ListingOptions::default());
    assert_eq!(names(&rows), ["x/plain.jsonl", "x/long.jsonl"]);
    let summary = rows[1].summary.as_ref().unwrap();
    assert_eq!((summary.id.as_str(), summary.message_count_is_exact), ("long", false));
    let peeked: Vec<_> = storage
        .faults()
        .operations()
        .into_iter()
        .filter(|call| call.operation == Operation::Peek)
        .map(|call| call.keys)
        .collect();
    let both = [key("sessions/x/long.jsonl"), key("sessions/x/plain.jsonl")];
    assert_eq!(peeked, [both.to_vec(), vec![both[0].clone()]]);
}

#[test]
fn files_are_looked_at_in_batches() {
    let storage = MemoryStorage::new();
    for n in 0..150 {
        put(&storage, &format!("sessions/x/{n:03}.jsonl"), &session(&n.to_string(), "/w", 1));
    }
    let mut seen = Vec::new();
    let mut note = |progress: ListingProgress| seen.push((progress.done, progress.total));
    let rows = list(&storage, &all(), ListingOptions::default().progress(&mut note));
    assert_eq!(rows.len(), 150);
    assert_eq!(seen, [(64, 150), (128, 150), (150, 150)]);
}

#[test]
fn sessions_that_share_an_id_are_marked() {
    let storage = MemoryStorage::new();
    put(&storage, "sessions/x/1.jsonl", &session("same", "/w", 3));
    put(&storage, "sessions/x/2.jsonl", &session("other", "/w", 2));
    put(&storage, "sessions/y/3.jsonl", &session("same", "/else", 1));
    let options = ListingOptions::default().cwd(CwdFilter::named("/w"));
    let rows = list(&storage, &all(), options);
    let marks: Vec<_> = rows.iter().map(|row| row.id_is_shared).collect();
    assert_eq!((names(&rows), marks), (vec!["x/1.jsonl", "x/2.jsonl"], vec![true, false]));
    assert!(rows[0].to_json().as_str().ends_with(r#""diagnostics":[],"idIsShared":true}"#));
    let plain = rows[1].summary.as_ref().unwrap().to_json("sessions/x/2.jsonl");
    assert_eq!(rows[1].to_json(), plain);
}

#[test]
fn the_most_recent_session_is_a_session_of_the_directory() {
    let storage = MemoryStorage::new();
    let recent = |cwd| block_on(most_recent(&storage, &all(), CwdFilter::named(cwd))).unwrap();
    put(&storage, "sessions/x/0.jsonl", "garbage\n");
    assert!(recent("/w").is_none());
    put(&storage, "sessions/x/1.jsonl", &session("1", "/w", 1));
    put(&storage, "sessions/x/2.jsonl", &session("2", "/w", 2));
    put(&storage, "sessions/x/3.jsonl", &session("3", "/other", 3));
    let nobodys = session("4", "/w", 4).replacen(",\"cwd\":\"/w\"", "", 1);
    put(&storage, "sessions/x/4.jsonl", &nobodys);
    let row = recent("/w").unwrap();
    assert_eq!(
        (row.key.as_str(), row.location().as_str()),
        ("sessions/x/2.jsonl", "sessions/x/2.jsonl")
    );
    assert_eq!(row.summary.unwrap().status, SessionStatus::Pending);
}

#[test]
fn a_file_that_is_as_it_was_is_not_looked_into_again() {
    let storage = MemoryStorage::new();
    let names = ["sessions/x/a.jsonl", "sessions/x/b.jsonl", "sessions/x/c.jsonl"];
    for (name, id) in names.iter().zip(["a", "b", "c"]) {
        put(&storage, name, &session(id, "/w", 1));
    }
    let known = KnownSummaries::default();
    let list = || {
        storage.faults().record();
        let options = ListingOptions::default();
        let rows = block_on(list_places(&[(&storage, &all())], options, Some(&known))).unwrap();
        let peeked = storage.faults().operations().into_iter();
        let peeked = peeked.filter(|call| call.operation == Operation::Peek);
        let ids: Vec<_> = rows.iter().map(|row| row.summary.as_ref().unwrap().id.clone()).collect();
        (ids, peeked.flat_map(|call| call.keys).collect::<Vec<_>>())
    };
    assert_eq!(list(), (vec!["a".into(), "b".into(), "c".into()], names.map(key).to_vec()));
    let keep = |names: &[&str], age: u64| {
        let rows: Vec<_> = block_on(list_sessions(&storage, &all(), ListingOptions::default()))
            .unwrap()
            .into_iter()
            .filter(|row| names.contains(&row.key.as_str()))
            .map(|row| {
                let mut summary = row.summary.unwrap();
                summary.id += ", kept";
                let meta = row.meta.unwrap();
                let (key, version) = (meta.key, meta.version);
                (ObjectMeta::new(key, meta.size, std::time::UNIX_EPOCH, version), summary)
            })
            .collect();
        let looked = std::time::UNIX_EPOCH + Duration::from_millis(age);
        known.keep(looked, rows.iter().map(|(meta, summary)| (0, meta, summary)));
    };
    // What was written just before may have changed again without its version telling.
    keep(&names, 1999);
    assert_eq!(list().1, names.map(key));
    keep(&names, 2000);
    put(&storage, names[1], &session("b2", "/w", 1));
    let want = vec!["a, kept".to_owned(), "b2".to_owned(), "c, kept".to_owned()];
    assert_eq!(list(), (want, vec![key(names[1])]));
    // A list keeps what it has seen, and nothing else.
    keep(&names[..1], 2000);
    assert_eq!(list().1, [key(names[1]), key(names[2])]);
    keep(&names, 2000);
    storage.faults().record();
    let (blobs, everything) = (Scope::Bucket(key("blobs")), all());
    let places: [(&dyn SessionStorage, &Scope); 2] = [(&storage, &blobs), (&storage, &everything)];
    let options = ListingOptions::default();
    let rows = block_on(list_places(&places, options, Some(&known))).unwrap();
    assert!(rows.iter().all(|row| row.summary.as_ref().unwrap().id.len() <= 2));
}

#[test]
fn files_share_threads_and_keep_their_places() {
    let storage = MemoryStorage::new();
    let mut want = Vec::new();
    for n in 0..100 {
        let name = format!("sessions/x/{n:03}.jsonl");
        let text =
            if n % 7 == 3 { "garbage\n".to_owned() } else { session(&n.to_string(), "/w", 1) };
        put(&storage, &name, &text);
        want.push((n % 7 == 3, format!("x/{n:03}.jsonl")));
    }
    want.sort();
    let rows = list(&storage, &all(), ListingOptions::default());
    let shown: Vec<_> = rows.iter().map(|row| row.summary.is_err()).zip(names(&rows)).collect();
    let want: Vec<_> = want.iter().map(|(is_none, name)| (*is_none, name.as_str())).collect();
    assert_eq!(shown, want);
    for row in rows.iter().filter(|row| row.summary.is_ok()) {
        let number: usize = row.summary.as_ref().unwrap().id.parse().unwrap();
        assert!(row.key.as_str().ends_with(&format!("/{number:03}.jsonl")));
    }
}
