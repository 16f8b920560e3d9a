//! A chain of a million entries.

use session_model::Entry;
use session_model::json::RawJson;
use session_model::tree::{SessionTree, TreeOptions};

use crate::{best, row};

const LINKS: usize = 1_000_000;

pub(crate) fn run() {
    let entry = |n: usize| {
        let parent = n.checked_sub(1).map_or("null".to_owned(), |p| format!("\"{p:08x}\""));
        let text = format!(r#"{{"type":"custom","id":"{n:08x}","parentId":{parent}}}"#);
        Entry::from_json(&RawJson::parse(text).unwrap()).unwrap()
    };
    let entries: Vec<Entry> = (0..LINKS).map(entry).collect();
    let build = best(3, || SessionTree::from_entries(entries.clone()));
    let tree = SessionTree::from_entries(entries);
    let walk = best(3, || tree.path_to(tree.leaf().unwrap()));
    let sort = best(3, || tree.rows(TreeOptions::default()));
    let rows = tree.rows(TreeOptions::default());
    let print = best(3, || tree.rows_json(&rows));
    for (what, time) in
        [("build", build), ("walk to the root", walk), ("sort", sort), ("print as JSON", print)]
    {
        let what = format!("a chain of a million entries: {what}");
        row(&what, format!("{:.1} ms", 1e3 * time.as_secs_f64()), "");
    }
}
