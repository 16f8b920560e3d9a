//! Files stay small.

use super::{Finding, project::Project};

const MOST: usize = 500;

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let long = |lines: usize| format!("{lines} lines; cut it into files of {MOST} at most");
    project
        .rust_files()
        .map(|file| (file, file.text.lines().count()))
        .filter(|(_, lines)| *lines > MOST)
        .map(|(file, lines)| Finding::new(&file.path, MOST + 1, long(lines)))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::found;

    #[test]
    fn the_first_line_too_many_is_found() {
        let full = "x\n".repeat(500);
        let long = "x\n".repeat(501);
        assert_eq!(
            found(check, &[("a.rs", &full), ("b.rs", &long), ("c.md", &long)]),
            ["b.rs:501: 501 lines; cut it into files of 500 at most"]
        );
    }
}
