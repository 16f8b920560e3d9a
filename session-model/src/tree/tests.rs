//! Shapes of trees, ordinary and odd.

use super::*;
use crate::DiagnosticCode;
use crate::json::RawJson;

/// Entries as `id:parent@seconds`; `-` for no id or parent.
fn tree(shape: &str) -> SessionTree {
    SessionTree::from_entries(shape.split_whitespace().map(entry).collect())
}

fn entry(spec: &str) -> Entry {
    let (names, time) = spec.split_once('@').unwrap_or((spec, ""));
    let (id, parent) = names.split_once(':').unwrap();
    let quoted = |name: &str| if name == "-" { "null".into() } else { format!("{name:?}") };
    let time = if time.is_empty() { "null".to_owned() } else { format!("{time}000") };
    let text = format!(
        r#"{{"type":"custom","id":{},"parentId":{},"timestamp":{time}}}"#,
        quoted(id),
        quoted(parent)
    );
    Entry::from_json(&RawJson::parse(text).unwrap()).unwrap()
}

fn name(tree: &SessionTree, node: NodeId) -> String {
    tree.entry(node).id().map_or_else(|| format!("#{}", node.index()), Cow::into_owned)
}

fn path(tree: &SessionTree, id: &str) -> String {
    let path = tree.path_to(tree.find(id).unwrap());
    path.iter().map(|&node| name(tree, node)).collect::<Vec<_>>().join(" ")
}

/// The sorted tree as `a(b(c) d)`.
fn shown(tree: &SessionTree) -> String {
    let rows = tree.rows(TreeOptions::default());
    let mut out = Vec::new();
    for row in rows.iter() {
        out.push(format!("{}{}", ".".repeat(row.depth as usize), name(tree, row.node)));
    }
    out.join(" ")
}

fn codes(tree: &SessionTree) -> Vec<(usize, DiagnosticCode)> {
    tree.problems().iter().map(|p| (p.node.index(), p.code)).collect()
}

#[test]
fn children_are_sorted_by_time_and_ties_keep_file_order() {
    let t = tree("r:- b:r@5 c:r@3 d:r@3 e:r@9 f:b@1");
    assert_eq!(shown(&t), "r .c .d .b ..f .e");
    let r = t.find("r").unwrap();
    let children: Vec<_> = t.children_of(r).map(|n| name(&t, n)).collect();
    assert_eq!(children, ["b", "c", "d", "e"]);
    assert_eq!(path(&t, "f"), "r b f");
}

#[test]
fn an_undated_child_stays_behind_the_siblings_written_before_it() {
    assert_eq!(shown(&tree("r:- a:r@5 x:r b:r@2 y:r c:r@1 d:r@7")), "r .c .b .a .x .y .d");
    assert_eq!(shown(&tree("r:- x:r a:r@5")), "r .x .a");
}

#[test]
fn unknown_and_own_parents_make_roots() {
    let t = tree("a:- b:a c:gone d:c e:e f:e");
    assert_eq!(shown(&t), "a .b c .d e .f");
    assert_eq!(path(&t, "d"), "c d");
    assert_eq!(codes(&t), [(2, DiagnosticCode::UnknownParent), (4, DiagnosticCode::SelfParent)]);
}

#[test]
fn a_parent_may_come_later_in_the_file() {
    let t = tree("c:b b:a a:-");
    assert_eq!(shown(&t), "a .b ..c");
    assert_eq!(codes(&t), []);
    let mut grown = tree("c:b");
    assert_eq!(shown(&grown), "c");
    grown.insert(entry("b:-"));
    assert_eq!(shown(&grown), "b .c");
}

#[test]
fn of_duplicate_ids_the_later_is_found_and_both_are_listed() {
    let t = tree("a:- b:a a:b c:a");
    assert_eq!(t.find("a").unwrap().index(), 2);
    assert_eq!(shown(&t), "a .b ..a ...c");
    assert_eq!(path(&t, "c"), "a b a c");
    assert_eq!(codes(&t), [(0, DiagnosticCode::DuplicateId)]);
}

#[test]
fn cycles_are_reachable_and_walks_end() {
    let t = tree("r:- y:x x:z z:y w:z");
    assert_eq!(shown(&t), "r y .z ..x ..w");
    assert_eq!(path(&t, "y"), "z x y");
    assert_eq!(path(&t, "w"), "x y z w");
    assert_eq!(codes(&t), [(1, DiagnosticCode::ParentCycle)]);
    let two = tree("w:b a:b b:a d:c c:d");
    assert_eq!(shown(&two), "a .b ..w d .c");
}

