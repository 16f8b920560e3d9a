//! Packages outside the workspace, as a user of the library has them.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use crate::{Error, Metadata, Result};

/// What the examples need beside the library.
const AGENT_LOOP: &str = r#"[dependencies]
session-context = { path = "…", default-features = false, features = ["file"] }
tempfile = "3"
tokio = { version = "1", features = ["macros", "rt"] }
"#;

const PRIVATE_LOG: &str = r#"[dependencies]
session-context = { path = "…", default-features = false, features = ["export", "file"] }
session-model = { path = "…" }
tokio = { version = "1", features = ["macros", "rt"] }
"#;

/// Writes the package of an example and returns the path of its manifest.
pub(crate) fn agent_loop(metadata: &Metadata) -> Result<PathBuf> {
    example(metadata, "agent_loop", AGENT_LOOP)
}

/// As [`agent_loop`], for the example that hides secrets.
pub(crate) fn private_log(metadata: &Metadata) -> Result<PathBuf> {
    example(metadata, "private_log", PRIVATE_LOG)
}

fn example(metadata: &Metadata, name: &str, dependencies: &str) -> Result<PathBuf> {
    let example = metadata.workspace_root.join(format!("session-context/examples/{name}.rs"));
    let example = read(&example)?;
    write(metadata, name, dependencies, &[("src/main.rs", &example)])
}

/// Writes a package with these dependencies and files; returns the path of its manifest.
///
/// `…` in the dependencies stands for where the workspace is. What is the same already is left as
/// it is, so that cargo builds only what changed.
pub(crate) fn write(
    metadata: &Metadata,
    name: &str,
    dependencies: &str,
    files: &[(&str, &str)],
) -> Result<PathBuf> {
    let folder = metadata.target_directory.join("shipped/packages").join(name);
    let manifest = folder.join("Cargo.toml");
    let dependencies = with_paths(dependencies, &metadata.workspace_root);
    // The last table keeps cargo from looking for a workspace above.
    let head = format!("[package]\nname = \"{name}\"\nversion = \"0.0.0\"\nedition = \"2024\"\n");
    put(&manifest, &format!("{head}\n{dependencies}\n[workspace]\n"))?;
    let lock = folder.join("Cargo.lock");
    if !lock.exists() {
        // The versions that are tested; cargo drops what this package does not need.
        put(&lock, &read(&metadata.workspace_root.join("Cargo.lock"))?)?;
    }
    for (name, content) in files {
        put(&folder.join(name), content)?;
    }
    Ok(manifest)
}

/// Fills in where each package of the workspace is: `name = { path = "…"`.
fn with_paths(dependencies: &str, root: &Path) -> String {
    let filled = dependencies.lines().map(|line| {
        let name = line.split(['=', ' ']).next().unwrap_or_default();
        line.replace('…', &root.join(name).display().to_string()) + "\n"
    });
    filled.collect()
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).map_err(|source| Error::Read { path: path.to_owned(), source })
}

fn put(path: &Path, content: &str) -> Result<()> {
    let write = || -> io::Result<()> {
        if fs::read(path).is_ok_and(|old| old == content.as_bytes()) {
            return Ok(());
        }
        path.parent().map_or(Ok(()), fs::create_dir_all)?;
        fs::write(path, content)
    };
    write().map_err(|source| Error::Write { path: path.to_owned(), source })
}
