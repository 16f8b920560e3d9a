//! The full-text index: it finds what reading all sessions finds, whatever became of them.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use pollster::block_on;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use session_model::SessionDocument;
use session_model::document::LoadOptions;
use session_model::search::{EntryText, Query, TextFilter, TextKind, texts_of, written_ms};
use session_model::storage::{SessionStorageExt, StorageKey};
use session_store_file::FileStorage;
use session_store_indexed::DatabaseDiagnostic;
use session_store_indexed::search::{SEARCH_FILE, SearchIndex, SearchedSession};

use crate::support::{Place, Test, append, header, key, options};

pub const TESTS: &[Test] = &[
    ("search::words_are_found_by_all_filters", words_are_found_by_all_filters),
    ("search::beginnings_of_many_words_are_found", beginnings_of_many_words_are_found),
    ("search::only_what_is_new_is_read", only_what_is_new_is_read),
    ("search::what_was_rewritten_is_forgotten", what_was_rewritten_is_forgotten),
    ("search::an_update_can_be_ended", an_update_can_be_ended),
    ("search::what_is_no_session_is_told", what_is_no_session_is_told),
    ("search::a_damaged_database_is_moved_aside", a_damaged_database_is_moved_aside),
    ("search::a_damaged_block_is_noticed", a_damaged_block_is_noticed),
    ("search::the_files_are_private", the_files_are_private),
    ("search::many_updates_find_the_same", many_updates_find_the_same),
    ("search::two_programs_share_an_index", two_programs_share_an_index),
    ("search::a_long_session_without_a_file_is_read_in_parts", a_long_session_in_memory),
    ("search::random_histories_are_found", random_histories_are_found),
];

struct Searched {
    place: Place,
    files: FileStorage,
    index: SearchIndex,
}

impl Searched {
    fn new() -> Self {
        let place = Place::new();
        let files = FileStorage::open(place.root()).unwrap();
        let index = open(&place.root());
        Self { place, files, index }
    }

    fn update(&mut self) -> u64 {
        self.index.update(&self.files, |_| true).unwrap().read
    }

    /// What the index finds, read and asked again, as `key offset`, with a mark on thoughts.
    fn found(&mut self, query: &str, filter: &TextFilter) -> BTreeSet<String> {
        let query = Query::parse(query);
        let found = self.index.find(&query, filter, usize::MAX, |_| true).unwrap();
        assert_eq!(found.texts.len() as u64, found.total);
        let mut names = BTreeSet::new();
        for text in &found.texts {
            let key = &found.sessions[text.session].key;
            let file = fs::read_to_string(self.place.root().join(key.as_str())).unwrap();
            let place = text.place;
            let (text, line) = match place.length {
                0 => (title(&file).unwrap(), 1),
                _ => {
                    let before = &file[..place.offset as usize];
                    let entry = &file[place.offset as usize..][..place.length as usize];
                    (entry_text(entry, text.kind), before.lines().count() as u64 + 1)
                }
            };
            assert_eq!(line, place.line);
            let is_match = query.find(&text.text).is_some();
            assert!(is_match || !found.is_exact, "{text:?}");
            if is_match {
                assert!(names.insert(name(key, place.offset, text.kind)));
            }
        }
        names
    }

    /// What reading all sessions finds.
    fn expected(&self, query: &str, filter: &TextFilter) -> BTreeSet<String> {
        let query = Query::parse(query);
        let mut names = BTreeSet::new();
        let (files, errors) = block_on(self.files.list_all(None, Default::default()));
        assert!(errors.is_empty(), "{errors:?}");
        for meta in files {
            let path = self.place.root().join(meta.key.as_str());
            let file = fs::read_to_string(path).unwrap();
            let options = LoadOptions::default();
            let Ok(loaded) = SessionDocument::load(file.clone().into(), &options) else { continue };
            let created = loaded.document.header().timestamp();
            let created = created.and_then(|time| session_model::time::from_iso(&time));
            let mut texts: Vec<_> =
                title(&file).map(|text| (0, text, created)).into_iter().collect();
            let mut offset = 0;
            for line in file.split_inclusive('\n') {
                let mut scan =
                    session_model::document::Scan::lines(&line.to_owned().into(), &options);
                if let Some((_, entry)) =
                    scan.entries.pop().filter(|(_, e)| e.entry_type() != "session")
                {
                    texts.extend(
                        texts_of(&entry).into_iter().map(|t| (offset, t, written_ms(&entry))),
                    );
                }
                offset += line.len() as u64;
            }
            for (offset, text, written) in texts {
                if filter.admits(&text, written) && query.find(&text.text).is_some() {
                    names.insert(name(&meta.key, offset, text.kind));
                }
            }
        }
        names
    }

