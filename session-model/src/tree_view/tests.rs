//! Views of trees, ordinary, odd and large.

use super::*;
use crate::entry::Entry;
use crate::entry::EntryKind;
use crate::json::RawJson;

/// Entries as `id:parent kind`, one a line; `kind` is a role or type, and `-` no parent.
fn tree(shape: &str) -> SessionTree {
    SessionTree::from_entries(shape.trim().lines().map(|line| entry(line.trim())).collect())
}

fn entry(spec: &str) -> Entry {
    let (names, kind) = spec.split_once(' ').unwrap();
    let (id, parent) = names.split_once(':').unwrap();
    let parent = if parent == "-" { "null".to_owned() } else { format!("{parent:?}") };
    let call = r#"{"type":"toolCall","name":"ls","arguments":{}}"#;
    let assistant = |blocks: &str, stop: &str| {
        format!(
            r#""type":"message","message":{{"role":"assistant","content":[{blocks}],"stopReason":"{stop}"}}"#
        )
    };
    let body = match kind {
        "user" => format!(r#""type":"message","message":{{"role":"user","content":"{id}"}}"#),
        "assistant" => assistant(&format!(r#"{{"type":"text","text":"{id}"}}"#), "stop"),
        "calls" => assistant(call, "toolUse"),
        "aborted" => assistant(call, "aborted"),
        "result" => {
            r#""type":"message","message":{"role":"toolResult","toolName":"ls","content":"r"}"#
                .to_owned()
        }
        _ => match kind.split_once('=') {
            Some(("label", target)) => {
                let (target, label) = target.split_once('=').unwrap();
                format!(r#""type":"label","targetId":"{target}","label":"{label}""#)
            }
            Some(("archive", target)) => {
                format!(r#""type":"archive","targetId":"{target}","archived":true"#)
            }
            _ => format!(r#""type":"{kind}""#),
        },
    };
    let text = format!(r#"{{"id":"{id}","parentId":{parent},{body}}}"#);
    Entry::from_json(&RawJson::parse(text).unwrap()).unwrap()
}

fn text(tree: &SessionTree, options: &TreeViewOptions) -> String {
    render_text(TreeView::new(tree, options).rows(), &TextOptions::default())
}

fn with(filter: TreeFilter) -> TreeViewOptions {
    TreeViewOptions::default().filter(filter)
}

/// Text blocks in tests are indented for the reader.
fn lines(text: &str) -> String {
    let cut = |line: &str| line.trim().strip_prefix('>').unwrap_or_default().to_owned() + "\n";
    text.trim().lines().map(cut).collect()
}

const BRANCHES: &str = "
    a:- user
    b:a assistant
    c:b user
    d:c assistant
    e:b user
    f:e user
    g:e user
    h:g assistant
    i:b user";

#[test]
fn branches_indent_and_chains_do_not() {
    let mut tree = tree(BRANCHES);
    tree.set_leaf(tree.find("h"));
    assert_eq!(
        text(&tree, &TreeViewOptions::default()),
        lines(
            ">• user: a
             >• assistant: b
             >├─ • user: e
             >│  ├─ • user: g
             >│  │  • assistant: h
             >│  └─ user: f
             >├─ user: c
             >│  assistant: d
             >└─ user: i"
        )
    );
}

#[test]
fn without_a_leaf_branches_stay_in_order_of_time() {
    let mut tree = tree(BRANCHES);
    tree.set_leaf(None);
    let view = TreeView::new(&tree, &TreeViewOptions::default());
    assert_eq!(
        render_text(view.rows(), &TextOptions::default().ascii()),
        lines(
            ">user: a
             >assistant: b
             >|- user: c
             >|  assistant: d
             >|- user: e
             >|  |- user: f
             >|  `- user: g
             >|     assistant: h
             >`- user: i"
        )
    );
    assert_eq!(view.cursor(), None);
}

#[test]
fn what_hangs_below_the_leaf_comes_before_its_siblings() {
    let mut tree = tree(BRANCHES);
    tree.set_leaf(tree.find("e"));
    let view = TreeView::new(&tree, &TreeViewOptions::default());
    let order: Vec<_> = view.rows().iter().map(|row| row.preview.text.as_str()).collect();
    assert_eq!(order, ["a", "b", "e", "f", "g", "h", "c", "d", "i"]);
    let marks: Vec<_> = view.rows().iter().map(|row| (row.active, row.leaf)).collect();
    let (path, leaf, other) = ((true, false), (true, true), (false, false));
    assert_eq!(marks, [path, path, leaf, other, other, other, other, other, other]);
    assert_eq!(view.cursor(), Some(2));
}

#[test]
fn several_roots_are_branches_of_one_that_is_not_shown() {
    let tree = tree("a:- user\nb:a user\nc:- user\nx:nowhere user\nd:c user");
    assert_eq!(
        text(&tree, &TreeViewOptions::default()),
        "├─ • user: c\n│  • user: d\n├─ user: a\n│  user: b\n└─ user: x\n"
    );
}

const MIXED: &str = "
    i:- session_init
    a:i user
    m:a model_change
    b:m calls
    r:b result
    c:r assistant
    d:r aborted
    x:d from_afar
    l:c label=c=good
    k:l label=b=calls
    z:c calls";

#[test]
fn what_is_not_shown_leaves_no_gap() {
    let tree = tree(MIXED);
    assert_eq!(
        text(&tree, &with(TreeFilter::Default)),
        lines(
            ">• user: a
             >• toolResult: ls: r
             >├─ • [good] assistant: c
             >│  • assistant: [ls]
             >└─ assistant: [aborted] [ls]
             >   [from_afar]"
        )
    );
    assert_eq!(
        text(&tree, &with(TreeFilter::NoTools)),
        lines(
            ">• user: a
             >├─ • [good] assistant: c
             >│  • assistant: [ls]
             >└─ assistant: [aborted] [ls]
             >   [from_afar]"
        )
    );
    assert_eq!(text(&tree, &with(TreeFilter::UserOnly)), "• user: a\n");
    assert_eq!(
        text(&tree, &with(TreeFilter::LabeledOnly)),
        "• [calls] assistant: [ls]\n• [good] assistant: c\n"
    );
    assert_eq!(
        text(&tree, &with(TreeFilter::All)),
        lines(
            ">• [init]
             >• user: a
             >• [model]
             >• [calls] assistant: [ls]
             >• toolResult: ls: r
             >├─ • [good] assistant: c
             >│  ├─ • assistant: [ls]
             >│  └─ [label] good c
             >│     [label] calls b
             >└─ assistant: [aborted] [ls]
             >   [from_afar]"
        )
    );
}

#[test]
fn a_root_that_is_not_shown_leaves_its_children_as_roots() {
    let tree = tree("i:- session_init\na:i user\nb:i user");
    assert_eq!(text(&tree, &TreeViewOptions::default()), "├─ • user: b\n└─ user: a\n");
}

#[test]
fn the_default_filter_hides_exactly_the_bookkeeping() {
    let hidden = [
        "label",
        "custom",
        "model_change",
        "thinking_level_change",
        "model_usage",
        "service_tier_change",
        "title_change",
        "credential_pin",
        "session_init",
        "ttsr_injection",
        "mode_change",
        "reset_boundary",
    ];
    let kinds = EntryKind::KNOWN.iter().filter_map(|kind| kind.as_str());
    for kind in kinds.chain(["from_afar"]) {
        let tree = tree(&format!("a:- {kind}"));
        let shown = !TreeView::new(&tree, &TreeViewOptions::default()).rows().is_empty();
        assert_eq!(shown, !hidden.contains(&kind), "{kind}");
    }
}

#[test]
fn the_cursor_is_on_the_nearest_shown_entry() {
    let tree = tree("a:- user\nb:a assistant\nc:b model_change");
    assert_eq!(TreeView::new(&tree, &with(TreeFilter::Default)).cursor(), Some(1));
    assert_eq!(TreeView::new(&tree, &with(TreeFilter::UserOnly)).cursor(), Some(0));
    assert_eq!(TreeView::new(&tree, &with(TreeFilter::LabeledOnly)).cursor(), None);
}

#[test]
fn search_narrows_the_rows() {
    let tree = tree(MIXED);
    let search = |words: &str| text(&tree, &with(TreeFilter::All).search(words));
    assert_eq!(search("assist ABORT"), "assistant: [aborted] [ls]\n");
    assert_eq!(search("good"), "• [good] assistant: c\n[label] good c\n");
    assert_eq!(search("model_change"), "• [model]\n");
    assert_eq!(search("good nowhere"), "");
}

#[test]
fn search_sees_the_preview_only() {
    let tree = tree(&format!("{}needle:- user", "x".repeat(300)));
    let options = TreeViewOptions::default().search("needle");
    assert_eq!(TreeView::new(&tree, &options), TreeView::default());
}

#[test]
fn archived_branches_are_shown_when_asked_for() {
    let mut tree = tree("a:- user\nb:a user\nc:b user\nd:a user\ne:d archive=b");
    assert_eq!(
        text(&tree, &TreeViewOptions::default()),
        "• user: a\n• user: d\n• [archive] b true\n"
    );
    let all = TreeViewOptions::default().with_archived();
    assert_eq!(
        text(&tree, &all),
        lines(
            ">• user: a
             >├─ • user: d
             >│  • [archive] b true
             >└─ (archived) user: b
             >   user: c"
        )
    );
    tree.set_leaf(tree.find("c"));
    let view = TreeView::new(&tree, &TreeViewOptions::default());
    assert_eq!(view.cursor(), Some(0));
}

#[test]
fn odd_parents_are_shown_once() {
    let own = tree("a:a user\nb:a user");
    assert_eq!(text(&own, &TreeViewOptions::default()), "• user: a\n• user: b\n");
    let mut cycle = tree("a:b user\nb:a user\nc:b user");
    let whole = "• user: a\n• user: b\n• user: c\n";
    assert_eq!(text(&cycle, &TreeViewOptions::default()), whole);
    cycle.set_leaf(cycle.find("a"));
    let at_root = "• user: a\nuser: b\nuser: c\n";
    assert_eq!(text(&cycle, &TreeViewOptions::default()), at_root);
    let twice = tree("a:- user\nb:a user\na:b user\nc:a user");
    let all = "• user: a\n• user: b\n• user: a\n• user: c\n";
    assert_eq!(text(&twice, &TreeViewOptions::default()), all);
}

#[test]
fn labels_stay_on_their_line() {
    let tree = tree("a:- user\nb:a label=a=two\\nlines\\u001b[0m");
    assert_eq!(text(&tree, &TreeViewOptions::default()), "• [two lines [0m] user: a\n");
}

#[test]
fn filters_cycle_both_ways_and_have_names() {
    let mut filter = TreeFilter::Default;
    let mut names = Vec::new();
    for _ in 0..6 {
        assert_eq!(filter.next().previous(), filter);
        assert_eq!(filter.as_str().parse(), Ok(filter));
        names.push(filter.as_str());
        filter = filter.next();
    }
    assert_eq!(names, ["default", "no-tools", "user-only", "labeled-only", "all", "default"]);
    let unknown = "tools".parse::<TreeFilter>().unwrap_err();
    let want = "unknown filter \"tools\"; use default, no-tools, user-only, labeled-only or all";
    assert_eq!(unknown.to_string(), want);
}

/// A chain of `n` entries, each with a branch of one beside it.
fn comb(n: usize) -> SessionTree {
    let mut entries = vec![entry("n0:- user")];
    for at in 1..n {
        entries.push(entry(&format!("s{at}:n{} user", at - 1)));
        entries.push(entry(&format!("n{at}:n{} user", at - 1)));
    }
    SessionTree::from_entries(entries)
}

#[test]
fn deep_branches_are_drawn_in_few_columns() {
    let tree = comb(100);
    let view = TreeView::new(&tree, &TreeViewOptions::default());
    let deepest = &view.rows()[99];
    assert_eq!((deepest.indent(), deepest.leaf), (99, true));
    let guides: Vec<_> = deepest.guides(3).collect();
    assert_eq!(guides, [Guide::Deeper, Guide::Line, Guide::Line, Guide::Branch]);
    assert_eq!(deepest.guides(usize::MAX).count(), MAX_GUIDES + 1);
    let text = render_text(view.rows(), &TextOptions::default().max_columns(2));
    assert_eq!(text.lines().nth(2), Some("│  ├─ • user: n2"));
    assert_eq!(text.lines().nth(3), Some("…  │  ├─ • user: n3"));
    assert_eq!(text.lines().last(), Some("└─ user: s1"));
    let sibling = view.rows()[100].guides(3).collect::<Vec<_>>();
    assert_eq!(sibling, [Guide::Deeper, Guide::Line, Guide::Line, Guide::LastBranch]);
}

#[test]
fn a_chain_deeper_than_any_stack_is_viewed() {
    let n = 300_000;
    let mut chain = SessionTree::default();
    for at in 0..n {
        let line = match at {
            0 => r#"{"type":"x","id":"0","parentId":null}"#.to_owned(),
            _ => format!(r#"{{"type":"x","id":"{at}","parentId":"{}"}}"#, at - 1),
        };
        chain.insert(Entry::from_json(&RawJson::parse(line).unwrap()).unwrap());
    }
    let view = TreeView::new(&chain, &TreeViewOptions::default());
    assert_eq!((view.rows().len(), view.cursor()), (n, Some(n - 1)));
    assert!(view.rows().iter().all(|row| row.active && row.indent() == 0));
}

#[test]
fn an_outline_with_texts_shows_what_a_view_shows() {
    let tree = tree(&format!("{BRANCHES}\nj:h calls\nk:j result\nl:k label=c=Ünder"));
    let texts = EntryTexts::new(&tree);
    for (filter, words) in [
        (TreeFilter::Default, ""),
        (TreeFilter::NoTools, "user"),
        (TreeFilter::UserOnly, ""),
        (TreeFilter::LabeledOnly, "Ündr c"),
        (TreeFilter::All, "ls"),
    ] {
        let options = with(filter).search(words);
        let outline = Outline::new(&tree, false);
        let search = Search::new(words);
        let is_shown = |row: &OutlineRow| {
            let id = tree.entry(row.node).id().unwrap();
            let label = tree.label_for(&id).map(lowercase);
            filter.admits(texts.facts(row.node), label.is_some(), tree.leaf() == Some(row.node))
                && texts.finds(row.node, &search, label.as_deref())
        };
        let shown: Vec<_> = outline.rows().iter().map(is_shown).collect();
        let rows = outline.rows().iter().zip(&shown).filter(|(_, shown)| **shown);
        let found: Vec<_> = rows.map(|(row, _)| row.node).zip(outline.lay_out(&shown)).collect();
        let view = TreeView::new(&tree, &options);
        let wanted: Vec<_> = view.rows().iter().map(|row| (row.node, row.layout)).collect();
        assert!(!wanted.is_empty());
        assert_eq!(found, wanted, "{filter} {words}");
    }
}

#[test]
fn texts_read_on_as_if_they_had_read_all() {
    let mut tree = tree(BRANCHES);
    let mut texts = EntryTexts::new(&tree);
    tree.insert(entry("z:i user"));
    texts.read_on(&tree);
    let all = EntryTexts::new(&tree);
    for node in tree.nodes() {
        assert_eq!(texts.facts(node), all.facts(node));
        for words in ["z", "user", "assistant a"] {
            let search = Search::new(words);
            assert_eq!(texts.finds(node, &search, None), all.finds(node, &search, None));
        }
    }
}
