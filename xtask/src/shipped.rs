//! `cargo xtask shipped`: programs as their users get them, without what tests add to a build.
//!
//! A build of the tests turns on features that dev-dependencies ask for, and the command beside
//! them gets these, too. Each program here comes from a cargo call that knows no dev-dependency.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use clap::ValueEnum;

use crate::{
    Error, Metadata, Result, outside,
    process::{cargo, run as run_command},
};

/// A program that end-to-end tests drive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Program {
    /// `sessionctl` with the feature `full`
    Sessionctl,
    /// `sessionctl` with the default features
    SessionctlDefault,
    /// The example `agent_loop`, with the features the README names
    AgentLoop,
    /// The example `private_log`, with the features it needs
    PrivateLog,
}

impl Program {
    /// Names the built program to the tests.
    pub(crate) fn variable(self) -> &'static str {
        match self {
            Self::Sessionctl => "SESSION_TEST_SESSIONCTL",
            Self::SessionctlDefault => "SESSION_TEST_SESSIONCTL_DEFAULT",
            Self::AgentLoop => "SESSION_TEST_AGENT_LOOP",
            Self::PrivateLog => "SESSION_TEST_PRIVATE_LOG",
        }
    }

    /// Below the folder for programs. Each has a folder of its own, for tests that search PATH.
    fn place(self) -> &'static str {
        match self {
            Self::Sessionctl => "full/sessionctl",
            Self::SessionctlDefault => "default/sessionctl",
            Self::AgentLoop => "example/agent_loop",
            Self::PrivateLog => "example/private_log",
        }
    }

    pub(crate) fn name(self) -> String {
        self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
    }
}

/// Builds the programs and prints their paths, one a line.
///
/// # Errors
///
/// When one does not build, or its file cannot be put into place.
pub fn run(programs: &[Program], metadata: &Metadata) -> Result<()> {
    for &program in programs {
        println!("{}", build(program, metadata)?.display());
    }
    Ok(())
}

/// Builds a program and returns its path, which stays the same from one build to the next.
pub(crate) fn build(program: Program, metadata: &Metadata) -> Result<PathBuf> {
    let folder = metadata.target_directory.join("shipped");
    let path = folder.join(program.place());
    fs::create_dir_all(path.parent().unwrap_or(&folder)).map_err(write_error(&folder))?;
    // Both builds of the command end in the same file, so one goes after the other.
    let lock = fs::File::create(folder.join("lock")).map_err(write_error(&folder))?;
    lock.lock().map_err(write_error(&folder))?;
    let build = build_directory(metadata);
    let mut command = cargo();
    command.args(["build", "--release", "--target-dir"]).arg(&build);
    let sessionctl = ["--locked", "--package", "session-context", "--bin", "sessionctl"];
    match program {
        Program::Sessionctl => command.args(sessionctl).args(["--features", "full"]),
        Program::SessionctlDefault => command.args(sessionctl),
        Program::AgentLoop => command.arg("--manifest-path").arg(outside::agent_loop(metadata)?),
        Program::PrivateLog => command.arg("--manifest-path").arg(outside::private_log(metadata)?),
    };
    run_command(affordable(&mut command))?;
    let name = path.file_name().unwrap_or_default();
    put(&build.join("release").join(name), &path)?;
    Ok(path)
}

/// Where everything is built that is built as users do.
pub(crate) fn build_directory(metadata: &Metadata) -> PathBuf {
    metadata.target_directory.join("shipped").join("build")
}

/// The profile of a release with less of the work that makes programs fast: what is checked at
/// run time, and so what the program does, is the same.
pub(crate) fn affordable(command: &mut std::process::Command) -> &mut std::process::Command {
    command
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .env("CARGO_PROFILE_RELEASE_OPT_LEVEL", "1")
        .env("CARGO_PROFILE_RELEASE_CODEGEN_UNITS", "16")
}

/// Gives a built program its place, also while the former one runs there.
fn put(built: &Path, place: &Path) -> Result<()> {
    let new = place.with_extension("new");
    let removed = |result: io::Result<()>| match result {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        _ => Ok(()),
    };
    removed(fs::remove_file(&new))
        .and_then(|()| fs::hard_link(built, &new))
        .and_then(|()| fs::rename(&new, place))
        // Where both are links to one file, renaming leaves both.
        .and_then(|()| removed(fs::remove_file(&new)))
        .map_err(write_error(place))
}

fn write_error(path: &Path) -> impl Fn(io::Error) -> Error {
    move |source| Error::Write { path: path.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_program_is_put_into_place_again_and_again() {
        let dir = tempfile::tempdir().unwrap();
        let (built, place) = (dir.path().join("built"), dir.path().join("place"));
        for content in ["one", "one", "two"] {
            if fs::read_to_string(&built).unwrap_or_default() != content {
                // As cargo does: a new file, not new content in the old one.
                let _ = fs::remove_file(&built);
                fs::write(&built, content).unwrap();
            }
            put(&built, &place).unwrap();
            assert_eq!(fs::read_to_string(&place).unwrap(), content);
            assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 2);
        }
    }
}
