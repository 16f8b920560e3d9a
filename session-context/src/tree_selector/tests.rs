//! Moving through trees, ordinary and large.

use session_model::Entry;
use session_model::json::RawJson;
use session_model::tree_view::{TextOptions, TreeView, TreeViewOptions};

use super::*;

fn entry(id: &str, parent: &str, role: &str, text: &str) -> Entry {
    let line = format!(
        r#"{{"type":"message","id":"{id}","parentId":"{parent}","message":{{"role":"{role}","content":"{text}"}}}}"#
    );
    Entry::from_json(&RawJson::parse(line).unwrap()).unwrap()
}

fn record(id: &str, parent: &str, fields: &str) -> Entry {
    let line = format!(r#"{{"id":"{id}","parentId":"{parent}",{fields}}}"#);
    Entry::from_json(&RawJson::parse(line).unwrap()).unwrap()
}

/// Two branches below `b`; the second is in use.
fn tree() -> SessionTree {
    SessionTree::from_entries(vec![
        entry("a", "", "user", "start here"),
        entry("b", "a", "assistant", "two ways"),
        entry("c", "b", "user", "the slow way"),
        entry("d", "c", "toolResult", "slow result"),
        entry("e", "d", "assistant", "done slowly"),
        entry("f", "b", "user", "the fast way"),
        entry("g", "f", "assistant", "done fast"),
    ])
}

/// The rows as lines: `>` at the cursor, guides, the entry's id, and what is folded.
fn drawn(state: &TreeSelectorState, tree: &SessionTree) -> Vec<String> {
    let row = |(at, row): (usize, &SelectorRow)| {
        let guides: String =
            row.guides(8).map(|guide| TextOptions::default().ascii().draw(guide)).collect();
        let id = tree.entry(row.node).id().unwrap();
        let folded = row.folded.map(|rows| format!(" +{rows}")).unwrap_or_default();
        format!("{}{guides}{id}{folded}", if state.cursor() == Some(at) { ">" } else { "" })
    };
    state.rows().iter().enumerate().map(row).collect()
}

#[test]
fn it_begins_at_the_leaf_and_moves_around() {
    let tree = tree();
    let mut state = TreeSelectorState::new(&tree);
    assert_eq!(drawn(&state, &tree), ["a", "b", "|- f", ">|  g", "`- c", "   d", "   e"]);
    let at = |state: &TreeSelectorState| {
        tree.entry(state.selected().unwrap()).id().unwrap().into_owned()
    };
    let mut trace = Vec::new();
    for step in [
        TreeSelectorState::down,
        TreeSelectorState::next_turn,
        TreeSelectorState::next_turn,
        TreeSelectorState::down,
        TreeSelectorState::up,
        TreeSelectorState::previous_turn,
        TreeSelectorState::previous_turn,
        TreeSelectorState::home,
        TreeSelectorState::previous_turn,
        TreeSelectorState::end,
        TreeSelectorState::next_turn,
    ] {
        step(&mut state);
        trace.push(at(&state));
    }
    assert_eq!(trace, ["c", "e", "e", "a", "e", "c", "g", "a", "a", "e", "e"]);
    state.page_up(3);
    assert_eq!(at(&state), "g");
    state.page_up(9);
    assert_eq!(at(&state), "a");
    state.page_down(4);
    assert_eq!(at(&state), "c");
    state.page_down(9);
    assert_eq!(at(&state), "e");
}

#[test]
fn the_cursor_stays_at_its_entry_or_goes_to_the_nearest_above() {
    let tree = tree();
    let mut state = TreeSelectorState::new(&tree);
    state.select(tree.find("d"));
    state.set_filter(TreeFilter::UserOnly);
    assert_eq!(drawn(&state, &tree), ["a", "|- f", ">`- c"]);
    state.set_filter(TreeFilter::All);
    assert_eq!(drawn(&state, &tree), ["a", "b", "|- f", "|  g", ">`- c", "   d", "   e"]);
    state.set_search("fast way");
    assert_eq!(drawn(&state, &tree), [">f"]);
    state.set_search("nothing like it");
    assert_eq!((drawn(&state, &tree), state.cursor(), state.selected()), (vec![], None, None));
    state.up();
    state.down();
    state.set_search("");
    assert_eq!(drawn(&state, &tree), ["a", "b", "|- f", ">|  g", "`- c", "   d", "   e"]);
}

#[test]
fn branches_fold_and_a_search_looks_into_them() {
    let tree = tree();
    let mut state = TreeSelectorState::new(&tree);
    state.select(tree.find("c"));
    state.fold();
    assert_eq!(drawn(&state, &tree), ["a", "b", "|- f", "|  g", ">`- c +2"]);
    state.set_search("slow");
    assert_eq!(drawn(&state, &tree), [">c", "d", "e"]);
    state.set_search("");
    state.fold();
    assert_eq!(drawn(&state, &tree), ["a", ">b", "|- f", "|  g", "`- c +2"]);
    state.fold();
    assert_eq!(drawn(&state, &tree), ["a", ">b +5"]);
    state.set_filter(TreeFilter::UserOnly);
    assert_eq!(drawn(&state, &tree), [">a", "|- f", "`- c"]);
    state.set_filter(TreeFilter::Default);
    state.select(tree.find("g"));
    assert_eq!(drawn(&state, &tree), ["a", ">b +5"]);
    state.unfold();
    assert_eq!(drawn(&state, &tree), ["a", ">b", "|- f", "|  g", "`- c +2"]);
    state.unfold_all();
    state.fold_others();
    assert_eq!(drawn(&state, &tree), ["a", ">b", "|- f", "|  g", "`- c +2"]);
}

#[test]
fn it_follows_the_tree() {
    let mut tree = tree();
    let mut state = TreeSelectorState::new(&tree);
    state.select(tree.find("c"));
    state.set_filter(TreeFilter::LabeledOnly);
    assert_eq!(drawn(&state, &tree), [""; 0]);
    let leaf = tree.find("g");
    tree.insert(record("l", "g", r#""type":"label","targetId":"e","label":"Ünder Weg""#));
    tree.set_leaf(leaf);
    state.refresh(&tree);
    assert_eq!(drawn(&state, &tree), [">e"]);
    state.set_search("ÜNDER");
    assert_eq!(drawn(&state, &tree), [">e"]);
    state.set_search("");
    state.set_filter(TreeFilter::Default);
    state.select(tree.find("d"));
    tree.insert(record("r", "g", r#""type":"archive","targetId":"c","archived":true"#));
    tree.set_leaf(leaf);
    state.refresh(&tree);
    assert_eq!(drawn(&state, &tree), ["a", ">b", "f", "g", "r"]);
    state.show_archived(&tree, true);
    let all = ["a", ">b", "|- f", "|  g", "|  r", "`- c", "   d", "   e"];
    assert_eq!(drawn(&state, &tree), all);
    state.select(tree.find("d"));
    state.show_archived(&tree, false);
    assert_eq!(drawn(&state, &tree), ["a", ">b", "f", "g", "r"]);
    state.show_archived(&tree, true);
    let archived: Vec<_> =
        state.rows().iter().filter(|row| row.archived).map(|row| row.node).collect();
    assert_eq!(archived, [tree.find("c").unwrap()]);
}

/// A conversation of so many entries with a side branch at every tenth.
fn large(entries: usize) -> SessionTree {
    let said = |at: usize| {
        let parent = if at % 10 == 9 { at.saturating_sub(5) } else { at.saturating_sub(1) };
        let role = ["user", "assistant", "toolResult"][at % 3];
        let text = format!("entry number {at} says {} and some more", at * 7919 % 10_007);
        entry(&format!("n{at}"), &format!("n{parent}"), role, &text)
    };
    SessionTree::from_entries((0..entries).map(said).collect())
}

#[test]
fn it_shows_what_a_view_of_the_whole_tree_shows() {
    let tree = large(3000);
    let mut state = TreeSelectorState::new(&tree);
    for (filter, typed) in [
        (TreeFilter::Default, "entry 12"),
        (TreeFilter::NoTools, "user 9 7"),
        (TreeFilter::UserOnly, "99 8"),
        (TreeFilter::All, "says n 1"),
    ] {
        state.set_filter(filter);
        // Letter by letter, and back.
        let ends = (0..=typed.len()).chain((0..typed.len()).rev());
        for words in ends.map(|end| &typed[..end]) {
            state.set_search(words);
            let view =
                TreeView::new(&tree, &TreeViewOptions::default().filter(filter).search(words));
            let wanted: Vec<_> = view.rows().iter().map(|row| row.node).collect();
            let found: Vec<_> = state.rows().iter().map(|row| row.node).collect();
            assert_eq!(found, wanted, "{filter} {words}");
        }
    }
}

#[test]
fn a_letter_more_looks_only_at_what_was_found() {
    let tree = large(100);
    let mut state = TreeSelectorState::new(&tree);
    state.set_search("number 4");
    let before = state.found.clone();
    state.search = Search::new("number 42");
    let looked_at = |among: Option<&[bool]>| state.find_among(among);
    assert_eq!(looked_at(Some(&before)), looked_at(None));
    assert_eq!(looked_at(Some(&[false; 100])), [false; 100]);
}

#[test]
fn a_chain_and_siblings_of_any_number_are_moved_through() {
    let chain = (0..10_000).map(|at: usize| {
        entry(&format!("n{at}"), &format!("n{}", at.saturating_sub(1)), "toolResult", "x")
    });
    let tree = SessionTree::from_entries(chain.collect());
    let mut state = TreeSelectorState::new(&tree);
    state.set_filter(TreeFilter::NoTools);
    assert_eq!(state.selected(), None);
    state.set_filter(TreeFilter::All);
    assert_eq!(state.rows().len(), 10_000);
    state.home();
    state.fold();
    assert_eq!(state.rows()[0].folded, Some(9_999));
    let mut siblings = vec![entry("n", "", "user", "x")];
    siblings.extend((0..2000).map(|at| entry(&format!("s{at}"), "n", "user", "x")));
    let state = TreeSelectorState::new(&SessionTree::from_entries(siblings));
    assert_eq!((state.rows().len(), state.cursor()), (2001, Some(1)));
}
