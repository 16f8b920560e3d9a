//! Lists with the index are those without it, whatever happened to the files since.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime};

use pollster::block_on;
use session_context::listing::{
    CwdFilter, ListingOptions, Place, Scope, SessionCatalog, SessionRow, list_sessions,
};
use session_model::storage::StorageKey;
use session_store_file::FileStorage;
use session_store_indexed::index::{IndexOptions, Summaries};
use session_store_indexed::storage::{INDEX_FILE, IndexedStorage};
use tempfile::TempDir;

use crate::DEMO;

struct Tree(TempDir);

impl Tree {
    fn new() -> Self {
        let tree = Self(tempfile::tempdir().unwrap());
        let message = DEMO.lines().find(|line| line.starts_with("{\"type\":\"message\"")).unwrap();
        let header = DEMO.lines().find(|line| line.contains("\"type\":\"session\"")).unwrap();
        let long = format!("{header}\n{}", format!("{message}\n").repeat(400));
        let named = "{\"type\":\"session_info\",\"id\":\"t\",\"parentId\":null,\"name\":\"A\"}\n";
        let damaged = DEMO.replace("\"role\":\"assistant\"", "\"role\":\"assist");
        let bytes = [header.as_bytes(), b"\n{\"type\":\"x\",\"id\":\"\xff\"}\n\0\0\n"].concat();
        let texts = [
            ("b/demo.jsonl", DEMO),
            ("b/demo/agent.jsonl", DEMO),
            ("b/long.jsonl", &long),
            ("b/torn.jsonl", &DEMO[..DEMO.len() - 20]),
            ("b/unended.jsonl", DEMO.trim_end()),
            ("b/empty.jsonl", ""),
            ("b/none.jsonl", "no session\n"),
            ("c/damaged.jsonl", &damaged),
            ("c/title.jsonl", &format!("{header}\n{named}")),
            ("c/newer.jsonl", &header.replace("\"version\":3", "\"version\":9.5")),
            ("flat.jsonl", message),
        ];
        for (name, text) in texts {
            tree.write(name, text.as_bytes());
        }
        tree.write("c/bytes.jsonl", &bytes);
        tree
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join("sessions").join(name)
    }

    /// Writes a file that looks as if nobody had changed it for some time.
    fn write(&self, name: &str, text: &[u8]) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        settle(&path);
    }

    fn storage(&self) -> FileStorage {
        FileStorage::open(self.0.path()).unwrap()
    }

    fn indexed(&self) -> IndexedStorage {
        let files = Arc::new(self.storage());
        let path = self.0.path().join(INDEX_FILE);
        IndexedStorage::open(files, path, IndexOptions::default()).unwrap()
    }

    fn summaries(&self) -> Summaries {
        Summaries::open(self.0.path().join(INDEX_FILE), IndexOptions::default()).unwrap()
    }

    /// What lists of all kinds show.
    fn lists(&self) -> Vec<String> {
        let scopes = ["sessions", "sessions/b"].map(|key| StorageKey::new(key).unwrap());
        let scopes = [Scope::All(scopes[0].clone()), Scope::Bucket(scopes[1].clone()), Scope::Root];
        let mut lists = Vec::new();
        for scope in scopes {
            for options in [
                ListingOptions::default(),
                ListingOptions::default().children(),
                ListingOptions::default().limit(2),
                ListingOptions::default().cwd(CwdFilter::named("/nowhere")),
            ] {
                let rows = block_on(list_sessions(&self.storage(), &scope, options)).unwrap();
                lists.extend(rows.iter().map(|row| format!("{row:?}")));
            }
        }
        lists
    }

    fn list(&self) -> Vec<SessionRow> {
        let scope = Scope::All(StorageKey::new("sessions").unwrap());
        block_on(list_sessions(&self.storage(), &scope, ListingOptions::default())).unwrap()
    }

    /// What lists show without the index.
    fn lists_without(&self) -> Vec<String> {
        let (index, aside) = (self.0.path().join(INDEX_FILE), self.0.path().join("aside.db"));
        fs::rename(&index, &aside).unwrap();
        let lists = self.lists();
        fs::rename(&aside, &index).unwrap();
        lists
    }
}

fn settle(path: &Path) {
    let file = File::options().write(true).open(path).unwrap();
    file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
}

#[test]
fn rows_are_those_of_the_files() {
    let tree = Tree::new();
    let before = tree.lists();
    tree.indexed().compare(|_| {}).unwrap();
    assert_eq!(tree.lists(), before);
    let rows = tree.list();
    let sessions: Vec<_> = rows.iter().filter(|row| row.summary.is_ok()).collect();
    let mut metas: Vec<_> = sessions.iter().map(|row| row.meta.as_ref().unwrap()).collect();
    metas.sort_by(|a, b| a.key.cmp(&b.key));
    let kept = tree.summaries().find(&metas).unwrap();
    for (meta, kept) in metas.iter().zip(kept) {
        let row = sessions.iter().find(|row| row.key == meta.key).unwrap();
        assert_eq!(kept.as_ref(), row.summary.as_ref().ok(), "{}", row.key);
    }
}

