//! No forgotten file: each Rust file of a package is a target or named by a `mod` of one.
//!
//! A test file that nothing names is never compiled, and looks as if it passed.

use std::collections::BTreeSet;

use super::{
    Finding,
    project::{Project, SourceFile},
};

const FOLDERS: [&str; 4] = ["src", "tests", "benches", "examples"];

pub(super) fn check(project: &Project<'_>) -> Vec<Finding> {
    let mut findings = Vec::new();
    for package in &project.metadata.packages {
        let mut reached = BTreeSet::new();
        for target in &package.targets {
            let root = project.metadata.relative(&target.src_path);
            let folder = parent(&root).to_owned();
            visit(project, root, folder, &mut reached);
        }
        let manifest = project.metadata.relative(&package.manifest_path);
        let package_folder = parent(&manifest);
        let is_ours = |path: &str| {
            let inside = path.strip_prefix(package_folder).and_then(|path| path.strip_prefix('/'));
            let folder = inside.and_then(|path| path.split_once('/')).map(|(folder, _)| folder);
            folder.is_some_and(|folder| FOLDERS.contains(&folder))
        };
        for file in project.rust_files().filter(|file| is_ours(&file.path)) {
            if !reached.contains(&file.path) {
                let message = "never compiled: no target, and no `mod` names it";
                findings.push(Finding::new(&file.path, 1, message));
            }
        }
    }
    findings
}

/// Follows the modules of a file whose children lie in `folder`.
fn visit(project: &Project<'_>, path: String, folder: String, reached: &mut BTreeSet<String>) {
    let mut open = vec![(path, folder)];
    while let Some((path, folder)) = open.pop() {
        let Some(file) = project.file(&path) else { continue };
        if !reached.insert(path) {
            continue;
        }
        for module in modules(file) {
            open.extend(places(&file.path, &folder, &module));
        }
    }
}

/// A `mod name;` with the names of the inline modules around it.
#[derive(Debug, PartialEq, Eq)]
struct Module<'a> {
    around: Vec<&'a str>,
    name: &'a str,
    /// From a `path` attribute.
    path: Option<&'a str>,
}

impl<'a> Module<'a> {
    fn at_top(name: &'a str) -> Self {
        Self { around: Vec::new(), name, path: None }
    }
}

/// Where a module's file can be, each with the folder of its own children.
fn places(file: &str, folder: &str, module: &Module<'_>) -> Vec<(String, String)> {
    let inner = module.around.iter().fold(folder.to_owned(), |folder, name| join(&folder, name));
    if let Some(path) = module.path {
        let from = if module.around.is_empty() { parent(file) } else { &inner };
        let path = join(from, path);
        let folder = parent(&path).to_owned();
        return vec![(path, folder)];
    }
    let own = join(&inner, module.name);
    vec![(format!("{own}.rs"), own.clone()), (format!("{own}/mod.rs"), own)]
}

/// The modules a file names.
fn modules(file: &SourceFile) -> Vec<Module<'_>> {
    let words = words(&file.masked.code);
    let (mut found, mut inline, mut depth) = (Vec::new(), Vec::<(&str, usize)>::new(), 0);
    let mut path = None;
    for (index, (offset, word)) in words.iter().enumerate() {
        let next = |ahead: usize| words.get(index + ahead).map(|(_, word)| *word);
        match *word {
            "{" => depth += 1,
            "}" => {
                inline.pop_if(|(_, at)| *at == depth);
                depth = depth.saturating_sub(1);
            }
            ";" => path = None,
            "path" if next(1) == Some("=") => path = quoted(&file.text[*offset..]),
            "mod" => match (next(1), next(2)) {
                (Some(name), Some(";")) => {
                    let around = inline.iter().map(|(name, _)| *name).collect();
                    found.push(Module { around, name, path: path.take() });
                }
                (Some(name), Some("{")) => inline.push((path.take().unwrap_or(name), depth + 1)),
                // A macro makes modules of words given to it, which may be any in this file.
                (Some("$"), _) => found.extend(words.iter().map(|(_, word)| Module::at_top(word))),
                _ => {}
            },
            _ => {}
        }
    }
    found
}

