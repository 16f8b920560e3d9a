//! Running other programs, with the command line in every message.

use std::{
    env,
    ffi::OsStr,
    os::unix::fs::PermissionsExt,
    path::{Path, PathBuf},
    process::{Command, Stdio},
};

use crate::{Error, Result};

/// The cargo that runs us, else the one on PATH, without what the former told us about our package:
/// build scripts that look at it would run anew.
pub(crate) fn cargo() -> Command {
    const OURS: [&str; 3] = ["CARGO_BIN_", "CARGO_MANIFEST_", "CARGO_PKG_"];
    let mut command = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    for (name, _) in env::vars_os() {
        if OURS.iter().any(|ours| name.to_string_lossy().starts_with(ours)) {
            command.env_remove(name);
        }
    }
    command
}

/// Runs a command with our own input and output, after printing its command line.
pub(crate) fn run(command: &mut Command) -> Result<()> {
    let line = command_line(command);
    eprintln!("$ {line}");
    match command.status() {
        Ok(status) if status.success() => Ok(()),
        Ok(status) => Err(Error::Failed { command: line, status }),
        Err(source) => Err(Error::Start { command: line, source }),
    }
}

/// Runs a command and returns what it wrote to its standard output.
pub(crate) fn output(command: &mut Command) -> Result<Vec<u8>> {
    let line = command_line(command);
    match command.stderr(Stdio::inherit()).output() {
        Ok(output) if output.status.success() => Ok(output.stdout),
        Ok(output) => Err(Error::Failed { command: line, status: output.status }),
        Err(source) => Err(Error::Start { command: line, source }),
    }
}

/// The command as a person would type it, the program without its folder.
pub(crate) fn command_line(command: &Command) -> String {
    let program = Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

/// The first program of these names on PATH.
pub(crate) fn on_path(names: &[&str]) -> Option<PathBuf> {
    find_in(&env::var_os("PATH")?, names)
}

fn find_in(path: &OsStr, names: &[&str]) -> Option<PathBuf> {
    let candidates =
        names.iter().flat_map(|name| env::split_paths(path).map(move |folder| folder.join(name)));
    candidates.into_iter().find(|candidate| is_program(candidate))
}

fn is_program(path: &Path) -> bool {
    path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn errors_name_the_command_line_without_folders() {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", "exit 3"]);
        let error = run(&mut command).unwrap_err().chain();
        assert_eq!(error, "`sh -c exit 3` ended with exit status: 3");
        let error = output(&mut Command::new("/nowhere/tool")).unwrap_err().chain();
        assert_eq!(error, "cannot start `tool`: No such file or directory (os error 2)");
    }

    #[test]
    fn output_is_what_the_command_wrote() {
        assert_eq!(output(Command::new("echo").arg("a b")).unwrap(), b"a b\n");
    }

    #[test]
    fn only_a_program_is_found_and_the_first_name_comes_first() {
        let names = ["redis-server", "valkey-server"];
        let dir = tempfile::tempdir().unwrap();
        let file = |name: &str, mode| {
            let path = dir.path().join(name);
            fs::write(&path, "").unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
            path
        };
        let path = env::join_paths([Path::new("/nowhere"), dir.path()]).unwrap();
        let redis = file("redis-server", 0o644);
        assert_eq!(find_in(&path, &names), None);
        let valkey = file("valkey-server", 0o755);
        assert_eq!(find_in(&path, &names), Some(valkey));
        file("redis-server", 0o755);
        assert_eq!(find_in(&path, &names), Some(redis));
    }
}
