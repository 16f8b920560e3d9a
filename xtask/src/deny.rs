//! The dependencies' licences, duplicates and sources, through cargo-deny.

use std::process::Stdio;

use crate::{
    Report,
    process::{cargo, run as run_command},
};

/// Installs cargo-deny if it is missing (minutes, once) and runs its checks.
///
/// Advisories are left out unless asked for: they fetch a git repository from outside the package
/// registry, which a closed network does not reach, and a new advisory must not fail a change that
/// has nothing to do with it.
pub(crate) fn run(advisories: bool, report: &mut Report) {
    if !is_installed() {
        let install = ["install", "--locked", "cargo-deny"];
        if report.try_step("install cargo-deny", || run_command(cargo().args(install))).is_none() {
            return;
        }
    }
    report.step("deny", || {
        let checks = ["deny", "check", "bans", "licenses", "sources"];
        run_command(cargo().args(checks).args(advisories.then_some("advisories")))
    });
}

fn is_installed() -> bool {
    let mut command = cargo();
    command.args(["deny", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}
