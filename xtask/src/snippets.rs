//! The programs in the documentation, built outside the workspace as they are written.

use std::{fs, path::PathBuf};

use crate::{
    Error, Metadata, Result, outside,
    process::{cargo, run as run_command},
    shipped,
};

/// The folder of documents, and the one whose dependencies and programs come first.
const DOCS: &str = "docs";
const README: &str = "README.md";

/// Builds every block of Rust in README and docs with the dependencies the README names, runs those
/// of the README, and the command as the README has it.
pub(crate) fn run(metadata: &Metadata) -> Result<()> {
    let root = &metadata.workspace_root;
    let read =
        |path: PathBuf| fs::read_to_string(&path).map_err(|source| Error::Read { path, source });
    let readme = read(root.join(README))?;
    let dependencies = blocks(&readme, "toml").concat();
    let mut files = programs("readme", &readme);
    let runs: Vec<_> = files.iter().filter_map(|(path, _)| bin(path)).collect();
    for path in documents(&root.join(DOCS))? {
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        files.extend(programs(&name, &read(path)?));
    }
    let borrowed: Vec<_> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let manifest = outside::write(metadata, "snippets", &dependencies, &borrowed)?;
    let folder = tempfile::tempdir().map_err(Error::Scratch)?;
    let build = |subcommand| {
        let mut command = cargo();
        command.args([subcommand, "--release", "--target-dir"]);
        command.arg(shipped::build_directory(metadata)).arg("--manifest-path").arg(&manifest);
        shipped::affordable(&mut command);
        // A program of the README writes where it stands.
        command.current_dir(folder.path());
        command
    };
    for name in &runs {
        run_command(build("run").args(["--bin", name]))?;
    }
    run_command(&mut build("test"))?;
    for line in blocks(&readme, "").iter().flat_map(|block| block.lines()) {
        // The others run steps of their own.
        if let Some(args) = line.strip_prefix("cargo run -- ") {
            let mut command = cargo();
            run_command(command.args(["run", "--locked", "--"]).args(args.split(' ')))?;
        }
    }
    Ok(())
}

/// The documents, by name.
fn documents(folder: &std::path::Path) -> Result<Vec<PathBuf>> {
    let failed = |source| Error::Read { path: folder.to_owned(), source };
    let entries = fs::read_dir(folder).map_err(failed)?;
    let paths = entries.map(|entry| Ok(entry.map_err(failed)?.path()));
    let mut paths = paths.collect::<Result<Vec<_>>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    paths.sort();
    Ok(paths)
}

/// The texts of the blocks of this language.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut open: Option<(bool, String)> = None;
    for line in text.lines() {
        open = match (open, line.strip_prefix("```")) {
            (None, Some(word)) => Some((word == language, String::new())),
            (None, None) => None,
            (Some((is_wanted, block)), Some(_)) => {
                found.extend(is_wanted.then_some(block));
                None
            }
            (Some((is_wanted, block)), None) => Some((is_wanted, block + line + "\n")),
        };
    }
    found
}

/// The blocks of Rust in a document as files of a package: tests, programs, and what needs a `main`.
fn programs(document: &str, text: &str) -> Vec<(String, String)> {
    let file = |(n, block): (usize, String)| {
        let name = format!("{document}_{}.rs", n + 1);
        if block.contains("::test]") {
            (format!("tests/{name}"), block)
        } else if block.contains("fn main(") {
            (format!("src/bin/{name}"), block)
        } else {
            (format!("src/bin/{name}"), format!("{block}\nfn main() {{}}\n"))
        }
    };
    blocks(text, "rust").into_iter().enumerate().map(file).collect()
}

/// The name of a program by its path; none for a test.
fn bin(path: &str) -> Option<String> {
    Some(path.strip_prefix("src/bin/")?.strip_suffix(".rs")?.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "text\n```rust\nfn main() {}\n```\n```\ncargo run\n```\n```toml\na = 1\n```\n\
                        ```rust\n#[tokio::test]\nasync fn a() {}\n```\n```rust\nfn b() {}\n```\n";

    #[test]
    fn blocks_are_told_apart_by_language() {
        assert_eq!(blocks(TEXT, "toml"), ["a = 1\n"]);
        assert_eq!(blocks(TEXT, ""), ["cargo run\n"]);
        assert_eq!(blocks(TEXT, "c"), [""; 0]);
    }

    #[test]
    fn each_block_of_rust_is_a_program_or_a_test() {
        let files = programs("d", TEXT);
        let paths: Vec<_> = files.iter().map(|(path, _)| path.as_str()).collect();
        assert_eq!(paths, ["src/bin/d_1.rs", "tests/d_2.rs", "src/bin/d_3.rs"]);
        assert_eq!(files[0].1, "fn main() {}\n");
        assert_eq!(files[1].1, "#[tokio::test]\nasync fn a() {}\n");
        assert_eq!(files[2].1, "fn b() {}\n\nfn main() {}\n");
        let bins: Vec<_> = paths.iter().map(|path| bin(path)).collect();
        assert_eq!(bins, [Some("d_1".to_owned()), None, Some("d_3".to_owned())]);
    }
}
