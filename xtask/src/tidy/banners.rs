//! No banner comments: a section that needs one wants a file or a module of its own.

use super::{
    Finding,
    project::{Project, numbered},
};

const RULES: [char; 9] = ['=', '-', '#', '*', '~', '+', '─', '━', '═'];

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for file in project.rust_files() {
        for (line, comment) in numbered(&file.masked.comments) {
            if is_banner(comment) {
                findings.push(Finding::new(&file.path, line, "banner comment"));
            }
        }
    }
    findings
}

/// A comment that starts with four or more of the same rule character.
fn is_banner(comment: &str) -> bool {
    let comment = comment.trim_start();
    let Some(body) = comment.strip_prefix("//").or_else(|| comment.strip_prefix("/*")) else {
        return false;
    };
    let body = body.trim_start_matches(['/', '!']).trim_start();
    let Some(first) = body.chars().next().filter(|first| RULES.contains(first)) else {
        return false;
    };
    body.chars().take_while(|c| *c == first).count() >= 4
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::found;

    #[test]
    fn lines_of_rules_are_found_and_prose_is_not() {
        let text = "//! Docs.\n// ==== Part ====\n    // ----\n/// | a |\n/// |----|\n// -- x\n\
                    /***** y *****/\nlet a = \"// ----\";\n//! ────\n";
        assert_eq!(
            found(check, &[("a/src/lib.rs", text), ("a.md", "// ====")]),
            [
                "a/src/lib.rs:2: banner comment",
                "a/src/lib.rs:3: banner comment",
                "a/src/lib.rs:7: banner comment",
                "a/src/lib.rs:9: banner comment",
            ]
        );
    }
}
