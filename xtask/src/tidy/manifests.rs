//! Every package takes the workspace's lints and declares the oldest Rust it builds with, which the
//! texts tell, too.

use super::{
    Finding,
    project::{Project, numbered},
};

/// Texts that say what one needs, and the words before and behind the version.
const TEXTS: [&str; 2] = ["CONTRIBUTING.md", "README.md"];
const AROUND: (&str, &str) = ("Rust toolchain (", " or newer");

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
    findings.extend(other_versions(project));
    findings
}

/// Where a text names another version than the manifests, or none.
fn other_versions(project: &Project<'_>) -> Vec<Finding> {
    let Some(declared) = project.metadata.rust_version() else { return vec![] };
    let mut findings = Vec::new();
    for file in TEXTS.iter().filter_map(|path| project.file(path)) {
        let named = numbered(&file.text).find_map(|(line, text)| {
            let (_, rest) = text.split_once(AROUND.0)?;
            Some((line, rest.split_once(AROUND.1)?.0))
        });
        let (line, version) = named.unwrap_or((1, "none"));
        if version != declared {
            let message = format!("names {version} as the oldest Rust, the manifests {declared}");
            findings.push(Finding::new(&file.path, line, message));
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

    #[test]
    fn a_text_that_names_another_rust_is_found() {
        let metadata = metadata(&[("a", &[], &[])]);
        let manifest = ("a/Cargo.toml", "[lints]\nworkspace = true\n");
        let right = "\na Rust toolchain (1.89 or newer) and\n";
        let files = [manifest, ("CONTRIBUTING.md", right), ("README.md", right)];
        assert_eq!(found_with(check, &metadata, &files), [""; 0]);
        let wrong = ("CONTRIBUTING.md", "\na Rust toolchain (1.88 or newer, with clippy)\n");
        let files = [manifest, wrong, ("README.md", "a Rust toolchain\n")];
        assert_eq!(
            found_with(check, &metadata, &files),
            [
                "CONTRIBUTING.md:2: names 1.88 as the oldest Rust, the manifests 1.89",
                "README.md:1: names none as the oldest Rust, the manifests 1.89",
            ]
        );
    }
}
