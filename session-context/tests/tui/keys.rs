//! The help of each screen names every key that does something.

use std::collections::BTreeSet;

use session_context::listing::CwdFilter;
use session_context::tui::{SessionPicker, TreeSelector};

use crate::picker;
use crate::support::{DEMO, drawn, press, selector, session};

/// The program stops at this one, whatever the screen.
const STOP: &str = "ctrl+z";

/// Every key somebody may press, but letters that are typed.
fn all_keys() -> Vec<String> {
    let named = "up down left right pageup pagedown home end enter esc tab backspace delete ? x L shift+ctrl+o";
    let held = "up down left right enter"
        .split(' ')
        .flat_map(|key| ["alt+", "shift+", "ctrl+"].map(|with| format!("{with}{key}")));
    let letters = ('a'..='z').flat_map(|c| ["alt+", "ctrl+"].map(|with| format!("{with}{c}")));
    let functions = (1..=12).map(|number| format!("f{number}"));
    named.split(' ').map(str::to_owned).chain(held).chain(letters).chain(functions).collect()
}

/// The keys a help names, read off the screen.
fn named(help: &str) -> BTreeSet<String> {
    let mut lines = help.lines();
    let column = lines.find_map(|line| line.split_once("╭ Keys ")).unwrap().0.chars().count();
    let rows = lines.map(|line| line.chars().skip(column).collect::<String>());
    let rows = rows.filter_map(|row| Some(row.strip_prefix('│')?.trim().to_owned()));
    let names: Vec<_> = rows.filter_map(|row| Some(row.split_once("  ")?.0.to_owned())).collect();
    names.iter().flat_map(|names| names.split(' ')).filter_map(key_named).collect()
}

/// A key by the name it has in the help.
fn key_named(name: &str) -> Option<String> {
    Some(match name {
        "any" => "x".to_owned(),
        "letter" | "in" | "a" | "line" => return None,
        "Shift+L" => "L".to_owned(),
        name => name
            .to_lowercase()
            .replace('↑', "up")
            .replace('↓', "down")
            .replace('←', "left")
            .replace('→', "right")
            .replace("pgup", "pageup")
            .replace("pgdn", "pagedown"),
    })
}

/// The keys that make a difference in one of these states, each of which `make` makes anew.
fn effective<S>(
    states: &[&str],
    make: impl Fn() -> S,
    press: impl Fn(&mut S, &str) -> String,
) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    for state in states {
        let begin = || {
            let mut screen = make();
            let before = state.split(' ').map(|key| press(&mut screen, key)).last();
            (screen, before.unwrap())
        };
        // What the last key asked for is no part of how the screen looks.
        let look = |shown: &str| shown.split_once('\n').unwrap().1.to_owned();
        for key in all_keys().into_iter().filter(|key| !found.contains(key)).collect::<Vec<_>>() {
            let (mut screen, before) = begin();
            let after = press(&mut screen, &key);
            if !after.starts_with("Nothing\n") || look(&after) != look(&before) {
                found.insert(key);
            }
        }
    }
    found
}

fn assert_all_are_named(mut effective: BTreeSet<String>, help: &str) {
    // The same keys on terminals that tell them otherwise.
    for (told, key) in [("shift+enter", "enter"), ("ctrl+enter", "enter")] {
        assert!(effective.contains(key));
        if !named(help).contains(told) {
            effective.remove(told);
        }
    }
    for arrow in ["up", "down", "left", "right"] {
        for with in ["alt+", "shift+", "ctrl+"] {
            let held = format!("{with}{arrow}");
            if effective.contains(arrow) && !named(help).contains(&held) {
                effective.remove(&held);
            }
        }
    }
    // Letters are typed where they are nothing else.
    for key in ["L", "alt+enter"] {
        if !named(help).contains(key) {
            effective.remove(key);
        }
    }
    let mut named = named(help);
    assert!(named.remove(STOP), "{named:?}");
    assert_eq!(effective, named);
}

#[test]
fn of_the_tree() {
    let session = session(DEMO);
    let tree = session.tree();
    let shown = |selector: &mut TreeSelector, key: &str, height| {
        let action = press(selector, tree, key);
        format!("{action:?}\n{}", drawn(selector, tree, 100, height))
    };
    let effective = effective(
        &["e d up up up", "alt+u up", "home left", "end up", "alt+l ctrl+o"],
        || selector(tree),
        |selector, key| shown(selector, key, 24),
    );
    let help = shown(&mut selector(tree), "f1", 60);
    assert_all_are_named(effective, &help);
}

#[test]
fn of_the_picker() {
    let shown = |picker: &mut SessionPicker, key: &str, height| {
        let action = picker::press(picker, key);
        format!("{action:?}\n{}", picker::drawn(picker, 100, height))
    };
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let sessions = runtime.block_on(async { picker::rows(&picker::catalog().await).await });
    let make = || {
        let mut picker = SessionPicker::new(Some(CwdFilter::named("/work/weather")));
        picker.set_sessions(sessions.clone());
        picker
    };
    let help = shown(&mut make(), "f1", 60);
    let states = ["tab down down", "tab s down", "tab ctrl+f", "tab ctrl+f s", "alt+i", "alt+i s"];
    assert_all_are_named(effective(&states, make, |picker, key| shown(picker, key, 24)), &help);
}