#[test]
fn entries_without_id_are_shown_and_unfindable() {
    let t = tree("a:- -:a b:-");
    assert_eq!(shown(&t), "a .#1 b");
    assert_eq!(t.leaf(), t.find("b"));
    assert_eq!(codes(&t), [(1, DiagnosticCode::MissingId)]);
}

#[test]
fn two_writers_in_turn_are_noticed_and_one_that_goes_back_is_not() {
    let t = tree("s:- r:s a3:r b3:r a4:a3 b4:b3");
    assert_eq!(codes(&t), [(5, DiagnosticCode::InterleavedBranches)]);
    assert_eq!(codes(&tree("s:- r:s a3:r b3:r a4:a3 a5:a4")), []);
}

#[test]
fn inserting_gives_the_same_tree_as_building() {
    let shape = "c:b a:- b:a b:c x:gone -:x e:e d:b gone:x";
    let built = tree(shape);
    let mut grown = SessionTree::default();
    for spec in shape.split_whitespace() {
        grown.insert(entry(spec));
    }
    assert_eq!(shown(&built), shown(&grown));
    assert_eq!(codes(&built), codes(&grown));
}

#[test]
fn marks_follow_the_last_record() {
    let raw = |text: &str| Entry::from_json(&RawJson::parse(text.to_owned()).unwrap()).unwrap();
    let mut t = tree("a:- b:a c:b");
    for text in [
        r#"{"type":"label","id":"l1","targetId":"a","label":"one"}"#,
        r#"{"type":"label","id":"l2","targetId":"ghost","label":"g"}"#,
        r#"{"type":"label","id":"l3","targetId":"a","label":"two"}"#,
        r#"{"type":"label","id":"l4","targetId":"b","label":"x"}"#,
        r#"{"type":"label","id":"l5","targetId":"b","label":null}"#,
        r#"{"type":"archive","id":"l6","targetId":"b","archived":true}"#,
        r#"{"type":"title_change","id":"l7","title":"T"}"#,
        r#"{"type":"session_info","id":"l8","name":"N"}"#,
    ] {
        t.insert(raw(text));
    }
    assert_eq!(t.labels(), [("a", "two"), ("ghost", "g")]);
    assert_eq!((t.label_for("a"), t.label_for("b"), t.title()), (Some("two"), None, Some("N")));
    assert!(shown(&t).starts_with("a l1"), "{}", shown(&t));
    t.insert(raw(r#"{"type":"archive","id":"l9","targetId":"b","archived":false}"#));
    assert!(shown(&t).starts_with("a .b ..c l1"), "{}", shown(&t));
}

#[test]
fn json_is_flat_and_carries_depths_and_labels() {
    let mut t = tree("a:-@1 b:a@2 c:a@3");
    let label = r#"{"type":"label","id":"l","parentId":"c","targetId":"a","label":"L"}"#;
    t.insert(Entry::from_json(&RawJson::parse(label).unwrap()).unwrap());
    let e = |id: &str| t.entry(t.find(id).unwrap()).json().to_string();
    let want = format!(
        r#"[{{"entry":{},"depth":0,"label":"L"}},{{"entry":{},"depth":1}},{{"entry":{},"depth":1}},{{"entry":{},"depth":2}}]"#,
        e("a"),
        e("b"),
        e("c"),
        e("l")
    );
    assert_eq!(t.rows_json(&t.rows(TreeOptions::default())), want);
}

#[test]
fn a_chain_of_a_million_builds_walks_prints_and_drops() {
    let n = 1_000_000;
    let chain = (0..n)
        .map(|i| entry(&format!("{i}:{}", if i == 0 { "-".into() } else { (i - 1).to_string() })));
    let t = SessionTree::from_entries(chain.collect());
    let path = t.path_to(t.leaf().unwrap());
    assert_eq!((path.len(), path[0].index(), path[n - 1].index()), (n, 0, n - 1));
    let rows = t.rows(TreeOptions::default());
    assert_eq!(rows[n - 1], TreeRow { node: NodeId(n as u32 - 1), depth: n as u32 - 1 });
    let last = entry(&format!("{}:{}", n - 1, n - 2)).json();
    let end = format!(r#"{{"entry":{last},"depth":{}}}]"#, n - 1);
    assert!(t.rows_json(&rows).ends_with(&end));
}
