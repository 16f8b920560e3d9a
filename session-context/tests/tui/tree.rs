//! The tree selector in each of its states.

use insta::assert_snapshot;
use ratatui::crossterm::event::Event;
use ratatui::style::Color;
use session_context::tui::{SummaryChoice, Theme, TreeAction, TreeSelector};
use session_model::tree::SessionTree;
use session_model::tree_view::{TreeFilter, TreeViewOptions};

use crate::support::{
    DEMO, buffer, drawn, key, press, said, selector, session, session_of, type_text,
};

#[test]
fn it_begins_at_the_leaf_with_the_entry_below() {
    let session = session(DEMO);
    let tree = session.tree();
    assert_snapshot!(drawn(&mut selector(tree), tree, 80, 24));
}

#[test]
fn a_small_terminal_shows_the_rows_alone() {
    let session = session(DEMO);
    let tree = session.tree();
    assert_snapshot!(drawn(&mut selector(tree), tree, 40, 10));
}

#[test]
fn a_wide_terminal_shows_the_entry_beside_the_rows() {
    let session = session(DEMO);
    let tree = session.tree();
    let mut selector = selector(tree);
    press(&mut selector, tree, "home");
    assert_snapshot!(drawn(&mut selector, tree, 130, 16));
}

#[test]
fn no_room_is_no_reason_to_panic() {
    let session = session(DEMO);
    let tree = session.tree();
    let mut selector = selector(tree);
    for keys in ["f1", "esc", "L", "esc", "home enter", "enter"] {
        press(&mut selector, tree, keys);
        for (width, height) in [(1, 1), (2, 3), (5, 2), (20, 4), (500, 3)] {
            drawn(&mut selector, tree, width, height);
        }
    }
}

#[test]
fn typing_searches_and_esc_ends_the_search_then_closes() {
    let session = session(DEMO);
    let tree = session.tree();
    let mut selector = selector(tree);
    type_text(&mut selector, tree, "delay assi");
    assert_snapshot!("search", drawn(&mut selector, tree, 80, 12));
    type_text(&mut selector, tree, "zzz");
    assert_snapshot!("search_without_result", drawn(&mut selector, tree, 80, 8));
    press(&mut selector, tree, "backspace backspace backspace backspace backspace backspace");
    assert_eq!(selector.state().search(), "delay a");
    assert_eq!(press(&mut selector, tree, "esc"), TreeAction::Nothing);
    assert_eq!(selector.state().search(), "");
    selector.handle_event(&Event::Paste("  fixed\nway".to_owned()), tree);
    assert_eq!(selector.state().search(), "fixed way");
    assert_eq!(press(&mut selector, tree, "ctrl+u esc"), TreeAction::Close);
    assert_eq!(press(&mut selector, tree, "ctrl+c"), TreeAction::Close);
}

#[test]
fn keys_lead_to_each_filter() {
    let session = session(DEMO);
    let tree = session.tree();
    let mut selector = selector(tree);
    let mut met = Vec::new();
    for name in [
        "ctrl+o",
        "ctrl+o",
        "shift+ctrl+o",
        "alt+o",
        "alt+o",
        "alt+u",
        "alt+t",
        "alt+l",
        "alt+d",
        "alt+a",
    ] {
        press(&mut selector, tree, name);
        met.push(selector.state().filter());
    }
    use TreeFilter::{All, Default, LabeledOnly, NoTools, UserOnly};
    let wanted =
        [NoTools, UserOnly, NoTools, Default, All, UserOnly, NoTools, LabeledOnly, Default, All];
    assert_eq!(met, wanted);
    assert_snapshot!(drawn(&mut selector, tree, 80, 24));
}

#[test]
fn labels_are_edited() {
    let session = session(DEMO);
    let tree = session.tree();
    let mut selector = selector(tree);
    let options = TreeViewOptions::default().filter(TreeFilter::LabeledOnly);
    selector.look(tree, &options);
    press(&mut selector, tree, "home shift+l");
    assert_snapshot!(drawn(&mut selector, tree, 80, 24));
    type_text(&mut selector, tree, " way");
    let label = Some("good way".to_owned());
    let target = "11a25bfa".to_owned();
    assert_eq!(
        press(&mut selector, tree, "enter"),
        TreeAction::Label { target: target.clone(), label }
    );
    press(&mut selector, tree, "L ctrl+u");
    assert_eq!(press(&mut selector, tree, "enter"), TreeAction::Label { target, label: None });
    assert_eq!(press(&mut selector, tree, "L x esc"), TreeAction::Nothing);
}

