//! The project's root holds what its owner fixed, and nothing else.

use std::collections::BTreeSet;

use super::{Finding, project::Project};

const FOLDERS: [&str; 7] = [
    "docs",
    "session-context",
    "session-model",
    "session-store-file",
    "session-store-indexed",
    "session-store-memory",
    "xtask",
];
const FILES: [&str; 13] = [
    "ARCHITECTURE.md",
    "CHANGELOG.md",
    "CONTRIBUTING.md",
    "Cargo.lock",
    "Cargo.toml",
    "LICENSE-APACHE",
    "LICENSE-MIT",
    "README.md",
    "SECURITY.md",
    "clippy.toml",
    "deny.toml",
    "rust-toolchain.toml",
    "rustfmt.toml",
];

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let strangers: BTreeSet<_> =
        project.files.iter().filter_map(|file| stranger(&file.path)).collect();
    let finding = |path: &str| Finding::new(path, 1, "does not belong into the project's root");
    strangers.into_iter().map(finding).collect()
}

/// The root's entry that a path lies in, if it does not belong there. Hidden ones do: they
/// configure tools.
fn stranger(path: &str) -> Option<&str> {
    let (entry, allowed) = match path.split_once('/') {
        Some((folder, _)) => (folder, &FOLDERS[..]),
        None => (path, &FILES[..]),
    };
    (!allowed.contains(&entry) && !entry.starts_with('.')).then_some(entry)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::found;

    #[test]
    fn only_strangers_in_the_root_are_found() {
        let paths = [
            "session-seventh/Cargo.toml",
            "session-seventh/src/lib.rs",
            "xtask/notes.txt",
            "docs/a.md",
            ".ci/run",
            ".gitignore",
            "notes.txt",
            "README.md",
            "xtask.rs",
            "README.md/x",
        ];
        assert_eq!(
            found(check, &paths.map(|path| (path, ""))),
            ["README.md", "notes.txt", "session-seventh", "xtask.rs"]
                .map(|path| format!("{path}:1: does not belong into the project's root"))
        );
    }
}
