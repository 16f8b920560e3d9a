//! The model does no I/O, reads no clock and has no environment: what it needs is passed in.

use super::{
    Finding,
    project::{Project, line_at},
};

const MODEL: &str = "session-model/src/";
/// No part of the model: it drives backends, and looks at what they leave behind.
const SUITE: &str = "session-model/src/conformance/";
const STD_MODULES: [&str; 4] = ["env", "fs", "net", "process"];
const CALLS: [&str; 6] = [
    "SystemTime::now",
    "Instant::now",
    "Timestamp::now",
    "Zoned::now",
    "Uuid::new_v4",
    "Uuid::now_v7",
];

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_model = |path: &str| path.starts_with(MODEL) && !path.starts_with(SUITE);
    for file in project.rust_files().filter(|file| is_model(&file.path)) {
        let code = &file.masked.code;
        let calls = CALLS.iter().flat_map(|call| code.match_indices(call));
        let uses = std_uses(code).into_iter().filter(|(_, name)| STD_MODULES.contains(name));
        let calls = calls.map(|(at, call)| (at, call.to_owned()));
        let uses = uses.map(|(at, name)| (at, format!("std::{name}")));
        findings.extend(calls.chain(uses).map(|(at, name)| {
            Finding::new(&file.path, line_at(code, at), format!("`{name}` in the pure model"))
        }));
    }
    findings
}

/// The modules that follow `std::` or `::std::{`, with their offsets.
fn std_uses(code: &str) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    for (at, mark) in code.match_indices("std::") {
        let is_longer = code[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_');
        let start = at + mark.len();
        match code[start..].strip_prefix('{') {
            _ if is_longer => {}
            Some(group) => found.extend(members(group, start + 1)),
            None => found.push((start, word(&code[start..]))),
        }
    }
    found
}

/// The first words of a group's members, up to its closing brace.
fn members(group: &str, offset: usize) -> Vec<(usize, &str)> {
    let mut found = Vec::new();
    let (mut depth, mut fresh) = (1, true);
    for (at, c) in group.char_indices() {
        match c {
            '{' => depth += 1,
            '}' => depth -= 1,
            ',' if depth == 1 => fresh = true,
            _ if fresh && !c.is_whitespace() => {
                found.push((offset + at, word(&group[at..])));
                fresh = false;
            }
            _ => {}
        }
        if depth == 0 {
            break;
        }
    }
    found
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(text.len());
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::found;

    #[test]
    fn io_and_clocks_are_found_however_they_are_imported() {
        let text = "//! Not `std::fs`.\n\
                    use std::fs;\n\
                    use std::{\n    fmt,\n    collections::{env, net},\n    io::{self}, env,\n};\n\
                    use mystd::fs;\n\
                    fn f() { let t = std::time::Instant::now(); ::std::process::exit(1) }\n\
                    const S: &str = \"std::net\"; // SystemTime::now\n\
                    fn now() -> Timestamp { Timestamp::now() }\n";
        let paths =
            ["session-model/src/a.rs", "session-model/src/conformance/b.rs", "xtask/src/c.rs"];
        assert_eq!(
            found(check, &paths.map(|path| (path, text))),
            [
                "session-model/src/a.rs:9: `Instant::now` in the pure model",
                "session-model/src/a.rs:11: `Timestamp::now` in the pure model",
                "session-model/src/a.rs:2: `std::fs` in the pure model",
                "session-model/src/a.rs:6: `std::env` in the pure model",
                "session-model/src/a.rs:9: `std::process` in the pure model",
            ]
        );
    }
}
