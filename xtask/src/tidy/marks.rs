//! Nothing is left open in the code.

use super::{
    Finding,
    project::{Project, numbered},
};

/// Written in parts, so that this file does not break its own rule.
const MARKS: [&str; 5] = [
    concat!("TO", "DO"),
    concat!("FIX", "ME"),
    concat!("X", "XX"),
    concat!("unimple", "mented!"),
    concat!("to", "do!("),
];

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in project.rust_files() {
        for (line, text) in numbered(&file.text) {
            for mark in MARKS.iter().filter(|mark| has_word(text, mark)) {
                findings.push(Finding::new(&file.path, line, format!("left open: `{mark}`")));
            }
        }
    }
    findings
}

/// Whether `word` stands in the text and not inside a longer word.
fn has_word(text: &str, word: &str) -> bool {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = text[..at].chars().next_back();
        let after = text[at + word.len()..].chars().next();
        let open_end = !word.ends_with(is_word);
        !before.is_some_and(is_word) && (open_end || !after.is_some_and(is_word))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::found;

    #[test]
    fn marks_are_found_as_words() {
        let [first, second, third, macro_, call] = MARKS;
        let text = format!(
            "// {first}: x\n// {second}\n// {third}{third}\n// {third}.\n{macro_}()\n{call}\"x\")\nA{first}S\n"
        );
        let expected = [(1, first), (2, second), (4, third), (5, macro_), (6, call)];
        assert_eq!(
            found(check, &[("a.rs", &text), ("a.md", &text)]),
            expected.map(|(line, mark)| format!("a.rs:{line}: left open: `{mark}`"))
        );
    }
}