/// Words and single marks, with their offsets.
fn words(code: &str) -> Vec<(usize, &str)> {
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(c) = code[at..].chars().next() {
        // The raw name `r#move` stands for the file `move.rs`.
        at += if code[at..].starts_with("r#") { 2 } else { 0 };
        let rest = &code[at..];
        let length = match rest.find(|c: char| !is_word(c)) {
            Some(0) => c.len_utf8(),
            end => end.unwrap_or(rest.len()),
        };
        if !c.is_whitespace() {
            found.push((at, &rest[..length]));
        }
        at += length;
    }
    found
}

fn quoted(text: &str) -> Option<&str> {
    text.split('"').nth(1)
}

fn parent(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// A path inside a folder; `..` goes up.
fn join(folder: &str, path: &str) -> String {
    let mut parts: Vec<_> = folder.split('/').filter(|part| !part.is_empty()).collect();
    for part in path.split('/') {
        match part {
            ".." => drop(parts.pop()),
            "." | "" => {}
            _ => parts.push(part),
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tidy::project::testing::{found_with, metadata};

    #[test]
    fn every_way_to_name_a_file_counts() {
        let metadata =
            metadata(&[("a", &[], &["lib:src/lib.rs", "test:tests/t.rs", "test:tests/u/main.rs"])]);
        let files = [
            (
                "a/src/lib.rs",
                "pub mod one;\nmod two { pub(crate) mod three; }\n#[cfg(test)]\nmod four;",
            ),
            ("a/src/one.rs", "mod five; fn f() { if a { b } }\nmod six;"),
            ("a/src/one/five.rs", ""),
            ("a/src/one/six/mod.rs", "mod seven;"),
            ("a/src/one/six/seven.rs", ""),
            ("a/src/two/three.rs", ""),
            ("a/src/four.rs", "#[path = \"../shared/x.rs\"]\nmod eight;\nmod r#nine;"),
            ("a/shared/x.rs", ""),
            ("a/src/four/nine.rs", ""),
            ("a/tests/t.rs", "mod common;"),
            ("a/tests/common/mod.rs", "mod inner;"),
            ("a/tests/common/inner.rs", ""),
            ("a/tests/u/main.rs", "mod v;"),
            ("a/tests/u/v.rs", ""),
        ];
        assert_eq!(found_with(check, &metadata, &files), [""; 0]);
    }

    #[test]
    fn modules_made_by_a_macro_count() {
        let metadata = metadata(&[("a", &[], &["lib:src/lib.rs"])]);
        let text = "macro_rules! all { ($($name:ident),+) => { $(mod $name;)+ } }\nall! { b, c }";
        let files = [
            ("a/src/lib.rs", text),
            ("a/src/b.rs", "//! mod d"),
            ("a/src/c/mod.rs", ""),
            ("a/src/d.rs", ""),
        ];
        assert_eq!(
            found_with(check, &metadata, &files),
            ["a/src/d.rs:1: never compiled: no target, and no `mod` names it"]
        );
    }

    #[test]
    fn files_that_nothing_names_are_found() {
        let metadata = metadata(&[("a", &[], &["lib:src/lib.rs", "test:tests/t.rs"])]);
        let files = [
            ("a/src/lib.rs", "// mod comment;\nconst S: &str = \"mod string;\";\nmod m { mod n; }"),
            ("a/src/comment.rs", ""),
            ("a/src/string.rs", ""),
            ("a/src/n.rs", ""),
            ("a/src/m/n.rs", ""),
            ("a/tests/t.rs", ""),
            ("a/tests/t/part.rs", ""),
            ("a/tests/forgotten/deep.rs", ""),
            ("a/fuzz/fuzz_targets/f.rs", ""),
        ];
        let expected = [
            "a/src/comment.rs",
            "a/src/n.rs",
            "a/src/string.rs",
            "a/tests/forgotten/deep.rs",
            "a/tests/t/part.rs",
        ];
        assert_eq!(
            found_with(check, &metadata, &files),
            expected.map(|p| format!("{p}:1: never compiled: no target, and no `mod` names it"))
        );
    }

    #[test]
    fn a_path_attribute_belongs_to_the_module_after_it() {
        let text = "#[path = \"x/y.rs\"] mod a; mod b; mod c { #[path = \"z.rs\"] mod d; }";
        let file = SourceFile::new("p/src/lib.rs", text);
        let places: Vec<_> =
            modules(&file).iter().map(|m| places("p/src/lib.rs", "p/src", m).remove(0).0).collect();
        assert_eq!(places, ["p/src/x/y.rs", "p/src/b.rs", "p/src/c/z.rs"]);
    }
}
