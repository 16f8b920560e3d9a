//! Sessions that would break a screen.

use std::time::Duration;

use session_model::tree::SessionTree;

use crate::support::{drawn, press, said, selector, session_of, type_text, worked};

/// How long a key and the screen after it may take, in a build without optimisation on a slow
/// machine.
const AT_MOST: Duration = Duration::from_secs(2);

/// Presses keys and draws after each; the slowest counts.
fn slowest(tree: &SessionTree, keys: &str) -> Duration {
    let mut selector = selector(tree);
    let mut slowest = Duration::ZERO;
    for name in keys.split(' ') {
        let start = worked();
        press(&mut selector, tree, name);
        drawn(&mut selector, tree, 80, 24);
        slowest = slowest.max(worked() - start);
    }
    slowest
}

const KEYS: &str = "up up up pageup home end alt+up left right a b c backspace esc alt+a alt+d";

#[test]
fn what_a_terminal_acts_on_is_drawn_as_blanks_or_not_at_all() {
    let bad = "\\u001b[2J\\u009b2J\u{9b}2J\\u0007\\r\\b\u{202e}\u{2066}\\u2028\u{7f}x\\ny\\tz";
    let session = session_of([
        said("a", "", "user", bad),
        said("b", "a", "assistant", bad),
        said("c", "b", bad, bad),
        format!(r#"{{"type":"label","id":"d","parentId":"c","targetId":"a","label":"{bad}"}}"#)
            + "\n",
        format!(r#"{{"type":"{bad}","id":"e{bad}","parentId":"d","timestamp":"{bad}"}}"#) + "\n",
    ]);
    let tree = session.tree();
    let mut selector = selector(tree).title("\u{1b}[2J");
    selector.complain("\u{1b}[2J");
    // `drawn` looks at each cell.
    for keys in ["alt+a", "up", "up", "up", "up", "L", "esc", "enter"] {
        press(&mut selector, tree, keys);
        drawn(&mut selector, tree, 80, 24);
        drawn(&mut selector, tree, 140, 24);
    }
    press(&mut selector, tree, "esc");
    type_text(&mut selector, tree, "x\u{7}y\u{1b}");
    drawn(&mut selector, tree, 80, 24);
}

#[test]
fn a_line_of_a_megabyte_is_drawn_at_once() {
    let long = "a\\u001b[31m ".repeat(100_000);
    let session = session_of([
        said("a", "", "user", &long),
        said("b", "a", "assistant", &"e\u{301}".repeat(300_000)),
        said("c", "b", "user", &"\u{301}".repeat(500_000)),
    ]);
    assert!(slowest(session.tree(), KEYS) < AT_MOST);
}

#[test]
fn a_chain_of_ten_thousand_is_drawn_at_once() {
    let chain = (0..10_000).map(|at: usize| {
        let parent = at.checked_sub(1).map(|before| before.to_string()).unwrap_or_default();
        said(&at.to_string(), &parent, "user", "a step")
    });
    let session = session_of(chain);
    assert!(slowest(session.tree(), KEYS) < AT_MOST);
}

#[test]
fn two_thousand_siblings_and_a_comb_are_drawn_at_once() {
    let siblings = (0..2000).map(|at| said(&format!("s{at}"), "root", "user", "a way"));
    let comb = (0..2000).flat_map(|at: usize| {
        let parent = at.checked_sub(1).map_or("root".to_owned(), |before| format!("c{before}"));
        let spine = said(&format!("c{at}"), &parent, "user", "on");
        [spine, said(&format!("t{at}"), &parent, "user", "a tooth")]
    });
    let root = said("root", "", "user", "the root");
    let session = session_of(std::iter::once(root).chain(siblings).chain(comb));
    assert!(slowest(session.tree(), KEYS) < AT_MOST);
}

#[test]
fn a_hundred_thousand_entries_are_filtered_and_searched_letter_by_letter() {
    let said = |at: usize| {
        let parent = if at % 10 == 9 { at.saturating_sub(5) } else { at.saturating_sub(1) };
        let role = ["user", "assistant", "toolResult"][at % 3];
        let text =
            format!("entry {at} of them all says {} and goes on from there", at * 7919 % 10_007);
        said(&format!("n{at}"), &format!("n{parent}"), role, &text)
    };
    let session = session_of((0..100_000).map(said));
    let keys = "ctrl+o 9 9 7 7 backspace backspace esc down alt+up alt+a";
    let slowest = slowest(session.tree(), keys);
    println!("the slowest key: {slowest:?}");
    assert!(slowest < AT_MOST * 2);
}