    #[track_caller]
    fn assert_finds(&mut self, query: &str, filter: &TextFilter) -> usize {
        let (found, expected) = (self.found(query, filter), self.expected(query, filter));
        assert_eq!(found, expected, "{query:?} {filter:?}");
        found.len()
    }
}

fn open(root: &Path) -> SearchIndex {
    SearchIndex::open(root.join(SEARCH_FILE), options()).unwrap()
}

fn name(key: &StorageKey, offset: u64, kind: TextKind) -> String {
    format!("{key} {offset}{}", if kind == TextKind::Thinking { " thought" } else { "" })
}

fn title(file: &str) -> Option<EntryText> {
    let loaded = SessionDocument::load(file.to_owned().into(), &LoadOptions::default()).ok()?;
    loaded.document.header().title().map(EntryText::title)
}

fn entry_text(line: &str, kind: TextKind) -> EntryText {
    let options = LoadOptions::default();
    let mut scan = session_model::document::Scan::lines(&line.to_owned().into(), &options);
    let (_, entry) = scan.entries.pop().unwrap();
    texts_of(&entry).into_iter().find(|text| text.kind == kind).unwrap()
}

fn entry(id: u32, day: u32, message: &str) -> String {
    format!(
        "{{\"type\":\"message\",\"id\":\"{id:08x}\",\"parentId\":null,\"timestamp\":\"2026-01-{day:02}T00:00:00Z\",\"message\":{message}}}\n"
    )
}

fn user(id: u32, text: &str) -> String {
    entry(id, 1, &format!("{{\"role\":\"user\",\"content\":\"{text}\"}}"))
}

fn all() -> TextFilter {
    TextFilter::default()
}

fn words_are_found_by_all_filters() {
    let mut searched = Searched::new();
    let call = r#"{"role":"assistant","provider":"acme","model":"big","content":[{"type":"thinking","thinking":"word deep"},{"type":"text","text":"say word in getUserName, 修复登录"},{"type":"toolCall","name":"bash","arguments":{"cmd":"word src/app.ts"}}]}"#;
    let result = r#"{"role":"toolResult","toolName":"bash","content":[{"type":"text","text":"word app src ts"}]}"#;
    let text = header("s", ",\"title\":\"A word\"")
        + &user(1, "words")
        + "damaged\n"
        + &entry(2, 2, call)
        + &entry(3, 3, result);
    append(&searched.files, &key("one"), &text);
    assert_eq!(searched.update(), text.len() as u64);
    for (query, count) in [
        ("word", 4),
        ("\"word\"", 3),
        ("word -app", 2),
        ("word -\"app ts\"", 3),
        ("src/app.ts", 1),
        ("user name", 1),
        ("username", 1),
        ("登录", 1),
        ("录", 1),
        ("say -deep", 1),
        ("nothing", 0),
        ("w", 0),
        ("w*", 4),
        ("-word", 4),
        ("deep", 0),
        ("\u{1}role:user", 0),
        ("thinking", 0),
    ] {
        assert_eq!(searched.assert_finds(query, &all()), count, "{query}");
    }
    let some = |text: &str| Some(text.to_owned());
    for (filter, count) in [
        (TextFilter { role: some("user"), ..all() }, 1),
        (TextFilter { role: some("tool"), ..all() }, 1),
        (TextFilter { role: some("title"), ..all() }, 1),
        (TextFilter { tool: some("bash"), ..all() }, 2),
        (TextFilter { model: some("acme/"), ..all() }, 1),
        (TextFilter { model: some("big"), thinking: true, ..all() }, 2),
        (TextFilter { since_ms: Some(1_767_312_000_000), ..all() }, 2),
        (TextFilter { until_ms: Some(1_767_312_000_000), ..all() }, 2),
    ] {
        assert_eq!(searched.assert_finds("word", &filter), count, "{filter:?}");
    }
    let none = searched.index.find(&Query::parse("word"), &all(), 10, |_| false).unwrap();
    assert_eq!((none.total, none.sessions.len()), (0, 0));
    let best = searched.index.find(&Query::parse("word"), &all(), 1, |_| true).unwrap();
    assert_eq!((best.total, best.texts.len(), best.is_exact), (4, 1, true));
}

