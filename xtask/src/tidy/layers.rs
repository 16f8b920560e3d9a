//! Who may know whom.

use super::{
    Finding,
    project::{Project, numbered},
};
use crate::metadata::Package;

/// Each package with those of the workspace it may depend on outside its tests.
const LAYERS: [(&str, &[&str]); 6] = [
    ("session-model", &[]),
    ("session-store-file", &["session-model"]),
    ("session-store-memory", &["session-model"]),
    ("session-store-indexed", &["session-model"]),
    (
        "session-context",
        &["session-model", "session-store-file", "session-store-memory", "session-store-indexed"],
    ),
    ("xtask", &[]),
];

/// What the model must do without: it does no I/O and has no runtime.
const NOT_IN_THE_MODEL: [&str; 3] = ["tokio", "rusqlite", "redis"];

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    let packages = &project.metadata.packages;
    for package in packages {
        let manifest = project.metadata.relative(&package.manifest_path);
        let Some((_, allowed)) = LAYERS.iter().find(|(name, _)| *name == package.name) else {
            let message = format!("`{}` has no place among the layers", package.name);
            findings.push(Finding::new(&manifest, 1, message));
            continue;
        };
        let is_ours = |name: &str| packages.iter().any(|package| package.name == name);
        let for_tests = |kind: &Option<String>| kind.as_deref() == Some("dev");
        for dependency in &package.dependencies {
            let name = dependency.name.as_str();
            // The model is built once and has nobody beneath it, not even for its tests.
            let counts = !for_tests(&dependency.kind) || package.name == "session-model";
            let upward = counts && is_ours(name) && !allowed.contains(&name);
            if upward || is_banned(package, name, for_tests(&dependency.kind)) {
                let line = line_of(project, &manifest, name);
                let message = format!("`{}` must not depend on `{name}`", package.name);
                findings.push(Finding::new(&manifest, line, message));
            }
        }
    }
    findings
}

fn is_banned(package: &Package, name: &str, for_tests: bool) -> bool {
    package.name == "session-model" && !for_tests && NOT_IN_THE_MODEL.contains(&name)
}

/// The manifest's line about a dependency.
fn line_of(project: &Project<'_>, manifest: &str, name: &str) -> usize {
    let text = project.file(manifest).map_or("", |file| &file.text);
    let is_about = |line: &str| {
        let line = line.trim_start().trim_start_matches('"');
        let rest = line.strip_prefix(name);
        rest.is_some_and(|rest| rest.starts_with(['.', ' ', '=', '"']))
    };
    numbered(text).find(|(_, line)| is_about(line)).map_or(1, |(line, _)| line)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::{found_with, metadata};

    #[test]
    fn the_intended_layers_pass() {
        let metadata = metadata(&[
            ("session-model", &["serde", "dev:tokio"], &[]),
            ("session-store-file", &["session-model", "tokio"], &[]),
            ("session-store-memory", &["session-model"], &[]),
            ("session-store-indexed", &["session-model", "dev:session-store-file"], &[]),
            (
                "session-context",
                &["session-model", "session-store-file", "session-store-memory"],
                &[],
            ),
            ("xtask", &["clap"], &[]),
        ]);
        assert_eq!(found_with(check, &metadata, &[]), [""; 0]);
    }

    #[test]
    fn each_wrong_dependency_is_found_at_its_line() {
        let metadata = metadata(&[
            ("session-model", &["tokio", "dev:session-store-memory"], &[]),
            ("session-store-file", &["session-model", "session-store-memory"], &[]),
            ("session-store-memory", &["build:xtask"], &[]),
            ("xtask", &["session-model"], &[]),
            ("session-seventh", &[], &[]),
        ]);
        let file = (
            "session-store-file/Cargo.toml",
            "[dependencies]\nsession-model.workspace = true\n\
                     session-store-memory = { workspace = true }\n",
        );
        assert_eq!(
            found_with(check, &metadata, &[file]),
            [
                "session-model/Cargo.toml:1: `session-model` must not depend on `tokio`",
                "session-model/Cargo.toml:1: `session-model` must not depend on `session-store-memory`",
                "session-store-file/Cargo.toml:3: `session-store-file` must not depend on `session-store-memory`",
                "session-store-memory/Cargo.toml:1: `session-store-memory` must not depend on `xtask`",
                "xtask/Cargo.toml:1: `xtask` must not depend on `session-model`",
                "session-seventh/Cargo.toml:1: `session-seventh` has no place among the layers",
            ]
        );
    }
}
