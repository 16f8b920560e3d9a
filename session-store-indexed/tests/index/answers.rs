//! What the index answers.

use std::fs::File;
use std::time::{Duration, SystemTime};

use pollster::block_on;
use rusqlite::Connection;
use session_model::SessionDocument;
use session_model::document::LoadOptions;
use session_model::message::UsageTotals;
use session_model::storage::{PutOptions, SessionStorage, SessionStorageExt};
use session_store_indexed::index::{IndexError, SessionFilter};
use session_store_indexed::storage::IndexedStorage;

use crate::support::{Place, Test, append, header, key, keys, message};

pub const TESTS: &[Test] = &[
    ("a_row_holds_what_lists_show", a_row_holds_what_lists_show),
    ("children_and_lineage_follow_ids_and_paths", children_and_lineage_follow_ids_and_paths),
    ("a_path_reads_its_entries_only", a_path_reads_its_entries_only),
    ("paths_of_irregular_files_are_those_of_the_tree", irregular_paths),
    ("many_entries_are_added_as_few_are", many_entries_are_added_as_few_are),
    ("a_last_line_without_its_end_is_in_the_path", unended_line),
    ("a_rewritten_file_begins_a_generation", a_rewritten_file_begins_a_generation),
    ("a_check_finds_what_is_wrong", a_check_finds_what_is_wrong),
    ("switching_there_and_back_changes_no_byte", switching_there_and_back_changes_no_byte),
];

