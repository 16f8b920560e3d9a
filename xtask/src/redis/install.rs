//! Installing the server with the system's package manager.

use std::{path::PathBuf, process::Command};

use super::{NAMES, on_path};
use crate::{Error, Result, process};

/// A package manager, and the commands that may bring a server, to be tried in this order.
struct Manager {
    program: &'static str,
    /// Whether only root may install.
    needs_root: bool,
    commands: &'static [&'static [&'static str]],
}

const MANAGERS: [Manager; 4] = [
    Manager {
        program: "apt-get",
        needs_root: true,
        commands: &[
            &["install", "--yes", "--no-install-recommends", "redis-server"],
            // A fresh machine has no package lists, and old lists name files that are gone.
            &["update"],
            &["install", "--yes", "--no-install-recommends", "redis-server"],
            &["install", "--yes", "--no-install-recommends", "valkey-server"],
        ],
    },
    Manager {
        program: "dnf",
        needs_root: true,
        commands: &[&["install", "--assumeyes", "valkey"], &["install", "--assumeyes", "redis"]],
    },
    Manager {
        program: "apk",
        needs_root: true,
        commands: &[&["add", "--no-cache", "redis"], &["add", "--no-cache", "valkey"]],
    },
    Manager { program: "brew", needs_root: false, commands: &[&["install", "redis"]] },
];

/// Installs a server and returns its path.
pub(super) fn install() -> Result<PathBuf> {
    let Some(manager) = MANAGERS.iter().find(|manager| on_path(&[manager.program]).is_some())
    else {
        let known = MANAGERS.map(|manager| manager.program).join(", ");
        return Err(Error::NoRedis { tried: format!("none of {known} is there to install it") });
    };
    let sudo = manager.needs_root && !rustix::process::geteuid().is_root();
    let mut last = String::new();
    for args in manager.commands {
        if let Err(error) = process::run(&mut command(manager, args, sudo)) {
            last = error.chain();
            eprintln!("{last}");
        }
        if let Some(binary) = on_path(&NAMES) {
            return Ok(binary);
        }
    }
    Err(Error::NoRedis { tried: format!("{} did not bring it ({last})", manager.program) })
}

fn command(manager: &Manager, args: &[&str], sudo: bool) -> Command {
    // `sudo` drops our environment, so the variable is set behind it.
    let mut words = vec!["env", "DEBIAN_FRONTEND=noninteractive", manager.program];
    if sudo {
        words.insert(0, "sudo");
    }
    let mut command = Command::new(words[0]);
    command.args(&words[1..]).args(args);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn root_installs_directly_and_others_through_sudo() {
        let apt = &MANAGERS[0];
        assert_eq!(
            process::command_line(&command(apt, apt.commands[1], false)),
            "env DEBIAN_FRONTEND=noninteractive apt-get update"
        );
        assert_eq!(
            process::command_line(&command(apt, apt.commands[0], true)),
            "sudo env DEBIAN_FRONTEND=noninteractive apt-get install --yes \
             --no-install-recommends redis-server"
        );
    }
}
