//! What users of the packages build with: the declared Rust, the oldest versions, the packed crates.

use std::{fs, path::Path, process::Command};

use crate::{
    Error, Metadata, Result,
    process::{cargo, output, run as run_command},
};

/// The most a packed crate may hold, in bytes: sources, without what tests read.
const LARGEST_PACKAGE: u64 = 2 << 20;

/// Checks the shipped packages with the Rust they declare, and no other.
pub(crate) fn rust_version(metadata: &Metadata) -> Result<()> {
    let Some(version) = metadata.rust_version() else { return Err(Error::NoRustVersion) };
    let toolchain = if version.split('.').count() < 3 { format!("{version}.0") } else { version };
    let rustup = |args: &[&str]| {
        let mut command = Command::new("rustup");
        command.args(args).env_remove("CARGO").env_remove("RUSTUP_TOOLCHAIN");
        command
    };
    if output(&mut rustup(&["run", &toolchain, "rustc", "--version"])).is_err() {
        let install = ["toolchain", "install", &toolchain, "--profile", "minimal"];
        run_command(&mut rustup(&install))?;
    }
    let mut command = rustup(&["run", &toolchain, "cargo", "check", "--locked", "--workspace"]);
    run_command(command.args(["--exclude", "xtask", "--all-features"]))
}

/// Checks a copy of the workspace with the oldest versions its manifests allow.
///
/// Only of direct dependencies: what those ask for themselves is theirs to get right.
pub(crate) fn minimal_versions(metadata: &Metadata) -> Result<()> {
    let copy = tempfile::tempdir().map_err(Error::Scratch)?;
    let mut list = Command::new("git");
    // CI may run as another user than the one who cloned.
    list.args(["-c", "safe.directory=*", "ls-files", "-z", "--cached", "--others"]);
    let names = output(list.arg("--exclude-standard").current_dir(&metadata.workspace_root))?;
    let names = String::from_utf8_lossy(&names).into_owned();
    for name in names.split_terminator('\0').filter(|name| *name != "Cargo.lock") {
        let from = metadata.workspace_root.join(name);
        if from.is_file() {
            copied(&from, &copy.path().join(name))?;
        }
    }
    let mut resolve = cargo();
    resolve.args(["-Z", "direct-minimal-versions", "generate-lockfile"]);
    // The option is not for every toolchain yet; the check below is without it.
    run_command(resolve.env("RUSTC_BOOTSTRAP", "1").current_dir(copy.path()))?;
    let mut check = cargo();
    check.args(["check", "--locked", "--workspace", "--exclude", "xtask", "--all-features"]);
    check.arg("--target-dir").arg(metadata.target_directory.join("minimal"));
    run_command(check.current_dir(copy.path()))
}

/// Packs every crate that is published, builds each from its package, and looks at its size.
pub(crate) fn packages(metadata: &Metadata) -> Result<()> {
    // Cargo keeps the sources of a version by the place of its package: a new place each time, or it
    // would build what the same version held before.
    let built = tempfile::tempdir().map_err(Error::Scratch)?;
    let mut command = cargo();
    command.args(["publish", "--dry-run", "--locked", "--workspace", "--exclude", "xtask"]);
    command.arg("--target-dir").arg(built.path());
    // What is packed is the working tree, as in every other step.
    run_command(command.arg("--allow-dirty"))?;
    for package in metadata.packages.iter().filter(|package| package.is_shipped()) {
        let name = format!("{}-{}", package.name, package.version);
        let unpacked = built.path().join("package").join(&name);
        let (bytes, tests) = (size(&unpacked)?, unpacked.join("tests"));
        println!("{name}: {} KiB", bytes / 1024);
        if bytes > LARGEST_PACKAGE || tests.exists() {
            return Err(Error::LargePackage { name, bytes });
        }
    }
    Ok(())
}

/// The bytes in all files of a folder but those of builds.
fn size(folder: &Path) -> Result<u64> {
    let failed = |source| Error::Read { path: folder.to_owned(), source };
    let mut bytes = 0;
    for entry in fs::read_dir(folder).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let meta = entry.metadata().map_err(failed)?;
        bytes += match meta.is_dir() {
            true if entry.file_name() == "target" => 0,
            true => size(&entry.path())?,
            false => meta.len(),
        };
    }
    Ok(bytes)
}

fn copied(from: &Path, to: &Path) -> Result<()> {
    let failed = |source| Error::Write { path: to.to_owned(), source };
    to.parent().map_or(Ok(()), fs::create_dir_all).map_err(failed)?;
    fs::copy(from, to).map(|_| ()).map_err(failed)
}
