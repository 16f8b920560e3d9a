//! Every module says what it is for, in its first line.

use super::{Finding, project::Project};

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    project
        .rust_files()
        .filter(|file| !file.text.starts_with("//! "))
        .map(|file| Finding::new(&file.path, 1, "does not open with `//!`"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::found;

    #[test]
    fn a_file_without_a_first_sentence_is_found() {
        let files = [
            ("a/src/lib.rs", "//! A.\n"),
            ("a/src/b.rs", "// B\n//! B.\n"),
            ("a/tests/c.rs", ""),
            ("a/benches/d.rs", "//!\n"),
        ];
        assert_eq!(
            found(check, &files),
            ["a/benches/d.rs", "a/src/b.rs", "a/tests/c.rs"]
                .map(|path| format!("{path}:1: does not open with `//!`"))
        );
    }
}