fn beginnings_of_many_words_are_found() {
    let mut searched = Searched::new();
    let many: String = ('a'..='p').map(|letter| format!("x{letter} xé{letter} ")).collect();
    for name in ["one", "two"] {
        let texts = user(1, &many) + &user(2, "x alone") + &user(3, "xa") + &user(4, "other");
        append(&searched.files, &key(name), &(header(name, "") + &texts));
        searched.update();
    }
    for (query, count) in
        [("x*", 6), ("x", 2), ("xa*", 4), ("xe*", 2), ("xé*", 2), ("x* -alone", 4)]
    {
        assert_eq!(searched.assert_finds(query, &all()), count, "{query}");
    }
    let best = searched.index.find(&Query::parse("x*"), &all(), 1, |_| true).unwrap();
    assert_eq!((best.total, best.texts[0].place.line), (6, 2));
}

fn only_what_is_new_is_read() {
    let mut searched = Searched::new();
    append(&searched.files, &key("one"), &(header("one", "") + &user(1, "alpha")));
    append(&searched.files, &key("two"), &(header("two", "") + &user(1, "alpha")));
    searched.update();
    assert_eq!(searched.update(), 0);
    let line = user(2, "alpha beta");
    append(&searched.files, &key("two"), &line);
    assert_eq!(searched.update(), line.len() as u64);
    assert_eq!(searched.assert_finds("alpha", &all()), 3);
    searched.index = open(&searched.place.root());
    assert_eq!(searched.update(), 0);
    assert_eq!(searched.assert_finds("beta", &all()), 1);
    // A line that is not whole yet, then one without its end, which is an entry all the same.
    let line = user(3, "gamma");
    let (start, end) = line.trim_end().split_at(40);
    append(&searched.files, &key("two"), start);
    searched.update();
    assert_eq!(searched.assert_finds("gamma", &all()), 0);
    append(&searched.files, &key("two"), end);
    searched.update();
    assert_eq!(searched.assert_finds("gamma", &all()), 1);
    append(&searched.files, &key("two"), "\n");
    searched.update();
    assert_eq!(searched.assert_finds("gamma", &all()), 1);
    append(&searched.files, &key("three"), header("three", r#","title":"delta""#).trim_end());
    searched.update();
    assert_eq!(searched.assert_finds("delta", &all()), 1);
}

fn what_was_rewritten_is_forgotten() {
    let mut searched = Searched::new();
    let one = header("one", "") + &user(1, "alpha");
    append(&searched.files, &key("one"), &one);
    append(&searched.files, &key("two"), &(header("two", "") + &user(1, "alpha")));
    searched.update();
    let path = searched.place.root().join(key("one").as_str());
    // The same length, in place.
    fs::write(&path, one.replace("alpha", "gamma")).unwrap();
    fs::remove_file(searched.place.root().join(key("two").as_str())).unwrap();
    searched.update();
    assert_eq!(searched.assert_finds("alpha", &all()), 0);
    assert_eq!(searched.assert_finds("gamma", &all()), 1);
}

fn an_update_can_be_ended() {
    let mut searched = Searched::new();
    for n in 0..20 {
        append(&searched.files, &key(&format!("s{n}")), &(header("s", "") + &user(1, "alpha")));
    }
    let mut told = Vec::new();
    let update = searched.index.update(&searched.files, |at| {
        told.push(at.total);
        false
    });
    let update = update.unwrap();
    assert!(told.iter().all(|total| *total == 20), "{told:?}");
    assert_eq!(update.sessions + update.left, 20);
    assert_eq!(searched.found("alpha", &all()).len() as u64, update.sessions);
    searched.update();
    assert_eq!(searched.assert_finds("alpha", &all()), 20);

    let filler = user(1, &"hay ".repeat(1000));
    let long = header("long", "") + &filler.repeat(9 << 8) + &user(2, "needle");
    append(&searched.files, &key("long"), &long);
    let read = searched.index.update(&searched.files, |_| false).unwrap().read;
    assert_eq!(read + searched.update(), long.len() as u64);
    assert_eq!(searched.found("needle", &all()).len(), 1);
}

fn what_is_no_session_is_told() {
    let mut searched = Searched::new();
    append(&searched.files, &key("bad"), "no session\n");
    append(
        &searched.files,
        &key("good"),
        &(header("good", "") + &user(1, &"alpha ".repeat(20_000))),
    );
    let child = StorageKey::new("sessions/b/good/child.jsonl").unwrap();
    append(&searched.files, &child, &(header("child", "") + &user(1, "alpha")));
    let data = StorageKey::new("sessions/b/good/data.jsonl").unwrap();
    append(&searched.files, &data, "{\"alpha\":1}\n");
    for _ in 0..2 {
        let update = searched.index.update(&searched.files, |_| true).unwrap();
        let skipped: Vec<_> = update.skipped.iter().map(|skipped| skipped.key.as_str()).collect();
        assert_eq!(skipped, ["sessions/b/bad.jsonl"]);
        let mut cut = |name: &str| {
            let is_it = |session: &SearchedSession| session.key.as_str().ends_with(name);
            searched.index.find(&Query::parse("alpha"), &all(), 9, is_it).unwrap().cut_entries
        };
        assert_eq!((cut(".jsonl"), cut("good.jsonl"), cut("child.jsonl")), (1, 1, 0));
    }
    assert_eq!(searched.assert_finds("alpha", &all()), 2);
}

fn a_damaged_database_is_moved_aside() {
    let mut searched = Searched::new();
    append(&searched.files, &key("one"), &(header("one", "") + &user(1, "alpha")));
    searched.update();
    let root = searched.place.root();
    let Searched { place, files, index } = searched;
    drop(index);
    fs::write(root.join(SEARCH_FILE), "garbage ".repeat(1000)).unwrap();
    let index = open(&root);
    assert!(matches!(index.diagnostics()[..], [DatabaseDiagnostic::SetAside { .. }]));
    let mut searched = Searched { place, files, index };
    searched.update();
    assert_eq!(searched.assert_finds("alpha", &all()), 1);
}

fn a_damaged_block_is_noticed() {
    let mut searched = Searched::new();
    append(&searched.files, &key("one"), &(header("one", "") + &user(1, "alpha")));
    searched.update();
    let other = rusqlite::Connection::open(searched.place.root().join(SEARCH_FILE)).unwrap();
    other.execute("UPDATE block SET data = x'ffffffffffffffffffff'", []).unwrap();
    drop(other);
    let found = searched.index.find(&Query::parse("alpha"), &all(), 10, |_| true);
    assert!(found.unwrap_err().to_string().contains("damaged"));
    searched.update();
    assert_eq!(searched.assert_finds("alpha", &all()), 1);
}

fn the_files_are_private() {
    use std::os::unix::fs::PermissionsExt;

    let mut searched = Searched::new();
    append(&searched.files, &key("one"), &(header("one", "") + &user(1, "alpha")));
    searched.update();
    for suffix in ["", "-wal", "-shm"] {
        let path = searched.place.root().join(format!("{SEARCH_FILE}{suffix}"));
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600, "{suffix}");
    }
    let (files, _) = block_on(searched.files.list_all(None, Default::default()));
    assert_eq!(files.len(), 1, "the database is no object of the storage");
}

/// Enough segments to be merged, with texts that are gone.
fn many_updates_find_the_same() {
    let mut searched = Searched::new();
    for n in 0..120_u32 {
        let name = key(&format!("s{}", n % 10));
        let path = searched.place.root().join(name.as_str());
        if n % 7 == 0 {
            fs::remove_file(&path).ok();
        }
        let begun = if path.exists() { String::new() } else { header("s", "") };
        append(&searched.files, &name, &(begun + &user(n, &format!("alpha w{n} number{}", n % 3))));
        searched.update();
    }
    let database = rusqlite::Connection::open(searched.place.root().join(SEARCH_FILE)).unwrap();
    let segments: i64 =
        database.query_row("SELECT count(*) FROM segment", [], |row| row.get(0)).unwrap();
    assert!(segments <= 48, "{segments}");
    for query in ["alpha", "number1", "number*", "w11*", "w119", "alpha -number2", "w3"] {
        searched.assert_finds(query, &all());
    }
    assert_eq!(searched.assert_finds("w119", &all()), 1);
}

fn two_programs_share_an_index() {
    let mut searched = Searched::new();
    let mut other = open(&searched.place.root());
    for n in 0..20 {
        append(
            &searched.files,
            &key("one"),
            &(if n == 0 { header("one", "") } else { String::new() } + &user(n, "alpha")),
        );
        std::thread::scope(|scope| {
            let files = &searched.files;
            let (ours, theirs) = (&mut searched.index, &mut other);
            scope.spawn(|| ours.update(files, |_| true).unwrap());
            scope.spawn(|| theirs.update(files, |_| true).unwrap());
        });
        assert_eq!(searched.assert_finds("alpha", &all()), n as usize + 1);
    }
}

fn a_long_session_in_memory() {
    let storage = session_store_memory::MemoryStorage::new();
    let mut text = header("s", "");
    while text.len() < 9 << 20 {
        text.push_str(&user(1, &"hay ".repeat(1000)));
    }
    text.push_str(&user(2, "needle"));
    let lines = text.lines().count() as u64;
    append(&storage, &key("long"), &text);
    let dir = tempfile::tempdir().unwrap();
    let mut index = open(dir.path());
    assert_eq!(index.update(&storage, |_| true).unwrap().read, text.len() as u64);
    let found = index.find(&Query::parse("needle"), &all(), 10, |_| true).unwrap();
    assert_eq!((found.total, found.texts[0].place.line), (1, lines));
}

#[derive(Clone, Debug)]
enum Step {
    Append(u8, Vec<String>),
    Rewrite(u8, Vec<String>),
    Remove(u8),
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let word = prop_oneof![
        "[ab]{1,4}",
        "[a-c]{1,3}[A-C][a-c]{1,2}",
        Just("漢字処理".to_owned()),
        "[a-b]{2}[./_-][a-b]{2}",
        Just("é✓".to_owned()),
    ];
    let text = prop::collection::vec(word, 1..8).prop_map(|words| words.join(" "));
    let texts = prop::collection::vec(text, 1..4);
    prop_oneof![
        4 => (0..4_u8, texts.clone()).prop_map(|(s, texts)| Step::Append(s, texts)),
        1 => (0..4_u8, texts).prop_map(|(s, texts)| Step::Rewrite(s, texts)),
        1 => (0..4_u8).prop_map(Step::Remove),
        1 => Just(Step::Reopen),
    ]
}

fn random_histories_are_found() {
    let queries = prop::collection::vec("[abcABC漢字é✓ \"*./-]{1,8}", 4);
    let mut runner = TestRunner::new(Config { cases: 40, ..Config::default() });
    let histories = (prop::collection::vec(step(), 1..12), queries);
    let run = runner.run(&histories, |(steps, queries)| {
        let mut searched = Searched::new();
        for step in steps {
            let (session, texts) = match step {
                Step::Append(session, texts) => (session, texts),
                Step::Rewrite(session, texts) => {
                    fs::remove_file(searched.place.root().join(key(&session.to_string()).as_str()))
                        .ok();
                    (session, texts)
                }
                Step::Remove(session) => {
                    fs::remove_file(searched.place.root().join(key(&session.to_string()).as_str()))
                        .ok();
                    continue;
                }
                Step::Reopen => {
                    searched.index = open(&searched.place.root());
                    searched.update();
                    continue;
                }
            };
            let key = key(&session.to_string());
            let is_new = !searched.place.root().join(key.as_str()).exists();
            let begun = if is_new { header("s", ",\"title\":\"aa ab\"") } else { String::new() };
            let lines = texts.iter().enumerate().map(|(n, text)| user(n as u32, text));
            append(&searched.files, &key, &(begun + &lines.collect::<String>()));
        }
        searched.update();
        for query in queries {
            searched.assert_finds(&query, &all());
        }
        Ok(())
    });
    run.unwrap();
}
