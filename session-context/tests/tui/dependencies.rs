//! What the library pulls in.

use std::process::Command;

/// Crates that have to do with terminals.
const OF_TERMINALS: [&str; 6] =
    ["crossterm", "indicatif", "nucleo-matcher", "ratatui", "ratatui-core", "terminal_size"];

/// All features of the package but these.
fn features_without(left_out: &[&str]) -> String {
    let manifest = include_str!("../../Cargo.toml");
    let section = manifest.split("[features]\n").nth(1).unwrap().split("\n[").next().unwrap();
    let settings = section.lines().filter(|line| !line.starts_with('#'));
    let names = settings.filter_map(|line| Some(line.split_once(" = ")?.0));
    let wanted: Vec<_> = names.filter(|name| !left_out.contains(name)).collect();
    assert!(wanted.len() > 2, "{wanted:?}");
    wanted.join(",")
}

/// The names of all crates that the package pulls in with these features.
fn crates(features: &str) -> Vec<String> {
    let output = Command::new(env!("CARGO"))
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .args(["tree", "--offline", "--package", "session-context", "--no-default-features"])
        .args(["--edges", "normal", "--prefix", "none", "--format", "{p}", "--features", features])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().filter_map(|line| line.split(' ').next().map(str::to_owned)).collect()
}

#[test]
fn without_screens_no_crate_of_terminals_comes_along() {
    let crates = crates(&features_without(&["default", "cli", "full", "tui"]));
    let met: Vec<_> = crates.iter().filter(|name| OF_TERMINALS.contains(&&***name)).collect();
    assert_eq!(met, [""; 0]);
}

#[test]
fn screens_need_no_command_line() {
    let crates = crates("tui");
    assert!(crates.iter().any(|name| name == "ratatui"));
    assert!(!crates.iter().any(|name| name == "clap"));
}
