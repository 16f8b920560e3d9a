//! The project's files as the checks see them.

use std::{fs, process::Command};

use super::rust::Masked;
use crate::{Error, Metadata, Result, process};

/// All files of the project, with what cargo says about its packages.
pub(super) struct Project<'a> {
    pub(super) metadata: &'a Metadata,
    /// Sorted by path.
    pub(super) files: Vec<SourceFile>,
}

/// A file with its text.
pub(super) struct SourceFile {
    /// From the project's root, with `/`.
    pub(super) path: String,
    /// Bytes that are no UTF-8 are replaced.
    pub(super) text: String,
    /// The text of a Rust file, code and comments apart; empty for any other.
    pub(super) masked: Masked,
}

impl<'a> Project<'a> {
    /// Reads what git tracks and what it would offer to add.
    pub(super) fn load(metadata: &'a Metadata) -> Result<Self> {
        let root = &metadata.workspace_root;
        let mut command = Command::new("git");
        command.current_dir(root).args([
            // CI may run as another user than the one who cloned.
            "-c",
            "safe.directory=*",
            "ls-files",
            "-z",
            "--cached",
            "--others",
            "--exclude-standard",
        ]);
        let names = String::from_utf8_lossy(&process::output(&mut command)?).into_owned();
        let mut files = Vec::new();
        for name in names.split_terminator('\0') {
            let path = root.join(name);
            // Git still lists what was just removed, and a link is not a text of its own.
            if !path.symlink_metadata().is_ok_and(|meta| meta.is_file()) {
                continue;
            }
            let bytes = fs::read(&path).map_err(|source| Error::Read { path, source })?;
            files.push(SourceFile::new(name, &String::from_utf8_lossy(&bytes)));
        }
        Ok(Self::new(metadata, files))
    }

    pub(super) fn new(metadata: &'a Metadata, mut files: Vec<SourceFile>) -> Self {
        files.sort_by(|a, b| a.path.cmp(&b.path));
        Self { metadata, files }
    }

    pub(super) fn file(&self, path: &str) -> Option<&SourceFile> {
        let at = self.files.binary_search_by(|file| file.path.as_str().cmp(path)).ok()?;
        self.files.get(at)
    }

    pub(super) fn has_folder(&self, path: &str) -> bool {
        let is_inside = |file: &SourceFile| {
            file.path.strip_prefix(path).is_some_and(|rest| rest.starts_with('/'))
        };
        self.files.iter().any(is_inside)
    }

    pub(super) fn rust_files(&self) -> impl Iterator<Item = &SourceFile> {
        self.files.iter().filter(|file| file.path.ends_with(".rs"))
    }
}

impl SourceFile {
    pub(super) fn new(path: &str, text: &str) -> Self {
        let masked = if path.ends_with(".rs") { Masked::new(text) } else { Masked::default() };
        Self { path: path.to_owned(), text: text.to_owned(), masked }
    }
}

/// Lines with their numbers, from 1.
pub(super) fn numbered(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.lines().enumerate().map(|(at, line)| (at + 1, line))
}

/// The number of the line that holds the byte at `offset`, from 1.
pub(super) fn line_at(text: &str, offset: usize) -> usize {
    text.bytes().take(offset).filter(|byte| *byte == b'\n').count() + 1
}

#[cfg(test)]
pub(super) mod testing {
    //! Small projects for the checks' own tests.

    use super::*;
    use crate::tidy::{Check, Finding};

    /// What a check finds in these files, as `path:line: message`.
    pub(in crate::tidy) fn found(check: Check, files: &[(&str, &str)]) -> Vec<String> {
        found_with(check, &Metadata::default(), files)
    }

    /// The same, with an answer of `cargo metadata`.
    pub(in crate::tidy) fn found_with(
        check: Check,
        metadata: &Metadata,
        files: &[(&str, &str)],
    ) -> Vec<String> {
        let files = files.iter().map(|(path, text)| SourceFile::new(path, text)).collect();
        let findings = check(&Project::new(metadata, files));
        let show = |f: Finding| format!("{}:{}: {}", f.path, f.line, f.message);
        findings.into_iter().map(show).collect()
    }

    /// Packages under `/p`, each with `(name, dependencies, targets)`; a dependency reads
    /// `name` or `dev:name`, a target `kind:path`.
    pub(in crate::tidy) fn metadata(packages: &[(&str, &[&str], &[&str])]) -> Metadata {
        let packages: Vec<_> = packages
            .iter()
            .map(|(name, dependencies, targets)| {
                let dependencies: Vec<_> = dependencies
                    .iter()
                    .map(|text| match text.split_once(':') {
                        Some((kind, name)) => serde_json::json!({"name": name, "kind": kind}),
                        None => serde_json::json!({"name": text, "kind": null}),
                    })
                    .collect();
                let targets: Vec<_> = targets
                    .iter()
                    .filter_map(|text| text.split_once(':'))
                    .map(|(kind, path)| {
                        let path = format!("/p/{name}/{path}");
                        serde_json::json!({"name": "x", "kind": [kind], "src_path": path})
                    })
                    .collect();
                serde_json::json!({
                    "name": name, "manifest_path": format!("/p/{name}/Cargo.toml"),
                    "rust_version": "1.89", "features": {},
                    "dependencies": dependencies, "targets": targets,
                })
            })
            .collect();
        let answer = serde_json::json!({"workspace_root": "/p", "packages": packages});
        serde_json::from_value(answer).unwrap()
    }
}