fn a_row_holds_what_lists_show() {
    let place = Place::new();
    let storage = place.open();
    append(&storage, &key("s"), &header("s", r#","parentSession":"p""#));
    append(&storage, &key("s"), &message("a", None, "user", ""));
    let usage = r#","stopReason":"stop","usage":{"input":3,"output":2,"cost":{"total":0.5}}"#;
    append(&storage, &key("s"), &message("b", Some("a"), "assistant", usage));
    append(&storage, &key("no"), "not a session\n");
    append(&storage, &"sessions/b/s/child.jsonl".parse().unwrap(), &header("deep", ""));
    storage.catch_up(|_| {}).unwrap();

    let found = storage.sessions(&SessionFilter::default().cwd("/w")).unwrap();
    let [session] = &found[..] else { panic!("{found:?}") };
    let size = block_on(storage.head(&key("s"))).unwrap().size;
    assert_eq!(session.key, key("s"));
    assert_eq!(session.id.as_deref(), Some("s"));
    assert_eq!(session.parent_session.as_deref(), Some("p"));
    assert_eq!(session.title.as_deref(), Some("say a"));
    assert_eq!(session.created_ms, Some(1_767_225_600_000));
    assert_eq!(session.activity_ms, Some(1_767_225_605_000));
    assert_eq!(session.status, "complete");
    assert_eq!(session.problem, None);
    assert_eq!((session.size, session.indexed, session.generation), (size, size, 1));
    assert_eq!((session.entries, session.messages), (2, 2));
    assert_eq!(session.leaf.as_deref(), Some("b"));
    let want = UsageTotals { input: 3, output: 2, cost: 0.5, ..UsageTotals::default() };
    assert_eq!(session.usage, want);

    assert_eq!(keys(&storage), ["sessions/b/no.jsonl", "sessions/b/s.jsonl"]);
    let problem = storage.session(&key("no")).unwrap().unwrap().problem;
    assert_eq!(problem.as_deref(), Some("not a session file: line 1 is no complete JSON record"));
    let stats = storage.stats().unwrap();
    assert_eq!((stats.sessions, stats.problems, stats.entries, stats.indexed), (1, 1, 2, size));
}

fn children_and_lineage_follow_ids_and_paths() {
    let place = Place::new();
    let storage = place.open();
    let path = storage.local_path(&key("a")).unwrap();
    append(&storage, &key("a"), &header("a", ""));
    let by_path = format!(r#","parentSession":"{}""#, path.display());
    append(&storage, &key("b"), &header("b", &by_path));
    append(&storage, &key("c"), &header("c", r#","parentSession":"b""#));
    append(&storage, &key("x"), &header("x", r#","parentSession":"y""#));
    append(&storage, &key("y"), &header("y", r#","parentSession":"x""#));
    storage.catch_up(|_| {}).unwrap();
    let of = |sessions: Vec<session_store_indexed::index::IndexedSession>| -> Vec<String> {
        sessions.into_iter().filter_map(|session| session.id).collect()
    };
    assert_eq!(of(storage.children(&key("a")).unwrap()), ["b"]);
    assert_eq!(of(storage.children(&key("b")).unwrap()), ["c"]);
    assert_eq!(of(storage.lineage(&key("c")).unwrap()), ["b", "a"]);
    assert_eq!(of(storage.lineage(&key("x")).unwrap()), ["y"]);
}

fn path(storage: &IndexedStorage, leaf: Option<&str>) -> (Vec<String>, bool) {
    let path = block_on(storage.path(&key("s"), leaf)).unwrap();
    let ids = path.entries.iter().map(|entry| entry.id().unwrap_or_default().into_owned());
    (ids.collect(), path.read_whole)
}

fn a_path_reads_its_entries_only() {
    let place = Place::new();
    let storage = place.open();
    let lines = [
        header("s", ""),
        message("a", None, "user", ""),
        message("b", Some("a"), "assistant", ""),
        message("c", Some("a"), "user", ""),
        message("d", Some("c"), "user", ""),
    ];
    append(&storage, &key("s"), &lines.concat());
    let all = |ids: &[&str]| (ids.iter().map(|id| (*id).to_owned()).collect::<Vec<_>>(), false);
    assert_eq!(path(&storage, None), all(&["a", "c", "d"]));
    assert_eq!(path(&storage, Some("b")), all(&["a", "b"]));
    let found = block_on(storage.path(&key("s"), Some("c"))).unwrap();
    let bytes: Vec<_> = found.entries.iter().map(|entry| &entry.line()[..]).collect();
    assert_eq!(bytes, [lines[1].as_bytes(), lines[3].as_bytes()]);
    let unknown = block_on(storage.path(&key("s"), Some("z"))).unwrap_err();
    assert!(matches!(unknown, IndexError::NoEntry { id, .. } if id == "z"));
}

/// The ids on the path to the last entry, as the whole file says.
fn path_in_tree(storage: &IndexedStorage) -> Vec<String> {
    let (_, file) = block_on(storage.read_all(&key("s"))).unwrap();
    let document = SessionDocument::load(file, &LoadOptions::default()).unwrap().document;
    let tree = document.tree();
    let nodes = tree.path_to(tree.leaf().unwrap()).into_iter();
    nodes.map(|node| tree.entry(node).id().unwrap_or_default().into_owned()).collect()
}

fn many_entries_are_added_as_few_are() {
    // An entry's id, and its parent's, that are not as all others.
    for (at, id, parent) in [
        (0, "e0", None),
        (100, "e100", Some("e3")),
        (100, "e5", Some("e99")),
        (101, "e99", Some("e100")),
        (100, "e100", Some("e150")),
    ] {
        let ids: Vec<_> =
            (0..200).map(|n| if n == at { id.to_owned() } else { format!("e{n}") }).collect();
        let lines: Vec<_> = (0..200)
            .map(|n| match n {
                _ if n == at => message(id, parent, "user", ""),
                0 => message(&ids[0], None, "user", ""),
                _ if n % 10 == 3 => message(&ids[n], Some(&ids[n / 2]), "user", ""),
                _ => message(&ids[n], Some(&ids[n - 1]), "user", ""),
            })
            .collect();
        let place = Place::new();
        let storage = place.open();
        append(&storage, &key("s"), &(header("s", "") + &lines[..70].concat()));
        storage.catch_up(|_| {}).unwrap();
        append(&storage, &key("s"), &lines[70..].concat());
        let is_odd = id != format!("e{at}") || parent == Some("e150");
        assert_eq!(path(&storage, None), (path_in_tree(&storage), is_odd), "{at} {id} {parent:?}");
        assert_eq!(storage.check(|_| {}).unwrap(), []);
    }
}

fn irregular_paths() {
    for lines in [
        // An id twice, a parent that comes later, a cycle, an unknown parent, no id.
        [message("a", None, "user", ""), message("a", Some("a"), "user", "")],
        [message("a", Some("b"), "user", ""), message("b", None, "user", "")],
        [message("a", Some("b"), "user", ""), message("b", Some("a"), "user", "")],
        [message("a", Some("z"), "user", ""), message("b", Some("a"), "user", "")],
        ["{\"type\":\"custom\"}\n".to_owned(), message("b", None, "user", "")],
    ] {
        let place = Place::new();
        let storage = place.open();
        append(&storage, &key("s"), &(header("s", "") + &lines.concat()));
        storage.catch_up(|_| {}).unwrap();
        assert_eq!(path(&storage, None), (path_in_tree(&storage), true), "{lines:?}");
        assert_eq!(storage.check(|_| {}).unwrap(), []);
    }
}

fn unended_line() {
    let place = Place::new();
    let storage = place.open();
    let line = message("a", None, "user", "");
    append(&storage, &key("s"), &(header("s", "") + line.trim_end()));
    assert_eq!(path(&storage, None), (vec!["a".to_owned()], true));
    append(&storage, &key("s"), "\n");
    assert_eq!(path(&storage, None), (vec!["a".to_owned()], false));
}

fn a_rewritten_file_begins_a_generation() {
    let place = Place::new();
    let storage = place.open();
    append(&storage, &key("s"), &(header("s", "") + &message("a", None, "user", "")));
    storage.catch_up(|_| {}).unwrap();
    let body = header("s", "") + &message("b", None, "user", "");
    block_on(storage.put(&key("s"), body.into(), PutOptions::default())).unwrap();
    storage.catch_up(|_| {}).unwrap();
    let session = storage.session(&key("s")).unwrap().unwrap();
    assert_eq!((session.generation, session.entries), (2, 1));
    assert_eq!(session.leaf.as_deref(), Some("b"));
    append(&storage, &key("s"), &message("c", Some("b"), "user", ""));
    storage.catch_up(|_| {}).unwrap();
    assert_eq!(storage.session(&key("s")).unwrap().unwrap().generation, 2);
}

fn a_check_finds_what_is_wrong() {
    let place = Place::new();
    let storage = place.open();
    for name in ["a", "b", "c"] {
        let text = header(name, "") + &message("m", None, "user", "");
        append(&storage, &key(name), &text);
        // Summaries are kept of files that have not just been changed.
        let file = File::options().write(true).open(place.root().join(key(name).as_str()));
        file.unwrap().set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }
    assert_eq!(storage.check(|_| {}).unwrap(), []);
    let database = Connection::open(place.database()).unwrap();
    database.execute("UPDATE session SET title = 'x' WHERE id = 'a'", []).unwrap();
    let of_b = "(SELECT session FROM session WHERE id = 'b')";
    database.execute(&format!("UPDATE entry SET offset = 1 WHERE session = {of_b}"), []).unwrap();
    let of_c = "key LIKE '%/c.jsonl'";
    database.execute(&format!("UPDATE summary SET note = '' WHERE {of_c}"), []).unwrap();
    let found = storage.check(|_| {}).unwrap();
    let found: Vec<_> = found.iter().map(|found| (&*found.key, found.what)).collect();
    let [a, b, c] = ["a", "b", "c"].map(key);
    let differences = [
        (a.as_str(), "its row differs"),
        (c.as_str(), "what lists show of it differs"),
        (b.as_str(), "its entries differ"),
    ];
    assert_eq!(found, differences);
}

fn switching_there_and_back_changes_no_byte() {
    let place = Place::new();
    for bucket in ["x", "y"] {
        let folder = place.root().join("sessions").join(bucket);
        std::fs::create_dir_all(&folder).unwrap();
        for name in 0..5 {
            let text = header(&format!("{bucket}{name}"), "") + &message("m", None, "user", "");
            std::fs::write(folder.join(format!("{name}.jsonl")), text + "{\"torn").unwrap();
        }
    }
    let state = || {
        let mut found = Vec::new();
        for bucket in ["x", "y"] {
            for name in 0..5 {
                let path = place.root().join(format!("sessions/{bucket}/{name}.jsonl"));
                let modified = path.metadata().unwrap().modified().unwrap();
                found.push((std::fs::read(path).unwrap(), modified));
            }
        }
        found
    };
    let before = state();
    let storage = place.open();
    assert_eq!(storage.check(|_| {}).unwrap(), []);
    assert_eq!(keys(&storage).len(), 10);
    drop(storage);
    assert_eq!(state(), before);
    let files = session_store_file::FileStorage::open(place.root()).unwrap();
    let (listed, errors) = block_on(files.list_all(None, Default::default()));
    assert_eq!((listed.len(), errors.len()), (10, 0));
}