#[test]
fn a_branch_is_left_with_or_without_a_summary() {
    let session = session(DEMO);
    let tree = session.tree();
    let mut selector = selector(tree);
    let go = |target: &str, summary| TreeAction::Navigate { target: target.to_owned(), summary };
    let written = |instructions: Option<&str>| SummaryChoice::Written {
        instructions: instructions.map(str::to_owned),
    };
    // To the leaf there is nothing to leave.
    assert_eq!(press(&mut selector, tree, "enter"), go("de049695", SummaryChoice::None));
    press(&mut selector, tree, "home enter");
    assert_snapshot!("choice_of_own_words", drawn(&mut selector, tree, 80, 24));
    assert_eq!(press(&mut selector, tree, "1"), go("daa66d13", SummaryChoice::None));
    assert_eq!(press(&mut selector, tree, "enter enter"), go("daa66d13", SummaryChoice::None));
    assert_eq!(press(&mut selector, tree, "enter esc esc"), TreeAction::Close);
    for keys in ["enter down enter", "enter 2", "shift+enter", "alt+enter", "ctrl+s"] {
        assert_eq!(press(&mut selector, tree, keys), TreeAction::Nothing);
        type_text(&mut selector, tree, "too slow");
        let given = SummaryChoice::Given("too slow".to_owned());
        assert_eq!(press(&mut selector, tree, "enter"), go("daa66d13", given), "{keys}");
    }
    assert_eq!(press(&mut selector, tree, "ctrl+s enter"), TreeAction::Nothing);
    assert_snapshot!("own_words", drawn(&mut selector, tree, 80, 24));
    press(&mut selector, tree, "esc");

    let mut selector = selector.with_summarizer();
    press(&mut selector, tree, "enter up");
    assert_snapshot!("choice_of_summaries", drawn(&mut selector, tree, 80, 24));
    press(&mut selector, tree, "enter");
    type_text(&mut selector, tree, "tests");
    assert_eq!(press(&mut selector, tree, "enter"), go("daa66d13", written(Some("tests"))));
    assert_eq!(press(&mut selector, tree, "enter 2"), go("daa66d13", written(None)));
    assert_eq!(press(&mut selector, tree, "shift+enter"), go("daa66d13", written(None)));
    selector.wait("The branch is being summed up …");
    assert_snapshot!("wait", drawn(&mut selector, tree, 80, 24));
    assert_eq!(press(&mut selector, tree, "x"), TreeAction::Nothing);
    assert_eq!(press(&mut selector, tree, "esc"), TreeAction::Abort);
    assert_eq!(press(&mut selector, tree, "esc"), TreeAction::Close);
}

#[test]
fn help_names_every_key() {
    let session = session(DEMO);
    let tree = session.tree();
    let mut selector = selector(tree);
    press(&mut selector, tree, "?");
    assert_snapshot!("help", drawn(&mut selector, tree, 80, 24));
    press(&mut selector, tree, "down down down down down down down down down down down down");
    drawn(&mut selector, tree, 50, 12);
    press(&mut selector, tree, "up");
    assert_snapshot!("help_in_little_room", drawn(&mut selector, tree, 50, 12));
    assert_eq!(press(&mut selector, tree, "x esc"), TreeAction::Close);
}