#[test]
fn foreign_changes_show() {
    let tree = Tree::new();
    tree.indexed().compare(|_| {}).unwrap();
    let renamed = DEMO.replacen("\"title\":\"", "\"title\":\"!", 1);
    fs::remove_file(tree.path("c/title.jsonl")).unwrap();
    tree.write("c/new.jsonl", DEMO.as_bytes());
    tree.write("b/none.jsonl", DEMO.as_bytes());
    tree.write("b/unended.jsonl", b"");
    fs::rename(tree.path("b/torn.jsonl"), tree.path("b/long.jsonl")).unwrap();
    // As long as before, and of the same time.
    let time = fs::metadata(tree.path("b/demo.jsonl")).unwrap().modified().unwrap();
    let other = DEMO.replacen("retry", "RETRY", usize::MAX);
    assert_ne!(other, DEMO);
    fs::write(tree.path("b/demo.jsonl"), &other).unwrap();
    File::options()
        .write(true)
        .open(tree.path("b/demo.jsonl"))
        .unwrap()
        .set_modified(time)
        .unwrap();
    tree.write("flat.jsonl", renamed.as_bytes());
    let lists = tree.lists();
    assert_eq!(lists, tree.lists_without());
    // From what the list before kept of the changed files.
    assert_eq!(tree.lists(), lists);
    tree.indexed().compare(|_| {}).unwrap();
    assert_eq!(tree.lists(), lists);
}

#[test]
fn files_that_are_as_they_were_are_not_looked_into() {
    let tree = Tree::new();
    tree.indexed().compare(|_| {}).unwrap();
    let row = tree.list().into_iter().find(|row| row.key.as_str().ends_with("b/demo.jsonl"));
    let row = row.unwrap();
    let (meta, summary) = (row.meta.unwrap(), row.summary.unwrap());
    let mut other = summary.clone();
    other.first_message = Some("kept".to_owned());
    tree.summaries().keep(SystemTime::now(), [(&meta, &other)]).unwrap();
    let shown = || {
        let rows = tree.list().into_iter().chain({
            let storage = Arc::new(tree.indexed());
            let catalog = SessionCatalog::new(vec![Place::agent_dir(storage).unwrap()]);
            block_on(catalog.list_all(ListingOptions::default())).unwrap()
        });
        let rows = rows.filter(|row| row.key == meta.key);
        rows.map(|row| row.summary.unwrap().first_message).collect::<Vec<_>>()
    };
    assert_eq!(shown(), [other.first_message.clone(), other.first_message.clone()]);
    settle(&tree.path("b/demo.jsonl"));
    assert_eq!(shown(), [summary.first_message.clone(), summary.first_message.clone()]);
}

#[test]
fn what_may_change_without_a_trace_is_not_kept() {
    let tree = Tree::new();
    // Written at a time that is long in coming, however long this takes.
    let file = File::options().write(true).open(tree.path("b/demo.jsonl")).unwrap();
    file.set_modified(SystemTime::now() + Duration::from_secs(3600)).unwrap();
    tree.indexed().compare(|_| {}).unwrap();
    let row = |name: &str| {
        let row = tree.list().into_iter().find(|row| row.key.as_str().ends_with(name)).unwrap();
        (row.meta.unwrap(), row.summary.unwrap())
    };
    let (fresh, settled) = (row("b/demo.jsonl"), row("b/long.jsonl"));
    let found = tree.summaries().find(&[&fresh.0, &settled.0]).unwrap();
    assert_eq!(found, [None, Some(settled.1.clone())]);
    // What counts is when it was looked at, and not how long that took.
    let times = [1999, 2000].map(|age| settled.0.modified + Duration::from_millis(age));
    let kept = times.map(|looked| {
        let mut other = settled.1.clone();
        other.first_message = Some("kept".to_owned());
        tree.summaries().keep(looked, [(&settled.0, &other)]).unwrap();
        tree.summaries().find(&[&settled.0]).unwrap() == [Some(other)]
    });
    assert_eq!(kept, [false, true]);
}

#[test]
fn a_list_does_without_an_index_that_is_damaged() {
    let tree = Tree::new();
    let before = tree.lists();
    fs::write(tree.0.path().join(INDEX_FILE), "no database, but long enough to be taken for one")
        .unwrap();
    assert_eq!(tree.lists(), before);
}
