//! Every package takes the workspace's lints and declares the oldest Rust it builds with.

use super::{Finding, project::Project};

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &project.metadata.packages {
        let manifest = project.metadata.relative(&package.manifest_path);
        let text = project.file(&manifest).map_or("", |file| &file.text);
        if package.rust_version.is_none() {
            findings.push(Finding::new(&manifest, 1, "lacks `rust-version.workspace = true`"));
        }
        if !text.contains("[lints]\nworkspace = true") {
            findings.push(Finding::new(&manifest, 1, "lacks `[lints]` with `workspace = true`"));
        }
    }
    findings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::{found_with, metadata};

    #[test]
    fn what_a_manifest_lacks_is_found() {
        let mut metadata = metadata(&[("a", &[], &[]), ("b", &[], &[])]);
        metadata.packages[1].rust_version = None;
        let files =
            [("a/Cargo.toml", "[lints]\nworkspace = true\n"), ("b/Cargo.toml", "[package]\n")];
        assert_eq!(
            found_with(check, &metadata, &files),
            [
                "b/Cargo.toml:1: lacks `rust-version.workspace = true`",
                "b/Cargo.toml:1: lacks `[lints]` with `workspace = true`",
            ]
        );
    }
}
