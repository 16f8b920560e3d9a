//! Running other programs, with the command line in every message.

use std::{
    env,
    process::{Command, Stdio},
};

use crate::{Error, Result};

/// The cargo that runs us, else the one on PATH.
pub(crate) fn cargo() -> Command {
    Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
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
    let program = std::path::Path::new(command.get_program());
    let name = program.file_name().unwrap_or(program.as_os_str());
    std::iter::once(name)
        .chain(command.get_args())
        .map(|word| word.to_string_lossy())
        .collect::<Vec<_>>()
        .join(" ")
}

#[cfg(test)]
mod tests {
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
}