#[test]
fn branches_fold_and_archived_ones_are_shown_when_asked_for() {
    let archive = |target: &str, id: &str| {
        format!(
            r#"{{"type":"archive","id":"{id}","parentId":"b","targetId":"{target}","archived":true}}"#
        ) + "\n"
    };
    let session = session_of([
        said("a", "", "user", "start"),
        said("b", "a", "assistant", "three ways"),
        said("c", "b", "user", "the first"),
        said("d", "c", "assistant", "no"),
        said("e", "b", "user", "the second"),
        said("f", "e", "assistant", "neither"),
        archive("c", "g"),
        said("h", "b", "user", "the third"),
    ]);
    let tree = session.tree();
    let mut selector = selector(tree);
    assert_eq!(press(&mut selector, tree, "alt+x"), TreeAction::Nothing);
    assert_snapshot!("an_active_branch_is_not_archived", drawn(&mut selector, tree, 60, 12));
    press(&mut selector, tree, "down left");
    let archive =
        |target: &str, archived| TreeAction::Archive { target: target.to_owned(), archived };
    assert_eq!(press(&mut selector, tree, "alt+x"), archive("e", true));
    press(&mut selector, tree, "alt+h end up");
    assert_snapshot!("folded_and_archived", drawn(&mut selector, tree, 60, 12));
    press(&mut selector, tree, "home alt+down alt+down alt+down right down down alt+up");
    press(&mut selector, tree, "alt+right alt+left");
    assert_snapshot!("other_branches_folded", drawn(&mut selector, tree, 60, 12));
    press(&mut selector, tree, "alt+right end up up up up");
    assert_eq!(press(&mut selector, tree, "alt+x"), archive("c", false));
}

#[test]
fn notices_stay_until_the_next_key() {
    let session = session(DEMO);
    let tree = session.tree();
    let mut selector = selector(tree);
    selector.complain("this\u{1b}[2J went wrong");
    let foot = |selector: &mut TreeSelector| {
        drawn(selector, tree, 80, 24).lines().last().unwrap().to_owned()
    };
    assert_eq!(foot(&mut selector), "! this [2J went wrong");
    selector.tell("done");
    assert_eq!(foot(&mut selector), "done");
    press(&mut selector, tree, "up");
    assert_eq!(
        foot(&mut selector),
        "Enter go  Esc close  F1 keys  Ctrl+O filter  Shift+L label  ← → fold  Tab entry"
    );
}

#[test]
fn any_script_is_drawn_in_its_cells() {
    let texts = [
        "漢字かな交じり文は二桁の幅を取る",
        "שלום עולם and עברית",
        "مرحبا بالعالم",
        "e\u{301}e\u{301} a\u{30a} and 👩‍👩‍👧 🦀 🇨🇭 ✌🏽",
        "ไทย हिन्दी 한국어",
    ];
    let lines = texts.iter().enumerate().map(|(at, text)| {
        let parent = at.checked_sub(1).map(|before| before.to_string()).unwrap_or_default();
        said(&at.to_string(), &parent, "user", text)
    });
    let session = session_of(lines);
    let tree = session.tree();
    let mut selector = selector(tree);
    assert_snapshot!("scripts", drawn(&mut selector, tree, 60, 20));
    type_text(&mut selector, tree, "字");
    assert_snapshot!(
        "scripts_cut_in_the_middle_of_a_wide_character",
        drawn(&mut selector, tree, 21, 5)
    );
}

#[test]
fn without_colours_nothing_is_coloured_and_the_selection_is_still_marked() {
    let session = session(DEMO);
    let tree: &SessionTree = session.tree();
    let colors = |theme: Theme| {
        let mut selector = selector(tree).theme(theme);
        type_text(&mut selector, tree, "delay");
        let buffer = buffer(80, 24, |area, buf| selector.render(tree, area, buf));
        let mut met: Vec<Color> =
            buffer.content().iter().flat_map(|cell| [cell.fg, cell.bg]).collect();
        met.sort_by_key(|color| format!("{color:?}"));
        met.dedup();
        met
    };
    assert_eq!(colors(Theme::plain()), [Color::Reset]);
    use Color::{Cyan, Green, Magenta, Reset};
    assert_eq!(colors(Theme::colored()), [Cyan, Green, Magenta, Reset]);
}

#[test]
fn an_entry_nothing_can_refer_to_is_not_gone_to() {
    let line = said("a", "", "user", "first");
    let nameless = line.replace("\"id\":\"a\",", "");
    let session =
        session_of([nameless, said("a", "", "user", "one"), said("a", "", "user", "two")]);
    let tree = session.tree();
    let mut selector = selector(tree);
    for keys in ["home down enter 1", "home down L", "home down down enter 1"] {
        assert_eq!(press(&mut selector, tree, keys), TreeAction::Nothing);
        let foot = drawn(&mut selector, tree, 80, 24).lines().last().unwrap().to_owned();
        assert_eq!(foot, "! this entry has no id of its own, so nothing can refer to it");
    }
    assert_eq!(selector.handle_event(&key("esc"), tree), TreeAction::Close);
}
