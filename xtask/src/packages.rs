//! Installing programs with the system's package manager.

use std::{process::Command, thread, time::Duration};

use crate::process::{on_path, run};
use crate::{Error, Result};

/// A package manager.
struct Manager {
    program: &'static str,
    /// Whether only root may install.
    needs_root: bool,
    /// What comes first, whatever it is to do.
    options: &'static [&'static str],
    /// What comes before the package's name.
    install: &'static [&'static str],
    /// A fresh machine has no package lists, and old lists name files that are gone.
    update: Option<&'static str>,
}

const MANAGERS: [Manager; 4] = [
    Manager {
        program: "apt-get",
        needs_root: true,
        // A machine that has just started may be installing something itself.
        options: &["-o", "DPkg::Lock::Timeout=600", "-o", "Acquire::Retries=5"],
        install: &["install", "--yes", "--no-install-recommends"],
        update: Some("update"),
    },
    Manager {
        program: "dnf",
        needs_root: true,
        options: &[],
        install: &["install", "--assumeyes"],
        update: None,
    },
    Manager {
        program: "apk",
        needs_root: true,
        options: &["--wait", "600"],
        install: &["add", "--no-cache"],
        update: None,
    },
    Manager {
        program: "brew",
        needs_root: false,
        options: &[],
        install: &["install"],
        update: None,
    },
];

/// The seconds after which everything is tried once more: a mirror may fail for a moment, and the
/// lock of the package lists, unlike that of the packages, is not waited for by the manager.
const PAUSES: [u64; 5] = [5, 15, 30, 60, 60];

/// Installs one package after the other until what is wanted is there.
///
/// The error says what was tried.
pub(crate) fn install(
    packages: &[&str],
    is_there: impl Fn() -> bool,
) -> std::result::Result<(), String> {
    let Some(manager) = MANAGERS.iter().find(|manager| on_path(&[manager.program]).is_some())
    else {
        let known = MANAGERS.map(|manager| manager.program).join(", ");
        return Err(format!("none of {known} is there to install it"));
    };
    let sudo = manager.needs_root && !rustix::process::geteuid().is_root();
    let mut last = String::new();
    let found = again_and_again(&PAUSES, || {
        manager.attempts(packages).iter().any(|args| {
            if let Err(error) = run(&mut manager.command(args, sudo)) {
                last = error.chain();
                eprintln!("{last}");
            }
            is_there()
        })
    });
    if found { Ok(()) } else { Err(format!("{} did not bring it ({last})", manager.program)) }
}

/// Tries until it works, and once more after each of the pauses; returns whether it did.
fn again_and_again(pauses: &[u64], mut attempt: impl FnMut() -> bool) -> bool {
    attempt()
        || pauses.iter().any(|pause| {
            eprintln!("trying again in {pause} s");
            thread::sleep(Duration::from_secs(*pause));
            attempt()
        })
}

/// Installs a program if it is missing.
pub(crate) fn install_program(program: &'static str, package: &'static str) -> Result<()> {
    let is_there = || on_path(&[program]).is_some();
    if is_there() {
        return Ok(());
    }
    install(&[package], is_there).map_err(|tried| Error::NoTool { program, package, tried })
}

impl Manager {
    /// The arguments to run it with, one list after the other.
    fn attempts<'a>(&self, packages: &[&'a str]) -> Vec<Vec<&'a str>> {
        let install = |package: &&'a str| [self.install, &[*package]].concat();
        let first = packages.first().filter(|_| self.update.is_some()).map(install);
        let update = self.update.map(|update| vec![update]);
        first.into_iter().chain(update).chain(packages.iter().map(install)).collect()
    }

    fn command(&self, args: &[&str], sudo: bool) -> Command {
        // `sudo` drops our environment, so the variable is set behind it.
        let mut words = vec!["env", "DEBIAN_FRONTEND=noninteractive", self.program];
        if sudo {
            words.insert(0, "sudo");
        }
        let mut command = Command::new(words[0]);
        command.args(&words[1..]).args(self.options).args(args);
        command
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::process::command_line;

    #[test]
    fn root_installs_directly_and_others_through_sudo() {
        let apt = &MANAGERS[0];
        let options = "-o DPkg::Lock::Timeout=600 -o Acquire::Retries=5";
        assert_eq!(
            command_line(&apt.command(&["update"], false)),
            format!("env DEBIAN_FRONTEND=noninteractive apt-get {options} update")
        );
        assert_eq!(
            command_line(&apt.command(&["install", "strace"], true)),
            format!("sudo env DEBIAN_FRONTEND=noninteractive apt-get {options} install strace")
        );
    }

    #[test]
    fn what_fails_for_a_moment_is_tried_again() {
        let tries = |works_at: usize| {
            let mut tries = 0;
            let works = again_and_again(&[0; 3], || {
                tries += 1;
                tries == works_at
            });
            (works, tries)
        };
        assert_eq!([tries(1), tries(3), tries(4)], [(true, 1), (true, 3), (true, 4)]);
        assert_eq!(tries(5), (false, 4));
    }

    #[test]
    fn lists_are_brought_up_to_date_once_a_package_is_not_found() {
        let lines = |manager: &Manager| -> Vec<String> {
            manager.attempts(&["a", "b"]).iter().map(|args| args.join(" ")).collect()
        };
        let install = "install --yes --no-install-recommends";
        assert_eq!(
            lines(&MANAGERS[0]),
            [
                format!("{install} a"),
                "update".to_owned(),
                format!("{install} a"),
                format!("{install} b")
            ]
        );
        assert_eq!(lines(&MANAGERS[3]), ["install a", "install b"]);
    }
}
